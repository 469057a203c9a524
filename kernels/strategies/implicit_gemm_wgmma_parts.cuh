#pragma once
// The parts of implicit_gemm_wgmma: its input in shared memory, the products of a step, and the storing of
// sums.

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/four.cuh"
#include "kernels/strategies/implicit_gemm_wgmma_plan.h"
#include "kernels/strategies/tensor_values.cuh"

namespace convscope::TARGET {
namespace {

/// The plan as the kernel takes it.
struct WgmmaGrid {
  Divisor map_tiles, strips, bands;  // of a block's number
  Divisor pitch, rows;               // linear: of a number through all rows and images
  bool linear, vectors;              // vectors: outputs are stored by fours
  int positions, quads, chunks, steps, stage_steps, turns;
  int run_positions;          // from the first position of 128 outputs to that of the next
  int input, barriers, bias;  // words of shared memory before them
  int64_t image_weights;      // words from the weights of an image to those of the next; 0: of all the same
};
struct WgmmaPlaces {
  uint32_t of_step[WgmmaPlan::kMostSteps];
};

/// Where the first of a block's outputs lies.
struct WgmmaPlace {
  int map_tile, image, y, x;
};
template <int kTiles>
__device__ __forceinline__ WgmmaPlace place_of_block(const WgmmaGrid& g) {
  uint32_t block = blockIdx.x;
  WgmmaPlace at;
  // the map tile runs fastest: the blocks of a tile of pixels share its inputs
  at.map_tile = static_cast<int>(g.map_tiles.take(block));
  if (g.linear) {
    uint32_t row = block * WgmmaPlan::kWarpgroups * kTiles * 64;
    at.x = static_cast<int>(g.pitch.take(row));
    at.y = static_cast<int>(g.rows.take(row));
    at.image = static_cast<int>(row);
    return at;
  }
  const TilePlace tile = place_of_tile(block, g.strips, WgmmaPlan::kRun, g.bands, kTiles);
  at.x = tile.x, at.y = tile.y, at.image = tile.image;
  return at;
}

/// Linear: what `x` columns and `y` rows beyond an image's end are in the next ones.
__device__ __forceinline__ void carry(const WgmmaGrid& g, int& image, int& y, int& x) {
  uint32_t column = static_cast<uint32_t>(x), row = static_cast<uint32_t>(y);
  x = static_cast<int>(g.pitch.take(column));
  row += column;
  y = static_cast<int>(g.rows.take(row));
  image += static_cast<int>(row);
}

/// A quad's four values in the input.
struct WgmmaQuad {
  int offset;   // of the first channel's, from the block's first image and the chunk's first channel
  int channel;  // of the first, within the chunk; out of reach where the quad is outside the image
};
constexpr int kOutside = 1 << 30;
__device__ __forceinline__ WgmmaQuad quad_at(const DeviceShape& s, const WgmmaGrid& g, const WgmmaPlace& at,
                                             uint32_t spot) {
  const int row = static_cast<int>(spot & 0x3fff), column = static_cast<int>(spot >> 14 & 0x3fff);
  const int channel = static_cast<int>(spot >> 28) * 4;
  int image = at.image, y = at.y * s.stride_y + row, x = at.x * s.stride_x + column;
  if (g.linear) carry(g, image, y, x);
  y -= s.pad_y;
  x -= s.pad_x;
  const bool inside = static_cast<unsigned>(y) < static_cast<unsigned>(s.h) &&
                      static_cast<unsigned>(x) < static_cast<unsigned>(s.w) && image < s.n;
  return {((image - at.image) * s.c_in + channel) * static_cast<int>(s.in_plane) + y * s.w + x,
          inside ? channel : kOutside};
}

__device__ __forceinline__ void load_quad(const DeviceShape& s, const float* chunk, int channels,
                                          const WgmmaQuad& q, float (&v)[4]) {
  const float* from = chunk + q.offset;
  CONVSCOPE_UNROLL
  for (int e = 0; e < 4; ++e, from += s.in_plane) {
    v[e] = q.channel < channels - e ? read_only(from) : 0.0f;
  }
}

/// A quad into shared memory, in one or two parts: [part][quad][position][channel].
template <bool kSplit>
__device__ __forceinline__ void store_quad(const float (&v)[4], float* to, int part_words) {
  Four<uint32_t> big, small;
  CONVSCOPE_UNROLL
  for (int e = 0; e < 4; ++e) {
    if constexpr (kSplit) {
      split_tf32(v[e], big.v[e], small.v[e]);
    } else {
      big.v[e] = to_tf32(v[e]);
    }
  }
  *reinterpret_cast<Four<uint32_t>*>(to) = big;
  if constexpr (kSplit) *reinterpret_cast<Four<uint32_t>*>(to + part_words) = small;
}

/// The quads of a chunk that a thread brings to shared memory: some through registers, fetched behind the
/// products of the chunk before, any more at once.
template <int kItems, bool kSplit>
struct WgmmaInput {
  WgmmaQuad own[kItems];
  float v[kItems][4];

  __device__ __forceinline__ static int number(int item) {
    return static_cast<int>(threadIdx.x) + item * WgmmaPlan::kThreads;
  }
  __device__ __forceinline__ void place(const DeviceShape& s, const WgmmaGrid& g, const WgmmaPlace& at,
                                        const uint32_t* spots, int count) {
    uint32_t spot[kItems];
    CONVSCOPE_UNROLL
    for (int i = 0; i < kItems; ++i) spot[i] = number(i) < count ? read_only(spots + number(i)) : 0;
    CONVSCOPE_UNROLL
    for (int i = 0; i < kItems; ++i) own[i] = quad_at(s, g, at, spot[i]);
  }
  /// `channels`: those from the chunk's first on.
  __device__ __forceinline__ void fetch(const DeviceShape& s, const float* chunk, int channels) {
    CONVSCOPE_UNROLL
    for (int i = 0; i < kItems; ++i) {
      pin_in_register(own[i].offset);  // or the compiler keeps the four addresses
      load_quad(s, chunk, channels, own[i], v[i]);
    }
  }
  /// Those fetched, and any more.
  __device__ __forceinline__ void store(const DeviceShape& s, const WgmmaGrid& g, const WgmmaPlace& at,
                                        const uint32_t* spots, const float* chunk, int channels, int count,
                                        float* buffer) const {
    CONVSCOPE_UNROLL
    for (int i = 0; i < kItems; ++i) {
      if (number(i) < count) store_quad<kSplit>(v[i], buffer + 4 * number(i), 4 * count);
    }
    CONVSCOPE_UNROLL_BY(1)
    for (int i = number(kItems); i < count; i += WgmmaPlan::kThreads) {
      float more[4];
      load_quad(s, chunk, channels, quad_at(s, g, at, read_only(spots + i)), more);
      store_quad<kSplit>(more, buffer + 4 * i, 4 * count);
    }
    publish_to_products();
  }
};

/// A thread's sums, [tile][as the tensor core has them]. Of up to 32 maps the small products have sums of
/// their own.
template <int kMaps, int kTiles, bool kSplit>
struct WgmmaSums {
  static constexpr bool kBeside = kSplit && kMaps <= 32;
  static constexpr int kOfTile = kMaps / 2 * (kBeside ? 2 : 1);
  float v[kTiles][kOfTile];

  /// Where products begin and where they are done: the compiler sees no other reason to use them only there.
  __device__ __forceinline__ void settle() {
    CONVSCOPE_UNROLL
    for (int t = 0; t < kTiles; ++t) {
      CONVSCOPE_UNROLL
      for (int i = 0; i < kOfTile; ++i) pin_in_register(v[t][i]);
    }
  }
  __device__ __forceinline__ float total(int t, int i) const {
    if constexpr (kBeside) return v[t][i] + v[t][i + kMaps / 2];
    return v[t][i];
  }
};

/// The products of one step: its quads, from the warpgroup's first output on, with its weights; `to_small`:
/// from there to the small parts. A run of 128 outputs is two tiles whose groups of 8 take turns: so a warp
/// has 32 outputs side by side.
template <int kMaps, int kTiles, bool kSplit>
__device__ __forceinline__ void start_products(const WgmmaGrid& g, const FactorInShared& input,
                                               const FactorInShared& weights, int to_small,
                                               WgmmaSums<kMaps, kTiles, kSplit>& sum) {
  CONVSCOPE_UNROLL
  for (int t = 0; t < kTiles; ++t) {
    const FactorInShared big = input.moved(t / 2 * g.run_positions + t % 2 * 8);
    if constexpr (WgmmaSums<kMaps, kTiles,
                            kSplit>::kBeside) {  // big x (small, big), then small x big to the small sums
      multiply_tf32<2 * kMaps>(sum.v[t], big, weights);
      multiply_tf32<kMaps>(sum.v[t], big.moved(to_small), weights.moved(kMaps));
    } else {
      if constexpr (kSplit) {  // the small products first, so that they are not cut off one by one
        multiply_tf32<kMaps>(sum.v[t], big.moved(to_small), weights);
        multiply_tf32<kMaps>(sum.v[t], big, weights.moved(2 * kMaps));
      }
      multiply_tf32<kMaps>(sum.v[t], big, weights);
    }
  }
}

/// Where an output lies in its plane, images counted in; -1 where there is none.
__device__ __forceinline__ int64_t output_at(const DeviceShape& s, const WgmmaGrid& g, const WgmmaPlace& at,
                                             int run, int number) {
  int image = at.image, y = at.y, x = at.x + number;
  if (g.linear) {
    x += run * WgmmaPlan::kRun;
    carry(g, image, y, x);
  } else {
    y += run;
  }
  if (image >= s.n || y >= s.out_h || x >= s.out_w) return -1;
  return int64_t{image} * s.c_out * s.out_plane + int64_t{y} * s.out_w + x;
}

/// A warp's sums, 32 outputs side by side of each run, through its part of shared memory, so that a store
/// writes a whole line of a map.
template <int kMaps, int kTiles, bool kSplit, bool kActivated>
__device__ __forceinline__ void store_sums(const DeviceShape& s, const WgmmaGrid& g, const WgmmaPlace& at,
                                           Activation activation, const float* bias,
                                           const WgmmaSums<kMaps, kTiles, kSplit>& sum, float* shared,
                                           float* out) {
  constexpr int kRow = 36, kRows = WgmmaPlan::kRowsOfMaps;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  float* const own = shared + warp * kRows * kRow;
  float* const to = own + lane % 4 * 2 * kRow + lane / 4;
  const int first_map = at.map_tile * kMaps;
  CONVSCOPE_UNROLL
  for (int pair = 0; pair < kTiles / 2; ++pair) {
    const int run = warp / 4 * (kTiles / 2) + pair, first = warp % 4 * 32;
    CONVSCOPE_UNROLL
    for (int rows = 0; rows < kMaps / kRows; ++rows) {
      CONVSCOPE_UNROLL
      for (int i = 0; i < kRows / 4; ++i) {  // two maps a lane, then the next eight
        const float own_bias = bias[rows * kRows + i / 2 * 8 + lane % 4 * 2 + i % 2];
        CONVSCOPE_UNROLL
        for (int part = 0; part < 4; ++part) {
          const int t = part % 2, half = part / 2;  // the tile, and which of its rows
          float v = sum.total(2 * pair + t, (rows * (kRows / 8) + i / 2) * 4 + half * 2 + i % 2) + own_bias;
          if constexpr (kActivated) v = activate_apart(v, activation);
          to[(i / 2 * 8 + i % 2) * kRow + half * 16 + t * 8] = v;
        }
      }
      sync_warp();
      const int map = first_map + rows * kRows;
      if (g.vectors) {
        const int lane_map = map + lane / 8, column = first + lane % 8 * 4;
        const int64_t pixel = output_at(s, g, at, run, column);
        float* line = out + pixel + lane_map * s.out_plane;
        CONVSCOPE_UNROLL
        for (int i = 0; i < kRows / 4; ++i, line += 4 * s.out_plane) {
          if (pixel >= 0 && lane_map + 4 * i < s.c_out) {
            *reinterpret_cast<Four<float>*>(line) = four(own + (4 * i + lane / 8) * kRow + lane % 8 * 4);
          }
        }
      } else {
        const int64_t pixel = output_at(s, g, at, run, first + lane);
        float* line = out + pixel + map * s.out_plane;
        CONVSCOPE_UNROLL
        for (int i = 0; i < kRows; ++i, line += s.out_plane) {
          if (pixel >= 0 && map + i < s.c_out) *line = own[i * kRow + lane];
        }
      }
      sync_warp();
    }
  }
}

}  // namespace
}  // namespace convscope::TARGET
