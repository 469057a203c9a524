// Winograd: tiles of 2x2 (F2) or 4x4 (F4) outputs of a 3x3 kernel from 16 (36) products a channel instead of
// 36 (144), by transforming input tiles, filters and results.
//
// Lavin and Gray, Fast Algorithms for Convolutional Neural Networks (2015): the products of one position of
// the transformed tile, over all channels, tiles and maps, are a matrix product. Here all is one kernel: a
// block transforms the tiles of 16 channels at a time in shared memory, multiplies them with the filters'
// (transformed once, on the host, in double) and transforms the sums back; only input, filters and output
// touch global memory. Multiply-adds per output and channel: 4 (F2), 2.25 (F4) instead of 9. The price:
// results differ from the sum of products by rounding errors of all values and taps of a tile, F4's some
// times more than F2's. Limits: 3x3 kernels, stride 1, dilation 1.

#include <algorithm>
#include <cstdint>

#include "kernels/strategies/costs.h"
#include "kernels/strategies/winograd_kernel.cuh"
#include "kernels/strategies/winograd_limits.h"

namespace convscope::TARGET {
namespace {

template <class T, int kM>
class Winograd final : public Strategy {
 public:
  explicit Winograd(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    const ConvShape& s = p.shape;
    if (auto why = refuses_winograd(s)) return why;
    if (max_shared_bytes() < Wide::kSharedBytes) {
      return "its tiles take " + std::to_string(Wide::kSharedBytes) +
             " bytes of shared memory, a block has " + std::to_string(max_shared_bytes());
    }
    const ConvShape rounded_up = [&s] {  // the last tiles reach beyond the image
      ConvShape r = s;
      r.h += 64, r.w += 64;
      return r;
    }();
    return refuses_size(rounded_up, fewest_blocks(s));
  }

  /// At least twice the most that random values of 1 to 256 channels came to: 0.22 for F2, 4.04 / c_in for
  /// F4.
  double error_bounds(const ConvProblem& p) const override {
    return kM == 2 ? 1 : std::max(1.0, 8.0 / static_cast<double>(p.shape.c_in));
  }

  /// A tile is as wide as a window and kM - 1 pixels more, on either side.
  int64_t error_reach(const ConvProblem&) const override { return kM - 1; }

  Cost cost(const ConvProblem& p, const ConvWeights&) const override {
    return winograd_cost(p.shape, info().precision, kM, Wide::kMaps);
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    square_ = blocks<Square>(problem.shape) < blocks<Wide>(problem.shape);
    allow_shared_bytes(kernel<Wide>(), Wide::kSharedBytes);
    allow_shared_bytes(kernel<Square>(), Square::kSharedBytes);
    filters_.assign(transformed(weights));
    bias_.assign(as<T>(weights.bias));
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const StageTimer timer(stages, kM == 2 ? "winograd_f2" : "winograd_f4");
    if (square_) {
      enqueue<Square>(static_cast<const T*>(in), static_cast<T*>(out));
    } else {
      enqueue<Wide>(static_cast<const T*>(in), static_cast<T*>(out));
    }
  }

 private:
  /// Tiles of a block side by side over 32 pixels (16 in double F2), so that rows are written as whole lines;
  /// or in a square, which small images fill better.
  static constexpr int kTiles = WinogradConfig<T, kM, 4>::kTiles;
  using Wide = WinogradConfig<T, kM, kTiles / 2>;
  using Square = WinogradConfig<T, kM, kTiles / 4>;
  static_assert(Wide::kSharedBytes >= Square::kSharedBytes, "refuses() asks for the larger");

  template <class C>
  static int64_t tiles_x(const ConvShape& s) {
    return ceil_div(s.out_w(), C::kTilesX * kM);
  }
  template <class C>
  static int64_t tiles_y(const ConvShape& s) {
    return ceil_div(s.out_h(), C::kTilesY * kM);
  }
  static int64_t groups(const ConvShape& s) { return ceil_div(s.c_out, Wide::kMaps); }
  template <class C>
  static int64_t blocks(const ConvShape& s) {
    return tiles_x<C>(s) * tiles_y<C>(s) * groups(s) * s.n;
  }
  static int64_t fewest_blocks(const ConvShape& s) { return std::min(blocks<Wide>(s), blocks<Square>(s)); }

  /// The filters as the kernel reads them; maps beyond c_out are zeros.
  static std::vector<T> transformed(const ConvWeights& w) {
    constexpr int64_t kMaps = Wide::kMaps, kPositions = Wide::kPositions;
    const int64_t count = ceil_div(w.c_out, kMaps) * w.c_in * kPositions * kMaps;
    std::vector<T> filters(static_cast<std::size_t>(count), T(0));
    for (int64_t o = 0; o < w.c_out; ++o) {
      const int64_t map = o % kMaps, place = map % 8 * 4 + map / 8;
      for (int64_t c = 0; c < w.c_in; ++c) {
        const std::vector<double> filter = transformed_filter<kM>(w.values.data() + (o * w.c_in + c) * 9);
        T* const to = filters.data() + (o / kMaps * w.c_in + c) * kPositions * kMaps + place;
        for (int64_t p = 0; p < kPositions; ++p)
          to[p * kMaps] = static_cast<T>(filter[static_cast<std::size_t>(p)]);
      }
    }
    return filters;
  }

  template <class C>
  auto kernel() const {
    return problem_.rounding == Rounding::fused ? winograd_kernel<C, T, Rounding::fused>
                                                : winograd_kernel<C, T, Rounding::separate>;
  }

  template <class C>
  void enqueue(const T* in, T* out) const {
    const ConvShape& s = problem_.shape;
    const bool aligned = reinterpret_cast<std::uintptr_t>(out) % alignof(TileRow<T, kM>) == 0;
    const WinogradGrid grid{Divisor(groups(s)), Divisor(tiles_x<C>(s)), Divisor(tiles_y<C>(s)),
                            aligned && s.out_w() % kM == 0};
    TARGET::launch("winograd", kernel<C>(), dim3(static_cast<unsigned>(blocks<C>(s))), dim3(C::kThreads),
                   C::kSharedBytes, device_shape(s), grid, problem_.activation, in, filters_.data(),
                   bias_.size() == 0 ? nullptr : bias_.data(), out);
  }

  ConvProblem problem_;
  bool square_ = false;
  DeviceArray<T> filters_, bias_;
};

}  // namespace

std::unique_ptr<Strategy> make_winograd_f2(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<Winograd<double, 2>>(std::move(info));
  return std::make_unique<Winograd<float, 2>>(std::move(info));
}

std::unique_ptr<Strategy> make_winograd_f4(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<Winograd<double, 4>>(std::move(info));
  return std::make_unique<Winograd<float, 4>>(std::move(info));
}

}  // namespace convscope::TARGET
