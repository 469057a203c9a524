#pragma once
// register_tiled's kernel for larger windows: a block keeps two tiles of its input in shared memory and
// computes from one while the other is on its way (cp.async), tile after tile; a thread makes four
// neighbouring pixels of a few rows.
//
// Measured on an H200 (sm_90), streaming: 5x5 to 16 maps 128 us (169 without shared memory, its rows being
// read again for each group of maps), grey 3x3 7.1 us, grey 15x15 29.5 us. The blocks of a launch are as many
// as run at once, each with the same number of tiles. Unrolled is what stays below about 1600 multiply-adds;
// see register_strip.cuh for why, and for the sixteen multiply-adds of a weight.

#include "kernels/strategies/constant_weights.cuh"
#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/register_parts.cuh"

namespace convscope::TARGET {
namespace {

/// Stride 1, rows of input and output aligned, `same` padding along x. kUnrolled: the rows of the window.
template <class T_, int kK_, int kD_, int kMaps_, int kRows_, int kBlocks_, bool kUnrolled_>
struct RingConfig {
  using T = T_;
  static constexpr int kK = kK_, kD = kD_, kMaps = kMaps_, kRows = kRows_, kPixels = 4;
  static constexpr bool kUnrolled = kUnrolled_;
  static constexpr int kWarps = 4, kThreads = 32 * kWarps, kBlocks = kBlocks_;
  static constexpr int kVector = 16 / static_cast<int>(sizeof(T));  // values of one copy
  static constexpr int kHalo = kK / 2 * kD,
                       kLead = (4 - kHalo % 4) % 4;  // pixels left of the tile; from a vector's start
  static constexpr int kWidth = 32 * kPixels, kBlockRows = kWarps * kRows;  // of a tile's outputs
  static constexpr int kTileRows = kBlockRows + (kK - 1) * kD;
  static constexpr int kPitch = (kLead + kWidth + (kK - 1) * kD + 3) / 4 * 4;
  static constexpr int kRow =
      (kLead + kPixels + (kK - 1) * kD + 3) / 4 * 4;  // values of a row that a thread reads
  static constexpr int kStages = 2;
  static_assert(kWarps % kD == 0, "a thread's rows lie kD apart, so that they share rows of input");
  static int64_t shared_bytes(const ConvShape& s) {
    return kStages * s.c_in * kTileRows * kPitch * static_cast<int64_t>(sizeof(T));
  }
};

template <class C>
__device__ __forceinline__ TilePlace ring_tile(const RegisterGrid& g, int tile) {
  return place_of_tile(static_cast<uint32_t>(tile), g.tiles_x, C::kWidth, g.tiles_y, C::kBlockRows);
}

/// Starts the copies of a tile with its halo, all channels; outside of the image zeros.
template <class C>
__device__ __forceinline__ void ring_fill(const DeviceShape& s, const RegisterGrid& g, int tile,
                                          typename C::T* stage, const typename C::T* in) {
  using T = typename C::T;
  if (tile < g.tiles) {
    const TilePlace t = ring_tile<C>(g, tile);
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int first_x = t.x - C::kHalo - C::kLead, first_y = t.y - s.pad_y;
    const T* const planes = in + int64_t{t.image} * s.c_in * s.in_plane;
    CONVSCOPE_UNROLL
    for (int r0 = 0; r0 < C::kTileRows; r0 += C::kWarps) {
      const int r = r0 + warp, y = first_y + r;
      if (r >= C::kTileRows) continue;
      const bool row_inside = y >= 0 && y < s.h;
      CONVSCOPE_UNROLL
      for (int i0 = 0; i0 < C::kPitch; i0 += 32 * C::kVector) {
        const int i = i0 + C::kVector * lane, x = first_x + i;
        if (i >= C::kPitch) continue;
        const bool inside = row_inside && x >= 0 && x < s.w;
        const T* from = inside ? planes + (int64_t{y} * s.w + x) : in;
        T* to = stage + r * C::kPitch + i;
        CONVSCOPE_UNROLL_BY(1)
        for (int c = 0; c < s.c_in; ++c, to += C::kTileRows * C::kPitch) {
          copy_async16(to, from, inside);
          if (inside) from += s.in_plane;
        }
      }
    }
  }
  copy_async_commit();
}

/// Adds one row of the window's input to the sums of the rows of output that it reaches.
template <class C, int kCount>
__device__ __forceinline__ void ring_row(const typename C::T* row, int r,
                                         const ConstantWeights<typename C::T, kCount>& weights, int weight,
                                         typename C::T (&sum)[C::kRows][C::kMaps][C::kPixels]) {
  using T = typename C::T;
  T values[C::kRow];
  constexpr int kEnd = C::kLead + C::kPixels + (C::kK - 1) * C::kD;
  CONVSCOPE_UNROLL
  for (int i = 0; i < C::kRow; i += 4) {  // as wide as what is needed of a vector: registers are scarce
    const int first = i < C::kLead ? C::kLead - i : 0, last = kEnd - i < 4 ? kEnd - i : 4;
    if (first < 2 && last > 2) {
      const Four<T> vector = four(row + i);
      CONVSCOPE_UNROLL
      for (int j = 0; j < 4; ++j) values[i + j] = vector.v[j];
    } else if (last - first == 2) {
      const Two<T> two = *reinterpret_cast<const Two<T>*>(row + i + first);
      values[i + first] = two.v[0], values[i + first + 1] = two.v[1];
    } else {
      values[i + first] = row[i + first];
    }
  }
  CONVSCOPE_UNROLL
  for (int a = 0; a < C::kRows; ++a) {
    const int i = r - a;  // row of taps
    if (i < 0 || i >= C::kK) continue;
    CONVSCOPE_UNROLL
    for (int j = 0; j < C::kK; ++j) {
      multiply_maps<C::kMaps, C::kPixels, Rounding::fused>(
          weights.values + weight + (i * C::kK + j) * C::kMaps, values + C::kLead + j * C::kD, 1, sum[a]);
    }
  }
}

template <class C, int kCount, bool kActive>
__global__ void CONVSCOPE_LAUNCH_BOUNDS(C::kThreads, C::kBlocks)
    register_ring_kernel(DeviceShape s, RegisterGrid g, Activation activation, In<typename C::T> in,
                         Out<typename C::T> out,
                         CONVSCOPE_CONSTANT(ConstantWeights<typename C::T, kCount>) weights) {
  using T = typename C::T;
  T* const ring = shared_memory<T>();
  const int stage_values = s.c_in * C::kTileRows * C::kPitch, blocks = static_cast<int>(gridDim.x);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int row0 = warp / C::kD * C::kD * C::kRows + warp % C::kD;  // the thread's rows are row0 + a * kD
  ring_fill<C>(s, g, static_cast<int>(blockIdx.x), ring, in);
  int stage = 0;
  CONVSCOPE_UNROLL_BY(1)
  for (int tile = static_cast<int>(blockIdx.x); tile < g.tiles; tile += blocks, stage ^= 1) {
    copy_async_wait<0>();
    __syncthreads();  // this tile is there, and the other one is no longer read
    ring_fill<C>(s, g, tile + blocks, ring + (stage ^ 1) * stage_values, in);
    const TilePlace t = ring_tile<C>(g, tile);
    const T* const corner = ring + stage * stage_values + row0 * C::kPitch + lane * C::kPixels;
    int weight = 0;
    CONVSCOPE_UNROLL_BY(1)
    for (int group = 0; group < g.groups; ++group) {
      T sum[C::kRows][C::kMaps][C::kPixels] = {};
      const T* plane = corner;
      CONVSCOPE_UNROLL_BY(1)
      for (int c = 0; c < s.c_in;
           ++c, plane += C::kTileRows * C::kPitch, weight += C::kK * C::kK * C::kMaps) {
        CONVSCOPE_UNROLL_BY(C::kUnrolled ? C::kK + C::kRows - 1 : 1)
        for (int r = 0; r < C::kK + C::kRows - 1; ++r) {
          ring_row<C>(plane + r * C::kD * C::kPitch, r, weights, weight, sum);
        }
      }
      const T* const bias = weights.values + weight;
      weight += C::kMaps;
      const int map0 = g.first_map + group * C::kMaps;
      CONVSCOPE_UNROLL
      for (int a = 0; a < C::kRows; ++a) {
        finish_maps<C::kMaps, C::kPixels, kActive>(bias, activation, sum[a]);
        const int y = t.y + row0 + a * C::kD;
        if (y >= s.out_h) continue;
        T* const to = out + ((int64_t{t.image} * s.c_out + map0) * s.out_plane + int64_t{y} * s.out_w + t.x);
        const int width = s.out_w - t.x, maps = g.last_map - map0;
        if (width >= C::kWidth && maps >= C::kMaps) {
          store_maps<C::kMaps, C::kPixels, true, true>(s, to, lane, width, maps, sum[a]);
        } else {
          store_maps<C::kMaps, C::kPixels, true, false>(s, to, lane, width, maps, sum[a]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace convscope::TARGET
