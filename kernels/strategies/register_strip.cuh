#pragma once
// register_tiled's kernel for small windows: a thread reads its pixels straight from the image, through the
// L1 cache, and keeps a strip of outputs of several maps in registers.
//
// Measured on an H200 (sm_90), streaming, and why it is so:
// - A weight read from constant memory into a uniform register (ULDC) feeds many multiply-adds: with two the
//   reads alone take a third of the issue slots, and every read of weights that other warps have displaced
//   from the constant cache halts its warp. Of 64 sums four maps of sixteen pixels have half as many as eight
//   maps of eight (workload B: 52.6 us and 56.5).
// - Loops over groups of maps and channels are not unrolled: straight code of more than about a thousand
//   instructions, met by warps at different places, misses the instruction cache (with everything unrolled B
//   took an eighth longer).
// - Maps are written past the caches (st.global.cs), from which nobody reads them soon.
// - Where rows of the output are aligned, a thread's four neighbours are one store of 16 bytes. Elsewhere
//   (workload A, rows of 959 values) lanes take neighbouring pixels, and values go round the warp so that it
//   writes whole lines of 128 bytes; many warps with few pixels each then hide the loads.

#include "kernels/strategies/constant_weights.cuh"
#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/register_parts.cuh"

namespace convscope::TARGET {
namespace {

/// kNeighbours: a thread's pixels are four neighbours, read and written as 16 bytes (stride 1, rows of input
/// and output aligned, `same` padding); else kPixels pixels 32 apart. kPairs: the first two taps of a row are
/// one aligned read of 8 bytes (stride 2).
template <class T_, int kK_, int kS_, int kD_, int kMaps_, int kRows_, int kPixels_, bool kNeighbours_,
          bool kPairs_, int kThreads_, int kBlocks_, int kChannels_ = 0>
struct StripConfig {
  using T = T_;
  static constexpr int kK = kK_, kS = kS_, kD = kD_, kMaps = kMaps_, kRows = kRows_, kPixels = kPixels_;
  static constexpr bool kNeighbours = kNeighbours_, kPairs = kPairs_;
  static constexpr int kThreads = kThreads_, kBlocks = kBlocks_;  // blocks an SM is to hold
  static constexpr int kChannels = kChannels_;  // c_in, of one group of maps, all unrolled; 0: any
  static constexpr int kWidth = 32 * kPixels;   // of a warp's and a block's outputs
  static constexpr int kBlockRows = kThreads / 32 * kRows;
  static constexpr int kWindow = (kRows - 1) * kS + kK;  // rows of input under a strip
  static constexpr int kRow =
      kNeighbours ? kPixels + (kK - 1) * kD : kPixels * kK;  // values of a row that a thread needs
  static_assert(!kNeighbours || (kPixels == 4 && kS == 1));
  static_assert(kD == 1 || kNeighbours);
  static_assert(kThreads / 32 % kD == 0, "a thread's rows lie kD apart, so that they share rows of input");
};

/// The values of one row of input that a thread needs. `row`: at its first pixel's first tap; x, y: of that
/// tap.
template <class C, bool kInside>
__device__ __forceinline__ void strip_row(const DeviceShape& s, const typename C::T* row, int x, int y,
                                          typename C::T (&values)[C::kRow]) {
  using T = typename C::T;
  const bool row_inside = kInside || (y >= 0 && y < s.h);
  if constexpr (C::kNeighbours) {
    constexpr int kLead = C::kK / 2 * C::kD;
    if constexpr (kInside && kLead == 2) {
      read_only2(row, values[0], values[1]);
      read_only2(row + 6, values[6], values[7]);
    }
    CONVSCOPE_UNROLL
    for (int i = 0; i < C::kRow; ++i) {
      if ((kInside && kLead == 2) || (i >= kLead && i < kLead + 4)) continue;
      const bool inside = kInside || (row_inside && x + i >= 0 && x + i < s.w);
      values[i] = inside ? read_only(row + i) : T(0);
    }
    T four[4] = {};
    if (kInside || (row_inside && x + kLead < s.w)) read_only4(row + kLead, four);
    CONVSCOPE_UNROLL
    for (int i = 0; i < 4; ++i) values[kLead + i] = four[i];
  } else {
    CONVSCOPE_UNROLL
    for (int k = 0; k < C::kPixels; ++k) {
      constexpr int kFirst = kInside && C::kPairs ? 2 : 0;
      if constexpr (kFirst == 2) {
        read_only2(row + 32 * C::kS * k, values[k * C::kK], values[k * C::kK + 1]);
      }
      CONVSCOPE_UNROLL
      for (int j = kFirst; j < C::kK; ++j) {
        const int i = 32 * C::kS * k + j;
        const bool inside = kInside || (row_inside && x + i >= 0 && x + i < s.w);
        values[k * C::kK + j] = inside ? read_only(row + i) : T(0);
      }
    }
  }
}

/// One group of maps of a warp's strip at x, y of the output. `weight`: the index of the group's first.
template <class C, bool kInside, int kCount>
__device__ __forceinline__ void strip_sums(const DeviceShape& s, int x, int y, int lane,
                                           const typename C::T* image,
                                           const ConstantWeights<typename C::T, kCount>& weights, int weight,
                                           typename C::T (&sum)[C::kRows][C::kMaps][C::kPixels]) {
  using T = typename C::T;
  constexpr int kStep = C::kNeighbours ? 1 : C::kK;  // values between a thread's pixels
  const int in_x = (C::kNeighbours ? x + 4 * lane : (x + lane) * C::kS) - s.pad_x, in_y = y * C::kS - s.pad_y;
  const T* plane = image + (int64_t{in_y} * s.w + in_x);
  CONVSCOPE_UNROLL_BY(kInside && C::kChannels > 0 ? C::kChannels : 1)
  for (int c = 0; c < (C::kChannels > 0 ? C::kChannels : s.c_in);
       ++c, plane += s.in_plane, weight += C::kK * C::kK * C::kMaps) {
    const T* row = plane;
    CONVSCOPE_UNROLL
    for (int r = 0; r < C::kWindow; ++r, row += C::kD * s.w) {
      T values[C::kRow];
      strip_row<C, kInside>(s, row, in_x, in_y + r * C::kD, values);
      CONVSCOPE_UNROLL
      for (int a = 0; a < C::kRows; ++a) {
        const int i = r - a * C::kS;  // row of taps
        if (i < 0 || i >= C::kK) continue;
        CONVSCOPE_UNROLL
        for (int j = 0; j < C::kK; ++j) {
          multiply_maps<C::kMaps, C::kPixels, Rounding::fused>(
              weights.values + weight + (i * C::kK + j) * C::kMaps, values + j * C::kD, kStep, sum[a]);
        }
      }
    }
  }
}

template <class C, bool kInside, bool kActive, int kCount>
__device__ __forceinline__ void strip_groups(const DeviceShape& s, const RegisterGrid& g, int x, int y,
                                             int lane, int image, Activation activation,
                                             const typename C::T* in, typename C::T* out,
                                             const ConstantWeights<typename C::T, kCount>& weights) {
  using T = typename C::T;
  const int group_weights = ((C::kChannels > 0 ? C::kChannels : s.c_in) * C::kK * C::kK + 1) * C::kMaps;
  CONVSCOPE_UNROLL_BY(1)
  for (int group = 0; group < (C::kChannels > 0 ? 1 : g.groups); ++group) {
    T sum[C::kRows][C::kMaps][C::kPixels] = {};
    strip_sums<C, kInside>(s, x, y, lane, in, weights, group * group_weights, sum);
    const int map0 = g.first_map + group * C::kMaps;
    const T* const bias = weights.values + (group + 1) * group_weights - C::kMaps;
    CONVSCOPE_UNROLL
    for (int a = 0; a < C::kRows; ++a) {
      finish_maps<C::kMaps, C::kPixels, kActive>(bias, activation, sum[a]);
      const int row = y + a * C::kD;
      if (!kInside && row >= s.out_h) continue;
      T* const to = out + ((int64_t{image} * s.c_out + map0) * s.out_plane + int64_t{row} * s.out_w + x);
      const int width = s.out_w - x, maps = g.last_map - map0;
      if (kInside && maps >= C::kMaps) {
        store_maps<C::kMaps, C::kPixels, C::kNeighbours, true>(s, to, lane, width, maps, sum[a]);
      } else {
        store_maps<C::kMaps, C::kPixels, C::kNeighbours, false>(s, to, lane, width, maps, sum[a]);
      }
    }
  }
}

/// A block's warps take strips one below the other.
template <class C, int kCount, bool kActive>
__global__ void CONVSCOPE_LAUNCH_BOUNDS(C::kThreads, C::kBlocks)
    register_strip_kernel(DeviceShape s, RegisterGrid g, Activation activation, In<typename C::T> in,
                          Out<typename C::T> out,
                          CONVSCOPE_CONSTANT(ConstantWeights<typename C::T, kCount>) weights) {
  uint32_t block = blockIdx.x;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int x = static_cast<int>(g.tiles_x.take(block)) * C::kWidth;
  const int y = static_cast<int>(g.tiles_y.take(block)) * C::kBlockRows + warp / C::kD * C::kD * C::kRows +
                warp % C::kD;  // the thread's rows are y + a * kD
  const int image = static_cast<int>(block);
  if (y >= s.out_h) return;
  const typename C::T* const planes = in + int64_t{image} * s.c_in * s.in_plane;
  const int first_x = x * C::kS - s.pad_x, first_y = y * C::kS - s.pad_y;
  const bool inside = first_x >= 0 && first_x + (C::kWidth - 1) * C::kS + (C::kK - 1) * C::kD + 1 <= s.w &&
                      first_y >= 0 && first_y + (C::kWindow - 1) * C::kD + 1 <= s.h &&
                      x + C::kWidth <= s.out_w && y + (C::kRows - 1) * C::kD + 1 <= s.out_h;
  if (inside) {
    strip_groups<C, true, kActive>(s, g, x, y, lane, image, activation, planes, out, weights);
  } else {
    strip_groups<C, false, kActive>(s, g, x, y, lane, image, activation, planes, out, weights);
  }
}

}  // namespace
}  // namespace convscope::TARGET
