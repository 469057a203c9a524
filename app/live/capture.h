#pragma once

#include <memory>
#include <opencv2/videoio.hpp>
#include <string>

#include "app/frame.h"
#include "app/live/frame_pool.h"

namespace convscope {

/// OpenCV's video input says nothing on stderr by itself, gives up on a silent camera after two seconds. A
/// variable that the user has set stands. As of prepare_image_input(), before other threads start.
void prepare_video_input();

/// The picture that capture.grab() has just made, as pixels of the pool: 8-bit grey or BGR. Null where it
/// cannot be decoded. `size`: of the last one, taken as that of the next, and set to what it is.
std::shared_ptr<Frame> retrieve(cv::VideoCapture& capture, FramePool& pool, cv::Size& size);

/// "MJPG" from the number that OpenCV gives; empty where it is none.
std::string four_letters(double code);

}  // namespace convscope
