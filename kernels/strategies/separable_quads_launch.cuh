#pragma once
// Which shapes the kernels over quads take, their taps, and their launches.

#include <cstdint>

#include "kernels/separable_ranks.h"
#include "kernels/strategies/separable_quads.cuh"

namespace convscope::TARGET {
namespace {

/// How a shape is cut. Which shapes pay: rows whose every quad is aligned, and of which a warp's 128 columns
/// or a run's 256 are half in use at least.
class QuadsPlan {
 public:
  explicit QuadsPlan(const ConvShape& s)
      : is_row_(s.k_h == 1),
        one_row_(s.k_h == 1 && s.out_h() < SlideConfig::kAlong),
        lead_((4 - s.pad.x % 4) % 4),
        column_quads_(is_row_ ? 0 : ceil_div(s.k_h, 4)),
        quads_a_map_(s.c_in * (column_quads_ + ceil_div(lead_ + s.k_w, 4))) {
    if (is_row_) {
      tile_quads_ = QuadsConfig::kWarpColumns / 4;
      tile_rows_ = one_row_ ? 1 : QuadsConfig::kRowWarps * SlideConfig::kAlong;
      if (one_row_) tile_quads_ *= QuadsConfig::kRowWarps * SlideConfig::kAlong;
    } else {
      tile_quads_ = QuadsConfig::kQuads + 1 - ceil_div(lead_ + s.k_w + 3, 4);
      runs_ = QuadsConfig::kMostRuns;
      if (tile_quads_ > 0) {
        while (runs_ > 1 && tiles_of_map(s, runs_) * s.c_out * s.n < kBlocksEnough) --runs_;
      }
      tile_rows_ = runs_ * SlideConfig::kDown;
    }
    takes_ = s.stride == Axes{1, 1} && s.dilation == Axes{1, 1} && s.w % 4 == 0 &&
             s.out_w() >= QuadsConfig::kWarpColumns / 2 && quads_a_map_ <= SeparableTaps::kQuads &&
             2 * tile_quads_ >= QuadsConfig::kQuads / (is_row_ ? 2 : 1) && fits_counters(s);
  }

  bool takes() const { return takes_; }
  bool is_row() const { return is_row_; }
  bool one_row() const { return one_row_; }
  int64_t quads_a_map() const { return quads_a_map_; }
  int64_t maps_a_launch() const { return SeparableTaps::kQuads / quads_a_map_; }
  int64_t launches(const ConvShape& s) const { return ceil_div(s.c_out, maps_a_launch()); }
  int64_t tiles(const ConvShape& s, int64_t maps) const { return tiles_x(s) * tiles_y(s) * maps * s.n; }
  int64_t threads() const { return is_row_ ? QuadsConfig::kRowThreads : runs_ * QuadsConfig::kQuads; }
  std::size_t shared_bytes(const ConvShape& s) const {
    const int64_t stage = run_stage_quads(static_cast<int>(tile_quads_), static_cast<int>(lead_ + s.k_w));
    const int64_t quads = one_row_ ? 2 * stage : runs_ * SlideConfig::kDown * QuadsConfig::kQuads;
    return static_cast<std::size_t>(quads) * sizeof(Four<float>);
  }

  QuadsGrid grid(const ConvShape& s, int64_t maps) const {
    return {Divisor(tiles_x(s)),
            Divisor(tiles_y(s)),
            Divisor(maps),
            static_cast<int>(tiles(s, maps)),
            static_cast<int>(tile_quads_),
            static_cast<int>(runs_),
            static_cast<int>(lead_),
            static_cast<int>(column_quads_),
            static_cast<int>(quads_a_map_ / s.c_in)};
  }

  /// Taps of maps from `first` on.
  SeparableTaps taps(const ConvShape& s, const RankFilters& filters, int64_t first, int64_t maps) const {
    SeparableTaps taps{};
    const auto put = [&taps](int64_t at, const std::vector<double>& from, int64_t begin, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        taps.quads[(at + i) / 4].v[(at + i) % 4] =
            static_cast<float>(from[static_cast<std::size_t>(begin + i)]);
    };
    for (int64_t pair = 0; pair < maps * s.c_in; ++pair) {
      const int64_t at = pair * (quads_a_map_ / s.c_in) * 4, of_bank = first * s.c_in + pair;
      if (!is_row_) put(at, filters.columns, of_bank * s.k_h, s.k_h);
      put(at + column_quads_ * 4 + lead_, filters.rows, of_bank * s.k_w, s.k_w);
    }
    return taps;
  }

 private:
  /// Two for each multiprocessor of an H200: with fewer, smaller blocks share the work out more evenly.
  static constexpr int64_t kBlocksEnough = 264;

  int64_t tiles_of_map(const ConvShape& s, int64_t runs) const {
    return tiles_x(s) * ceil_div(s.out_h(), runs * SlideConfig::kDown);
  }
  int64_t tiles_x(const ConvShape& s) const { return ceil_div(s.out_w(), 4 * tile_quads_); }
  int64_t tiles_y(const ConvShape& s) const { return ceil_div(s.out_h(), tile_rows_); }
  bool fits_counters(const ConvShape& s) const {
    constexpr int64_t kLimit = int64_t{1} << 31;
    const int64_t reach = 4 * (tile_quads_ + QuadsConfig::kQuads) + s.k_w + s.pad.x;
    return tiles(s, s.c_out) < kLimit && s.out_w() + reach < kLimit &&
           s.out_h() + tile_rows_ + s.k_h + s.pad.y < kLimit;
  }

  bool is_row_, one_row_;
  int64_t lead_, column_quads_, quads_a_map_;
  int64_t tile_quads_ = 0, tile_rows_ = 1, runs_ = 0;
  bool takes_ = false;
};

/// A bank's taps, a group of maps for each launch.
class QuadsPasses {
 public:
  QuadsPasses() = default;
  QuadsPasses(const ConvProblem& p, const RankFilters& filters) {
    const ConvShape& s = p.shape;
    const QuadsPlan plan(s);
    if (!plan.takes()) return;
    for (int64_t first = 0; first < s.c_out; first += plan.maps_a_launch()) {
      const int64_t maps = std::min(plan.maps_a_launch(), s.c_out - first);
      int64_t blocks = plan.tiles(s, maps);
      if (plan.one_row()) {
        blocks = even_blocks(
            blocks, resident_blocks(kernel(p, plan), static_cast<int>(plan.threads()), plan.shared_bytes(s)));
      }
      passes_.push_back({first, maps, blocks, plan.taps(s, filters, first, maps)});
    }
  }

  /// None where the shape or the pointers are not theirs.
  bool take(const float* in, const float* out) const {
    return !passes_.empty() && is_aligned(in) && is_aligned(out);
  }

  void launch(const ConvProblem& p, const float* in, const float* bias, float* out) const {
    const ConvShape& s = p.shape;
    const QuadsPlan plan(s);
    const DeviceShape shape = device_shape(s);
    for (const Pass& pass : passes_) {
      TARGET::launch("separable", kernel(p, plan), dim3(static_cast<unsigned>(pass.blocks)),
                     dim3(static_cast<unsigned>(plan.threads())), plan.shared_bytes(s), shape,
                     plan.grid(s, pass.maps), p.activation, in, bias == nullptr ? nullptr : bias + pass.first,
                     out + pass.first * shape.out_plane, pass.taps);
    }
  }

 private:
  struct Pass {
    int64_t first, maps, blocks;
    SeparableTaps taps;
  };
  using Kernel = decltype(&separable_row_kernel<Rounding::fused>);

  template <Rounding R>
  static Kernel kernel_of(const ConvShape& s, const QuadsPlan& plan) {
    if (plan.one_row()) return separable_run_kernel<R>;
    if (plan.is_row()) return separable_row_kernel<R>;
    return s.c_in == 1 ? separable_quads_kernel<true, R> : separable_quads_kernel<false, R>;
  }
  static Kernel kernel(const ConvProblem& p, const QuadsPlan& plan) {
    return p.rounding == Rounding::fused ? kernel_of<Rounding::fused>(p.shape, plan)
                                         : kernel_of<Rounding::separate>(p.shape, plan);
  }

  std::vector<Pass> passes_;
};

}  // namespace
}  // namespace convscope::TARGET
