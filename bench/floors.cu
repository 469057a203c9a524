#include "bench/floors.h"
#include "kernels/targets/cuda_check.h"

namespace convscope::bench {
namespace {

constexpr int kThreads = 256, kVectors = 4;  // four loads in flight a thread

__global__ void copy_kernel(const float4* __restrict__ from, float4* __restrict__ to, std::size_t count) {
  const std::size_t first = std::size_t{blockIdx.x} * kThreads * kVectors + threadIdx.x;
  float4 values[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (first + i * kThreads < count) values[i] = from[first + i * kThreads];
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (first + i * kThreads < count) to[first + i * kThreads] = values[i];
  }
}

__global__ void empty_kernel() {}

}  // namespace

void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  const std::size_t count = bytes / sizeof(float4), block = std::size_t{kThreads} * kVectors;
  copy_kernel<<<static_cast<unsigned>((count + block - 1) / block), kThreads, 0, stream>>>(
      static_cast<const float4*>(from), static_cast<float4*>(to), count);
  cuda::check(cudaGetLastError(), "copy");
}

void empty(cudaStream_t stream) {
  empty_kernel<<<1, 32, 0, stream>>>();
  cuda::check(cudaGetLastError(), "empty");
}

}  // namespace convscope::bench
