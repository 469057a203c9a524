#pragma once
// What kernels of the cuda target use of compute capability 9.0a alone: matrix multiply-accumulate of a
// warpgroup, whose second factor lies in shared memory, and bulk copies. PTX ISA 9.0, sections 9.7.15, 9.7.13
// and 9.7.9.25.

#include "kernels/targets/tensor_core.cuh"

namespace convscope::cuda {

/// Why the device has no wgmma; nullopt where it has.
inline std::optional<std::string> lacks_warpgroups() {
  const CudaVersions v = cuda_versions();
  if (v.compute_major == 9 && v.compute_minor == 0) return std::nullopt;
  return "needs compute capability 9.0; the device has " + std::to_string(v.compute_major) + "." +
         std::to_string(v.compute_minor);
}

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

/// A factor of 8 taps (k) x N maps in shared memory, not swizzled: blocks of 8 maps x 4 taps, 128 bytes each
/// with the taps of a map together; `k_bytes` from the first four taps to the second, `n_bytes` from 8 maps
/// to the next.
using FactorInShared = uint64_t;
__device__ __forceinline__ FactorInShared factor_in_shared(const void* p, int k_bytes, int n_bytes) {
  const auto field = [](uint32_t bytes) { return static_cast<uint64_t>((bytes & 0x3ffff) >> 4); };
  return field(shared_address(p)) | field(static_cast<uint32_t>(k_bytes)) << 16 |
         field(static_cast<uint32_t>(n_bytes)) << 32;
}

/// Orders a thread's registers before the products that follow. Warps that have waited or branched meet here.
__device__ __forceinline__ void open_products() {
  __syncwarp();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void close_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits for all closed products.
__device__ __forceinline__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/// sum += a * b of a warpgroup, a 64 x 8, b 8 x 128. Warp w holds rows 16 w to 16 w + 15 of a and of the sum
/// as multiply_tf32() has them, the sum for every 8 maps in turn.
__device__ __forceinline__ void multiply_tf32_128(float (&sum)[64], const uint32_t (&a)[4],
                                                  FactorInShared b) {
#define CONVSCOPE_SUM4(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define CONVSCOPE_SUM16(i) \
  CONVSCOPE_SUM4(i), CONVSCOPE_SUM4(i + 4), CONVSCOPE_SUM4(i + 8), CONVSCOPE_SUM4(i + 12)
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, 1, 1, 1;"
      : CONVSCOPE_SUM16(0), CONVSCOPE_SUM16(16), CONVSCOPE_SUM16(32), CONVSCOPE_SUM16(48)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#undef CONVSCOPE_SUM16
#undef CONVSCOPE_SUM4
}

/// Counts arrivals, and the bytes of bulk copies; its phases are the first, second, ... time that all have
/// come.
struct CopyBarrier {
  uint64_t state;

  /// By one thread, before a __syncthreads().
  __device__ __forceinline__ void init(int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)), "r"(arrivals)
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  /// Arrives, and starts the copy of `bytes`, a multiple of 16, from and to multiples of 16, which the phase
  /// waits for.
  __device__ __forceinline__ void copy(void* to, const void* from, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(this)),
                 "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(this))
        : "memory");
  }
  __device__ __forceinline__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
  }
  /// Arrives once the calls of copy_async() that this thread has made are done.
  __device__ __forceinline__ void arrive_when_copied() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(this))
                 : "memory");
  }
  /// Waits for the end of a phase of this parity, the first being 0.
  __device__ __forceinline__ void wait(int parity) const {
    asm volatile(
        "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(shared_address(this)),
        "r"(parity)
        : "memory");
  }
};

}  // namespace convscope::cuda
