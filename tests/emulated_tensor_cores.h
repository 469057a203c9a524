#pragma once
// The emulated target with what tensor_core.cuh adds: the lanes of a warp meet at barriers of the block, so
// that the source of a kernel for tensor cores runs on CPU threads. Its sums are cut off as those of tensor
// cores at the worst: results are held against error bounds, not bit for bit.

#include <cmath>
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

inline void sync_warp() { __syncthreads(); }

/// What the lanes of a block have brought to an instruction. Its fibers all run on one CPU thread.
struct TensorOperands {
  uint32_t a[1024][4], b[1024][2];
};
inline thread_local TensorOperands tensor_operands;

inline float tf32_value(uint32_t bits) {
  return float_of_bits(bits & ~0x1fffu);
}  // the hardware reads no more

/// sum + 8 products, which tf32_error_bounds() allows for: each is aligned to the largest and cut off below
/// 2^-23 of it, and so is the result.
inline float sum_of_products(float sum, const double (&products)[8]) {
  double largest = std::fabs(static_cast<double>(sum)), plain = static_cast<double>(sum);
  for (const double p : products) largest = std::fmax(largest, std::fabs(p)), plain += p;
  if (!std::isfinite(plain) || largest == 0) return static_cast<float>(plain);
  const double unit = std::ldexp(1.0, std::ilogb(largest) - 23), per_unit = 1 / unit;
  double whole = std::trunc(static_cast<double>(sum) * per_unit);
  for (const double p : products) whole += std::trunc(p * per_unit);
  const auto nearest = static_cast<float>(whole * unit);
  const bool away = std::fabs(static_cast<double>(nearest)) > std::fabs(whole * unit);
  return away ? std::nextafter(nearest, 0.0f) : nearest;
}

inline void multiply_tf32(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  TensorOperands& all = tensor_operands;
  const unsigned thread = threadIdx.x, lane = thread % 32, first = thread - lane;
  std::memcpy(all.a[thread], a, sizeof all.a[thread]);
  all.b[thread][0] = b0, all.b[thread][1] = b1;
  __syncthreads();
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    double products[8];
    for (unsigned k = 0; k < 8; ++k) {
      products[k] = static_cast<double>(tf32_value(all.a[first + row % 8 * 4 + k % 4][row / 8 + k / 4 * 2])) *
                    static_cast<double>(tf32_value(all.b[first + column * 4 + k % 4][k / 4]));
    }
    sum[i] = sum_of_products(sum[i], products);
  }
  __syncthreads();
}

// Of warpgroup.cuh:

/// Tests take it away to reach the kernel for other devices.
inline bool has_warpgroups = true;
inline std::optional<std::string> lacks_warpgroups() {
  if (has_warpgroups) return std::nullopt;
  return "taken away";
}

struct FactorInShared {
  const uint32_t* words;
  int to_second, to_next;
  FactorInShared moved(uint32_t by) const {
    return {words + 4 * (by & 0xffff), to_second + static_cast<int>(by >> 16), to_next};
  }
};
inline FactorInShared factor_in_shared(const void* p, int to_second, int to_next) {
  return {static_cast<const uint32_t*>(p), to_second, to_next};
}
inline void publish_to_products() {}
template <class T>
T same_in_warp(T value) {
  return value;
}
inline void open_products() {}
inline void close_products() {}
inline void pin_in_register(float&) {}
inline void pin_in_register(int&) {}
template <int kOpen>
void wait_for_products() {}

template <int kColumns, int kSums>
void multiply_tf32(float (&sum)[kSums], const FactorInShared& a, const FactorInShared& b) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32 % 4;
  const auto value = [](const FactorInShared& f, int row, int k) {
    return static_cast<double>(
        tf32_value(f.words[4 * (k / 4 * f.to_second + row / 8 * f.to_next + row % 8) + k % 4]));
  };
  for (int i = 0; i < kColumns / 2; ++i) {
    const int row = 16 * warp + i / 2 % 2 * 8 + lane / 4, column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    double products[8];
    for (int k = 0; k < 8; ++k) products[k] = value(a, row, k) * value(b, column, k);
    sum[i] = sum_of_products(sum[i], products);
  }
}

/// Copies are done at once, and a wait is a barrier of the whole block, at which all its threads call it.
struct CopyBarrier {
  uint64_t state;
  void init(int) {}
  void copy(void* to, const void* from, int bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }
  void wait(int) const { __syncthreads(); }
};

inline void copy_async(float* to, const float* from, bool inside) { *to = inside ? *from : 0.0f; }

}  // namespace convscope::emulated
