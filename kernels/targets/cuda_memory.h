#pragma once

#include "kernels/runtime.h"
#include "kernels/targets/cuda_check.h"
#include "kernels/targets/host_runtime.h"

namespace convscope::cuda {

class CudaBuffer final : public Buffer {
 public:
  explicit CudaBuffer(std::size_t bytes) : memory_(bytes) {
    data_ = memory_.get();
    bytes_ = bytes;
  }

 private:
  DeviceMemory memory_;
};

class PinnedBuffer final : public Buffer {
 public:
  explicit PinnedBuffer(std::size_t bytes) {
    bytes_ = bytes;
    check_available(bytes);
    if (bytes > 0) check(cudaMallocHost(&data_, bytes), "pinned host memory");
  }
  ~PinnedBuffer() override {
    if (data_ != nullptr) check_no_throw(cudaFreeHost(data_), "free of pinned memory");
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
};

}  // namespace convscope::cuda
