// Sources made up for tests: whatever a device may do, on command.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "app/live/live_source.h"
#include "kernels/error.h"

namespace convscope::testing {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
inline void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Whether it came true in time.
inline bool comes(const std::function<bool()>& wanted, double seconds) {
  for (const auto start = Clock::now(); seconds_since(start) < seconds; nap(0.002)) {
    if (wanted()) return true;
  }
  return wanted();
}

/// A door that threads wait at.
class Gate {
 public:
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

/// A grey frame whose first pixels are its number.
inline std::shared_ptr<Frame> numbered_frame(FramePool& pool, uint32_t number, int64_t w = 16,
                                             int64_t h = 8) {
  auto frame = pool.take(static_cast<std::size_t>(w * h));
  frame->layout = {.w = w, .h = h, .channels = 1, .planes = 1};
  std::memset(frame->pixels.data(), 7, frame->pixels.size());
  std::memcpy(frame->pixels.data(), &number, sizeof number);
  frame->index = number;
  return frame;
}
inline uint32_t number_of(const Frame& frame) {
  uint32_t number = 0;
  std::memcpy(&number, frame.pixels.data(), sizeof number);
  return number;
}

/// A reader that does what its function says with each read.
class FakeReader : public FrameReader {
 public:
  using Read = std::function<std::shared_ptr<Frame>(FramePool&, uint32_t number, ReaderInfo&)>;
  FakeReader(ReaderInfo info, Read read) : info_(std::move(info)), read_(std::move(read)) {}
  const ReaderInfo& info() const override { return info_; }
  void seek(int64_t index) override { number_ = static_cast<uint32_t>(index); }

 protected:
  std::shared_ptr<Frame> next(FramePool& pool) override {
    const uint32_t number = number_++;
    auto frame = read_(pool, number, info_);
    if (frame && info_.fps > 0 && !info_.live) frame->seconds = number / info_.fps;
    return frame;
  }

 private:
  ReaderInfo info_;
  Read read_;
  uint32_t number_ = 0;
};

inline ReaderInfo camera_info(double fps = 30) {
  ReaderInfo info;
  info.kind = "camera";
  info.fps = fps;
  info.live = info.never_repeats = true;
  return info;
}

inline ReaderInfo file_info(int64_t frames, double fps) {
  ReaderInfo info;
  info.kind = "video";
  info.fps = fps;
  info.frames = frames;
  info.seconds = static_cast<double>(frames) / fps;
  info.seekable = true;
  return info;
}

/// A file of so many frames, read at once.
inline std::unique_ptr<FrameReader> fake_file(int64_t frames, double fps) {
  return std::make_unique<FakeReader>(
      file_info(frames, fps), [frames](FramePool& pool, uint32_t number, ReaderInfo&) {
        return static_cast<int64_t>(number) < frames ? numbered_frame(pool, number) : nullptr;
      });
}

/// A camera of `fps` whose frame of this number takes `longer` seconds more.
inline std::unique_ptr<FrameReader> fake_camera(double fps,
                                                std::function<double(uint32_t)> longer = nullptr) {
  return std::make_unique<FakeReader>(camera_info(),
                                      [fps, longer](FramePool& pool, uint32_t number, ReaderInfo&) {
                                        nap(1 / fps + (longer ? longer(number) : 0));
                                        return numbered_frame(pool, number);
                                      });
}

inline bool is(const LiveSource& source, LiveState state) { return source.status().state == state; }

/// The frame that is taken next, waiting for it.
inline FramePtr next_frame(LiveSource& source, double seconds = 3) {
  FramePtr frame;
  comes([&] { return (frame = source.take_newest()) != nullptr; }, seconds);
  return frame;
}

}  // namespace convscope::testing
