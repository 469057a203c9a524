// Separable: a kernel of rank 1 is a column times a row, so one pass down and one along do its work.
//
// Per output value k_h + k_w multiply-adds instead of k_h * k_w, for each input channel. Both passes run in
// one kernel: a block sums down its columns, halo included, into shared memory, and from there along its
// rows. A thread makes 8 neighbouring outputs in either pass and slides over its values in registers: it
// reads (8 + taps - 1) / 8 values an output, not `taps`. Image and maps cross global memory once (and once
// more for each further map). 1-D kernels take a single pass. Order of summation: down, then along, then the
// next channel. Where stride and dilation spread a tile beyond shared memory, two kernels pass a scratch
// plane. Floats in rows of whole quads, stride and dilation 1, go a faster way of the same order
// (separable_quads.cuh). Limits: every kernel of the bank must have rank 1; refuses() names the worst that
// has not. With ConvProblem::separable_rank each kernel is approximated by that many passes, over as many
// copies of its channel (separable_ranks.h).

#include "kernels/separable_filters.h"
#include "kernels/separable_ranks.h"
#include "kernels/strategies/costs.h"
#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"
#include "kernels/strategies/repeat_planes.cuh"
#include "kernels/strategies/separable_passes.cuh"
#include "kernels/strategies/separable_quads_launch.cuh"

namespace convscope::TARGET {
namespace {

/// What a launch derives from the shape. Factors lie as [map][channel][column, then row], each filled up to
/// a multiple of 4 values: column_taps and row_taps of them.
struct SeparableGrid {
  Divisor tiles_x, tiles_y, maps;  // how a block's number along the grid's x axis splits
  Divisor columns;                 // of the tile with its halo
  int log_tile_x;                  // outputs of a block: 2^log_tile_x across, the rest of kOutputs down
  int pitch;                       // of a row of the tile in shared memory
  int column_taps, row_taps;
};

/// The first pass, into shared memory: sums down each column of the tile, for every row of outputs.
template <class T, bool kSliding, bool kGuarded, Rounding R>
__device__ __forceinline__ void pass_down(const DeviceShape& s, const SeparableGrid& g, int first_y,
                                          int first_x, const T* plane, const T* taps, T* tile) {
  constexpr int kRun = SeparableConfig::kRun;
  const int tile_y = SeparableConfig::kOutputs >> g.log_tile_x, columns = static_cast<int>(g.columns.value);
  if (s.k_h == 1) {  // nothing to sum
    CONVSCOPE_UNROLL_BY(4)
    for (int i = static_cast<int>(threadIdx.x); i < columns * tile_y; i += SeparableConfig::kThreads) {
      uint32_t rest = static_cast<uint32_t>(i);
      const int x = static_cast<int>(g.columns.take(rest)), y = static_cast<int>(rest);
      const ImageColumn<T, kGuarded> column(s, plane, first_y, first_x + x);
      tile[y * g.pitch + skewed(x)] = column(y * s.stride_y);
    }
    return;
  }
  const int units = columns * (tile_y / kRun);
  for (int i = static_cast<int>(threadIdx.x); i < units; i += SeparableConfig::kThreads) {
    uint32_t rest = static_cast<uint32_t>(i);
    const int x = static_cast<int>(g.columns.take(rest)), y = static_cast<int>(rest) * kRun;
    const ImageColumn<T, kGuarded> column(s, plane, first_y + y * s.stride_y, first_x + x);
    T sum[kRun] = {};
    if constexpr (kSliding) {
      slide<R>(s.k_h, taps, column, sum);
    } else {
      gather<R>(s.k_h, s.stride_y, s.dilation_y, taps, column, sum);
    }
    CONVSCOPE_UNROLL
    for (int r = 0; r < kRun; ++r) tile[(y + r) * g.pitch + skewed(x)] = sum[r];
  }
}

/// kSliding: stride and dilation are 1.
template <class T, bool kSliding, Rounding R>
__global__ void __launch_bounds__(SeparableConfig::kThreads)
    separable_kernel(DeviceShape s, SeparableGrid g, Activation activation, In<T> in, In<T> factors,
                     const T* bias, Out<T> out) {
  constexpr int kRun = SeparableConfig::kRun;
  uint32_t block = blockIdx.x;
  const int tile_x = 1 << g.log_tile_x, tile_y = SeparableConfig::kOutputs >> g.log_tile_x;
  const int out_x = static_cast<int>(g.tiles_x.take(block)) * tile_x;
  const int out_y = static_cast<int>(g.tiles_y.take(block)) * tile_y;
  const int map = static_cast<int>(g.maps.take(block));
  const int image = static_cast<int>(block);
  const int first_y = out_y * s.stride_y - s.pad_y, first_x = out_x * s.stride_x - s.pad_x;
  // sliding, a column is read up to 3 rows beyond its last tap
  const int last_y = first_y + (tile_y - 1) * s.stride_y + (s.k_h - 1) * s.dilation_y + 3;
  const bool inside =
      first_y >= 0 && last_y < s.h && first_x >= 0 && first_x + static_cast<int>(g.columns.value) <= s.w;

  T* const tile = shared_memory<T>();
  const int run_y = static_cast<int>(threadIdx.x) >> (g.log_tile_x - SeparableConfig::kLogRun);
  const int run_x = (static_cast<int>(threadIdx.x) * kRun) & (tile_x - 1);
  const T* plane = in + int64_t{image} * s.c_in * s.in_plane;
  const T* taps = factors + int64_t{map} * s.c_in * (g.column_taps + g.row_taps);
  T sum[kRun] = {};
  for (int c = 0; c < s.c_in; ++c) {
    if (c > 0) __syncthreads();  // the last channel's tile is still being read
    if (inside) {
      pass_down<T, kSliding, false, R>(s, g, first_y, first_x, plane, taps, tile);
    } else {
      pass_down<T, kSliding, true, R>(s, g, first_y, first_x, plane, taps, tile);
    }
    __syncthreads();
    const TileRow<T> row{tile + run_y * g.pitch, kSliding ? run_x : run_x * s.stride_x};
    if constexpr (kSliding) {
      slide<R>(s.k_w, taps + g.column_taps, row, sum);
    } else {
      gather<R>(s.k_w, s.stride_x, s.dilation_x, taps + g.column_taps, row, sum);
    }
    plane += s.in_plane;
    taps += g.column_taps + g.row_taps;
  }

  // By way of shared memory, so that a warp writes whole lines of the output wherever they begin.
  __syncthreads();
  CONVSCOPE_UNROLL
  for (int r = 0; r < kRun; ++r) tile[run_y * g.pitch + skewed(run_x + r)] = sum[r];
  __syncthreads();
  const T* const map_bias = bias == nullptr ? nullptr : bias + map;
  T* const map_out = out + (int64_t{image} * s.c_out + map) * s.out_plane;
  for (int i = static_cast<int>(threadIdx.x); i < SeparableConfig::kOutputs; i += SeparableConfig::kThreads) {
    const int x = i & (tile_x - 1), y = i >> g.log_tile_x;
    if (out_x + x < s.out_w && out_y + y < s.out_h) {
      map_out[int64_t{out_y + y} * s.out_w + out_x + x] =
          finish(tile[y * g.pitch + skewed(x)], map_bias, activation);
    }
  }
}

template <class T>
class Separable final : public Strategy {
 public:
  explicit Separable(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    const ConvShape s = with_ranks(p.shape, most_ranks(p));
    const SeparableTile tile = tile_for(s);
    if (auto why = refuses_size(s, tile.fits ? tile.blocks(s) : std::max(blocks_down(s), blocks_along(s))))
      return why;
    return refuses_size(s, RepeatConfig::tiles(s.h * s.w) * s.n * s.c_in);
  }

  double error_bounds(const ConvProblem& p) const override {
    return p.separable_rank > 0 ? separable_rank_error_bounds(p.shape, p.separable_rank)
                                : separable_error_bounds(p.shape);
  }
  /// None in truth; but the terms of a sum of ranks are as large as the largest weight allows.
  int64_t error_reach(const ConvProblem& p) const override {
    return p.separable_rank > 0 && p.shape.k_h > 1 && p.shape.k_w > 1 ? 1 : 0;
  }

  Cost cost(const ConvProblem& p, const ConvWeights& weights) const override {
    const int64_t ranks = filters_of(p, weights).ranks;
    const ConvShape s = with_ranks(p.shape, ranks);
    const QuadsPlan quads(s);
    if (std::is_same_v<T, float> && quads.takes())
      return separable_cost(p.shape, info().precision, ranks, quads.launches(s));
    return separable_cost(p.shape, info().precision, ranks, tile_for(p.shape).fits ? 1 : 0);
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    if (auto why = refuses(problem)) throw Error("separable refuses: " + *why);
    const RankFilters& filters = filters_of(problem, weights);
    if (filters.refused) throw Error("separable refuses: " + *filters.refused);
    problem_ = problem;
    ranks_ = filters.ranks;
    problem_.shape = with_ranks(problem.shape, ranks_);
    const ConvShape& s = problem_.shape;
    sliding_ = s.stride == Axes{1, 1} && s.dilation == Axes{1, 1};
    tile_ = tile_for(s);
    upload(filters, s);
    if constexpr (std::is_same_v<T, float>) quads_ = QuadsPasses(problem_, filters);
    bias_.assign(as<T>(weights.bias));
    copies_ =
        ranks_ == 1 ? DeviceMemory() : DeviceMemory(static_cast<std::size_t>(s.input_size()) * sizeof(T));
    if (tile_.fits) {
      allow_shared_bytes(kernel(), static_cast<std::size_t>(tile_.shared_bytes));
      scratch_ = DeviceMemory();
    } else {
      scratch_ = DeviceMemory(static_cast<std::size_t>(s.n * s.c_in * s.out_h() * s.w) * sizeof(T));
    }
  }

  void launch(const void* in, void* out, Stages& stages) override {
    if (ranks_ > 1) {
      const ConvShape& s = problem_.shape;
      const StageTimer timer(stages, "separable, copies");
      launch_repeat_planes("separable, copies", s.n * s.c_in / ranks_, s.h * s.w, ranks_,
                           static_cast<const T*>(in), static_cast<T*>(copies_.get()));
      in = copies_.get();
    }
    if constexpr (std::is_same_v<T, float>) {
      if (quads_.take(static_cast<const T*>(in), static_cast<T*>(out))) {
        const StageTimer timer(stages, "separable");
        quads_.launch(problem_, static_cast<const T*>(in), bias(), static_cast<T*>(out));
        return;
      }
    }
    if (!tile_.fits) {
      launch_passes(static_cast<const T*>(in), static_cast<T*>(out), stages);
      return;
    }
    const ConvShape& s = problem_.shape;
    const SeparableGrid grid{Divisor(ceil_div(s.out_w(), tile_.x())),
                             Divisor(ceil_div(s.out_h(), tile_.y())),
                             Divisor(s.c_out),
                             Divisor(tile_.columns),
                             tile_.log_x,
                             static_cast<int>(tile_.pitch),
                             column_taps(),
                             row_taps()};
    const StageTimer timer(stages, "separable");
    TARGET::launch("separable", kernel(), dim3(static_cast<unsigned>(tile_.blocks(s))),
                   dim3(SeparableConfig::kThreads), static_cast<std::size_t>(tile_.shared_bytes),
                   device_shape(s), grid, problem_.activation, static_cast<const T*>(in), factors_.data(),
                   bias(), static_cast<T*>(out));
  }

 protected:
  std::optional<std::string> refuses_weights(const ConvProblem& p,
                                             const ConvWeights& weights) const override {
    return filters_of(p, weights).refused;
  }

 private:
  using Kernel = decltype(&separable_kernel<T, true, Rounding::fused>);

  /// Kept, since an interface asks again with every frame.
  const RankFilters& filters_of(const ConvProblem& p, const ConvWeights& weights) const {
    if (!known_ || known_rank_ != p.separable_rank || known_weights_ != weights) {
      filters_ = separable_factors(weights, info().precision, p.separable_rank);
      known_weights_ = weights;
      known_rank_ = p.separable_rank;
      known_ = true;
    }
    return filters_;
  }
  static int64_t most_ranks(const ConvProblem& p) {
    return std::clamp<int64_t>(std::min(p.shape.k_h, p.shape.k_w), 1, std::max<int64_t>(1, p.separable_rank));
  }
  /// What the passes compute: every channel `ranks` times over.
  static ConvShape with_ranks(ConvShape s, int64_t ranks) {
    s.c_in *= ranks;
    return s;
  }
  static SeparableTile tile_for(const ConvShape& s) {
    return SeparableTile(s, sizeof(T), static_cast<int64_t>(max_shared_bytes()));
  }
  static int64_t tiles_down(const ConvShape& s) { return ceil_div(s.w, SeparableConfig::kThreads); }
  static int64_t tiles_along(const ConvShape& s) { return ceil_div(s.out_w(), SeparableConfig::kThreads); }
  static int64_t blocks_down(const ConvShape& s) { return tiles_down(s) * s.out_h() * s.c_in * s.n; }
  static int64_t blocks_along(const ConvShape& s) { return tiles_along(s) * s.out_h() * s.n; }
  int column_taps() const { return static_cast<int>(ceil_div(problem_.shape.k_h, 4) * 4); }
  int row_taps() const { return static_cast<int>(ceil_div(problem_.shape.k_w, 4) * 4); }

  void upload(const RankFilters& filters, const ConvShape& s) {
    std::vector<T> values(static_cast<std::size_t>(s.c_out * s.c_in * (column_taps() + row_taps())));
    auto to = values.begin();
    for (int64_t pair = 0; pair < s.c_out * s.c_in; ++pair) {
      std::transform(filters.columns.begin() + pair * s.k_h, filters.columns.begin() + (pair + 1) * s.k_h, to,
                     [](double v) { return static_cast<T>(v); });
      to += column_taps();
      std::transform(filters.rows.begin() + pair * s.k_w, filters.rows.begin() + (pair + 1) * s.k_w, to,
                     [](double v) { return static_cast<T>(v); });
      to += row_taps();
    }
    factors_.assign(values);
  }

  void launch_passes(const T* in, T* out, Stages& stages) const {
    const ConvShape& s = problem_.shape;
    const DeviceShape shape = device_shape(s);
    const bool is_fused = problem_.rounding == Rounding::fused;
    const auto down =
        is_fused ? separable_down_kernel<T, Rounding::fused> : separable_down_kernel<T, Rounding::separate>;
    const auto along =
        is_fused ? separable_along_kernel<T, Rounding::fused> : separable_along_kernel<T, Rounding::separate>;
    T* const scratch = static_cast<T*>(scratch_.get());
    const dim3 block(SeparableConfig::kThreads);
    const PassTaps taps{column_taps(), row_taps()};
    // two launches a map, too many to be timed one by one
    const StageTimer timer(stages, "separable, down+along");
    for (int64_t map = 0; map < s.c_out; ++map) {
      const T* const factors = factors_.data() + map * s.c_in * (column_taps() + row_taps());
      TARGET::launch("separable, down", down, dim3(static_cast<unsigned>(blocks_down(s))), block, 0, shape,
                     PassGrid{Divisor(tiles_down(s)), Divisor(s.out_h()), Divisor(s.c_in)}, taps, in, factors,
                     scratch);
      TARGET::launch("separable, along", along, dim3(static_cast<unsigned>(blocks_along(s))), block, 0, shape,
                     PassGrid{Divisor(tiles_along(s)), Divisor(s.out_h()), Divisor(1)}, taps,
                     problem_.activation, scratch, factors, bias() == nullptr ? nullptr : bias() + map,
                     out + map * shape.out_plane);
    }
  }

  const T* bias() const { return bias_.size() == 0 ? nullptr : bias_.data(); }
  Kernel kernel() const {
    const bool is_fused = problem_.rounding == Rounding::fused;
    if (sliding_)
      return is_fused ? separable_kernel<T, true, Rounding::fused>
                      : separable_kernel<T, true, Rounding::separate>;
    return is_fused ? separable_kernel<T, false, Rounding::fused>
                    : separable_kernel<T, false, Rounding::separate>;
  }

  ConvProblem problem_;
  SeparableTile tile_;
  bool sliding_ = false;
  DeviceArray<T> factors_, bias_;
  QuadsPasses quads_;
  int64_t ranks_ = 1;  // copies of every channel
  DeviceMemory scratch_, copies_;
  mutable bool known_ = false;
  mutable int64_t known_rank_ = 0;
  mutable ConvWeights known_weights_;
  mutable RankFilters filters_;
};

}  // namespace

std::unique_ptr<Strategy> make_separable(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<Separable<double>>(std::move(info));
  return std::make_unique<Separable<float>>(std::move(info));
}

}  // namespace convscope::TARGET
