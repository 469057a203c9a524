#include "app/window/view_recording.h"

#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <utility>

#include "app/ledger.h"
#include "kernels/error.h"

namespace convscope {
namespace {

/// The part of the back buffer where the view is.
cv::Mat view_pixels(GLFWwindow* window, const Ui& ui) {
  int window_w = 0, window_h = 0, w = 0, h = 0;
  glfwGetWindowSize(window, &window_w, &window_h);
  glfwGetFramebufferSize(window, &w, &h);
  if (window_w < 1 || window_h < 1) return {};
  const double scale_x = static_cast<double>(w) / window_w, scale_y = static_cast<double>(h) / window_h;
  const int left = std::clamp(static_cast<int>(ui.view_position.x * scale_x), 0, w);
  const int top = std::clamp(static_cast<int>(ui.view_position.y * scale_y), 0, h);
  const int width = std::min(ui.drawn.view_w, w - left), height = std::min(ui.drawn.view_h, h - top);
  if (width < 1 || height < 1) return {};
  cv::Mat pixels(height, width, CV_8UC3), upright;
  glPixelStorei(GL_PACK_ALIGNMENT, 1);  // rows of 3 bytes a pixel are not padded
  glReadBuffer(GL_BACK);
  glReadPixels(left, h - top - height, width, height, GL_BGR, GL_UNSIGNED_BYTE, pixels.data);
  cv::flip(pixels, upright, 0);  // OpenGL's first row is the lowest
  return upright;
}

std::string end_words(const RecordingProgress& p) {
  std::string words =
      p.fault.empty() ? fmt::format("recorded {} pictures, {:.1f} s, to {}", p.pictures, p.seconds, p.path)
                      : p.fault;
  if (!p.ended) words += ", not finished";
  if (p.files > 1) words += fmt::format(" and {} more", p.files - 1);
  if (p.left_out > 0) words += fmt::format(", {} left out", p.left_out);
  return words;
}

}  // namespace

ViewRecording::~ViewRecording() {
  if (!recording_) return;
  const RecordingProgress p = recording_->close();
  if (!p.ended || !p.fault.empty()) fmt::print(stderr, "{}\n", end_words(p));
}

void ViewRecording::start(const std::string& path) {
  if (recording_) throw Error(path + ": the recording before it has not ended yet");
  recording_ = std::make_unique<Recording>(path, Recording::Options{.wake = wake_});
  recorded_ = 0;
  starting_ = true;
  stopping_ = false;
}

void ViewRecording::stop() {
  if (!recording_ || std::exchange(stopping_, true)) return;
  recording_->end();
}

void ViewRecording::frame(GLFWwindow* window, const Ui& ui, uint64_t serial) {
  if (!recording_ || stopping_ || std::exchange(starting_, false) || serial == recorded_) return;
  recorded_ = serial;
  if (cv::Mat pixels = view_pixels(window, ui); !pixels.empty())
    recording_->add(std::move(pixels), seconds_now());
}

std::optional<RecordingProgress> ViewRecording::progress(std::string& message) {
  if (!recording_) return std::nullopt;
  RecordingProgress p = recording_->progress();
  if (!p.ended) return p;
  message = end_words(p);
  recording_.reset();
  return std::nullopt;
}

}  // namespace convscope
