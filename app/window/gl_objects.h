#pragma once

#include <glad/gl.h>

#include <string>
#include <string_view>
#include <utility>

namespace convscope {

/// Move-only owner of one OpenGL name. Destroyed while the context is current.
template <class Traits>
class GlObject {
 public:
  GlObject() = default;
  static GlObject make() {
    GlObject object;
    Traits::create(&object.id_);
    return object;
  }
  explicit GlObject(GLuint id) : id_(id) {}
  ~GlObject() {
    if (id_ != 0) Traits::destroy(&id_);
  }
  GlObject(GlObject&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  GlObject& operator=(GlObject&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  GLuint id() const { return id_; }
  explicit operator bool() const { return id_ != 0; }

 private:
  GLuint id_ = 0;
};

struct BufferTraits {
  static void create(GLuint* id) { glCreateBuffers(1, id); }
  static void destroy(GLuint* id) { glDeleteBuffers(1, id); }
};
template <GLenum kTarget>
struct TextureTraits {
  static void create(GLuint* id) { glCreateTextures(kTarget, 1, id); }
  static void destroy(GLuint* id) { glDeleteTextures(1, id); }
};
struct FramebufferTraits {
  static void create(GLuint* id) { glCreateFramebuffers(1, id); }
  static void destroy(GLuint* id) { glDeleteFramebuffers(1, id); }
};
struct VertexArrayTraits {
  static void create(GLuint* id) { glCreateVertexArrays(1, id); }
  static void destroy(GLuint* id) { glDeleteVertexArrays(1, id); }
};
struct TimerTraits {
  static void create(GLuint* id) { glCreateQueries(GL_TIME_ELAPSED, 1, id); }
  static void destroy(GLuint* id) { glDeleteQueries(1, id); }
};
struct ProgramTraits {
  static void create(GLuint* id) { *id = glCreateProgram(); }
  static void destroy(GLuint* id) { glDeleteProgram(*id); }
};

using GlBuffer = GlObject<BufferTraits>;
using GlTexture = GlObject<TextureTraits<GL_TEXTURE_2D>>;
using GlBufferTexture = GlObject<TextureTraits<GL_TEXTURE_BUFFER>>;
using GlFramebuffer = GlObject<FramebufferTraits>;
using GlVertexArray = GlObject<VertexArrayTraits>;
using GlTimer = GlObject<TimerTraits>;
using GlProgram = GlObject<ProgramTraits>;

/// Compiles and links; throws Error with the compiler's first line and the shader's name.
GlProgram make_program(const std::string& name, std::string_view vertex, std::string_view fragment);
/// The location of a uniform; throws Error where the program has none of that name.
GLint uniform(const GlProgram&, const std::string& program_name, const char* uniform_name);
/// Throws Error naming `what` where OpenGL has recorded an error since the last call.
void check_gl(const char* what);

}  // namespace convscope
