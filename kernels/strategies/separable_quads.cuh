#pragma once
// The kernels of `separable` for floats in rows of whole quads, stride and dilation 1.
//
// In two dimensions 64 threads make a run of 8 rows, 256 columns wide with its halo: down, straight from the
// image (the runs of a block find each other's rows in L1), then by way of shared memory along. The runs of a
// block wait for none but themselves. In one dimension, of many rows, there is neither shared memory nor a
// barrier: a thread slides over the image itself, of which L1 serves all loads but the first. Of a row or a
// few, a block sums along one tile in shared memory while the next one is on its way (cp.async).

#include "kernels/strategies/separable_slide.cuh"

namespace convscope::TARGET {
namespace {

struct QuadsConfig {
  static constexpr int kQuads = 64;    // columns of a run with its halo, in quads: a thread each
  static constexpr int kMostRuns = 3;  // of a block: 24 rows read 40 for 17 taps; 360 blocks for 1080p
  static constexpr int kRowThreads = 128, kRowWarps = kRowThreads / 32;
  static constexpr int kWarpColumns = 128;  // that a warp stores at once
};

/// What a launch derives from the shape, and its place among the maps.
struct QuadsGrid {
  Divisor tiles_x, tiles_y, maps;
  int tiles;            // of all maps and images
  int tile_quads;       // outputs of a tile, across
  int runs;             // of a block, down
  int lead;             // values between the quad where a tile's rows begin and the first tap's
  int column_quads;     // of taps of one kernel
  int quads_a_channel;  // those and the row's
};

/// Quads of a tile of one row with its halo; `last`: quads lead and taps, in values.
CONVSCOPE_HOST_DEVICE int run_stage_quads(int tile_quads, int last) { return tile_quads + (last + 2) / 4; }

/// A tile's first output.
struct QuadsPlace {
  int x, y, map, image;
};
__device__ __forceinline__ QuadsPlace quads_place(const QuadsGrid& g, int number, int rows) {
  uint32_t rest = static_cast<uint32_t>(number);
  QuadsPlace at;
  at.x = static_cast<int>(g.tiles_x.take(rest)) * g.tile_quads * 4;
  at.y = static_cast<int>(g.tiles_y.take(rest)) * rows;
  at.map = static_cast<int>(g.maps.take(rest));
  at.image = static_cast<int>(rest);
  return at;
}

/// Quads of the image down a column; beyond the edges zero. Rows past `needed` are not loaded.
class QuadColumn {
 public:
  __device__ __forceinline__ QuadColumn(const DeviceShape& s, const float* plane, int y, int x, int needed)
      : from_(plane + int64_t{y} * s.w + x), w_(s.w), y_(y) {
    const int end = y + needed < s.h ? y + needed : s.h;
    rows_ = x >= 0 && x < s.w && end > 0 ? end : 0;
  }
  __device__ __forceinline__ Four<float> next() {
    Four<float> v;
    load4_or_zero(from_, static_cast<unsigned>(y_) < static_cast<unsigned>(rows_), v.v);
    from_ += w_;
    ++y_;
    return v;
  }

 private:
  const float* from_;
  int w_, y_, rows_;
};

/// Quads along neighbouring rows of the image; beyond the edges zero. Not kGuarded: there are no edges.
template <bool kGuarded>
class QuadRows {
 public:
  __device__ __forceinline__ QuadRows(const DeviceShape& s, const float* plane, int y, int x)
      : from_(plane + int64_t{y} * s.w + x), w_(s.w), h_(s.h), y_(y), x_(x) {}
  __device__ __forceinline__ Four<float> quad(int r) const {
    const float* const from = from_ + int64_t{r} * w_;
    if constexpr (!kGuarded) return four(from);
    const bool is_row = static_cast<unsigned>(y_ + r) < static_cast<unsigned>(h_);
    Four<float> v;
    load4_or_zero(from, is_row && static_cast<unsigned>(x_) < static_cast<unsigned>(w_), v.v);
    return v;
  }
  __device__ __forceinline__ void advance() {
    from_ += 4;
    x_ += 4;
  }

 private:
  const float* from_;
  int w_, h_, y_, x_;
};

/// Quads of runs in shared memory, kApart from one to the next.
template <int kApart>
struct RunRows {
  const Four<float>* from;
  __device__ __forceinline__ Four<float> quad(int r) const { return from[r * kApart]; }
  __device__ __forceinline__ void advance() { ++from; }
};

__device__ __forceinline__ void finish_quad(Four<float>& sum, float bias, Activation activation) {
  CONVSCOPE_UNROLL_MAPS
  for (float& v : sum.v) v = v + bias;
  if (activation == Activation::none) return;
  CONVSCOPE_UNROLL_MAPS
  for (float& v : sum.v) v = activate(v, activation);
}

/// Four outputs from x on, of which those beyond the row's end are no outputs.
__device__ __forceinline__ void store_quad(const DeviceShape& s, float* plane, int y, int x,
                                           const Four<float>& v) {
  if (y >= s.out_h || x >= s.out_w) return;
  float* const to = plane + int64_t{y} * s.out_w + x;
  if (s.out_w % 4 == 0) {
    store4(to, v.v[0], v.v[1], v.v[2], v.v[3]);
    return;
  }
  CONVSCOPE_UNROLL_MAPS
  for (int i = 0; i < 4; ++i) {
    if (x + i < s.out_w) to[i] = v.v[i];
  }
}

/// The bias of a map; -0 adds nothing to any value, not even to -0.
__device__ __forceinline__ float bias_of(const float* bias, int map) {
  return bias == nullptr ? -0.0f : bias[map];
}

/// kOneChannel: c_in is 1, so that sums need not outlast a channel.
template <bool kOneChannel, Rounding R>
__global__ void CONVSCOPE_LAUNCH_BOUNDS(QuadsConfig::kMostRuns* QuadsConfig::kQuads, kOneChannel ? 3 : 2)
    separable_quads_kernel(DeviceShape s, QuadsGrid g, Activation activation, In<float> in, const float* bias,
                           Out<float> out, CONVSCOPE_CONSTANT(SeparableTaps) taps) {
  constexpr int kDown = SlideConfig::kDown, kAlong = SlideConfig::kAlong, kQuads = QuadsConfig::kQuads;
  constexpr int kParts = kDown / kAlong, kKept = kOneChannel ? 1 : kParts;
  const auto [out_x, tile_y, map, image] = quads_place(g, static_cast<int>(blockIdx.x), g.runs * kDown);
  const int run = static_cast<int>(threadIdx.x) / kQuads, lane = static_cast<int>(threadIdx.x) % kQuads;
  const int out_y = tile_y + run * kDown;
  const int first_x = out_x - s.pad_x - g.lead;
  Four<float>* const rows = shared_memory<Four<float>>() + run * kDown * kQuads;
  // lanes without outputs repeat the last one's, since beyond the run there is nothing for them to read
  const int quad = lane < g.tile_quads ? lane : g.tile_quads - 1;
  const float* plane = in + int64_t{image} * s.c_in * s.in_plane;
  float* const map_out = out + (int64_t{image} * s.c_out + map) * s.out_plane;
  const float map_bias = bias_of(bias, map);
  Four<float> kept[kKept][kAlong] = {};
  const int channels = kOneChannel ? 1 : s.c_in;
  const Four<float>* tap = taps.quads + map * channels * g.quads_a_channel;
  for (int c = 0; c < channels; ++c, plane += s.in_plane, tap += g.quads_a_channel) {
    Four<float> down[kDown] = {};
    slide_down<R>(s.k_h, tap, QuadColumn(s, plane, out_y - s.pad_y, first_x + 4 * lane, kDown + s.k_h - 1),
                  down);
    if (c > 0) sync_group(run, kQuads);  // the last channel's sums are still being read
    CONVSCOPE_UNROLL_MAPS
    for (int r = 0; r < kDown; ++r) rows[r * kQuads + lane] = down[r];
    sync_group(run, kQuads);
    CONVSCOPE_UNROLL_BY((kOneChannel ? 1 : kParts))
    for (int part = 0; part < kParts; ++part) {
      const RunRows<kQuads> from{rows + part * kAlong * kQuads + quad};
      Four<float>(&sum)[kAlong] = kept[kOneChannel ? 0 : part];
      if constexpr (kOneChannel) {
        CONVSCOPE_UNROLL_MAPS
        for (int r = 0; r < kAlong; ++r) sum[r] = {};
      }
      slide_along<R>(g.lead, g.lead + s.k_w, tap + g.column_quads, from, sum);
      if (c + 1 < channels) continue;
      CONVSCOPE_UNROLL_MAPS
      for (int r = 0; r < kAlong; ++r) {
        finish_quad(sum[r], map_bias, activation);
        if (lane < g.tile_quads) store_quad(s, map_out, out_y + part * kAlong + r, out_x + 4 * lane, sum[r]);
      }
    }
  }
}

/// k_h is 1. A warp makes 128 columns of 4 rows, a block 4 times as much.
template <Rounding R>
__global__ void CONVSCOPE_LAUNCH_BOUNDS(QuadsConfig::kRowThreads, 5)
    separable_row_kernel(DeviceShape s, QuadsGrid g, Activation activation, In<float> in, const float* bias,
                         Out<float> out, CONVSCOPE_CONSTANT(SeparableTaps) taps) {
  constexpr int kAlong = SlideConfig::kAlong, kTileRows = QuadsConfig::kRowWarps * kAlong;
  const auto [tile_x, tile_y, map, image] = quads_place(g, static_cast<int>(blockIdx.x), kTileRows);
  const int first_x = tile_x - s.pad_x - g.lead, first_y = tile_y - s.pad_y, last = g.lead + s.k_w;
  const bool inside = first_y >= 0 && first_y + kTileRows <= s.h && first_x >= 0 &&
                      first_x + 4 * g.tile_quads + (last + 2) / 4 * 4 <= s.w;

  const int y = static_cast<int>(threadIdx.x) / 32 * kAlong, x = static_cast<int>(threadIdx.x) % 32 * 4;
  const float* plane = in + int64_t{image} * s.c_in * s.in_plane;
  const Four<float>* tap = taps.quads + map * s.c_in * g.quads_a_channel;
  Four<float> sum[kAlong] = {};
  for (int c = 0; c < s.c_in; ++c, plane += s.in_plane, tap += g.quads_a_channel) {
    if (inside) {
      slide_along<R>(g.lead, last, tap, QuadRows<false>(s, plane, first_y + y, first_x + x), sum);
    } else {
      slide_along<R>(g.lead, last, tap, QuadRows<true>(s, plane, first_y + y, first_x + x), sum);
    }
  }
  float* const map_out = out + (int64_t{image} * s.c_out + map) * s.out_plane;
  const float map_bias = bias_of(bias, map);
  CONVSCOPE_UNROLL_MAPS
  for (int r = 0; r < kAlong; ++r) {
    finish_quad(sum[r], map_bias, activation);
    store_quad(s, map_out, tile_y + y + r, tile_x + x, sum[r]);
  }
}

/// Starts the copy of a channel under a tile of one row; outside of the image zeros.
__device__ __forceinline__ void fill_run(const DeviceShape& s, const QuadsGrid& g, int tile, int channel,
                                         const float* in, Four<float>* stage) {
  if (tile < g.tiles) {
    const QuadsPlace at = quads_place(g, tile, 1);
    const int first_x = at.x - s.pad_x - g.lead, y = at.y - s.pad_y;
    const bool is_row = static_cast<unsigned>(y) < static_cast<unsigned>(s.h);
    const float* const row =
        in + ((int64_t{at.image} * s.c_in + channel) * s.in_plane + int64_t{is_row ? y : 0} * s.w);
    for (int i = static_cast<int>(threadIdx.x); i < run_stage_quads(g.tile_quads, g.lead + s.k_w);
         i += QuadsConfig::kRowThreads) {
      const int x = first_x + 4 * i;
      const bool inside = is_row && static_cast<unsigned>(x) < static_cast<unsigned>(s.w);
      copy_async16(stage[i].v, inside ? row + x : in, inside);
    }
  }
  copy_async_commit();
}

/// k_h is 1. A warp makes 4 x 128 columns of one row, a block 4 times as much, tile after tile.
template <Rounding R>
__global__ void CONVSCOPE_LAUNCH_BOUNDS(QuadsConfig::kRowThreads, 6)
    separable_run_kernel(DeviceShape s, QuadsGrid g, Activation activation, In<float> in, const float* bias,
                         Out<float> out, CONVSCOPE_CONSTANT(SeparableTaps) taps) {
  constexpr int kAlong = SlideConfig::kAlong, kQuads = QuadsConfig::kWarpColumns / 4;
  const int blocks = static_cast<int>(gridDim.x), last = g.lead + s.k_w;
  const int first = static_cast<int>(threadIdx.x) / 32 * kAlong * kQuads + static_cast<int>(threadIdx.x) % 32;
  Four<float>* stage = shared_memory<Four<float>>();
  int other_stage = run_stage_quads(g.tile_quads, last);
  fill_run(s, g, static_cast<int>(blockIdx.x), 0, in, stage);
  CONVSCOPE_UNROLL_BY(1)
  for (int tile = static_cast<int>(blockIdx.x); tile < g.tiles; tile += blocks) {
    const QuadsPlace at = quads_place(g, tile, 1);
    const Four<float>* tap = taps.quads + at.map * s.c_in * g.quads_a_channel;
    Four<float> sum[kAlong] = {};
    CONVSCOPE_UNROLL_BY(1)
    for (int c = 0; c < s.c_in; ++c, tap += g.quads_a_channel) {
      copy_async_wait<0>();
      __syncthreads();  // this stage is there, and the other one is no longer read
      const bool same_tile = c + 1 < s.c_in;
      fill_run(s, g, same_tile ? tile : tile + blocks, same_tile ? c + 1 : 0, in, stage + other_stage);
      slide_along<R>(g.lead, last, tap, RunRows<kQuads>{stage + first}, sum);
      stage += other_stage;
      other_stage = -other_stage;
    }
    float* const map_out = out + (int64_t{at.image} * s.c_out + at.map) * s.out_plane;
    const float map_bias = bias_of(bias, at.map);
    CONVSCOPE_UNROLL_MAPS
    for (int r = 0; r < kAlong; ++r) {
      finish_quad(sum[r], map_bias, activation);
      store_quad(s, map_out, at.y, at.x + 4 * (first + r * kQuads), sum[r]);
    }
  }
}

}  // namespace
}  // namespace convscope::TARGET
