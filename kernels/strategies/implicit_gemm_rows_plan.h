#pragma once
// How a convolution is divided over the warps of implicit_gemm_rows, and its weights in the lanes' order.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/tf32_split.h"

namespace convscope {

/// A warp makes 32 pixels of each of its rows of outputs, in 16 maps. It takes the input a unit at a time:
/// the stride's rows of all channels, of which an output needs `units`, and a row of zeros. Taps of one row
/// are counted [channel][column] and come in kRowSteps steps of 8; those that are not there lie in the zeros.
struct RowsPlan {
  static constexpr int kPixels = 32, kMaps = 16, kWarps = 4, kThreads = 32 * kWarps;
  static constexpr int kRowSteps = 2;
  static constexpr int kCopies = 4;  // at most, of 16 bytes, that a lane starts for a unit

  int64_t stride = 1, units = 0;
  int64_t step = 1;        // from an output row of a warp to its next: the dilation, so that they share input
  int64_t lead = 0;        // values before the first pixel's, so that copies are aligned
  int64_t row_copies = 0;  // of 16 bytes, of a row
  int64_t pitch = 0;       // words from row to row in shared memory
  int64_t strips = 0, bands = 0;  // of an image: 32 pixels wide, `rows` outputs high
  int64_t rows = 0;

  int64_t steps() const { return stride * kRowSteps; }
  int64_t zeros(const ConvShape& s) const { return stride * s.c_in * pitch; }  // words of a unit before them
  int64_t unit_words(const ConvShape& s) const { return zeros(s) + pitch; }
  int64_t copies(const ConvShape& s) const { return stride * s.c_in * row_copies; }
  /// Units under way, and the one at hand.
  static constexpr int ring_units(int64_t stride) { return stride == 1 ? 5 : 2; }
  /// Rings of the warps, then room for a row of outputs of each.
  int64_t shared_bytes(const ConvShape& s) const {
    return 4 * kWarps * (ring_units(stride) * unit_words(s) + kMaps * kStagedRow);
  }
  int64_t blocks(const ConvShape& s) const { return ceil_div(strips * bands * s.n, kWarps); }
  static constexpr int kStagedRow = 48;  // words from map to map: two maps do not share banks

  /// Bands of about so many rows, or of fewer, so that `warps`, which run at once, end at once.
  void divide(const ConvShape& s, int64_t warps, int64_t about) {
    const int64_t height = ceil_div(s.out_h(), step), columns = strips * s.n * interleaved(s);
    const int64_t at_once = std::max<int64_t>(1, warps / columns);
    const int64_t turns = std::max<int64_t>(1, (height + at_once * about / 2) / (at_once * about));
    rows = ceil_div(height, at_once * turns);
    bands = ceil_div(height, rows) * interleaved(s);
  }
  /// Bands that lie between each other's rows. A step beyond the output's height leaves one row to each.
  int64_t interleaved(const ConvShape& s) const { return std::min(step, s.out_h()); }

  /// Words from a unit's first to the taps of a pixel, [step][lane % 4][low, high].
  std::vector<int> offsets(const ConvShape& s) const {
    std::vector<int> words(static_cast<std::size_t>(8 * steps()), static_cast<int>(zeros(s)));
    for (int64_t row = 0; row < stride; ++row) {
      for (int64_t tap = 0; tap < s.c_in * s.k_w; ++tap) {
        const int64_t step_of_tap = row * kRowSteps + tap / 8;
        words[static_cast<std::size_t>(8 * step_of_tap + tap % 4 * 2 + tap / 4 % 2)] =
            static_cast<int>((row * s.c_in + tap / s.k_w) * pitch + lead + tap % s.k_w * s.dilation.x);
      }
    }
    return words;
  }

  /// Bits of the weights as the first factor: [unit][step][lane][4 big parts (, 4 small ones)].
  std::vector<uint32_t> weights(const ConvShape& s, const ConvWeights& w, bool split) const {
    const int64_t parts = split ? 8 : 4;
    std::vector<uint32_t> bits(static_cast<std::size_t>(units * steps() * 32 * parts), 0);
    for (int64_t map = 0; map < s.c_out; ++map) {
      for (int64_t i = 0; i < s.k_h; ++i) {
        for (int64_t tap = 0; tap < s.c_in * s.k_w; ++tap) {
          const int64_t step_of_tap = i % stride * kRowSteps + tap / 8;
          const int64_t lane = map % 8 * 4 + tap % 4, part = map / 8 + tap / 4 % 2 * 2;
          const Tf32Parts value =
              tf32_parts_of_weight(static_cast<float>(w.at(map, tap / s.k_w, i, tap % s.k_w)), split);
          uint32_t* const to =
              bits.data() + ((i / stride * steps() + step_of_tap) * 32 + lane) * parts + part;
          std::memcpy(to, &value.big, sizeof *to);
          if (split) std::memcpy(to + 4, &value.small, sizeof *to);
        }
      }
    }
    return bits;
  }
};

/// The plan, not yet divided.
inline RowsPlan rows_plan(const ConvShape& s) {
  RowsPlan p;
  p.stride = s.stride.y;
  p.units = ceil_div(s.k_h, p.stride);
  p.step = s.dilation.y;
  p.lead = (4 - s.pad.x % 4) % 4;
  p.row_copies = ceil_div(p.lead + (RowsPlan::kPixels - 1) * s.stride.x + (s.k_w - 1) * s.dilation.x + 1, 4);
  // four taps of eight pixels are read at once: those of the next row lie in other banks
  const int64_t bank = s.stride.x == 1 ? 16 : 20, least = 4 * p.row_copies;
  p.pitch = least + (bank - least % 32 + 32) % 32;
  p.strips = ceil_div(s.out_w(), RowsPlan::kPixels);
  return p;
}

/// Where the kernel is not the one to choose.
inline std::optional<std::string> refuses_rows(const ConvShape& s, int64_t shared_limit) {
  if (s.c_out <= RowsPlan::kMaps / 2 || s.c_out > RowsPlan::kMaps) return "makes 9 to 16 maps";
  if (s.k_h != 3 && s.k_h != 5) return "has kernels of 3 and 5 rows";
  if (s.stride.x != s.stride.y || s.stride.y > 2) return "has strides 1 and 2";
  if (s.stride.y > 1 && s.dilation.y > 1) return "shares no rows of input between outputs";
  if (s.c_in * s.k_w > 8 * RowsPlan::kRowSteps) return "holds at most 16 taps of a row in registers";
  if (s.w % 4 != 0) return "copies rows by 16 bytes";
  if (auto why = refuses_size(s, 1)) return why;
  RowsPlan p = rows_plan(s);
  p.rows = 1, p.bands = s.out_h() + p.interleaved(s);  // no division has more
  if (p.copies(s) > 32 * RowsPlan::kCopies) return "has more to copy than its lanes count";
  if (p.shared_bytes(s) > shared_limit) return "needs more shared memory than a block has";
  if (s.c_in * s.h * s.w >= int64_t{1} << 31) return "has images beyond its 31-bit counters";
  return refuses_size(s, p.blocks(s));
}

}  // namespace convscope
