#pragma once
// The parts of implicit_gemm_wgmma: its input rows, the operands and products of a step, and the storing of
// sums.

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/implicit_gemm_wgmma_plan.h"
#include "kernels/strategies/tensor_values.cuh"

namespace convscope::TARGET {
namespace {

struct WgmmaConfig {
  static constexpr int kThreads = 256, kTiles = 2;  // 64-pixel tiles of a warpgroup
  static_assert(kThreads / 128 * kTiles * 64 == WgmmaPlan::kPixels, "the warpgroups divide the pixels");
};

struct WgmmaGrid {
  Divisor map_tiles, plane, row;  // of a block's number; of a pixel's number into image, y and x
  Divisor image_rows,
      halo_columns;  // of a row in shared memory into image and y; of a value into row and column
  int pixels, halo_h, halo_w, words;  // words from channel to channel in shared memory
  int chunk_channels, chunks, steps, stage_steps, step_bytes, slice_channels;
};

/// A pixel's place among the outputs, and its first input row, counted through all images.
struct WgmmaPixel {
  int image, y, x;
};
__device__ __forceinline__ WgmmaPixel pixel_of(const WgmmaGrid& g, int number) {
  uint32_t image = static_cast<uint32_t>(number < g.pixels ? number : g.pixels - 1);
  uint32_t y = g.plane.take(image);
  const int x = static_cast<int>(g.row.take(y));
  return {static_cast<int>(image), static_cast<int>(y), x};
}

/// Where a pixel's first value lies in the rows that begin with those of pixel `first`.
__device__ __forceinline__ int place_in_rows(const DeviceShape& s, const WgmmaGrid& g,
                                             const WgmmaPixel& first, const WgmmaPixel& p) {
  const int row =
      (p.image - first.image) * static_cast<int>(g.image_rows.value) + (p.y - first.y) * s.stride_y;
  return row * g.halo_w + p.x * s.stride_x;
}

/// A thread's share of the input rows: in every channel the same few values.
struct WgmmaRows {
  const float* image;                 // the first pixel's
  int offset[WgmmaPlan::kPositions];  // from there; negative beyond the edge

  __device__ __forceinline__ void place(const DeviceShape& s, const WgmmaGrid& g, const WgmmaPixel& first,
                                        const float* in) {
    image = in + int64_t{first.image} * s.c_in * s.in_plane;
    CONVSCOPE_UNROLL
    for (int k = 0; k < WgmmaPlan::kPositions; ++k) {
      uint32_t rest = threadIdx.x + static_cast<uint32_t>(k * WgmmaConfig::kThreads);
      const int in_x = static_cast<int>(g.halo_columns.take(rest)) - s.pad_x;
      rest += static_cast<uint32_t>(first.y * s.stride_y);
      const int in_y = static_cast<int>(g.image_rows.take(rest)) - s.pad_y;
      const int ahead = static_cast<int>(rest);
      const bool inside = first.image + ahead < s.n && in_y >= 0 && in_y < s.h && in_x >= 0 && in_x < s.w;
      offset[k] = inside ? ahead * s.c_in * static_cast<int>(s.in_plane) + in_y * s.w + in_x : -1;
    }
  }

  /// Starts the copies of channels [begin, end) of the chunk that begins with channel `first_c`.
  __device__ __forceinline__ void load(const DeviceShape& s, const WgmmaGrid& g, int first_c, int begin,
                                       int end, float* rows) const {
    const int thread = static_cast<int>(threadIdx.x), values = g.halo_h * g.halo_w;
    for (int c = begin; c < end; ++c) {
      const float* const plane = image + (first_c + c) * s.in_plane;
      float* const to = rows + c * g.words + thread;
      CONVSCOPE_UNROLL
      for (int k = 0; k < WgmmaPlan::kPositions; ++k) {
        if (thread + k * WgmmaConfig::kThreads < values) {
          const bool there = offset[k] >= 0 && first_c + c < s.c_in;
          copy_async(to + k * WgmmaConfig::kThreads, there ? plane + offset[k] : image, there);
        }
      }
    }
  }
};

/// A thread's values of a step.
struct WgmmaValues {
  float v[WgmmaConfig::kTiles][4];

  __device__ __forceinline__ void pick(const float* rows, const int (&pixel)[WgmmaConfig::kTiles][2],
                                       const int* offset) {
    CONVSCOPE_UNROLL
    for (int t = 0; t < WgmmaConfig::kTiles; ++t) {
      CONVSCOPE_UNROLL
      for (int i = 0; i < 4; ++i) v[t][i] = rows[pixel[t][i % 2] + offset[i / 2]];
    }
  }
};

/// Starts the products of a step: its values with the weights at `weights`.
template <bool kSplit>
__device__ __forceinline__ void start_products(const WgmmaValues& values, const float* weights,
                                               float (&sum)[WgmmaConfig::kTiles][64]) {
  constexpr int kFour = WgmmaPlan::kMaps * 16, kEight = 128;  // bytes to the next four taps and eight maps
  constexpr int kTiles = WgmmaConfig::kTiles;
  uint32_t big[kTiles][4], small[kTiles][4], finite[kTiles][4];
  CONVSCOPE_UNROLL
  for (int t = 0; t < kTiles; ++t) {
    CONVSCOPE_UNROLL
    for (int i = 0; i < 4; ++i) tf32_operands<kSplit>(values.v[t][i], big[t][i], small[t][i], finite[t][i]);
  }
  const FactorInShared big_weights = factor_in_shared(weights, kFour, kEight);
  open_products();
  if constexpr (kSplit) {
    const FactorInShared small_weights = factor_in_shared(weights + 8 * WgmmaPlan::kMaps, kFour, kEight);
    CONVSCOPE_UNROLL
    for (int t = 0; t < kTiles; ++t) multiply_tf32_128(sum[t], small[t], big_weights);
    CONVSCOPE_UNROLL
    for (int t = 0; t < kTiles; ++t) multiply_tf32_128(sum[t], finite[t], small_weights);
  }
  CONVSCOPE_UNROLL
  for (int t = 0; t < kTiles; ++t) multiply_tf32_128(sum[t], big[t], big_weights);
  close_products();
}

template <bool kActivated>
__device__ __forceinline__ void store_sums(const DeviceShape& s, const WgmmaGrid& g, Activation activation,
                                           int first_pixel, int first_map, const float* bias,
                                           const float (&sum)[WgmmaConfig::kTiles][64], float* out) {
  float* pixel[WgmmaConfig::kTiles][2];
  CONVSCOPE_UNROLL
  for (int t = 0; t < WgmmaConfig::kTiles; ++t) {
    CONVSCOPE_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int number = first_pixel + t * 64 + half * 8;
      uint32_t image = static_cast<uint32_t>(number);
      const uint32_t in_plane = g.plane.take(image);
      pixel[t][half] = number < g.pixels ? out + int64_t{image} * s.c_out * s.out_plane + in_plane : nullptr;
    }
  }
  CONVSCOPE_UNROLL
  for (int column = 0; column < WgmmaPlan::kMaps / 4; ++column) {
    const int map = first_map + column / 2 * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + column % 2;
    if (map >= s.c_out) continue;
    const float own_bias = bias == nullptr ? -0.0f : bias[map];  // -0 changes no sum
    CONVSCOPE_UNROLL
    for (int t = 0; t < WgmmaConfig::kTiles; ++t) {
      CONVSCOPE_UNROLL
      for (int half = 0; half < 2; ++half) {
        float v = sum[t][column / 2 * 4 + half * 2 + column % 2] + own_bias;
        if constexpr (kActivated) v = activate_apart(v, activation);
        if (pixel[t][half] != nullptr) pixel[t][half][map * s.out_plane] = v;
      }
    }
  }
}

}  // namespace
}  // namespace convscope::TARGET
