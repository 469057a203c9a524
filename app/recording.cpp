#include "app/recording.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>
#include <span>

#include "app/files.h"
#include "kernels/error.h"

namespace convscope {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kWaiting = 8;  // pictures

uint64_t free_where(const std::string& path) {
  std::error_code fault;
  const fs::path folder = fs::absolute(path, fault).parent_path();
  const fs::space_info space = fs::space(folder, fault);
  return fault ? UINT64_MAX : space.available;
}

/// Throws where a file of this name cannot be made; makes it.
void try_to_write(const std::string& path) {
  errno = 0;
  if (!std::ofstream(path, std::ios::binary | std::ios::app))
    throw Error(fmt::format("{}: cannot be written ({})", path, std::strerror(errno)));
}

}  // namespace

class Recording::Sink {
 public:
  virtual ~Sink() = default;
  /// Throws Error.
  virtual void write(const cv::Mat&, double at) = 0;
  virtual void close() = 0;
  virtual uint64_t bytes() const = 0;
};

class Recording::Video final : public Sink {
 public:
  explicit Video(std::string path) : path_(std::move(path)) { try_to_write(path_); }

  void write(const cv::Mat& picture, double at) override {
    if (!writer_.isOpened()) open(picture, at);
    if (picture.size() != size_)
      throw Error(fmt::format("{}: the view changed from {}x{} to {}x{}, a video has one size", path_,
                              size_.width, size_.height, picture.cols, picture.rows));
    // what was on screen until now fills the places that have passed
    const auto place = static_cast<int64_t>(std::floor((at - first_at_) * kVideoFps));
    for (; place_ < place && !last_.empty(); ++place_) writer_.write(last_);
    last_ = picture;
  }
  void close() override {
    if (!last_.empty()) writer_.write(last_);
    last_.release();
    writer_.release();
  }
  uint64_t bytes() const override {
    std::error_code fault;
    const auto bytes = fs::file_size(path_, fault);
    return fault ? 0 : bytes;
  }

 private:
  void open(const cv::Mat& picture, double at) {
    size_ = picture.size();
    first_at_ = at;
    const int code = cv::VideoWriter::fourcc('M', 'J', 'P', 'G');
    // OpenCV's own writer: what FFmpeg is built with differs from machine to machine
    if (!writer_.open(path_, cv::CAP_OPENCV_MJPEG, code, kVideoFps, size_, true))
      throw Error(fmt::format("{}: the video could not be opened for writing", path_));
  }

  std::string path_;
  cv::VideoWriter writer_;
  cv::Size size_;
  cv::Mat last_;
  double first_at_ = 0;
  int64_t place_ = 0;
};

class Recording::Folder final : public Sink {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {
    std::error_code fault;
    fs::create_directories(path_, fault);
    if (!fs::is_directory(path_, fault))
      throw Error(fmt::format("{}: the folder cannot be made ({})", path_,
                              fault ? fault.message() : "a file is there"));
    const std::string probe = path_ + "/.convscope";
    try_to_write(probe);
    fs::remove(probe, fault);
  }
  void write(const cv::Mat& picture, double) override {
    std::vector<uint8_t> png;
    // the fastest compression: the disk has to follow the screen
    if (!cv::imencode(".png", picture, png, {cv::IMWRITE_PNG_COMPRESSION, 1}))
      throw Error(path_ + ": a picture could not be encoded as PNG");
    write_file(fmt::format("{}/{:06}.png", path_, ++count_), std::as_bytes(std::span(png)));
    bytes_ += png.size();
  }
  void close() override {}
  uint64_t bytes() const override { return bytes_; }

 private:
  std::string path_;
  uint64_t count_ = 0, bytes_ = 0;
};

Recording::Recording(std::string path, FreeBytes free_bytes)
    : path_(std::move(path)), free_bytes_(free_bytes ? std::move(free_bytes) : free_where) {
  if (path_.empty()) throw Error("the recording has no name, expected NAME.avi or a folder");
  if (fs::path(path_).extension() == ".avi") {
    sink_ = std::make_unique<Video>(path_);
  } else {
    sink_ = std::make_unique<Folder>(path_);
  }
  progress_.path = path_;
  thread_ = std::thread([this] { loop(); });
}

Recording::~Recording() { finish(); }

void Recording::finish() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Recording::add(cv::Mat picture, double at) {
  {
    const std::lock_guard lock(mutex_);
    if (stop_ || progress_.ended) return;
    if (waiting_.size() == kWaiting) {
      ++progress_.left_out;
      return;
    }
    waiting_.push_back({std::move(picture), at});
  }
  changed_.notify_one();
}

RecordingProgress Recording::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

bool Recording::write(const Picture& picture) {
  std::string fault;
  try {
    if (const uint64_t free = free_bytes_(path_); free < kLeastFree)
      throw Error(fmt::format("{}: the disk is full, {:.1f} MB are free and {:.1f} MB are left alone", path_,
                              static_cast<double>(free) / 1e6, static_cast<double>(kLeastFree) / 1e6));
    sink_->write(picture.pixels, picture.at);
  } catch (const std::exception& e) {
    fault = e.what();
  }
  const uint64_t bytes = sink_->bytes();
  const std::lock_guard lock(mutex_);
  if (!fault.empty()) {
    progress_.fault = fmt::format("{}; {} pictures were recorded", fault, progress_.pictures);
    return false;
  }
  if (progress_.pictures++ == 0) first_at_ = picture.at;
  progress_.seconds = picture.at - first_at_;
  progress_.bytes = bytes;
  return true;
}

void Recording::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (waiting_.empty()) break;
    const Picture picture = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const bool good = write(picture);
    lock.lock();
    if (!good) break;
  }
  waiting_.clear();
  lock.unlock();
  sink_->close();
  const uint64_t bytes = sink_->bytes();
  lock.lock();
  progress_.bytes = bytes;
  progress_.ended = true;
}

}  // namespace convscope
