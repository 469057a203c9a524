#include <fmt/format.h>

#include <array>

#include "app/window/gl_objects.h"
#include "kernels/error.h"

namespace convscope {
namespace {

std::string first_line(const char* text) {
  const std::string_view all(text);
  return std::string(all.substr(0, all.find('\n')));
}

void attach(const GlProgram& program, const std::string& name, GLenum kind, std::string_view source) {
  const GLuint shader = glCreateShader(kind);
  const char* text = source.data();
  const auto length = static_cast<GLint>(source.size());
  glShaderSource(shader, 1, &text, &length);
  glCompileShader(shader);
  GLint compiled = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
  std::array<char, 1024> log{};
  glGetShaderInfoLog(shader, log.size(), nullptr, log.data());
  if (compiled) glAttachShader(program.id(), shader);
  glDeleteShader(shader);  // goes with the program
  if (!compiled) throw Error(fmt::format("shader {}: {}", name, first_line(log.data())));
}

}  // namespace

GlProgram make_program(const std::string& name, std::string_view vertex, std::string_view fragment) {
  GlProgram program = GlProgram::make();
  attach(program, name + ".vert", GL_VERTEX_SHADER, vertex);
  attach(program, name + ".frag", GL_FRAGMENT_SHADER, fragment);
  glLinkProgram(program.id());
  GLint linked = 0;
  glGetProgramiv(program.id(), GL_LINK_STATUS, &linked);
  if (!linked) {
    std::array<char, 1024> log{};
    glGetProgramInfoLog(program.id(), log.size(), nullptr, log.data());
    throw Error(fmt::format("shader program {}: {}", name, first_line(log.data())));
  }
  return program;
}

GLint uniform(const GlProgram& program, const std::string& program_name, const char* uniform_name) {
  const GLint location = glGetUniformLocation(program.id(), uniform_name);
  if (location < 0)
    throw Error(fmt::format("shader program {}: no uniform named {}", program_name, uniform_name));
  return location;
}

void check_gl(const char* what) {
  const GLenum error = glGetError();
  if (error == GL_NO_ERROR) return;
  while (glGetError() != GL_NO_ERROR) {
  }
  throw Error(fmt::format("{}: OpenGL error 0x{:04x}", what, error));
}

}  // namespace convscope
