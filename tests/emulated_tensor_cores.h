#pragma once
// The emulated target with what tensor_core.cuh adds: the lanes of a warp meet at barriers of the block, so
// that the source of a kernel for tensor cores runs on CPU threads. Its sums are rounded once an instruction,
// which is not how tensor cores round: results are held against error bounds, not bit for bit.

#include <optional>
#include <string>

#include "kernels/strategies/tf32_split.h"
#include "kernels/targets/emulated.h"

#define __launch_bounds__(...)
#define CONVSCOPE_APART

namespace convscope::emulated {

inline std::optional<std::string> lacks_tensor_cores() { return std::nullopt; }

using std::isfinite;

inline uint32_t to_tf32(float v) { return float_bits(rounded_to_tf32(v)); }

/// What the lanes of a block have brought to an instruction. Its fibers all run on one CPU thread.
struct TensorOperands {
  uint32_t a[1024][4], b[1024][2];
};
inline thread_local TensorOperands tensor_operands;

inline float tf32_value(uint32_t bits) {
  return float_of_bits(bits & ~0x1fffu);
}  // the hardware reads no more

inline void multiply_tf32(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  TensorOperands& all = tensor_operands;
  const unsigned thread = threadIdx.x, lane = thread % 32, first = thread - lane;
  std::memcpy(all.a[thread], a, sizeof all.a[thread]);
  all.b[thread][0] = b0, all.b[thread][1] = b1;
  __syncthreads();
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    double exact = static_cast<double>(sum[i]);
    for (unsigned k = 0; k < 8; ++k) {
      exact += static_cast<double>(tf32_value(all.a[first + row % 8 * 4 + k % 4][row / 8 + k / 4 * 2])) *
               static_cast<double>(tf32_value(all.b[first + column * 4 + k % 4][k / 4]));
    }
    sum[i] = static_cast<float>(exact);
  }
  __syncthreads();
}

// Of warpgroup.cuh:

inline std::optional<std::string> lacks_warpgroups() { return std::nullopt; }

struct FactorInShared {
  const uint32_t* words;
  int k_words, n_words;
};
inline FactorInShared factor_in_shared(const void* p, int k_bytes, int n_bytes) {
  return {static_cast<const uint32_t*>(p), k_bytes / 4, n_bytes / 4};
}
inline void open_products() {}
inline void close_products() {}
inline void wait_for_products() {}

inline void multiply_tf32_128(float (&sum)[64], const uint32_t (&a)[4], const FactorInShared& b) {
  TensorOperands& all = tensor_operands;
  const unsigned thread = threadIdx.x, lane = thread % 32, first = thread - lane;
  std::memcpy(all.a[thread], a, sizeof all.a[thread]);
  __syncthreads();
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned row = lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    double exact = static_cast<double>(sum[i]);
    for (unsigned k = 0; k < 8; ++k) {
      const uint32_t own = all.a[first + row % 8 * 4 + k % 4][row / 8 + k / 4 * 2];
      const uint32_t other = b.words[k / 4 * static_cast<unsigned>(b.k_words) +
                                     column / 8 * static_cast<unsigned>(b.n_words) + column % 8 * 4 + k % 4];
      exact += static_cast<double>(tf32_value(own)) * static_cast<double>(tf32_value(other));
    }
    sum[i] = static_cast<float>(exact);
  }
  __syncthreads();
}

/// Copies are done at once, and a wait is a barrier of the whole block, at which all its threads call it.
struct CopyBarrier {
  uint64_t state;
  void init(int) {}
  void copy(void* to, const void* from, int bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }
  void arrive() {}
  void arrive_when_copied() {}
  void wait(int) const { __syncthreads(); }
};

inline void copy_async(float* to, const float* from, bool inside) { *to = inside ? *from : 0.0f; }
inline void close_copies() {}
template <int kOpen>
inline void wait_for_copies() {}

}  // namespace convscope::emulated
