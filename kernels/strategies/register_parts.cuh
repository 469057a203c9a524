#pragma once
// What register_tiled's kernels have in common: sums of several maps and pixels in registers, from the
// multiplication to the store.

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"
#include "kernels/strategies/four.cuh"

namespace convscope::TARGET {
namespace {

template <class T>
struct alignas(2 * sizeof(T)) Two {
  T v[2];
};

/// How a launch's tiles are numbered (along x, rows, images), and the maps that it makes.
struct RegisterGrid {
  Divisor tiles_x, tiles_y;
  int tiles;                // of all images
  int groups;               // of maps, in this launch
  int first_map, last_map;  // of this launch
};

/// sum[m][p] += weight[m] * value[p * step], a weight at a time. Pairs of weights are one read.
template <int kMaps, int kPixels, Rounding R, class T>
__device__ __forceinline__ void multiply_maps(const T* weight, const T* value, int step,
                                              T (&sum)[kMaps][kPixels]) {
  if constexpr (kMaps % 2 == 0) {
    CONVSCOPE_UNROLL
    for (int m = 0; m < kMaps; m += 2) {
      const Two<T> two = *reinterpret_cast<const Two<T>*>(weight + m);
      CONVSCOPE_UNROLL
      for (int h = 0; h < 2; ++h) {
        CONVSCOPE_UNROLL
        for (int p = 0; p < kPixels; ++p) sum[m + h][p] = mad<R>(value[p * step], two.v[h], sum[m + h][p]);
      }
    }
  } else {
    CONVSCOPE_UNROLL
    for (int m = 0; m < kMaps; ++m) {
      CONVSCOPE_UNROLL
      for (int p = 0; p < kPixels; ++p) sum[m][p] = mad<R>(value[p * step], weight[m], sum[m][p]);
    }
  }
}

/// Bias and activation. `bias`: of the first map. Not kActive: there is no activation, and none of its code,
/// which would cost registers.
template <int kMaps, int kPixels, bool kActive, class T>
__device__ __forceinline__ void finish_maps(const T* bias, [[maybe_unused]] Activation activation,
                                            T (&sum)[kMaps][kPixels]) {
  CONVSCOPE_UNROLL
  for (int m = 0; m < kMaps; ++m) {
    CONVSCOPE_UNROLL
    for (int p = 0; p < kPixels; ++p) sum[m][p] = sum[m][p] + bias[m];
  }
  if constexpr (kActive) {
    if (activation == Activation::none) return;
    CONVSCOPE_UNROLL
    for (int m = 0; m < kMaps; ++m) {
      CONVSCOPE_UNROLL
      for (int p = 0; p < kPixels; ++p) sum[m][p] = activate(sum[m][p], activation);
    }
  }
}

/// Stores a warp's run of pixels of one row, for each map. `to`: the run's first value of the first map;
/// `width`: values that the row has from there on; `maps`: maps that there are. kInside: all of both are
/// there. kNeighbours: a lane has four neighbours and the row is aligned; else pixels 32 apart.
template <int kMaps, int kPixels, bool kNeighbours, bool kInside, class T>
__device__ __forceinline__ void store_maps(const DeviceShape& s, T* to, int lane, int width, int maps,
                                           const T (&sum)[kMaps][kPixels]) {
  if constexpr (kNeighbours) {
    if (!kInside && 4 * lane >= width) return;
    to += 4 * lane;
  }
  CONVSCOPE_UNROLL
  for (int m = 0; m < kMaps; ++m, to += s.out_plane) {
    if (!kInside && m >= maps) break;
    if constexpr (kNeighbours) {
      store4(to, sum[m][0], sum[m][1], sum[m][2], sum[m][3]);
    } else if constexpr (kInside && sizeof(T) == 4) {
      store_lines<kPixels>(to, lane, sum[m]);
    } else {
      CONVSCOPE_UNROLL
      for (int k = 0; k < kPixels; ++k) {
        if (kInside || 32 * k + lane < width) to[32 * k + lane] = sum[m][k];
      }
    }
  }
}

}  // namespace
}  // namespace convscope::TARGET
