// Webcams through Video4Linux and OpenCV. Exposure and every other control stay as they are.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "app/live/camera.h"
#include "app/live/capture.h"
#include "app/live/readers.h"
#include "app/seconds.h"
#include "kernels/error.h"

namespace convscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kDropped = 3;       // first frames: half filled, or of an exposure still being found
constexpr int kMostDamaged = 30;  // frames in a row that are no JPEG, as from a bad cable
constexpr int kWidth = 1920, kHeight = 1080;  // asked for where nothing is said
constexpr double kRate = 30;

/// Waits for a node that is busy: the program's own last use of it may be just ending.
std::string lasting_fault(const std::string& node) {
  std::string fault = camera_fault(node);
  for (int i = 0; i < 20 && fault.find("used by another") != std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    fault = camera_fault(node);
  }
  return fault;
}

class CameraReader : public FrameReader {
 public:
  explicit CameraReader(const std::string& source)
      : source_(source), request_(parse_camera(source)), node_(fmt::format("/dev/video{}", request_.number)) {
    prepare_video_input();
    if (const std::string fault = lasting_fault(node_); !fault.empty())
      throw Error(fmt::format("{}: {}", source_, fault));
    if (!capture_.open(request_.number, cv::CAP_V4L2))
      throw Error(fmt::format("{}: {} is there, but does not start", source_, node_));
    ask();
    describe();
    for (int i = 0; i < kDropped; ++i) {
      if (!capture_.grab()) throw Error(fmt::format("{}: open, but no frame comes", source_));
    }
  }

  const ReaderInfo& info() const override { return info_; }

 protected:
  std::shared_ptr<Frame> next(FramePool& pool) override {
    for (int damaged = 0; damaged < kMostDamaged; ++damaged) {
      if (!capture_.grab()) throw Error(fmt::format("{}: no frame comes any more; unplugged?", source_));
      std::shared_ptr<Frame> frame = retrieve(capture_, pool, size_);
      if (!frame) continue;
      frame->name = source_;
      frame->format = info_.format + (frame->layout.channels == 1 ? " 8-bit grey" : " 8-bit BGR");
      frame->index = index_++;
      stamp(*frame);
      info_.w = frame->layout.w, info_.h = frame->layout.h;
      return frame;
    }
    throw Error(fmt::format("{}: {} frames in a row are damaged; another cable or a smaller size may help",
                            source_, kMostDamaged));
  }

 private:
  /// Compressed first: uncompressed 1080p does not fit through USB 2 at more than 5 frames a second.
  void ask() {
    capture_.set(cv::CAP_PROP_FOURCC, cv::VideoWriter::fourcc('M', 'J', 'P', 'G'));
    capture_.set(cv::CAP_PROP_FRAME_WIDTH, request_.w > 0 ? request_.w : kWidth);
    capture_.set(cv::CAP_PROP_FRAME_HEIGHT, request_.h > 0 ? request_.h : kHeight);
    capture_.set(cv::CAP_PROP_FPS, request_.fps > 0 ? request_.fps : kRate);
  }

  /// What was really given.
  void describe() {
    info_.kind = "camera";
    for (const CameraNode& camera : list_cameras()) {
      if (camera.number == request_.number) info_.device = camera.name;
    }
    info_.format = four_letters(capture_.get(cv::CAP_PROP_FOURCC));
    info_.w = static_cast<int64_t>(capture_.get(cv::CAP_PROP_FRAME_WIDTH));
    info_.h = static_cast<int64_t>(capture_.get(cv::CAP_PROP_FRAME_HEIGHT));
    const double fps = capture_.get(cv::CAP_PROP_FPS);
    info_.fps = std::isfinite(fps) && fps > 0 ? fps : 0;
    info_.live = info_.never_repeats = true;
    const bool other_size = request_.w > 0 && (info_.w != request_.w || info_.h != request_.h);
    const bool other_rate = request_.fps > 0 && std::fabs(info_.fps - request_.fps) > 0.01 * request_.fps;
    if (other_size) info_.note = fmt::format("{}x{} was asked for", request_.w, request_.h);
    if (other_rate)
      info_.note += fmt::format("{}{:g} fps were asked for", other_size ? ", " : "", request_.fps);
  }

  /// The driver's time of the frame where it is of this clock, otherwise now.
  void stamp(Frame& frame) {
    const Clock::time_point now = Clock::now();
    const double driver = capture_.get(cv::CAP_PROP_POS_MSEC) / 1000;
    const Clock::time_point taken{duration_of(driver)};
    const bool credible = taken <= now && now - taken < std::chrono::seconds(1);
    frame.captured = credible ? taken : now;
    if (index_ == 1) first_ = frame.captured;
    frame.seconds = std::chrono::duration<double>(frame.captured - first_).count();
  }

  const std::string source_;
  const CameraRequest request_;
  const std::string node_;
  cv::VideoCapture capture_;
  ReaderInfo info_;
  cv::Size size_;
  int64_t index_ = 0;
  Clock::time_point first_{};
};

}  // namespace

std::unique_ptr<FrameReader> open_camera(const std::string& source) {
  return std::make_unique<CameraReader>(source);
}

}  // namespace convscope
