// Pictures and videos with numbers in them, and the number in a frame.
#pragma once

#include <opencv2/core.hpp>
#include <opencv2/videoio.hpp>
#include <optional>
#include <string>

#include "app/frame.h"
#include "app/live/barcode.h"

namespace convscope::testing {

inline cv::Mat barcode_picture(uint32_t number, int w = 352, int h = 192) {
  cv::Mat image(h, w, CV_8UC3, cv::Scalar(90, 120, 60));
  barcode::draw(number, w, h, 3, image.data);
  return image;
}

inline std::optional<uint32_t> number_in(const Frame& frame) {
  const PixelLayout& l = frame.layout;
  return barcode::read(
             l.w, l.h,
             [&](int64_t y, int64_t x) {
               return static_cast<int>(frame.pixels[static_cast<std::size_t>((y * l.w + x) * l.channels)]);
             })
      .number();
}

/// A video of barcodes 0, 1, ...; false where OpenCV cannot write this kind.
inline bool write_video(const std::string& path, const char* code, int frames, double fps,
                        cv::Size size = {352, 192}) {
  cv::VideoWriter writer(path, cv::CAP_FFMPEG, cv::VideoWriter::fourcc(code[0], code[1], code[2], code[3]),
                         fps, size);
  if (!writer.isOpened()) return false;
  for (int i = 0; i < frames; ++i)
    writer.write(barcode_picture(static_cast<uint32_t>(i), size.width, size.height));
  return true;
}

}  // namespace convscope::testing
