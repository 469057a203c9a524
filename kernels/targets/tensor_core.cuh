#pragma once
// What kernels of the cuda target use of compute capability 8.0 and later: matrix multiply-accumulate in
// TF32, and copies from global to shared memory that no register waits for. PTX ISA 9.0, sections 9.7.14
// and 9.7.9.25.

#include <optional>
#include <string>

#include "kernels/runtime.h"
#include "kernels/targets/cuda.cuh"

#define CONVSCOPE_APART __noinline__

namespace convscope::cuda {

/// Why the device has no TF32, in words; nullopt where it has.
inline std::optional<std::string> lacks_tensor_cores() {
  const CudaVersions v = cuda_versions();
  if (v.compute_major >= 8) return std::nullopt;
  return "needs the TF32 tensor cores of compute capability 8.0; the device has " +
         std::to_string(v.compute_major) + "." + std::to_string(v.compute_minor);
}

/// The nearest value of TF32 (8 bits of exponent, 10 of fraction), ties away from zero, as a float's bits.
__device__ __forceinline__ uint32_t to_tf32(float v) {
#if __CUDA_ARCH__ >= 800
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
  return bits;
#else
  return float_bits(v);
#endif
}

__device__ __forceinline__ void sync_warp() { __syncwarp(); }

/// sum += a * b of a warp: a 16 x 8, b 8 x 8, sum 16 x 8. With g = lane / 4 and t = lane % 4 a thread holds
/// a: (g, t) (g+8, t) (g, t+4) (g+8, t+4); b: (t, g) (t+4, g); sum: (g, 2t) (g, 2t+1) (g+8, 2t) (g+8, 2t+1).
__device__ __forceinline__ void multiply_tf32(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0,
                                              uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

/// copy_async16() for one value, by four bytes; a zero where not `inside` (`from` is then not read).
__device__ __forceinline__ void copy_async(float* to, const float* from, bool inside) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                   static_cast<uint32_t>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(inside ? 4 : 0)
               : "memory");
#endif
}

}  // namespace convscope::cuda
