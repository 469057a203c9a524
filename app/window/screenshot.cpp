#include "app/window/screenshot.h"

#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <glad/gl.h>

#include <filesystem>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <span>
#include <vector>

#include "app/files.h"
#include "kernels/error.h"

namespace convscope {

std::string save_window_picture(GLFWwindow* window, const std::string& path) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  cv::Mat pixels(height, width, CV_8UC3), upright;
  glPixelStorei(GL_PACK_ALIGNMENT, 1);  // rows of 3 bytes a pixel are not padded
  glReadBuffer(GL_BACK);
  glReadPixels(0, 0, width, height, GL_BGR, GL_UNSIGNED_BYTE, pixels.data);
  cv::flip(pixels, upright, 0);  // OpenGL's first row is the lowest
  std::vector<uint8_t> png;
  if (!cv::imencode(".png", upright, png)) throw Error(path + ": the picture could not be encoded as PNG");
  write_file(path, std::as_bytes(std::span(png)));
  return path;
}

std::string next_screenshot_name() {
  std::error_code ignored;
  for (int i = 1;; ++i) {
    const std::string name = fmt::format("convscope-{:03}.png", i);
    if (!std::filesystem::exists(name, ignored)) return name;
  }
}

}  // namespace convscope
