#pragma once
// register_tiled's kernel for any shape, rounding and type: a block's input with its halo in shared memory,
// as many channels at a time as leave room for several blocks. Lanes take neighbouring pixels, each four 32
// apart.

#include "kernels/strategies/constant_weights.cuh"
#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/register_parts.cuh"

namespace convscope::TARGET {
namespace {

struct TileConfig {
  static constexpr int kThreads = 128, kPixels = 4;
  static constexpr int kWidth = 32 * kPixels, kBlockRows = kThreads / 32;  // of a block's outputs
  static constexpr int64_t kBytes = 40 * 1024;  // of channels taken at a time: leaves room for several blocks
};

/// Input of one channel under a block's outputs, and how many channels are taken at a time.
struct TileSize {
  Divisor h_divisor;
  int h = 0, w = 0, channels = 0;

  TileSize() = default;
  TileSize(const ConvShape& s, std::size_t value_bytes)
      : h_divisor(height(s)), h(static_cast<int>(height(s))), w(static_cast<int>(width(s))) {
    const int64_t channel = height(s) * width(s) * static_cast<int64_t>(value_bytes);
    const int64_t most = TileConfig::kBytes / channel;
    channels = static_cast<int>(most < 1 ? 1 : most < s.c_in ? most : s.c_in);
  }
  static int64_t height(const ConvShape& s) {
    return (TileConfig::kBlockRows - 1) * s.stride.y + (s.k_h - 1) * s.dilation.y + 1;
  }
  static int64_t width(const ConvShape& s) {
    return (TileConfig::kWidth - 1) * s.stride.x + (s.k_w - 1) * s.dilation.x + 1;
  }
};

/// Loads rows of the input, a warp each; outside of the image zeros.
template <class T>
__device__ __forceinline__ void tile_fill(const DeviceShape& s, const TileSize& size, int channels,
                                          int first_x, int first_y, const T* planes, T* tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (int r = warp; r < channels * size.h; r += TileConfig::kThreads / 32) {
    uint32_t channel = static_cast<uint32_t>(r);
    const int y = first_y + static_cast<int>(size.h_divisor.take(channel));
    const bool row_inside = y >= 0 && y < s.h;
    const T* const from = planes + channel * s.in_plane + int64_t{row_inside ? y : 0} * s.w;
    CONVSCOPE_UNROLL_BY(4)
    for (int i = lane; i < size.w; i += 32) {
      const int x = first_x + i;
      tile[r * size.w + i] = row_inside && x >= 0 && x < s.w ? read_only(from + x) : T(0);
    }
  }
}

template <class T, int kMaps, Rounding R, int kCount>
__global__ void register_tile_kernel(DeviceShape s, RegisterGrid g, TileSize size, Activation activation,
                                     In<T> in, Out<T> out,
                                     CONVSCOPE_CONSTANT(ConstantWeights<T, kCount>) weights) {
  using C = TileConfig;
  uint32_t block = blockIdx.x;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int x = static_cast<int>(g.tiles_x.take(block)) * C::kWidth;
  const int block_y = static_cast<int>(g.tiles_y.take(block)) * C::kBlockRows, y = block_y + warp;
  const int image = static_cast<int>(block) / g.groups, group = static_cast<int>(block) % g.groups;
  const int taps = s.k_h * s.k_w;
  int weight = group * (s.c_in * taps + 1) * kMaps;

  T* const tile = shared_memory<T>();
  T sum[kMaps][C::kPixels] = {};
  for (int c0 = 0; c0 < s.c_in; c0 += size.channels) {
    const int channels = s.c_in - c0 < size.channels ? s.c_in - c0 : size.channels;
    if (c0 > 0) __syncthreads();  // the last channels are still being read
    tile_fill(s, size, channels, x * s.stride_x - s.pad_x, block_y * s.stride_y - s.pad_y,
              in + (int64_t{image} * s.c_in + c0) * s.in_plane, tile);
    __syncthreads();
    for (int c = 0; c < channels; ++c) {
      const T* const corner = tile + (c * size.h + warp * s.stride_y) * size.w + lane * s.stride_x;
      for (int i = 0; i < s.k_h; ++i) {
        for (int j = 0; j < s.k_w; ++j, weight += kMaps) {
          const T* const at = corner + i * s.dilation_y * size.w + j * s.dilation_x;
          T values[C::kPixels];
          CONVSCOPE_UNROLL
          for (int p = 0; p < C::kPixels; ++p) values[p] = at[32 * p * s.stride_x];
          multiply_maps<kMaps, C::kPixels, R>(weights.values + weight, values, 1, sum);
        }
      }
    }
  }
  if (y >= s.out_h) return;
  finish_maps<kMaps, C::kPixels, true>(weights.values + weight, activation, sum);
  const int map0 = g.first_map + group * kMaps, width = s.out_w - x;
  T* const to = out + ((int64_t{image} * s.c_out + map0) * s.out_plane + int64_t{y} * s.out_w + x);
  if (width >= C::kWidth && g.last_map - map0 >= kMaps) {
    store_maps<kMaps, C::kPixels, false, true>(s, to, lane, width, g.last_map - map0, sum);
  } else {
    store_maps<kMaps, C::kPixels, false, false>(s, to, lane, width, g.last_map - map0, sum);
  }
}

}  // namespace
}  // namespace convscope::TARGET
