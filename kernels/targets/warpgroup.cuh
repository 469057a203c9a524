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

/// A factor of 64 rows or N columns x 8 taps in shared memory, not swizzled: blocks of 8 rows x 4 taps, 128
/// bytes each with the taps of a row together. Lengths in units of 16 bytes: `to_second` from the first four
/// taps to the second, `to_next` from 8 rows to the next. A place need not be a multiple of more than 16
/// bytes.
struct FactorInShared {
  uint32_t low, high;

  /// By so many units, and above 16 bits more from the first four taps to the second.
  __device__ __forceinline__ FactorInShared moved(uint32_t by) const { return {low + by, high}; }
  __device__ __forceinline__ uint64_t descriptor() const { return uint64_t{high} << 32 | low; }
};
__device__ __forceinline__ FactorInShared factor_in_shared(const void* p, int to_second, int to_next) {
  return {shared_address(p) >> 4 | static_cast<uint32_t>(to_second) << 16, static_cast<uint32_t>(to_next)};
}

/// Makes what this thread has written to shared memory visible to the tensor cores, once a barrier follows.
__device__ __forceinline__ void publish_to_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// A value that all lanes of the warp have, where the compiler cannot know it: it may then be in a uniform
/// register.
template <class T>
__device__ __forceinline__ T same_in_warp(T value) {
  return __shfl_sync(~0u, value, 0);
}

/// Orders a thread's registers before the products that follow. Warps that have waited or branched meet here.
__device__ __forceinline__ void open_products() {
  __syncwarp();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void close_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Keeps what uses the value on the side of this line where it is written.
__device__ __forceinline__ void pin_in_register(float& v) { asm volatile("" : "+f"(v)::"memory"); }
__device__ __forceinline__ void pin_in_register(int& v) { asm volatile("" : "+r"(v)); }
/// Waits until no more than kOpen groups of closed products are under way.
template <int kOpen>
__device__ __forceinline__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kOpen) : "memory");
}

#define CONVSCOPE_SUM4(i) "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3])
#define CONVSCOPE_SUM8(i) CONVSCOPE_SUM4(i), CONVSCOPE_SUM4(i + 4)
#define CONVSCOPE_SUM16(i) CONVSCOPE_SUM8(i), CONVSCOPE_SUM8(i + 8)
#define CONVSCOPE_SUM32(i) CONVSCOPE_SUM16(i), CONVSCOPE_SUM16(i + 16)
#define CONVSCOPE_NAMES8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define CONVSCOPE_NAMES16 CONVSCOPE_NAMES8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define CONVSCOPE_NAMES32 \
  CONVSCOPE_NAMES16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define CONVSCOPE_NAMES48 \
  CONVSCOPE_NAMES32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define CONVSCOPE_NAMES64 \
  CONVSCOPE_NAMES48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define CONVSCOPE_WGMMA(n, names, a_name, b_name, ...)                                                    \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k8.f32.tf32.tf32 {" names "}, " a_name ", " b_name \
               ", 1, 1, 1;"                                                                               \
               : __VA_ARGS__                                                                              \
               : "l"(a.descriptor()), "l"(b.descriptor()))

/// sum += a * b of a warpgroup, a 64 x 8, b 8 x kColumns. Warp w holds rows 16 w to 16 w + 15 of the sum as
/// multiply_tf32() of a warp has them, for every 8 columns in turn.
template <int kColumns, int kSums>
__device__ __forceinline__ void multiply_tf32(float (&sum)[kSums], const FactorInShared& a,
                                              const FactorInShared& b) {
  if constexpr (kColumns == 16) {
    CONVSCOPE_WGMMA(16, CONVSCOPE_NAMES8, "%8", "%9", CONVSCOPE_SUM8(0));
  } else if constexpr (kColumns == 32) {
    CONVSCOPE_WGMMA(32, CONVSCOPE_NAMES16, "%16", "%17", CONVSCOPE_SUM16(0));
  } else if constexpr (kColumns == 64) {
    CONVSCOPE_WGMMA(64, CONVSCOPE_NAMES32, "%32", "%33", CONVSCOPE_SUM32(0));
  } else if constexpr (kColumns == 96) {
    CONVSCOPE_WGMMA(96, CONVSCOPE_NAMES48, "%48", "%49", CONVSCOPE_SUM32(0), CONVSCOPE_SUM16(32));
  } else {
    static_assert(kColumns == 128);
    CONVSCOPE_WGMMA(128, CONVSCOPE_NAMES64, "%64", "%65", CONVSCOPE_SUM32(0), CONVSCOPE_SUM32(32));
  }
}
#undef CONVSCOPE_WGMMA
#undef CONVSCOPE_NAMES64
#undef CONVSCOPE_NAMES48
#undef CONVSCOPE_NAMES32
#undef CONVSCOPE_NAMES16
#undef CONVSCOPE_NAMES8
#undef CONVSCOPE_SUM32
#undef CONVSCOPE_SUM16
#undef CONVSCOPE_SUM8
#undef CONVSCOPE_SUM4

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
