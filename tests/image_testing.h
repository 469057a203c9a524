// Image files made by the tests: OpenCV writes the pixels, EXIF is put in by hand.
#pragma once

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

namespace convscope::testing {

inline std::string encoded(const std::string& ending, const cv::Mat& image,
                           const std::vector<int>& parameters = {}) {
  ::setenv("OPENCV_IO_ENABLE_OPENEXR", "1", 0);
  std::vector<uint8_t> bytes;
  cv::imencode(ending, image, bytes, parameters);
  return {bytes.begin(), bytes.end()};
}

/// The TIFF structure of EXIF with one entry: the orientation, in either byte order.
inline std::string exif_tiff(int orientation, bool big) {
  const auto number = [big](uint32_t value, int width) {
    std::string out;
    for (int i = 0; i < width; ++i) out += static_cast<char>(value >> 8 * (big ? width - 1 - i : i) & 0xff);
    return out;
  };
  // a SHORT lies at the start of its four bytes
  return (big ? "MM" : "II") + number(42, 2) + number(8, 4) + number(1, 2) + number(0x112, 2) + number(3, 2) +
         number(1, 4) + number(static_cast<uint32_t>(orientation), 2) + number(0, 2) + number(0, 4);
}

/// The JPEG with an APP1 segment of EXIF behind its first marker.
inline std::string with_exif(const std::string& jpeg, int orientation, bool big) {
  const std::string body = std::string("Exif\0\0", 6) + exif_tiff(orientation, big);
  const std::size_t length = body.size() + 2;
  std::string segment = "\xff\xe1";
  segment += static_cast<char>(length >> 8);
  segment += static_cast<char>(length & 0xff);
  return jpeg.substr(0, 2) + segment + body + jpeg.substr(2);
}

/// Four quadrants: 0 left top, 80 right top, 160 left bottom, 240 right bottom.
inline cv::Mat quadrants(int width, int height) {
  cv::Mat image(height, width, CV_8U);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      image.at<uint8_t>(y, x) = static_cast<uint8_t>(80 * (2 * (y >= height / 2) + (x >= width / 2)));
  return image;
}

}  // namespace convscope::testing
