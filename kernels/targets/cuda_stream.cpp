#include <mutex>
#include <vector>

#include "kernels/targets/cuda_check.h"

namespace convscope::cuda {
namespace {

thread_local cudaStream_t thread_stream = nullptr;

cudaStream_t make_stream() {
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "stream");
  return made;
}

/// Streams that no thread has now.
struct IdleStreams {
  std::mutex mutex;
  std::vector<cudaStream_t> streams;
};
IdleStreams& idle_streams() {
  static auto* const idle = new IdleStreams;  // outlives every thread
  return *idle;
}

}  // namespace

cudaStream_t stream() {
  if (thread_stream != nullptr) return thread_stream;
  static const cudaStream_t common = make_stream();
  return common;
}

bool recording_graph() noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return thread_stream != nullptr && cudaStreamIsCapturing(thread_stream, &status) == cudaSuccess &&
         status != cudaStreamCaptureStatusNone;
}

ThreadStream::ThreadStream() : own_(nullptr), before_(thread_stream) {
  IdleStreams& idle = idle_streams();
  {
    const std::lock_guard lock(idle.mutex);
    if (!idle.streams.empty()) {
      own_ = idle.streams.back();
      idle.streams.pop_back();
    }
  }
  if (own_ == nullptr) own_ = make_stream();
  thread_stream = own_;
}

ThreadStream::~ThreadStream() {
  check_no_throw(cudaStreamSynchronize(own_), "the end of a thread's stream");
  thread_stream = before_;
  IdleStreams& idle = idle_streams();
  const std::lock_guard lock(idle.mutex);
  idle.streams.push_back(own_);
}

}  // namespace convscope::cuda
