// Video files, named pipes and URLs through OpenCV's FFmpeg.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <opencv2/core.hpp>
#include <string_view>
#include <utility>

#include "app/live/capture.h"
#include "app/live/readers.h"
#include "kernels/error.h"

namespace convscope {
namespace {

constexpr double kMostFps = 1000;  // above, a container's "frame rate" is its time base
constexpr int kNetworkTimeout = 10000;

/// Protocols whose frames come when the other side sends them.
bool is_broadcast(const std::string& source) {
  static constexpr std::array<std::string_view, 6> kProtocols{"rtsp", "rtmp", "rtp", "udp", "srt", "mms"};
  return std::any_of(kProtocols.begin(), kProtocols.end(),
                     [&](std::string_view p) { return source.starts_with(p); });
}

/// What the file system says, before the library says "no".
void check_file(const std::string& path, bool& is_pipe) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    throw Error(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  is_pipe = S_ISFIFO(status.st_mode);
  if (::access(path.c_str(), R_OK) != 0)
    throw Error(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  if (S_ISREG(status.st_mode) && status.st_size == 0)
    throw Error(fmt::format("{}: is empty (0 bytes)", path));
}

/// The quarter turns that the metadata asks for, in degrees clockwise; from now on ours to make: OpenCV 4.6
/// turns the wrong way (https://github.com/opencv/opencv/issues/22088).
int clockwise_turn(cv::VideoCapture& capture) {
  const auto told = static_cast<int>(capture.get(cv::CAP_PROP_ORIENTATION_META));
  if (told % 360 == 0 || !capture.set(cv::CAP_PROP_ORIENTATION_AUTO, 0)) return 0;
  const bool inverted = cv::getVersionMajor() == 4 && cv::getVersionMinor() == 6;
  return ((inverted ? -told : told) % 360 + 360) % 360;
}

/// The frame turned upright, in memory of the pool.
std::shared_ptr<Frame> turned(const Frame& frame, int degrees, FramePool& pool) {
  const PixelLayout& from = frame.layout;
  std::shared_ptr<Frame> out = pool.take(from.bytes());
  out->layout = from;
  if (degrees != 180) std::swap(out->layout.w, out->layout.h);
  const auto mat = [](const PixelLayout& l, const std::byte* data) {
    return cv::Mat(static_cast<int>(l.h), static_cast<int>(l.w), CV_8UC(l.channels),
                   const_cast<std::byte*>(data));
  };
  cv::Mat target = mat(out->layout, out->pixels.data());
  cv::rotate(mat(from, frame.pixels.data()), target,
             degrees == 90    ? cv::ROTATE_90_CLOCKWISE
             : degrees == 180 ? cv::ROTATE_180
                              : cv::ROTATE_90_COUNTERCLOCKWISE);
  return out;
}

class VideoReader : public FrameReader {
 public:
  explicit VideoReader(const std::string& source) : source_(source) {
    prepare_video_input();
    bool is_pipe = false;
    if (!is_url(source)) check_file(source, is_pipe);
    const std::vector<int> parameters =
        is_url(source) ? std::vector<int>{cv::CAP_PROP_OPEN_TIMEOUT_MSEC, kNetworkTimeout,
                                          cv::CAP_PROP_READ_TIMEOUT_MSEC, kNetworkTimeout}
                       : std::vector<int>{};
    if (!capture_.open(source, cv::CAP_FFMPEG, parameters))
      throw Error(
          is_url(source)
              ? fmt::format("{}: cannot be opened: no answer, not found, or no video that FFmpeg reads",
                            source)
              : fmt::format("{}: cannot be read as a video: damaged, cut off, without pictures or of a kind "
                            "that FFmpeg does not know",
                            source));
    describe(is_pipe);
  }

  const ReaderInfo& info() const override { return info_; }

  void seek(int64_t index) override {
    // exact: OpenCV decodes from the key frame before
    if (!capture_.set(cv::CAP_PROP_POS_FRAMES, static_cast<double>(index)))
      throw Error(fmt::format("{}: frame {} cannot be reached", source_, index));
    index_ = index;
    seconds_ = -1;
  }

 protected:
  std::shared_ptr<Frame> next(FramePool& pool) override {
    while (capture_.grab()) {
      std::shared_ptr<Frame> frame = retrieve(capture_, pool, size_);
      const int64_t index = index_++;
      if (!frame) continue;
      if (turn_ != 0) frame = turned(*frame, turn_, pool);
      note_repeats(frame, index);
      frame->name = source_;
      frame->format = info_.format + (frame->layout.channels == 1 ? " 8-bit grey" : " 8-bit BGR");
      frame->index = index;
      frame->seconds = time_of(index);
      if (info_.w != 0 && (info_.w != frame->layout.w || info_.h != frame->layout.h))
        info_.note = fmt::format("the size changed from {}x{} at frame {}", info_.w, info_.h, index);
      info_.w = frame->layout.w, info_.h = frame->layout.h;
      return frame;
    }
    if (info_.live)
      throw Error(
          fmt::format("{}: the stream ended or nothing came for {} s", source_, kNetworkTimeout / 1000));
    if (index_ == 0) throw Error(fmt::format("{}: not one picture of it can be decoded", source_));
    if (info_.frames > 0 && index_ < info_.frames) {
      // the header's count is an estimate for some containers, and a promise that a cut file breaks
      info_.note = fmt::format("ends after {} frames, {} were announced", index_, info_.frames);
      info_.frames = index_;
    }
    return nullptr;
  }

 private:
  void describe(bool is_pipe) {
    const auto number = [&](int property) {
      const double value = capture_.get(property);
      return std::isfinite(value) && value > 0 ? value : 0;
    };
    const double frames = number(cv::CAP_PROP_FRAME_COUNT), fps = number(cv::CAP_PROP_FPS);
    info_.kind = is_url(source_) || is_pipe ? "stream" : "video";
    info_.format = four_letters(capture_.get(cv::CAP_PROP_FOURCC));
    info_.device = "FFmpeg";
    info_.fps = fps <= kMostFps ? fps : 0;
    if (!is_pipe && frames >= 1 && frames < 1e9) info_.frames = static_cast<int64_t>(frames);
    if (info_.frames > 0 && info_.fps > 0) info_.seconds = static_cast<double>(info_.frames) / info_.fps;
    info_.live = is_broadcast(source_) || (is_url(source_) && info_.frames == 0);
    info_.seekable = info_.frames > 0 && !info_.live;
    turn_ = clockwise_turn(capture_);
    if (turn_ != 0) rotation_note_ = fmt::format("turned by {} degrees, as its metadata says", turn_);
    info_.note = rotation_note_;
  }

  /// The container's time where it rises, otherwise counted: some give none for their last frames.
  double time_of(int64_t index) {
    const double interval = 1 / (info_.fps > 0 ? info_.fps : 30);
    const double told = capture_.get(cv::CAP_PROP_POS_MSEC) / 1000;
    if (seconds_ < 0) {
      seconds_ = told > 0 ? told : static_cast<double>(index) * interval;
    } else {
      seconds_ = told > seconds_ ? told : seconds_ + interval;
    }
    return seconds_;
  }

  /// Where the size changes in mid-stream, OpenCV 4.6 with FFmpeg 5 gives the last picture again and again
  /// and calls it a success; so does a video that stands still. Said, since it cannot be told apart.
  void note_repeats(const std::shared_ptr<Frame>& frame, int64_t index) {
    constexpr int kMany = 15;
    const bool same = last_ && last_->pixels.size() == frame->pixels.size() &&
                      std::memcmp(last_->pixels.data(), frame->pixels.data(), frame->pixels.size()) == 0;
    last_ = frame;
    if (repeats_ >= kMany && !same) info_.note = rotation_note_;
    repeats_ = same ? repeats_ + 1 : 0;
    if (repeats_ == kMany)
      info_.note = fmt::format(
          "the same picture since frame {}: it stands still, or goes on in another size, which OpenCV {} "
          "does "
          "not follow",
          index - kMany, cv::getVersionString());
  }

  const std::string source_;
  cv::VideoCapture capture_;
  ReaderInfo info_;
  cv::Size size_;
  int turn_ = 0;  // degrees clockwise
  std::string rotation_note_;
  std::shared_ptr<Frame> last_;
  int repeats_ = 0;  // frames in a row that equal the one before
  int64_t index_ = 0;
  double seconds_ = -1;  // of the last frame; below 0: none since the last seek
};

}  // namespace

std::unique_ptr<FrameReader> open_video(const std::string& source) {
  return std::make_unique<VideoReader>(source);
}

}  // namespace convscope
