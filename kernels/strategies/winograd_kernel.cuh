#pragma once
// The kernel of winograd.cuh, step by step: load_input, transform_tiles, multiply, store_rows, then
// finish_transform, finish_tile and store_tile for every tile and map.

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"
#include "kernels/strategies/four.cuh"
#include "kernels/strategies/winograd_config.h"
#include "kernels/strategies/winograd_transform.cuh"

namespace convscope::TARGET {
namespace {

/// How a block's number along the grid's x axis splits: groups of maps first, as they share the input.
struct WinogradGrid {
  Divisor groups, tiles_x, tiles_y;
  bool vector_rows;  // every row of a tile can be written as one vector
};

/// A row of an output tile.
template <class T, int kM>
struct alignas(sizeof(T) * kM < 16 ? sizeof(T) * kM : 16) TileRow {
  T v[kM];
};

/// Where a tile lies in a channel's row of transformed tiles: the channels that a warp writes at once go to
/// different banks. Groups of four tiles stay together.
template <class C>
__device__ __forceinline__ int place_of_tile(int tile, int channel) {
  return tile ^ (C::kTilesX * (channel / (32 / C::kTiles) % C::kTilesY));
}
/// The same for the results of a map.
template <class C>
__device__ __forceinline__ int place_of_result(int tile, int map) {
  return C::kTiles == 32 ? tile ^ (16 * (map & 1)) : tile;
}

/// Input pixels of `channels` channels, whose first plane is `plane`, to shared memory; zeros outside.
template <class C, class T>
__device__ __forceinline__ void load_input(const DeviceShape& s, const T* plane, int channels, int first_y,
                                           int first_x, T* pixels) {
  const int thread = static_cast<int>(threadIdx.x), row = thread / C::kCols, col = thread % C::kCols;
  const T* from[C::kPasses];
  bool wanted[C::kPasses], inside[C::kPasses];
  CONVSCOPE_UNROLL
  for (int pass = 0; pass < C::kPasses; ++pass) {
    const int y = pass * C::kRowsPass + row, in_y = first_y + y, in_x = first_x + col;
    wanted[pass] = row < C::kRowsPass && y < C::kRows;
    inside[pass] = wanted[pass] && in_y >= 0 && in_y < s.h && in_x >= 0 && in_x < s.w;
    from[pass] = plane + int64_t{in_y} * s.w + in_x;
  }
  T* to = pixels + row * C::kCols + col;
  CONVSCOPE_UNROLL_BY(4)
  for (int c = 0; c < channels; ++c, to += C::kPlane) {
    CONVSCOPE_UNROLL
    for (int pass = 0; pass < C::kPasses; ++pass) {
      const T value = inside[pass] ? read_only(from[pass] + c * s.in_plane) : T(0);
      if (wanted[pass]) to[pass * C::kRowsPass * C::kCols] = value;
    }
  }
}

/// B^T d B of every tile and channel in shared memory: [position][channel][tile].
template <class C, Rounding R, class T>
__device__ __forceinline__ void transform_tiles(const T* pixels, int channels, T* transformed) {
  constexpr int kTogether = 32 / C::kTilesX;  // channels that a warp takes at once
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (int turn = warp; turn < C::kChannels / kTogether * C::kTilesY; turn += C::kSide) {
    const int channel = turn / C::kTilesY * kTogether + lane / C::kTilesX;
    const int tile_y = turn % C::kTilesY, tile_x = lane % C::kTilesX;
    if (channel >= channels) continue;
    const T* const from = pixels + channel * C::kPlane + tile_y * C::kM * C::kCols + tile_x * C::kM;
    T d[C::kPositions];
    CONVSCOPE_UNROLL
    for (int p = 0; p < C::kPositions; ++p) d[p] = from[p / C::kSide * C::kCols + p % C::kSide];
    CONVSCOPE_UNROLL
    for (int j = 0; j < C::kSide; ++j) transform_input<C::kM, C::kSide, R>(d + j);
    CONVSCOPE_UNROLL
    for (int i = 0; i < C::kSide; ++i) transform_input<C::kM, 1, R>(d + i * C::kSide);
    T* const to = transformed + channel * C::kTiles + place_of_tile<C>(tile_y * C::kTilesX + tile_x, channel);
    CONVSCOPE_UNROLL
    for (int p = 0; p < C::kPositions; ++p) to[p * C::kChannels * C::kTiles] = d[p];
  }
}

/// What a lane adds up: [position in the warp's row][map][tile].
template <class C, class T>
struct Sums {
  T at[C::kSide][4][C::kTilesLane];
};

/// sums += filters x tiles for each position of the warp's row. `filters`: the lane's first weights;
/// `transformed`: the row's first position.
template <class C, Rounding R, class T>
__device__ __forceinline__ void multiply(const T* filters, const T* transformed, int channels, int tile_lane,
                                         Sums<C, T>& sums) {
  for (int c = 0; c < channels; ++c, filters += C::kPositions * C::kMaps) {
    CONVSCOPE_UNROLL
    for (int j = 0; j < C::kSide; ++j) {
      const Four<T> weights = four(filters + j * C::kMaps);
      CONVSCOPE_UNROLL
      for (int part = 0; part < C::kTilesLane; part += 4) {
        const int place = place_of_tile<C>(part * 4 + tile_lane * 4, c);
        const Four<T> values = four(transformed + (j * C::kChannels + c) * C::kTiles + place);
        CONVSCOPE_UNROLL
        for (int m = 0; m < 4; ++m) {
          CONVSCOPE_UNROLL
          for (int t = 0; t < 4; ++t) {
            sums.at[j][m][part + t] = mad<R>(weights.v[m], values.v[t], sums.at[j][m][part + t]);
          }
        }
      }
    }
  }
}

/// The output transform along x, which needs only the lane's own sums: to shared memory as
/// [row of positions][x in the tile][map][tile].
template <class C, Rounding R, class T>
__device__ __forceinline__ void store_rows(const Sums<C, T>& sums, int row, int map_lane, int tile_lane,
                                           T* results) {
  CONVSCOPE_UNROLL
  for (int m = 0; m < 4; ++m) {
    const int map = m * 8 + map_lane;
    CONVSCOPE_UNROLL
    for (int part = 0; part < C::kTilesLane; part += 4) {
      Four<T> four_tiles[C::kM];
      CONVSCOPE_UNROLL
      for (int t = 0; t < 4; ++t) {
        T products[C::kSide], y[C::kM];
        CONVSCOPE_UNROLL
        for (int j = 0; j < C::kSide; ++j) products[j] = sums.at[j][m][part + t];
        transform_output<C::kM, R>(products, y);
        CONVSCOPE_UNROLL
        for (int x = 0; x < C::kM; ++x) four_tiles[x].v[t] = y[x];
      }
      const int place = place_of_result<C>(part * 4 + tile_lane * 4, map);
      CONVSCOPE_UNROLL
      for (int x = 0; x < C::kM; ++x) {
        T* const to = results + ((row * C::kM + x) * C::kMaps + map) * C::kTiles + place;
        *reinterpret_cast<Four<T>*>(to) = four_tiles[x];
      }
    }
  }
}

/// The output transform along y of one tile and map.
template <class C, Rounding R, class T>
__device__ __forceinline__ void finish_transform(const T* results, T (&tile)[C::kM][C::kM]) {
  CONVSCOPE_UNROLL
  for (int j = 0; j < C::kM; ++j) {
    T products[C::kSide], column[C::kM];
    CONVSCOPE_UNROLL
    for (int i = 0; i < C::kSide; ++i) products[i] = results[(i * C::kM + j) * C::kMaps * C::kTiles];
    transform_output<C::kM, R>(products, column);
    CONVSCOPE_UNROLL
    for (int i = 0; i < C::kM; ++i) tile[i][j] = column[i];
  }
}

/// Bias and activation of a tile whose first output is (y, x). A window that lies in the padding as a whole
/// gives zero: F4's terms cancel only roughly.
template <class C, class T>
__device__ __forceinline__ void finish_tile(const DeviceShape& s, int y, int x, T bias, Activation activation,
                                            T (&tile)[C::kM][C::kM]) {
  if (s.pad_y > 2 || s.pad_x > 2) {
    CONVSCOPE_UNROLL
    for (int i = 0; i < C::kM * C::kM; ++i) {
      if (sees_nothing(s, y + i / C::kM, x + i % C::kM)) tile[i / C::kM][i % C::kM] = T(0);
    }
  }
  CONVSCOPE_UNROLL
  for (int i = 0; i < C::kM * C::kM; ++i) tile[i / C::kM][i % C::kM] += bias;
  if (activation == Activation::none) return;  // apart, so that the common case carries no branch a value
  CONVSCOPE_UNROLL
  for (int i = 0; i < C::kM * C::kM; ++i) {
    T& value = tile[i / C::kM][i % C::kM];
    value = activate(value, activation);
  }
}

/// Writes the part of a tile that lies in the image. `to`: its first output.
template <class C, class T>
__device__ __forceinline__ void store_tile(const DeviceShape& s, int y, int x, bool vector_rows,
                                           const T (&tile)[C::kM][C::kM], T* to) {
  CONVSCOPE_UNROLL
  for (int i = 0; i < C::kM; ++i) {
    if (y + i >= s.out_h) break;
    if (vector_rows) {
      TileRow<T, C::kM> row;
      CONVSCOPE_UNROLL
      for (int j = 0; j < C::kM; ++j) row.v[j] = tile[i][j];
      *reinterpret_cast<TileRow<T, C::kM>*>(to + int64_t{i} * s.out_w) = row;
    } else {
      CONVSCOPE_UNROLL
      for (int j = 0; j < C::kM; ++j) {
        if (x + j < s.out_w) to[int64_t{i} * s.out_w + j] = tile[i][j];
      }
    }
  }
}

/// `filters`: [group of 32 maps][channel][position][lane in maps][map of the lane].
template <class C, class T, Rounding R>
__global__ void __launch_bounds__(C::kThreads, C::kBlocks)
    winograd_kernel(DeviceShape s, WinogradGrid g, Activation activation, In<T> in, In<T> filters,
                    const T* bias, Out<T> out) {
  uint32_t block = blockIdx.x;
  const int group = static_cast<int>(g.groups.take(block));
  const int first_x = static_cast<int>(g.tiles_x.take(block)) * C::kTilesX * C::kM;
  const int first_y = static_cast<int>(g.tiles_y.take(block)) * C::kTilesY * C::kM;
  const int image = static_cast<int>(block);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  // bits of a lane's number: map, tile, tile, map, map. Pairs of neighbours then share a 16-byte operand,
  // which lets shared memory serve the warp in two passes.
  const int map_lane = (lane & 1) | (lane >> 2 & 6), tile_lane = lane >> 1 & 3;

  T* const transformed = shared_memory<T>();
  T* const pixels = transformed + C::kTransformed;
  const T* plane = in + int64_t{image} * s.c_in * s.in_plane;
  const T* weights =
      filters + (int64_t{group} * s.c_in * C::kPositions + warp * C::kSide) * C::kMaps + map_lane * 4;
  Sums<C, T> sums = {};
  for (int first = 0; first < s.c_in; first += C::kChannels) {
    const int channels = s.c_in - first < C::kChannels ? s.c_in - first : C::kChannels;
    load_input<C>(s, plane, channels, first_y - s.pad_y, first_x - s.pad_x, pixels);
    __syncthreads();  // also: the last channels' tiles are multiplied
    transform_tiles<C, R>(pixels, channels, transformed);
    __syncthreads();
    multiply<C, R>(weights, transformed + warp * C::kSide * C::kChannels * C::kTiles, channels, tile_lane,
                   sums);
    plane += C::kChannels * s.in_plane;
    weights += C::kChannels * C::kPositions * C::kMaps;
  }
  __syncthreads();
  store_rows<C, R>(sums, warp, map_lane, tile_lane, transformed);
  __syncthreads();

  CONVSCOPE_UNROLL_BY(1)
  for (int item = thread; item < C::kMaps * C::kTiles; item += C::kThreads) {
    const int place = item % C::kTiles, map = item / C::kTiles, o = group * C::kMaps + map;
    const int y = first_y + place / C::kTilesX * C::kM, x = first_x + place % C::kTilesX * C::kM;
    if (o >= s.c_out || y >= s.out_h || x >= s.out_w) continue;
    T tile[C::kM][C::kM];
    finish_transform<C, R>(transformed + map * C::kTiles + place_of_result<C>(place, map), tile);
    // a bias that is not there is -0, which adds nothing to any value, not even to -0
    finish_tile<C>(s, y, x, bias == nullptr ? -T(0) : bias[o], activation, tile);
    store_tile<C>(s, y, x, g.vector_rows, tile,
                  out + (int64_t{image} * s.c_out + o) * s.out_plane + int64_t{y} * s.out_w + x);
  }
}

}  // namespace
}  // namespace convscope::TARGET
