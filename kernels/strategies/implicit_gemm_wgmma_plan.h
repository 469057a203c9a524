#pragma once
// How a convolution is divided over the blocks of implicit_gemm_wgmma, where its taps lie in shared memory,
// and its weights as wgmma reads them.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/tf32_split.h"

namespace convscope {

/// Products come in steps of 8 taps, two quads. A quad is four channels of a position, 16 bytes. A block's
/// positions are the pixels under its outputs; a tap is a shift of positions, the same for all outputs of a
/// row.
struct WgmmaPlan {
  static constexpr int kThreads = 256, kWarpgroups = 2;
  static constexpr int kRun = 128;        // outputs side by side that two tiles of the tensor core make
  static constexpr int kStages = 3;       // buffers for weights
  static constexpr int kRowsOfMaps = 16;  // maps that a warp stores at a time
  static constexpr int kMostSteps = 512;
  static constexpr int64_t kSharedBytes = 227 * 1024;  // of a block, compute capability 9.0
  static constexpr int64_t kBarrierBytes = 8 * kStages, kBiasBytes = 4 * 128;

  int64_t maps = 0, tiles = 0;  // of a block; of a warpgroup, 64 outputs each
  bool split = false;           // in two TF32 parts
  bool linear = false;          // outputs are numbered through rows and images, with the zeros between them
  int64_t map_tiles = 0, strips = 0, bands = 0, images = 0;   // of blocks; linear: bands alone
  int64_t pitch = 0;                                          // positions from row to row, of one phase
  int64_t phases = 1;                                         // columns a stride apart lie together
  int64_t image_rows = 0;                                     // linear: rows from image to image
  int64_t positions = 0, quads = 0, chunks = 0, buffers = 0;  // of a chunk of channels
  int64_t steps = 0, stage_steps = 0;                         // of a chunk, of a buffer of weights
  int64_t fetched = 0;  // quads of a thread that are on their way during the products, at most

  /// `all` quads of channels into chunks, and a chunk into steps and turns.
  void divide(int64_t all, int64_t taps) {
    chunks = ceil_div(all, quads);
    buffers = chunks > 1 ? 2 : 1;
    steps = ceil_div(quads * taps, 2);
    const int64_t stage_bytes = (maps == 128 ? 40 : 18) * 1024;
    int64_t turns = ceil_div(steps, std::max<int64_t>(1, stage_bytes / step_bytes()));
    // a chunk comes in one turn of products and goes into its buffer in another
    if (chunks > 1) turns = std::max<int64_t>(turns, 2);
    stage_steps = ceil_div(steps, turns);
  }
  int64_t parts() const { return split ? 2 : 1; }
  /// Up to 32 maps: the parts of a weight are columns of one product.
  bool beside() const { return split && maps <= 32; }
  int64_t outputs() const { return kWarpgroups * tiles * 64; }
  int64_t blocks() const { return map_tiles * strips * bands * images; }
  /// Of the weights of a step and a quad.
  int64_t columns() const { return maps * parts(); }
  int64_t step_bytes() const { return 4 * 8 * columns(); }
  int64_t buffer_bytes() const { return 16 * positions * quads * parts(); }
  int64_t shared_bytes() const { return std::max(work_bytes(), store_bytes()) + kBarrierBytes + kBiasBytes; }
  int64_t turns() const { return chunks * ceil_div(steps, stage_steps); }  // of weights
  int64_t stages() const { return std::min<int64_t>(kStages, turns()); }
  int64_t work_bytes() const { return stages() * stage_steps * step_bytes() + buffers * buffer_bytes(); }
  /// Of the sums on their way out: [warp][map][32 outputs, and 4 for the banks].
  static int64_t store_bytes() { return 4 * int64_t{kThreads / 32} * kRowsOfMaps * 36; }

  /// A quad of a tap: which of the chunk's, and where it lies from an output's first position.
  struct Quad {
    int64_t quad, y, x, at;
  };
  /// In the order of their places, so that the second of a step is never before the first.
  std::vector<Quad> quads_of_taps(const ConvShape& s) const {
    std::vector<Quad> all;
    for (int64_t quad = 0; quad < quads; ++quad) {
      for (int64_t y = 0; y < s.k_h; ++y) {
        for (int64_t x = 0; x < s.k_w; ++x) {
          const int64_t column = x * s.dilation.x, row = y * s.dilation.y * phases + column % phases;
          all.push_back({quad, y, x, quad * positions + row * pitch + column / phases});
        }
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const Quad& a, const Quad& b) { return a.at < b.at; });
    return all;
  }

  /// For each step where its first quad lies, and above 16 bits how far from there the second. Where there is
  /// none it is the first again, each with half the weight: with a weight of 0, Inf would become NaN.
  std::vector<uint32_t> places(const ConvShape& s) const {
    const std::vector<Quad> all = quads_of_taps(s);
    std::vector<uint32_t> places;
    for (std::size_t i = 0; i < all.size(); i += 2) {
      const int64_t to_second = i + 1 < all.size() ? all[i + 1].at - all[i].at : 0;
      places.push_back(static_cast<uint32_t>(all[i].at | to_second << 16));
    }
    return places;
  }

  /// Where the quads of a chunk lie in the order of shared memory, [quad][row, phase][column]: row, column
  /// and quad. Columns are counted without the stride.
  std::vector<uint32_t> spots() const {
    std::vector<uint32_t> spots;
    for (int64_t i = 0; i < quads * positions; ++i) {
      const int64_t row = i % positions / pitch, column = i % positions % pitch;
      spots.push_back(
          static_cast<uint32_t>(row / phases | (column * phases + row % phases) << 14 | i / positions << 28));
    }
    return spots;
  }

  /// [map tile][chunk][step][big, small part][first, second quad][map][channel], beside:
  /// [quad][small, big part][map][channel]; 0 where there is no map or channel.
  std::vector<float> weights(const ConvShape& s, const ConvWeights& w) const {
    const std::vector<Quad> all = quads_of_taps(s);
    const int64_t step_words = step_bytes() / 4;
    const int64_t to_quad = 4 * (beside() ? columns() : maps), to_part = 4 * maps * (beside() ? 1 : 2);
    std::vector<float> values(static_cast<std::size_t>(map_tiles * chunks * steps * step_words), 0.0f);
    for (int64_t map = 0; map < s.c_out; ++map) {
      for (int64_t c = 0; c < s.c_in; ++c) {
        const int64_t chunk = c / (4 * quads), quad = c / 4 % quads;
        float* const to =
            values.data() + (map / maps * chunks + chunk) * steps * step_words + map % maps * 4 + c % 4;
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (all[i].quad != quad) continue;
          const Tf32Parts value =
              tf32_parts_of_weight(static_cast<float>(w.at(map, c, all[i].y, all[i].x)), split);
          const bool twice = i % 2 == 0 && i + 1 == all.size();
          for (std::size_t half = 0; half < (twice ? 2 : 1); ++half) {
            float* const at =
                to + static_cast<int64_t>(i / 2) * step_words + static_cast<int64_t>(i % 2 + half) * to_quad;
            at[beside() ? to_part : 0] = twice ? value.big / 2 : value.big;
            if (split) at[beside() ? 0 : to_part] = twice ? value.small / 2 : value.small;
          }
        }
      }
    }
    return values;
  }
};

/// More where sums leave registers: of 16 maps, and of 128, whose blocks have a multiprocessor for
/// themselves; most with one tap, whose chunks are as many products as quads.
constexpr int wgmma_fetched(int64_t maps, bool split, bool one_tap) {
  if (maps == 128) return one_tap ? 8 : 5;
  return maps == 16 || (maps == 32 && split) ? 5 : 4;
}

/// The plan for so many maps a block.
inline WgmmaPlan wgmma_plan_of(const ConvShape& s, bool split, int64_t maps, int64_t tiles, bool linear) {
  WgmmaPlan p;
  p.maps = maps, p.tiles = tiles, p.split = split, p.linear = linear;
  p.map_tiles = ceil_div(s.c_out, maps);
  const int64_t span_y = (s.k_h - 1) * s.dilation.y + 1, span_x = (s.k_w - 1) * s.dilation.x + 1;
  if (linear) {
    p.pitch = std::max(s.w + s.pad.x, s.out_w());
    p.image_rows = std::max(s.h + s.pad.y, s.out_h());
    p.strips = p.images = 1;
    p.bands = ceil_div(s.n * p.image_rows * p.pitch, p.outputs());
    p.positions = p.outputs() + (span_y - 1) * p.pitch + span_x - 1;
  } else {
    p.phases = s.stride.x;
    p.pitch = ceil_div((WgmmaPlan::kRun - 1) * p.phases + span_x, p.phases);
    p.strips = ceil_div(s.out_w(), WgmmaPlan::kRun);
    p.bands = ceil_div(s.out_h(), tiles);
    p.images = s.n;
    p.positions = ((tiles - 1) * s.stride.y + span_y) * p.phases * p.pitch;
  }
  const int64_t all = ceil_div(s.c_in, 4), taps = s.k_h * s.k_w;
  // as many channels as the threads fetch at once; an even number, so that no step is half empty
  p.fetched = wgmma_fetched(maps, split, taps == 1);
  p.quads = std::clamp<int64_t>(p.fetched * WgmmaPlan::kThreads / p.positions, 1, all);
  if (p.quads < all && p.quads > 1) p.quads = p.quads / 2 * 2;
  const int64_t least = std::min(all, ceil_div(3, taps));  // two turns, unless it is the only chunk
  p.quads = std::max(p.quads, least);
  p.divide(all, taps);
  while (p.quads - 2 >= least && p.shared_bytes() > WgmmaPlan::kSharedBytes) {
    p.quads -= 2;
    p.divide(all, taps);
  }
  return p;
}

/// The maps of a block are those that leave the fewest empty; its tiles as many as the sums have registers.
inline int64_t wgmma_maps(int64_t c_out) {
  int64_t maps = 128;
  for (const int64_t fewer : {96, 64, 32, 16}) {
    const bool less = ceil_div(c_out, fewer) * fewer < ceil_div(c_out, maps) * maps;
    if (less || c_out <= fewer) maps = fewer;
  }
  return maps;
}
constexpr int64_t wgmma_tiles(int64_t maps, bool split) { return maps <= 32 && !split ? 4 : 2; }

/// Small images lose less where their outputs are numbered through.
inline WgmmaPlan wgmma_plan(const ConvShape& s, bool split) {
  const int64_t maps = wgmma_maps(s.c_out), tiles = wgmma_tiles(maps, split);
  const WgmmaPlan tiled = wgmma_plan_of(s, split, maps, tiles, false);
  if (s.stride.x != 1 || s.stride.y != 1) return tiled;
  const WgmmaPlan linear = wgmma_plan_of(s, split, maps, tiles, true);
  const bool fewer = 10 * linear.bands < 9 * tiled.strips * tiled.bands * tiled.images;
  return fewer && linear.positions <= 2 * tiled.positions ? linear : tiled;
}

/// Where the kernel is not the one to choose.
inline std::optional<std::string> refuses_wgmma(const ConvShape& s, bool split, int64_t shared_limit) {
  if (s.c_in < 3) return "leaves more than half of a quad of channels empty";
  if (s.c_out <= 8) return "leaves more than half of 16 maps empty";
  if (auto why = refuses_size(s, 1)) return why;
  const WgmmaPlan p = wgmma_plan(s, split);
  constexpr int64_t kLimit = int64_t{1} << 31;
  if (p.shared_bytes() > shared_limit) {
    return "the pixels under a block's outputs take " + std::to_string(p.shared_bytes()) +
           " bytes of shared memory, a block has " + std::to_string(shared_limit);
  }
  if (p.positions * p.quads * p.parts() * p.buffers >= 1 << 14) {
    return "has rows too long for the tensor core's strides";
  }
  if (p.steps > WgmmaPlan::kMostSteps) return "has more taps than a launch has arguments";
  if (p.bands * p.outputs() >= kLimit) return "has more pixels than its 31-bit counters";
  // a block's values, of all channels, are counted in 31 bits from its first image
  const int64_t images = p.linear ? p.positions / (p.image_rows * p.pitch) + 2 : 1;
  if (images * s.c_in * s.h * s.w >= kLimit) return "has images beyond its 31-bit counters";
  return refuses_size(s, p.blocks());
}

}  // namespace convscope
