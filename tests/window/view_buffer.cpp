// C2: 200 sizes through one view buffer, written by the view stage of the device where OpenGL shares its
// buffers with CUDA, else of the host. The first and the last pixel are right each time, and no memory is
// lost.

#define GLFW_INCLUDE_NONE  // glad declares OpenGL
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <vector>

#include "app/window/view_buffer.h"
#include "kernels/runtime.h"

namespace convscope {
namespace {

class Context {
 public:
  Context() {
    if (!glfwInit()) return;
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 5);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    window_ = glfwCreateWindow(64, 64, "view buffer", nullptr, nullptr);
    if (window_ == nullptr) return;
    glfwMakeContextCurrent(window_);
    loaded_ = gladLoadGL(glfwGetProcAddress) != 0;
  }
  ~Context() { glfwTerminate(); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  bool loaded() const { return loaded_; }

 private:
  GLFWwindow* window_ = nullptr;
  bool loaded_ = false;
};

/// The plane's values name their place; a view at 1:1 must show them.
float value_at(int64_t y, int64_t x) { return static_cast<float>(y * 1921 + x); }

struct Plane {
  static constexpr int64_t kHeight = 1081, kWidth = 1921;
  std::vector<float> values;
  Plane() : values(kHeight * kWidth) {
    for (int64_t i = 0; i < kHeight * kWidth; ++i)
      values[static_cast<std::size_t>(i)] = static_cast<float>(i);
  }
};

ViewLayout whole_view(int width, int height) {
  ViewLayout v;
  v.view_w = v.cell_w = v.pitch_x = width;
  v.view_h = v.cell_h = v.pitch_y = height;
  v.plane_w = Plane::kWidth, v.plane_h = Plane::kHeight;
  return v;
}

GLuint buffer_of(const ViewBuffer& view) {
  GLint buffer = 0;
  glGetTextureLevelParameteriv(view.texture(), 0, GL_TEXTURE_BUFFER_DATA_STORE_BINDING, &buffer);
  return static_cast<GLuint>(buffer);
}

float pixel(GLuint buffer, int64_t index) {
  float value = -1;
  glGetNamedBufferSubData(buffer, index * 4, 4, &value);
  return value;
}

/// Runs the sizes through one buffer.
void check_sizes(bool share) {
  const bool device = share && !cuda_unavailable() && !interop_unavailable();
  const auto runtime = make_runtime(device ? Target::cuda : Target::emulated);
  const Plane plane;
  const std::size_t bytes = plane.values.size() * sizeof(float);
  const auto memory = runtime->allocate(bytes);
  runtime->upload(memory->data(), plane.values.data(), bytes);
  std::mt19937 sizes(2);
  ViewBuffer view;
  std::vector<float> pixels;
  for (int turn = 0; turn < 200; ++turn) {
    const int w = turn == 0 ? 1 : 1 + static_cast<int>(sizes() % 1921),
              h = turn == 0 ? 1 : 1 + static_cast<int>(sizes() % 1081);
    view.resize(w, h, share);
    const ViewLayout layout = whole_view(w, h);
    const ViewPlanes planes{memory->data(), nullptr, nullptr};
    if (view.shared()) {
      float* const mapped = view.map();
      runtime->view(layout, planes, Precision::fp32, Metric::value, mapped);
      view.unmap();
    } else {
      pixels.resize(static_cast<std::size_t>(w) * static_cast<std::size_t>(h));
      runtime->view(layout, planes, Precision::fp32, Metric::value, pixels.data());
      view.write(pixels);
    }
    ASSERT_EQ(view.shared(), device) << view.reason();
    const GLuint buffer = buffer_of(view);
    ASSERT_EQ(pixel(buffer, 0), value_at(0, 0)) << w << "x" << h;
    ASSERT_EQ(pixel(buffer, int64_t{w} * h - 1), value_at(h - 1, w - 1)) << w << "x" << h;
    ASSERT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
    static_cast<void>(runtime->stages().collect());
  }
}

int64_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6);
  }
  return 0;
}

TEST(ViewBufferSizes, EverySizeShowsItsOwnPixels) {
  const Context context;
  if (!context.loaded()) GTEST_SKIP() << "no display with OpenGL 4.5";
  check_sizes(false);
}

TEST(ViewBufferSizes, WithoutAreaAndBack) {
  const Context context;
  if (!context.loaded()) GTEST_SKIP() << "no display with OpenGL 4.5";
  constexpr int kW = 5, kH = 3;
  std::vector<float> pixels(kW * kH);
  ViewBuffer view;
  for (int turn = 0; turn < 10; ++turn) {
    view.resize(0, 0, false);
    ASSERT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR)) << turn;
    view.resize(kW, kH, false);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<float>(100 * turn) + static_cast<float>(i);
    view.write(pixels);
    const GLuint buffer = buffer_of(view);
    ASSERT_EQ(pixel(buffer, 0), pixels.front()) << turn;
    ASSERT_EQ(pixel(buffer, kW * kH - 1), pixels.back()) << turn;
    ASSERT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR)) << turn;
  }
}

TEST(ViewBufferSizes, SharedWithCudaWhereItCanBe) {
  const Context context;
  if (!context.loaded()) GTEST_SKIP() << "no display with OpenGL 4.5";
  if (const auto why = cuda_unavailable()) GTEST_SKIP() << *why;
  if (const auto why = interop_unavailable()) GTEST_SKIP() << *why;
  check_sizes(true);  // the first time loads what stays loaded
  const std::size_t device_before = free_device_bytes();
  const int64_t host_before = resident_kilobytes();
  check_sizes(true);
  EXPECT_LE(device_before - std::min(device_before, free_device_bytes()), std::size_t{1} << 20);
  EXPECT_LE(resident_kilobytes() - host_before, 16 * 1024);
}

}  // namespace
}  // namespace convscope
