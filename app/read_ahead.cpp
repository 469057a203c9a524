#include "app/read_ahead.h"

#include <utility>

namespace convscope {
namespace {

constexpr std::size_t kAhead = 4;  // frames

}  // namespace

ReadAhead::ReadAhead(std::unique_ptr<FrameReader> reader, FramePool& pool)
    : reader_(std::move(reader)), pool_(pool), info_(reader_->info()), thread_([this] { loop(); }) {}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

FramePtr ReadAhead::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !frames_.empty() || ended_; });
  if (frames_.empty()) {
    if (fault_) std::rethrow_exception(std::exchange(fault_, nullptr));
    return nullptr;
  }
  FramePtr frame = std::move(frames_.front());
  frames_.pop_front();
  lock.unlock();
  changed_.notify_all();
  return frame;
}

void ReadAhead::loop() {
  std::unique_lock lock(mutex_);
  while (!stop_ && !ended_) {
    changed_.wait(lock, [this] { return stop_ || info_.live || frames_.size() < kAhead; });
    if (stop_) return;
    lock.unlock();
    FramePtr frame;
    std::exception_ptr fault;
    try {
      frame = reader_->read(pool_);
    } catch (...) {
      fault = std::current_exception();
    }
    lock.lock();
    fault_ = fault;
    ended_ = !frame;
    if (info_.live && frame) frames_.clear();
    if (frame) frames_.push_back(std::move(frame));
    changed_.notify_all();
  }
}

}  // namespace convscope
