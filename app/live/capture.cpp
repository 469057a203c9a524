#include "app/live/capture.h"

#include <cstdlib>
#include <cstring>
#include <opencv2/core/utils/logger.hpp>

#include "app/image_file.h"
#include "kernels/error.h"

namespace convscope {

void prepare_video_input() {
  static const bool once = [] {
    ::setenv("OPENCV_FFMPEG_LOGLEVEL", "-8", 0);            // AV_LOG_QUIET
    ::setenv("OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT", "2", 0);  // seconds
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    return true;
  }();
  static_cast<void>(once);
}

std::shared_ptr<Frame> retrieve(cv::VideoCapture& capture, FramePool& pool, cv::Size& size) {
  // OpenCV copies into what it is given, if that has the right size: the only copy, into memory used before
  std::shared_ptr<Frame> frame;
  cv::Mat image;
  if (size.area() > 0) {
    frame = pool.take(static_cast<std::size_t>(size.area()) * 3);
    image = cv::Mat(size, CV_8UC3, frame->pixels.data());
  }
  if (!capture.retrieve(image) || image.empty()) return nullptr;
  if (image.depth() != CV_8U || (image.channels() != 1 && image.channels() != 3))
    throw Error("frames of OpenCV type " + cv::typeToString(image.type()) + ", expected 8-bit grey or BGR");
  if (!frame || image.data != reinterpret_cast<uint8_t*>(frame->pixels.data())) {
    if (!image.isContinuous()) image = image.clone();
    const std::size_t bytes = image.total() * image.elemSize();
    frame = pool.take(bytes);
    std::memcpy(frame->pixels.data(), image.data, bytes);
    size = image.channels() == 3 ? image.size() : cv::Size();
  }
  const int channels = image.channels();
  frame->layout = {.type = PixelType::u8,
                   .w = image.cols,
                   .h = image.rows,
                   .channels = channels,
                   .planes = channels,
                   .reverse = channels == 3};
  return frame;
}

std::string four_letters(double code) {
  const auto number = static_cast<uint32_t>(static_cast<int64_t>(code));
  std::string text;
  for (int i = 0; i < 4; ++i) {
    const auto c = static_cast<char>(number >> (8 * i) & 0xff);
    if (c < 32 || c > 126) return "";
    if (c != ' ') text += c;
  }
  return text;
}

}  // namespace convscope
