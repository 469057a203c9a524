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

/// An FMA takes four cycles and an SM's quarter starts one a cycle: four chains a thread and sixteen warps a
/// quarter leave no cycle empty.
constexpr int kChains = 4, kInner = 64, kBlocksPerSm = 8;

template <class T>
__global__ void __launch_bounds__(kThreads) multiply_add_kernel(int64_t steps, T factor, T* never) {
  T chains[kChains];
#pragma unroll
  for (int k = 0; k < kChains; ++k) chains[k] = static_cast<T>(threadIdx.x + k);
  for (int64_t step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < kInner; ++i) {
#pragma unroll
      for (int k = 0; k < kChains; ++k) chains[k] = fma(chains[k], factor, factor);
    }
  }
  T sum = 0;
#pragma unroll
  for (int k = 0; k < kChains; ++k) sum += chains[k];
  if (sum == static_cast<T>(-1)) *never = sum;  // what nobody reads the compiler leaves out
}

template <class T>
double start_multiply_add(int64_t steps, int blocks, cudaStream_t stream) {
  multiply_add_kernel<T><<<blocks, kThreads, 0, stream>>>(steps, static_cast<T>(0.5), nullptr);
  cuda::check(cudaGetLastError(), "multiply_add");
  return static_cast<double>(steps) * kInner * kChains * kThreads * blocks;
}

}  // namespace

void copy_on_device(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  const std::size_t count = bytes / sizeof(float4), block = std::size_t{kThreads} * kVectors;
  if (count == 0) return;
  copy_kernel<<<static_cast<unsigned>((count + block - 1) / block), kThreads, 0, stream>>>(
      static_cast<const float4*>(from), static_cast<float4*>(to), count);
  cuda::check(cudaGetLastError(), "copy");
}

void empty_on_device(cudaStream_t stream) {
  empty_kernel<<<1, 32, 0, stream>>>();
  cuda::check(cudaGetLastError(), "empty");
}

double multiply_add_on_device(Precision precision, int64_t steps, cudaStream_t stream) {
  int processors = 0;
  cuda::check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "multiprocessors");
  const int blocks = processors * kBlocksPerSm;
  return precision == Precision::fp64 ? start_multiply_add<double>(steps, blocks, stream)
                                      : start_multiply_add<float>(steps, blocks, stream);
}

}  // namespace convscope::bench
