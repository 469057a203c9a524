#include "app/live/first_frame.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "kernels/error.h"

namespace convscope {
namespace {

/// What the reading thread and the waiting one share; the thread may outlive the wait.
struct Reading {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t steps = 0;  // the source was opened, or gave a frame
  bool done = false, given_up = false;
  FramePtr frame;
  std::exception_ptr fault;

  /// False where nobody waits any more.
  bool step() {
    const std::lock_guard lock(mutex);
    ++steps;
    changed.notify_all();
    return !given_up;
  }
};

FramePtr read_to(FrameReader& reader, const std::string& source, int64_t index, Reading& reading) {
  FramePool pool;
  const ReaderInfo& info = reader.info();
  int64_t at = 0;
  if (info.seekable && index > 0 && (info.frames == 0 || index < info.frames)) {
    reader.seek(index);
    at = index;
  }
  for (;; ++at) {
    const std::shared_ptr<Frame> frame = reader.read(pool);
    if (!frame)
      throw Error(fmt::format("{}: has {} frame{}, frame {} was asked for (the first is 0)", source, at,
                              at == 1 ? "" : "s", index));
    if (at == index || !reading.step()) return frame;
  }
}

}  // namespace

FramePtr read_one_frame(const std::string& source, const ReaderOptions& options, int64_t index,
                        double patience) {
  const auto reading = std::make_shared<Reading>();
  std::thread([=] {
    FramePtr frame;
    std::exception_ptr fault;
    try {
      const std::unique_ptr<FrameReader> reader = open_reader(source, options);
      reading->step();
      frame = read_to(*reader, source, index, *reading);
    } catch (...) {
      fault = std::current_exception();
    }
    const std::lock_guard lock(reading->mutex);
    reading->frame = std::move(frame);
    reading->fault = std::move(fault);
    reading->done = true;
    reading->changed.notify_all();
  }).detach();

  std::unique_lock lock(reading->mutex);
  while (!reading->done) {
    const uint64_t before = reading->steps;
    const bool came = reading->changed.wait_for(lock, std::chrono::duration<double>(patience),
                                                [&] { return reading->done || reading->steps != before; });
    if (!came) {
      reading->given_up = true;
      throw Error(fmt::format("{}: {} for {:g} seconds", source,
                              before == 0 ? "could not be opened" : "no frame came", patience));
    }
  }
  if (reading->fault) std::rethrow_exception(reading->fault);
  return reading->frame;
}

}  // namespace convscope
