#pragma once
// The CUDA runtime's errors, stream and memory, for host code of the cuda target.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>

namespace convscope::cuda {

/// Throws Error with CUDA's words for anything but success, and leaves no error behind. After an error that
/// CUDA cannot clear the device is marked lost: cuda_unavailable() says so, naming `what` and the stage last
/// enqueued.
void check(cudaError_t, const char* what);
/// The same for destructors: never throws.
void check_no_throw(cudaError_t, const char* what) noexcept;

/// The stream on which the calling thread's stages and strategies run: its ThreadStream's where it has one,
/// else the one of the process, made at first use.
cudaStream_t stream();

/// Gives the calling thread a stream of its own from construction to destruction, which waits for its work.
/// Streams go back to a pool and are never destroyed: the handle of a library may still be bound to one.
class ThreadStream {
 public:
  ThreadStream();
  ~ThreadStream();
  ThreadStream(const ThreadStream&) = delete;
  ThreadStream& operator=(const ThreadStream&) = delete;

 private:
  cudaStream_t own_, before_;
};

/// Whether the thread's own stream records a graph, when many calls of CUDA are refused.
bool recording_graph() noexcept;

/// Names what is enqueued next, for messages about errors that show later. A string literal.
void set_current_stage(const char* name);

/// Largest dynamic shared memory that a block may opt in to on the current device.
std::size_t max_shared_bytes();
/// Permits a kernel so much dynamic shared memory, and never less than before.
void raise_shared_bytes(const void* kernel, std::size_t bytes);
/// The L2 cache of the current device.
std::size_t l2_bytes();

/// Whether this build has a kernel for the current device, as CUDA answers it.
cudaError_t probe_kernel_image();

/// Move-only device memory.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// Throws Error with the size asked for and what is free.
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  void* get() const { return data_; }

 private:
  void* data_ = nullptr;
};

}  // namespace convscope::cuda
