#pragma once
// How the sums of `separable` slide over quads: four neighbouring columns, loaded and stored as 16 bytes.
//
// Values stay in registers while taps pass by, and a tap, read from constant memory as an operand of the
// multiply-add, serves 16 or 32 sums: on an H200 a constant shared by 8 sums and more costs a twelfth of an
// issue slot, a weight in a vector register a third, for the banks of the registers. Windows turn round
// instead of being shifted: three quads, or twelve rows, and the loop unrolled over one turn.

#include "kernels/strategies/separable_passes.cuh"

namespace convscope::TARGET {
namespace {

/// Taps as a parameter of the kernel: [map][channel][column, filled up to quads; row with `lead` values
/// before it, filled up]. With the other parameters they stay within 4096 bytes.
struct alignas(16) SeparableTaps {
  static constexpr int kQuads = 240;
  Four<float> quads[kQuads];
};

struct SlideConfig {
  static constexpr int kDown = 8;    // neighbouring rows that a thread sums down to
  static constexpr int kAhead = 4;   // rows loaded before their use: 128 multiply-adds of every warp
  static constexpr int kAlong = 4;   // rows, or runs of one row, that a thread sums along together
  static constexpr int kPeriod = 3;  // quads of a row in registers: two in use, one on its way
};

/// sum[r] += tap[t] * (row r + t), t ascending, four columns at once. rows.next(): one row after the other;
/// of those that no tap meets any value will do.
template <Rounding R, class Rows>
__device__ __forceinline__ void slide_down(int taps, const Four<float>* tap, Rows rows,
                                           Four<float> (&sum)[SlideConfig::kDown]) {
  constexpr int kDown = SlideConfig::kDown, kWindow = kDown + SlideConfig::kAhead;
  static_assert(kWindow % 4 == 0, "one turn of the window takes whole quads of taps");
  Four<float> window[kWindow];
  CONVSCOPE_UNROLL_MAPS
  for (int i = 0; i < kWindow; ++i) window[i] = rows.next();
  Four<float> quad{};
  for (int left = taps;; tap += kWindow / 4) {
    CONVSCOPE_UNROLL_MAPS
    for (int j = 0; j < kWindow; ++j) {
      if (j % 4 == 0) quad = tap[j / 4];
      CONVSCOPE_UNROLL_MAPS
      for (int r = 0; r < kDown; ++r) {
        CONVSCOPE_UNROLL_MAPS
        for (int x = 0; x < 4; ++x)
          sum[r].v[x] = mad<R>(window[(j + r) % kWindow].v[x], quad.v[j % 4], sum[r].v[x]);
      }
      if (--left == 0) return;
      window[j] = rows.next();
    }
  }
}

using AlongWindow = Four<float>[SlideConfig::kPeriod][SlideConfig::kAlong];
using AlongSums = Four<float>[SlideConfig::kAlong];

/// sum[r].v[x] += weight * value x + j of the window, whose first quad is window[kTurn].
template <Rounding R, int kTurn>
__device__ __forceinline__ void multiply_along(int j, float weight, const AlongWindow& window,
                                               AlongSums& sum) {
  CONVSCOPE_UNROLL_MAPS
  for (int r = 0; r < SlideConfig::kAlong; ++r) {
    CONVSCOPE_UNROLL_MAPS
    for (int x = 0; x < 4; ++x)
      sum[r].v[x] =
          mad<R>(window[(kTurn + (x + j) / 4) % SlideConfig::kPeriod][r].v[(x + j) % 4], weight, sum[r].v[x]);
  }
}

template <class Rows>
__device__ __forceinline__ void load_along(Rows& rows, AlongSums& quads) {
  CONVSCOPE_UNROLL_MAPS
  for (int r = 0; r < SlideConfig::kAlong; ++r) quads[r] = rows.quad(r);
  rows.advance();
}

/// A quad of taps, of which `left` remain, this one's included; subtracts it. False after the last one.
template <Rounding R, int kTurn, class Rows>
__device__ __forceinline__ bool slide_quad(int& left, const Four<float>* tap, Rows& rows, AlongWindow& window,
                                           AlongSums& sum) {
  const Four<float> quad = *tap;
  if (left > 5) load_along(rows, window[(kTurn + 2) % SlideConfig::kPeriod]);
  if (left <= 4) {  // what fills up the quad meets no value: zero times NaN would be NaN
    CONVSCOPE_UNROLL_MAPS
    for (int j = 0; j < 4; ++j) {
      if (j < left) multiply_along<R, kTurn>(j, quad.v[j], window, sum);
    }
    return false;
  }
  CONVSCOPE_UNROLL_MAPS
  for (int j = 0; j < 4; ++j) multiply_along<R, kTurn>(j, quad.v[j], window, sum);
  left -= 4;
  return true;
}

/// sum[r].v[x] += tap[p] * value x + p of row r, p ascending from `first` (0 to 3) to last - 1.
/// rows.quad(r): four values of row r, the first four until rows.advance().
template <Rounding R, class Rows>
__device__ __forceinline__ void slide_along(int first, int last, const Four<float>* tap, Rows rows,
                                            AlongSums& sum) {
  AlongWindow window = {};
  load_along(rows, window[0]);
  if (last > 1) load_along(rows, window[1]);
  if (last > 5) load_along(rows, window[2]);
  const Four<float> quad = *tap;
  CONVSCOPE_UNROLL_MAPS
  for (int j = 0; j < 4; ++j) {
    if (first <= j && j < last) multiply_along<R, 0>(j, quad.v[j], window, sum);
  }
  int left = last - 4;
  if (left <= 0) return;
  for (;; tap += SlideConfig::kPeriod) {
    if (!slide_quad<R, 1>(left, tap + 1, rows, window, sum)) return;
    if (!slide_quad<R, 2>(left, tap + 2, rows, window, sum)) return;
    if (!slide_quad<R, 0>(left, tap + 3, rows, window, sum)) return;
  }
}

}  // namespace
}  // namespace convscope::TARGET
