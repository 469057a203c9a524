#pragma once
// How a convolution is divided over the blocks of implicit_gemm_wgmma, and its weights as wgmma reads them.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/tf32_split.h"

namespace convscope {

struct WgmmaPlan {
  static constexpr int kPixels = 256, kMaps = 128;  // of a block
  static constexpr int kStages = 3;                 // buffers for weights; there are two for the input
  static constexpr int kBarrierBytes = 8 * (2 * kStages + 4);
  static constexpr int kPositions = 6;  // values of a channel that one of the 256 threads loads, at most

  int64_t pixels = 0, pixel_tiles = 0, map_tiles = 0;
  int64_t image_rows = 0;          // input rows under an image's outputs, those beyond the edge included
  int64_t halo_h = 0, halo_w = 0;  // rows and columns of input under a block's pixels, at most
  int64_t plane = 0;               // words from channel to channel in shared memory
  int64_t chunk_channels = 0, chunks = 0;   // channels loaded at a time
  int64_t steps = 0;                        // of a chunk, 8 channels of one tap each
  int64_t slice_channels = 0;               // loaded behind the products of one step
  int64_t stage_steps = 0, step_bytes = 0;  // steps whose weights are loaded at a time

  int64_t blocks() const { return pixel_tiles * map_tiles; }
  int64_t weight_bytes() const { return kStages * stage_steps * step_bytes; }
  int64_t shared_bytes() const {
    return weight_bytes() + 4 * (2 * chunk_channels * plane + 8 * steps) + kBarrierBytes;
  }

  /// Words from a pixel's first value to its taps: [step][lane % 4][low, high].
  std::vector<int> offsets(const ConvShape& s) const {
    std::vector<int> words;
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t groups = chunk_channels / 8, tap = step / groups, c = step % groups * 8;
      const int64_t at = tap / s.k_w * s.dilation.y * halo_w + tap % s.k_w * s.dilation.x;
      for (int64_t k = 0; k < 8; ++k) words.push_back(static_cast<int>((c + k % 2 * 4 + k / 2) * plane + at));
    }
    return words;
  }

  /// [map tile][chunk][step][big, small part][first, second four taps][8 maps][map][tap]; 0 where there is no
  /// map or channel.
  std::vector<float> weights(const ConvShape& s, const ConvWeights& w) const {
    const int64_t step_words = step_bytes / 4, groups = chunk_channels / 8;
    const bool split = step_words == 2 * 8 * kMaps;
    std::vector<float> values(static_cast<std::size_t>(map_tiles * chunks * steps * step_words), 0.0f);
    for (int64_t map = 0; map < s.c_out; ++map) {
      for (int64_t c = 0; c < s.c_in; ++c) {
        for (int64_t tap = 0; tap < s.k_h * s.k_w; ++tap) {
          const int64_t in_chunk = c % chunk_channels, k = in_chunk % 8;
          const int64_t step =
              (map / kMaps * chunks + c / chunk_channels) * steps + tap * groups + in_chunk / 8;
          const Tf32Parts value = tf32_parts(static_cast<float>(w.at(map, c, tap / s.k_w, tap % s.k_w)));
          float* const to = values.data() + step * step_words + k / 4 * 4 * kMaps + map % kMaps * 4 + k % 4;
          to[0] = value.big;
          if (split) to[8 * kMaps] = value.small;
        }
      }
    }
    return values;
  }
};

/// The plan with so many groups of 8 channels a chunk.
inline WgmmaPlan wgmma_plan_of(const ConvShape& s, bool split, int64_t groups) {
  WgmmaPlan p;
  p.pixels = s.n * s.out_h() * s.out_w();
  p.pixel_tiles = ceil_div(p.pixels, WgmmaPlan::kPixels);
  p.map_tiles = ceil_div(s.c_out, WgmmaPlan::kMaps);
  const int64_t span = (s.k_h - 1) * s.dilation.y + 1;  // input rows under one output
  p.image_rows = (s.out_h() - 1) * s.stride.y + span;
  // a block's pixels are consecutive: of so many output rows, so many of them the first of their image
  const int64_t rows = (s.out_w() - 1 + WgmmaPlan::kPixels - 1) / s.out_w() + 1;
  const int64_t images = ceil_div(rows - 1, s.out_h());
  p.halo_h = (rows - 1) * s.stride.y + images * std::max<int64_t>(0, span - s.stride.y) + span;
  p.halo_w = (s.out_w() - 1) * s.stride.x + (s.k_w - 1) * s.dilation.x + 1;
  p.plane = p.halo_h * p.halo_w;
  p.plane += (8 - p.plane % 32 + 32) % 32;  // four channels of eight pixels, read at once, lie in 32 banks
  p.chunk_channels = 8 * groups;
  p.chunks = ceil_div(s.c_in, p.chunk_channels);
  p.steps = groups * s.k_h * s.k_w;
  p.slice_channels = ceil_div(2 * p.chunk_channels, p.steps);  // all in the first half of a chunk's steps
  p.step_bytes = 4 * 8 * WgmmaPlan::kMaps * (split ? 2 : 1);
  // even, since the kernel takes steps in pairs
  const int64_t most_steps = split ? 4 : 10;
  p.stage_steps = std::min(p.steps, ceil_div(ceil_div(p.steps, ceil_div(p.steps, most_steps)), 2) * 2);
  return p;
}

/// Chunks of at least 8 steps, so that barriers are few, and of an even number of them; smaller where shared
/// memory is short.
inline WgmmaPlan wgmma_plan(const ConvShape& s, bool split, int64_t shared_limit) {
  const int64_t taps = s.k_h * s.k_w, most = ceil_div(s.c_in, 8);
  const int64_t wanted = std::min(most, std::max<int64_t>(ceil_div(8, taps), 2));
  for (int64_t groups = wanted; groups > 1; groups /= 2) {
    const WgmmaPlan p = wgmma_plan_of(s, split, groups);
    if (p.shared_bytes() <= shared_limit) return p;
  }
  return wgmma_plan_of(s, split, 1);
}

/// Where the kernel is not the one to choose. It is made for many channels and maps and images of a size at
/// which the rows under 256 pixels fit in shared memory.
inline std::optional<std::string> refuses_wgmma(const ConvShape& s, bool split, int64_t shared_limit) {
  if (s.c_in < 8) return "has fewer than 8 channels";
  if (s.c_out <= 64) return "leaves more than half of its 128 maps empty";
  if (auto why = refuses_size(s, 1)) return why;
  const WgmmaPlan p = wgmma_plan(s, split, shared_limit);
  constexpr int64_t kLimit = (int64_t{1} << 31) - WgmmaPlan::kPixels;
  if (p.pixels >= kLimit || p.image_rows * s.n >= kLimit) return "has more pixels than its 31-bit counters";
  if (p.halo_h * p.halo_w > int64_t{256} * WgmmaPlan::kPositions) {
    return "has rows too long for its 256 threads";
  }
  // a block's pixels lie in so many images, whose values it counts in 31 bits
  if ((WgmmaPlan::kPixels / (s.out_h() * s.out_w()) + 2) * s.c_in * s.h * s.w >= kLimit) {
    return "has images beyond its 31-bit counters";
  }
  if (p.shared_bytes() > shared_limit) {
    return "the rows of its pixels take " + std::to_string(p.shared_bytes()) +
           " bytes of shared memory, a block has " + std::to_string(shared_limit);
  }
  return refuses_size(s, p.blocks());
}

}  // namespace convscope
