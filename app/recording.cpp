#include "app/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "app/seconds.h"
#include "kernels/error.h"

namespace convscope {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kWaiting = 8;      // pictures
constexpr double kToCloseSeconds = 0.3;  // of kCloseSeconds, for the index of a video

uint64_t free_where(const std::string& path) {
  std::error_code fault;
  const fs::path folder = fs::absolute(path, fault).parent_path();
  const fs::space_info space = fs::space(folder, fault);
  return fault ? UINT64_MAX : space.available;
}

Clock::time_point in(double seconds) { return Clock::now() + duration_of(seconds); }

struct Picture {
  cv::Mat pixels;
  double at = 0;
};

}  // namespace

class Recording::Session {
 public:
  Session(std::string path, Options options)
      : path_(std::move(path)),
        free_bytes_(options.free_bytes ? std::move(options.free_bytes) : free_where),
        files_(make_recording_files(path_, options.file_bytes)),
        wake_(std::move(options.wake)) {
    progress_.path = path_;
  }

  void add(Picture picture) {
    {
      const std::lock_guard lock(mutex_);
      if (progress_.ending || progress_.ended) return;
      if (waiting_.size() == kWaiting) {
        ++progress_.left_out;
        return;
      }
      waiting_.push_back(std::move(picture));
    }
    changed_.notify_all();
  }

  void end(double seconds) {
    {
      const std::lock_guard lock(mutex_);
      progress_.ending = !progress_.ended;
      give_up_at_ = std::min(give_up_at_, in(seconds));
    }
    changed_.notify_all();
  }

  bool wait_until(Clock::time_point until) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, until, [this] { return progress_.ended; });
  }

  /// However often it is called, it has waited kCloseSeconds in all.
  void close() {
    if (close_at_ == Clock::time_point::max()) close_at_ = in(kCloseSeconds);
    end(kCloseSeconds - kToCloseSeconds);
    wait_until(close_at_);
  }

  RecordingProgress progress() const {
    const std::lock_guard lock(mutex_);
    return progress_;
  }

  /// Whoever is woken may be gone before a write that hangs comes back.
  void forget_wake() {
    const std::lock_guard lock(mutex_);
    wake_ = nullptr;
  }

  void loop() {
    while (const std::optional<Picture> picture = next()) {
      if (!write(*picture)) break;
    }
    std::string fault;
    try {
      files_->close();
    } catch (const std::exception& e) {
      fault = e.what();
    }
    const std::lock_guard lock(mutex_);
    if (progress_.fault.empty()) set_fault(fault);
    progress_.left_out += waiting_.size();
    waiting_.clear();
    progress_.bytes = files_->bytes();
    progress_.files = files_->files();
    progress_.ending = false;
    progress_.ended = true;
    changed_.notify_all();
    if (wake_) wake_();
  }

 private:
  /// Nothing where it was asked to end and all is written.
  std::optional<Picture> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return progress_.ending || !waiting_.empty(); });
    if (waiting_.empty()) return std::nullopt;
    Picture picture = std::move(waiting_.front());
    waiting_.pop_front();
    return picture;
  }

  /// Throws Error where nothing more may be written.
  void check() const {
    if (const uint64_t free = free_bytes_(path_); free < kLeastFree)
      throw Error(fmt::format("{}: the disk is full, {:.1f} MB are free and {:.1f} MB are left alone", path_,
                              static_cast<double>(free) / 1e6, static_cast<double>(kLeastFree) / 1e6));
    const std::lock_guard lock(mutex_);
    if (Clock::now() > give_up_at_)
      throw Error(fmt::format("{}: the disk was too slow for the last pictures", path_));
  }

  bool write(const Picture& picture) {
    std::string fault;
    bool replaced = false;
    try {
      replaced = !files_->write(picture.pixels, picture.at, [this] { check(); });
    } catch (const std::exception& e) {
      fault = e.what();
    }
    const std::lock_guard lock(mutex_);
    progress_.bytes = files_->bytes();
    progress_.files = files_->files();
    if (!fault.empty()) {
      ++progress_.left_out;
      set_fault(fault);
      return false;
    }
    if (!first_at_) first_at_ = picture.at;
    progress_.seconds = picture.at - *first_at_;
    ++(replaced ? progress_.left_out : progress_.pictures);
    return true;
  }

  void set_fault(const std::string& fault) {
    if (!fault.empty())
      progress_.fault = fmt::format("{}; {} pictures were recorded", fault, progress_.pictures);
  }

  const std::string path_;
  const std::function<uint64_t(const std::string&)> free_bytes_;
  const std::unique_ptr<RecordingFiles> files_;  // the thread's alone
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> wake_;
  std::deque<Picture> waiting_;
  RecordingProgress progress_;
  std::optional<double> first_at_;
  Clock::time_point give_up_at_ = Clock::time_point::max();
  Clock::time_point close_at_ = Clock::time_point::max();  // of close() alone
};

Recording::Recording(std::string path, Options options) {
  if (path.empty()) throw Error("the recording has no name, expected NAME.avi or a folder");
  session_ = std::make_shared<Session>(std::move(path), std::move(options));
  thread_ = std::thread([session = session_] { session->loop(); });
}

Recording::~Recording() {
  const bool ended = close().ended;
  session_->forget_wake();
  ended ? thread_.join() : thread_.detach();
}

RecordingProgress Recording::close() {
  session_->close();
  return session_->progress();
}

void Recording::add(cv::Mat picture, double at) { session_->add({std::move(picture), at}); }
void Recording::end(double seconds) { session_->end(seconds); }
bool Recording::wait(double seconds) { return session_->wait_until(in(seconds)); }
RecordingProgress Recording::progress() const { return session_->progress(); }

}  // namespace convscope
