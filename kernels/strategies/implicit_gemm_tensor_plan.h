#pragma once
// How a convolution is divided over the blocks of implicit_gemm_tensor, and its weights in the lanes' order.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/tf32_split.h"

namespace convscope {

struct TensorPlan {
  static constexpr int kPixels = 256;  // of a block

  int64_t maps = 0;  // of a block
  int64_t map_tiles = 0, tiles_x = 0, tiles_y = 0;
  int64_t tile_w_log2 = 0, tile_h = 0;     // pixels of a block, along x and y
  int64_t halo_h = 0, halo_w = 0;          // their input
  int64_t row = 0, plane = 0;              // words from row to row and channel to channel in shared memory
  int64_t chunk_channels = 0, chunks = 0;  // channels loaded at a time
  int64_t taps = 0, steps = 0;             // of a chunk: taps, and tensor-core steps of 8 taps

  int64_t blocks(const ConvShape& s) const { return map_tiles * tiles_x * tiles_y * s.n; }
  int64_t shared_bytes() const { return 4 * ((chunks > 1 ? 2 : 1) * chunk_channels * plane + 8 * steps); }

  /// Channel within the chunk and tap of a chunk's k-th product. Channels run fastest where a step is 8
  /// channels of one tap, so that the lanes' four channels lie in different banks; otherwise the columns do.
  struct Tap {
    int64_t c, i, j;
  };
  Tap tap(const ConvShape& s, int64_t k) const {
    if (chunk_channels % 8 == 0) {
      return {k % chunk_channels, k / chunk_channels / s.k_w, k / chunk_channels % s.k_w};
    }
    return {k / (s.k_h * s.k_w), k / s.k_w % s.k_h, k % s.k_w};
  }

  /// Words from a pixel's first value to its taps: [step][lane % 4][low, high], 0 where there is none.
  std::vector<int> offsets(const ConvShape& s) const {
    std::vector<int> words(static_cast<std::size_t>(8 * steps), 0);
    for (int64_t k = 0; k < taps; ++k) {
      const Tap t = tap(s, k);
      words[static_cast<std::size_t>(k / 8 * 8 + k % 4 * 2 + k / 4 % 2)] =
          static_cast<int>(t.c * plane + t.i * s.dilation.y * row + t.j * s.dilation.x);
    }
    return words;
  }

  /// Bits of the weights: [map tile][chunk][step][8 maps][lane][low, high (, their small parts)]; 0 where
  /// there is no map, channel or tap.
  std::vector<uint32_t> weights(const ConvShape& s, const ConvWeights& w, bool split) const {
    const int64_t parts = split ? 4 : 2, step_words = maps * 4 * parts;
    std::vector<uint32_t> bits(static_cast<std::size_t>(map_tiles * chunks * steps * step_words), 0);
    for (int64_t map = 0; map < s.c_out; ++map) {
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        uint32_t* const from = bits.data() + ((map / maps * chunks + chunk) * steps) * step_words +
                               (map % maps / 8 * 32 + map % 8 * 4) * parts;
        for (int64_t k = 0; k < taps; ++k) {
          const Tap t = tap(s, k);
          const int64_t c = chunk * chunk_channels + t.c;
          if (c >= s.c_in) continue;
          const Tf32Parts value = tf32_parts(static_cast<float>(w.at(map, c, t.i, t.j)));
          uint32_t* const to = from + k / 8 * step_words + k % 4 * parts + k / 4 % 2;
          std::memcpy(to, &value.big, sizeof *to);
          if (split) std::memcpy(to + 2, &value.small, sizeof *to);
        }
      }
    }
    return bits;
  }
};

/// Smallest number from `least` on whose remainder by 32 is `bank`.
inline int64_t in_bank(int64_t least, int64_t bank) { return least + (bank - least % 32 + 32) % 32; }

/// Few maps of a tile are empty, and yet the input is loaded for many at a time, which costs as much as 16
/// maps.
inline int64_t maps_of_block(int64_t c_out) {
  int64_t best = 8, least = INT64_MAX;
  for (int64_t maps = 8; maps <= 64; maps *= 2) {
    const int64_t cost = ceil_div(c_out, maps) * (maps + 16);
    if (cost < least) best = maps, least = cost;
  }
  return best;
}

/// The plan with chunks of at most this many channels, all alike.
inline TensorPlan tensor_plan_of(const ConvShape& s, int64_t tile_w_log2, int64_t most_channels) {
  TensorPlan p;
  p.maps = maps_of_block(s.c_out);
  p.map_tiles = ceil_div(s.c_out, p.maps);
  p.tile_w_log2 = tile_w_log2;
  p.tile_h = TensorPlan::kPixels >> tile_w_log2;
  p.tiles_x = ceil_div(s.out_w(), int64_t{1} << tile_w_log2);
  p.tiles_y = ceil_div(s.out_h(), p.tile_h);
  p.halo_h = (p.tile_h - 1) * s.stride.y + (s.k_h - 1) * s.dilation.y + 1;
  p.halo_w = ((int64_t{1} << tile_w_log2) - 1) * s.stride.x + (s.k_w - 1) * s.dilation.x + 1;
  p.chunks = ceil_div(s.c_in, most_channels);
  p.chunk_channels = ceil_div(s.c_in, p.chunks);
  p.taps = p.chunk_channels * s.k_h * s.k_w;
  p.steps = ceil_div(p.taps, 8);
  // four taps of eight pixels are read at once: planes 8 banks apart, or rows 12, so that they do not collide
  const bool channels_fastest = p.chunk_channels % 8 == 0;
  p.row = channels_fastest ? p.halo_w : in_bank(p.halo_w, 12);
  p.plane = in_bank(p.halo_h * p.row, channels_fastest ? 8 : 12);
  return p;
}

/// The shape of tile that loads least: values, as sectors of 8, for all its pixels, those beyond the edge
/// included.
inline int64_t tile_w_log2(const ConvShape& s) {
  int64_t best = 3, least = INT64_MAX;
  for (int64_t log2 = 3; log2 <= 8; ++log2) {
    const TensorPlan p = tensor_plan_of(s, log2, 1);
    const int64_t sectors = p.halo_h * (ceil_div(p.halo_w, 8) + 1);
    const int64_t cost = p.tiles_x * p.tiles_y * (TensorPlan::kPixels + 8 * sectors);
    if (cost < least) best = log2, least = cost;
  }
  return best;
}

/// As many channels at a time as 48 KiB hold, up to 16: they leave room for several blocks on a
/// multiprocessor. Where not even one fits there, as few as possible.
inline TensorPlan tensor_plan(const ConvShape& s, int64_t shared_limit) {
  constexpr int64_t kComfortable = 48 * 1024;
  const int64_t log2 = tile_w_log2(s);
  for (const int64_t channels : {16, 8, 4, 2, 1}) {
    const TensorPlan p = tensor_plan_of(s, log2, channels);
    if (p.shared_bytes() <= std::min(kComfortable, shared_limit)) return p;
  }
  return tensor_plan_of(s, log2, 1);
}

inline std::optional<std::string> refuses_rounding(const ConvProblem& problem) {
  if (problem.rounding == Rounding::fused) return std::nullopt;
  return "tensor cores add 8 exact products at a time; choose rounding=fused";
}

inline std::optional<std::string> refuses_tensor(const ConvShape& s, int64_t shared_limit) {
  if (auto why = refuses_size(s, 1)) return why;
  const TensorPlan p = tensor_plan(s, shared_limit);
  if (p.shared_bytes() > shared_limit) {
    return "the input tile of " + std::to_string(p.halo_h) + "x" + std::to_string(p.halo_w) +
           " values takes " + std::to_string(p.shared_bytes()) + " bytes of shared memory, a block has " +
           std::to_string(shared_limit);
  }
  return refuses_size(s, p.blocks(s));
}

}  // namespace convscope
