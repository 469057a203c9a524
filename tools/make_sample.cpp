#include <charconv>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "app/pattern_scene.h"

// make_sample FILE [WIDTH HEIGHT]: writes the sample picture, 1920x1080 unless said.
// make_sample --check FILE: exits 1 where the file's pixels are not those that this build draws at its size.
namespace {

cv::Mat drawn(int width, int height) {
  cv::Mat image(height, width, CV_8UC3);
  convscope::draw_scene(width, height, image.data);
  return image;
}

int check(const char* path) {
  const cv::Mat file = cv::imread(path, cv::IMREAD_COLOR);
  if (file.empty()) {
    fmt::print(stderr, "make_sample: {} cannot be read as a picture\n", path);
    return 1;
  }
  cv::Mat difference;
  cv::absdiff(file, drawn(file.cols, file.rows), difference);
  const int differing = cv::countNonZero(difference.reshape(1));
  fmt::print("{}: {} of {} values differ from the scene drawn at {}x{}\n", path, differing,
             difference.total() * 3, file.cols, file.rows);
  return differing == 0 ? 0 : 1;
}

bool parse_side(std::string_view text, int& side) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), side);
  return fault == std::errc() && end == text.data() + text.size() && side >= 1 && side <= 16384;
}

}  // namespace

int main(int argc, char** argv) {
  int width = 1920, height = 1080;
  const bool checking = argc == 3 && std::string_view(argv[1]) == "--check";
  if (!checking && argc != 2 && !(argc == 4 && parse_side(argv[2], width) && parse_side(argv[3], height))) {
    fmt::print(stderr,
               "usage: make_sample FILE [WIDTH HEIGHT], sides of 1 to 16384; make_sample --check FILE\n");
    return 2;
  }
  try {
    if (checking) return check(argv[2]);
    if (cv::imwrite(argv[1], drawn(width, height), {cv::IMWRITE_PNG_COMPRESSION, 9})) return 0;
    fmt::print(stderr, "make_sample: {} cannot be written\n", argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_sample: {}: {}\n", argv[1], error.what());
  }
  return 1;
}
