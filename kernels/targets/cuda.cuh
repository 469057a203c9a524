#pragma once
// The cuda target: what emulated.h gives the host compiler, here by CUDA itself.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/error.h"
#include "kernels/launch_log.h"
#include "kernels/strategy.h"
#include "kernels/targets/cuda_check.h"
#include "kernels/targets/device_common.h"

#define TARGET cuda
#define CONVSCOPE_EMULATED 0
#define CONVSCOPE_CONSTANT(...) const __grid_constant__ __VA_ARGS__
#define CONVSCOPE_UNROLL _Pragma("unroll")
#define CONVSCOPE_UNROLL_MAPS _Pragma("unroll")
#define CONVSCOPE_LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define CONVSCOPE_PRAGMA(text) _Pragma(#text)
#define CONVSCOPE_UNROLL_BY(n) CONVSCOPE_PRAGMA(unroll n)

namespace convscope::cuda {

template <class T>
__device__ __forceinline__ T* shared_memory() {
  extern __shared__ __align__(16) unsigned char shared_bytes_[];
  return reinterpret_cast<T*>(shared_bytes_);
}

/// Waits until the group's threads, `threads` neighbours in whole warps, are here. Groups are numbered from 0
/// (barrier 0 is __syncthreads()'s), and every thread of the block comes equally often.
__device__ __forceinline__ void sync_group(int group, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(threads) : "memory");
}

template <class T>
using In = const T* __restrict__;
template <class T>
using Out = T* __restrict__;

template <Rounding R>
__device__ __forceinline__ float mad(float a, float b, float acc) {
  if constexpr (R == Rounding::fused) {
    return fmaf(a, b, acc);
  } else {
    return __fadd_rn(__fmul_rn(a, b), acc);
  }
}
template <Rounding R>
__device__ __forceinline__ double mad(double a, double b, double acc) {
  if constexpr (R == Rounding::fused) {
    return fma(a, b, acc);
  } else {
    return __dadd_rn(__dmul_rn(a, b), acc);
  }
}

template <class T>
__device__ __forceinline__ T read_only(const T* p) {
  return __ldg(p);
}

/// Reads four neighbours, aligned to 16 bytes, where `inside`; zeros elsewhere. In assembly, because the
/// compiler would branch, and behind a branch that lanes may take apart it gives up uniform registers.
__device__ __forceinline__ void load4_or_zero(const float* from, bool inside, float (&to)[4]) {
  asm("{\n .reg .pred p;\n setp.ne.s32 p, %5, 0;\n mov.f32 %0, 0f00000000;\n mov.f32 %1, 0f00000000;\n"
      " mov.f32 %2, 0f00000000;\n mov.f32 %3, 0f00000000;\n"
      " @p ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\n}"
      : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
      : "l"(from), "r"(static_cast<int>(inside)));
}

/// Reads two or four neighbours at once, aligned to as many.
__device__ __forceinline__ void read_only2(const float* from, float& a, float& b) {
  const float2 two = __ldg(reinterpret_cast<const float2*>(from));
  a = two.x, b = two.y;
}
__device__ __forceinline__ void read_only4(const float* from, float (&to)[4]) {
  const float4 four = __ldg(reinterpret_cast<const float4*>(from));
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

/// Writes four neighbours, 16 bytes of floats aligned to as many, past the caches as far as they go: outputs
/// are not read soon. In assembly, because the compiler takes four stores where its registers are not
/// neighbours.
__device__ __forceinline__ void store4(float* to, float a, float b, float c, float d) {
  asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(a), "f"(b), "f"(c), "f"(d)
               : "memory");
}
__device__ __forceinline__ void store4(double* to, double a, double b, double c, double d) {
  asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(to), "d"(a), "d"(b) : "memory");
  asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(to + 2), "d"(c), "d"(d) : "memory");
}

/// Writes a warp's kRuns * 32 neighbours, of which a lane has values[k] for to[32 * k + lane], in whole lines
/// of 128 bytes wherever `to` lies: values go round the lanes so that each store but the last begins where a
/// line does. Every lane of the warp comes here with the same `to`.
template <int kRuns>
__device__ __forceinline__ void store_lines(float* to, int lane, const float (&values)[kRuns]) {
  const int lead = static_cast<int>(-(reinterpret_cast<uintptr_t>(to) / sizeof(float)) % 32);
  float turned[kRuns];
#pragma unroll
  for (int k = 0; k < kRuns; ++k) turned[k] = __shfl_sync(~0u, values[k], (lane + lead) % 32);
  const bool low = lane < 32 - lead;
  float* const line = to + lead + lane;
#pragma unroll
  for (int k = 0; k + 1 < kRuns; ++k) line[32 * k] = low ? turned[k] : turned[k + 1];
  line[low ? 32 * (kRuns - 1) : -32] = low ? turned[kRuns - 1] : turned[0];
}

/// Starts a copy of 16 bytes into shared memory; zeros where not `inside`. Complete for the block after
/// copy_async_wait() and a barrier. Before compute capability 8.0 it is a copy through registers.
template <class T>
__device__ __forceinline__ void copy_async16(T* to, const T* from, bool inside) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(inside ? 16 : 0)
               : "memory");
#else
  *reinterpret_cast<float4*>(to) =
      inside ? *reinterpret_cast<const float4*>(from) : make_float4(0.0F, 0.0F, 0.0F, 0.0F);
#endif
}
/// Closes a group of the thread's copies, which may be empty.
__device__ __forceinline__ void copy_async_commit() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits until at most kGroups of the thread's newest groups are on their way.
template <int kGroups>
__device__ __forceinline__ void copy_async_wait() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
#endif
}

__device__ __forceinline__ uint32_t float_bits(float v) { return __float_as_uint(v); }
__device__ __forceinline__ float float_of_bits(uint32_t bits) { return __uint_as_float(bits); }
__device__ __forceinline__ int64_t ordered_bits(double v) {
  const auto bits = static_cast<int64_t>(__double_as_longlong(v));
  return bits < 0 ? INT64_MIN - bits : bits;
}
__device__ __forceinline__ int64_t ordered_bits(float v) {
  const int bits = __float_as_int(v);
  return bits < 0 ? static_cast<int64_t>(INT32_MIN) - bits : bits;
}

inline constexpr std::size_t kDefaultSharedBytes = 49152;

/// Adds a launch, with what compiler and device make of its kernel.
void record_launch(LaunchLog&, const char* name, const void* kernel, dim3 grid, dim3 block,
                   std::size_t shared_bytes);

/// Enqueues a kernel on stream(); throws Error where the launch itself is refused.
template <class... P, class... A>
void launch(const char* name, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
            A&&... arguments) {
  set_current_stage(name);
  kernel<<<grid, block, shared_bytes, stream()>>>(static_cast<P>(arguments)...);
  check(cudaGetLastError(), name);
  if (LaunchLog* const log = LaunchLog::current())
    record_launch(*log, name, reinterpret_cast<const void*>(kernel), grid, block, shared_bytes);
}

/// Permits a kernel more than 48 KiB of shared memory. None is taken away, since strategies that share a
/// kernel need different amounts.
template <class... P>
void allow_shared_bytes(void (*kernel)(P...), std::size_t bytes) {
  if (bytes <= kDefaultSharedBytes) return;
  raise_shared_bytes(reinterpret_cast<const void*>(kernel), bytes);
}

/// Blocks of a kernel that the device runs at once; at least one.
template <class... P>
int64_t resident_blocks(void (*kernel)(P...), int threads, std::size_t shared_bytes) {
  int device = 0, processors = 0, blocks = 0;
  check(cudaGetDevice(&device), "device");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "multiprocessors");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes), "occupancy");
  return int64_t{processors} * (blocks > 0 ? blocks : 1);
}

/// Values in the target's memory, for a strategy's weights.
template <class T>
class DeviceArray {
 public:
  void assign(const std::vector<T>& values) {
    memory_ = DeviceMemory(values.size() * sizeof(T));
    size_ = values.size();
    check(cudaMemcpyAsync(memory_.get(), values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice, stream()),
          "upload of weights");
  }
  const T* data() const { return static_cast<const T*>(memory_.get()); }
  std::size_t size() const { return size_; }

 private:
  DeviceMemory memory_;
  std::size_t size_ = 0;
};

}  // namespace convscope::cuda
