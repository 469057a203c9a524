#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/error.h"
#include "kernels/parallel.h"
#include "kernels/shape.h"
#include "kernels/targets/host_runtime.h"

namespace convscope::cpu {

/// The input planes as T with the zeros of ConvShape::pad around them. Every tap of every output then lies in
/// memory, so that loops read like the formula, and a padded zero takes part in the sum like any other value
/// (0 * Inf = NaN).
template <class T>
class PaddedPlanes {
 public:
  /// Throws Error where memory is short.
  void allocate(const ConvShape& s) {
    shape_ = s;
    w_ = s.w + 2 * s.pad.x;
    h_ = s.h + 2 * s.pad.y;
    const auto count = static_cast<std::size_t>(s.n * s.c_in * h_ * w_);
    values_ = {};
    check_available(count * sizeof(T));
    values_.assign(count, T(0));
  }

  /// Copies n x c_in x h x w values, each through `convert`; the zeros around them stay.
  template <class In, class Convert>
  void fill(const In* in, const Convert& convert) {
    const ConvShape& s = shape_;
    parallel_for(s.n * s.c_in * s.h, std::max<int64_t>(1, 65536 / s.w), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t plane = r / s.h, y = r % s.h;
        T* row = values_.data() + (plane * h_ + y + s.pad.y) * w_ + s.pad.x;
        std::transform(in + r * s.w, in + (r + 1) * s.w, row, convert);
      }
    });
  }

  template <class In>
  void fill(const In* in) {
    fill(in, [](In value) { return static_cast<T>(value); });
  }

  /// Row `y` of plane b * c_in + c, y counted from the first padded row.
  const T* row(int64_t plane, int64_t y) const { return values_.data() + (plane * h_ + y) * w_; }

 private:
  ConvShape shape_;
  int64_t w_ = 0, h_ = 0;
  std::vector<T> values_;
};

/// Outputs of one row that are summed together: their accumulators stay in the first-level cache for all
/// taps.
inline constexpr int64_t kTileWidth = 512;

/// `count` neighbouring outputs of row y of image b, from column x on, in every map.
struct RowTile {
  int64_t b, y, x, count;
};

/// Calls body(tile) for tiles that cover every output row once, on all threads.
template <class Body>
void for_each_row_tile(const ConvShape& s, const Body& body) {
  const int64_t out_h = s.out_h(), out_w = s.out_w();
  const int64_t tiles = (out_w - 1) / kTileWidth + 1;
  const int64_t tile_cost = s.c_out * s.taps() * std::min(out_w, kTileWidth);
  const int64_t grain = std::max<int64_t>(1, 100'000 / tile_cost);  // some 20 us of work a part
  parallel_for(s.n * out_h * tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t row = t / tiles, x = t % tiles * kTileWidth;
      body(RowTile{row / out_h, row % out_h, x, std::min(kTileWidth, out_w - x)});
    }
  });
}

/// term(k, x[k * stride]) for `count` neighbouring outputs; apart for stride 1, which the compiler then
/// vectorises.
template <class T, class Term>
inline void for_each_strided(const T* x, int64_t stride, int64_t count, const Term& term) {
  if (stride == 1)
    for (int64_t k = 0; k < count; ++k) term(k, x[k]);
  else
    for (int64_t k = 0; k < count; ++k) term(k, x[k * stride]);
}

/// Index of the tile's first value in map o of the output.
inline int64_t output_index(const ConvShape& s, const RowTile& tile, int64_t o) {
  return ((tile.b * s.c_out + o) * s.out_h() + tile.y) * s.out_w() + tile.x;
}

}  // namespace convscope::cpu
