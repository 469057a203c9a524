// GStreamer pipelines through OpenCV. They pace themselves by their own clock.
#include <fmt/format.h>

#include <cmath>
#include <opencv2/videoio.hpp>
#include <opencv2/videoio/registry.hpp>

#include "app/live/capture.h"
#include "app/live/gst_parse.h"
#include "app/live/readers.h"
#include "kernels/error.h"

namespace convscope {
namespace {

bool has_gstreamer() {
  for (const cv::VideoCaptureAPIs api : cv::videoio_registry::getStreamBackends()) {
    if (api == cv::CAP_GSTREAMER) return true;
  }
  return false;
}

class GstReader : public FrameReader {
 public:
  explicit GstReader(const std::string& source) : source_(source) {
    prepare_video_input();
    std::string pipeline = source.substr(4);
    if (pipeline.find_first_not_of(" \t") == std::string::npos)
      throw Error(fmt::format("{}: no pipeline, expected gst:SOURCE ! ..., as gst:videotestsrc", source));
    if (!has_gstreamer()) throw Error(fmt::format("{}: this OpenCV was built without GStreamer", source));
    if (pipeline.find("appsink") == std::string::npos)
      pipeline += " ! videoconvert ! video/x-raw,format=BGR ! appsink max-buffers=2";
    if (const std::string fault = pipeline_fault(pipeline); !fault.empty())
      throw Error(fmt::format("{}: GStreamer does not take this pipeline: {}", source, fault));
    if (!capture_.open(pipeline, cv::CAP_GSTREAMER))
      throw Error(fmt::format(
          "{}: the pipeline does not start: its source is missing or busy, or its caps cannot be met",
          source));
    info_.kind = "gst";
    info_.device = "GStreamer";
    info_.format = "video/x-raw";
    const double fps = capture_.get(cv::CAP_PROP_FPS);
    info_.fps = std::isfinite(fps) && fps > 0 ? fps : 0;
    info_.live = true;
  }

  const ReaderInfo& info() const override { return info_; }

 protected:
  std::shared_ptr<Frame> next(FramePool& pool) override {
    if (!capture_.grab()) {
      // the end and a fault look alike through OpenCV; without one frame it can only be a fault
      if (index_ == 0) throw Error(fmt::format("{}: the pipeline ended before its first frame", source_));
      return nullptr;
    }
    std::shared_ptr<Frame> frame = retrieve(capture_, pool, size_);
    if (!frame) throw Error(fmt::format("{}: a frame could not be taken from the pipeline", source_));
    frame->name = source_;
    frame->format = frame->layout.channels == 1 ? "raw 8-bit grey" : "raw 8-bit BGR";
    frame->index = index_++;
    frame->seconds = capture_.get(cv::CAP_PROP_POS_MSEC) / 1000;
    info_.w = frame->layout.w, info_.h = frame->layout.h;
    return frame;
  }

 private:
  const std::string source_;
  cv::VideoCapture capture_;
  ReaderInfo info_;
  cv::Size size_;
  int64_t index_ = 0;
};

}  // namespace

std::unique_ptr<FrameReader> open_gst(const std::string& source) {
  return std::make_unique<GstReader>(source);
}

}  // namespace convscope
