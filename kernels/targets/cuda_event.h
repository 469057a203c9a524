#pragma once

#include <utility>

#include "kernels/targets/cuda_check.h"

namespace convscope::cuda {

/// A point in a stream. Not movable, so that the rings which hold events stay where they are.
class Event {
 public:
  /// `timed`: ms_since() is wanted; others cost less.
  explicit Event(bool timed = true) {
    check(cudaEventCreateWithFlags(&event_, timed ? cudaEventDefault : cudaEventDisableTiming), "event");
  }
  ~Event() { check_no_throw(cudaEventDestroy(event_), "event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t on) { check(cudaEventRecord(event_, on), "event record"); }
  /// What `then` is given from now on comes after this point.
  void before(cudaStream_t then) { check(cudaStreamWaitEvent(then, event_), "event order"); }
  /// Whether the point has been passed; true before the first record(). Never waits.
  bool done() const {
    const cudaError_t state = cudaEventQuery(event_);
    if (state == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    check(state, "event query");
    return true;
  }
  void wait() { check(cudaEventSynchronize(event_), "event"); }
  double ms_since(const Event& start) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start.event_, event_), "event time");
    return ms;
  }
  void swap(Event& other) noexcept { std::swap(event_, other.event_); }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace convscope::cuda
