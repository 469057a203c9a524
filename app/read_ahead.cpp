#include "app/read_ahead.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

namespace convscope {
namespace {

constexpr std::size_t kAhead = 4;             // frames
constexpr std::chrono::seconds kPatience{1};  // with a call that goes on at the end

}  // namespace

/// What the reading thread and the one that takes share.
struct ReadAhead::Shared {
  std::shared_ptr<FramePool> pool;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::optional<ReaderInfo> info;  // as it was opened
  std::deque<FramePtr> frames;
  std::exception_ptr fault;
  bool ended = false;  // no frame follows those that are here
  bool stop = false, gone = false;

  void rethrow() {
    if (fault) std::rethrow_exception(std::exchange(fault, nullptr));
  }
};

ReadAhead::ReadAhead(Open open, std::shared_ptr<FramePool> pool) : shared_(std::make_shared<Shared>()) {
  shared_->pool = std::move(pool);
  thread_ = std::thread([shared = shared_, open = std::move(open)] {
    std::exception_ptr fault;
    try {
      read_all(open, *shared);
    } catch (...) {
      fault = std::current_exception();
    }
    {
      const std::lock_guard lock(shared->mutex);
      shared->fault = fault;
      shared->ended = shared->gone = true;
    }
    shared->changed.notify_all();
  });
}

ReadAhead::~ReadAhead() {
  bool gone = false;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
    gone = shared_->changed.wait_for(lock, kPatience, [this] { return shared_->gone; });
  }
  if (gone) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

std::optional<ReaderInfo> ReadAhead::opened(Clock::time_point until, const std::stop_token& stop) {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_until(lock, stop, until, [this] { return shared_->info || shared_->ended; });
  if (!shared_->info) shared_->rethrow();
  return shared_->info;
}

FramePtr ReadAhead::take(Clock::time_point until, const std::stop_token& stop) {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_until(lock, stop, until,
                              [this] { return !shared_->frames.empty() || shared_->ended; });
  if (stop.stop_requested()) return nullptr;
  if (shared_->frames.empty()) {
    shared_->rethrow();
    return nullptr;
  }
  FramePtr frame = std::move(shared_->frames.front());
  shared_->frames.pop_front();
  lock.unlock();
  shared_->changed.notify_all();
  return frame;
}

bool ReadAhead::ended() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->ended && shared_->frames.empty();
}

void ReadAhead::read_all(const Open& open, Shared& shared) {
  const std::unique_ptr<FrameReader> reader = open();
  std::unique_lock lock(shared.mutex);
  const bool live = reader->info().live;
  shared.info = reader->info();
  shared.changed.notify_all();
  while (true) {
    shared.changed.wait(lock, [&] { return shared.stop || live || shared.frames.size() < kAhead; });
    if (shared.stop) return;
    lock.unlock();
    FramePtr frame = reader->read(*shared.pool);
    lock.lock();
    if (!frame) return;
    if (live) shared.frames.clear();
    shared.frames.push_back(std::move(frame));
    shared.changed.notify_all();
  }
}

}  // namespace convscope
