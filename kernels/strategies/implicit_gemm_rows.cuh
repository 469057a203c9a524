// Implicit GEMM on tensor cores for few taps: what implicit_gemm_tf32 and _3xtf32 run where a row of taps, of
// all channels, is at most 16 values and the maps are 9 to 16.
//
// The factors of mma.sync are turned: the weights are the first one, 16 maps by 8 taps, and stay in registers
// for the whole launch; the second one is 8 taps of 8 pixels. A warp walks down a strip of 32 pixels. The
// rows of input under it come through a ring in shared memory that it shares with no other, by asynchronous
// copies some rows ahead. Each value is read and split once and multiplied for every output row that it
// reaches: the sums of all these rows are in registers, and one row of outputs is done at each step.
// Bytes per pixel: each input about 1.3 times, its halo from the second-level cache; each output once.
// Measured on an H200, streaming, from 3 to 16 maps, in TF32 and 3xTF32: 5x5 54 and 80 us (130 without tensor
// cores), 3x3 52 and 59 us (55), 3x3 with stride 2 24.5 and 26 us (23). The way of the bytes binds, and for
// 5x5 in 3xTF32 the tensor cores: mma.sync of 16 x 8 x 8 takes 6.4 clocks of a quarter of a multiprocessor.

#include "kernels/strategies/costs.h"
#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"
#include "kernels/strategies/four.cuh"
#include "kernels/strategies/implicit_gemm_rows_plan.h"
#include "kernels/strategies/tensor_values.cuh"

namespace convscope::TARGET {
namespace {

/// The plan as the kernel takes it.
struct RowsGrid {
  Divisor strips, bands;
  int images, step, rows, lead, pitch, copies, row_copies, zeros, unit_words;
};

/// Of a window's kRows rows, a unit holds kStride. kVectors: outputs are stored by fours.
template <int kStride_, int kRows_, bool kSplit_, bool kVectors_, bool kActivated_>
struct RowsConfig {
  static constexpr int kStride = kStride_, kRows = kRows_, kRowSteps = RowsPlan::kRowSteps;
  static constexpr bool kSplit = kSplit_, kVectors = kVectors_, kActivated = kActivated_;
  static constexpr int kUnits = (kRows + kStride - 1) / kStride, kSteps = kStride * kRowSteps;
  static constexpr int kTiles = RowsPlan::kPixels / 8;
  static constexpr int kRing = RowsPlan::ring_units(kStride);
  /// Whether step `i` of a unit has taps in the window's unit `k`.
  static CONVSCOPE_HOST_DEVICE bool has(int k, int i) { return k * kStride + i / kRowSteps < kRows; }
  static constexpr int kBlocks = (kRows > 3 ? 3 : 4) - (kSplit ? 1 : 0);
  /// Rows of a warp's outputs, about: the first units, which no output is done with, are then few of all;
  /// with fewer products, it is better for memory that warps are near each other.
  static constexpr int kAbout = (kSplit ? 12 : 4) * (kUnits - 1);
};

/// Where a warp's outputs lie.
struct RowsPlace {
  int image, y, x;  // of the first
  int rows;         // that it stores, from the first on every step-th
};
__device__ __forceinline__ RowsPlace rows_place(const DeviceShape& s, const RowsGrid& g, int warp) {
  uint32_t number = blockIdx.x * RowsPlan::kWarps + static_cast<uint32_t>(warp);
  RowsPlace at;
  at.x = static_cast<int>(g.strips.take(number)) * RowsPlan::kPixels;
  const int band = static_cast<int>(g.bands.take(number));
  at.image = static_cast<int>(number);
  at.y = band % g.step + band / g.step * g.rows * g.step;
  const int there = at.image < g.images && at.y < s.out_h ? (s.out_h - at.y + g.step - 1) / g.step : 0;
  at.rows = there < g.rows ? there : g.rows;
  return at;
}

/// The copies of a lane: where they come from, and where they go within a unit.
struct RowsCopies {
  int from[RowsPlan::kCopies], to[RowsPlan::kCopies];
  int row[RowsPlan::kCopies];  // of the image; far outside where the copy's columns are

  __device__ __forceinline__ void place(const DeviceShape& s, const RowsGrid& g, const RowsPlace& at,
                                        int stride, int lane) {
    const int first_x = at.x * stride - s.pad_x - g.lead, first_y = at.y * stride - s.pad_y;
    CONVSCOPE_UNROLL
    for (int k = 0; k < RowsPlan::kCopies; ++k) {
      const int number = k * 32 + lane, in_row = number % g.row_copies, r = number / g.row_copies;
      const int c = r % s.c_in, y = first_y + r / s.c_in, x = first_x + 4 * in_row;
      from[k] = static_cast<int>(c * s.in_plane) + y * s.w + x;
      to[k] = number < g.copies ? r * g.pitch + 4 * in_row : -1;
      row[k] = at.rows > 0 && x >= 0 && x < s.w ? y : kNowhere;
    }
  }
  /// Starts those of the unit at hand, and goes to the next.
  __device__ __forceinline__ void start(const DeviceShape& s, const RowsGrid& g, const float* image,
                                        int to_next, float* unit) {
    CONVSCOPE_UNROLL
    for (int k = 0; k < RowsPlan::kCopies; ++k) {
      if (k * 32 >= g.copies) break;
      const bool inside = static_cast<unsigned>(row[k]) < static_cast<unsigned>(s.h);
      if (to[k] >= 0) copy_async16(unit + to[k], inside ? image + from[k] : image, inside);
      row[k] += to_next, from[k] += to_next * s.w;
    }
  }
  static constexpr int kNowhere = -(1 << 30);
};

/// The weights in a lane's registers.
template <class C>
struct RowsWeights {
  static constexpr int kParts = C::kSplit ? 2 : 1;
  uint32_t v[C::kUnits][C::kSteps][kParts][4];

  __device__ __forceinline__ void load(const uint32_t* from, int lane) {
    CONVSCOPE_UNROLL
    for (int k = 0; k < C::kUnits; ++k) {
      CONVSCOPE_UNROLL
      for (int i = 0; i < C::kSteps; ++i) {
        if (!C::has(k, i)) continue;
        CONVSCOPE_UNROLL
        for (int part = 0; part < kParts; ++part) {
          const auto four_parts = four(from + (((k * C::kSteps + i) * 32 + lane) * kParts + part) * 4);
          CONVSCOPE_UNROLL
          for (int e = 0; e < 4; ++e) v[k][i][part][e] = four_parts.v[e];
        }
      }
    }
  }
};

/// A pixel's column in a strip, of column `n` of the second factor: so a lane's sums of two tiles are four
/// neighbours. Tiles 2 and 3 lie 16 pixels further.
__device__ __forceinline__ int rows_pixel(int n) { return n / 2 * 4 + n % 2; }
__device__ __forceinline__ int rows_tile(int tile) { return tile / 2 * 16 + tile % 2 * 2; }

/// The operands of a unit's step: 8 taps, a lane's two of each tile's pixel, and what TF32 cannot hold of
/// them.
template <class C>
struct RowsOperands {
  uint32_t big[2][C::kTiles], small[2][C::kTiles];

  __device__ __forceinline__ void load(const float* unit, const int (&offset)[2]) {
    CONVSCOPE_UNROLL
    for (int half = 0; half < 2; ++half) {
      CONVSCOPE_UNROLL
      for (int t = 0; t < C::kTiles; ++t) {
        const float v = unit[offset[half] + rows_tile(t) * C::kStride];
        if constexpr (C::kSplit) {
          split_tf32(v, big[half][t], small[half][t]);
        } else {
          big[half][t] = to_tf32(v);
        }
      }
    }
  }
};

/// The sums of an output row in a lane, [tile][as the tensor core has them].
template <class C>
struct RowsSums {
  float v[C::kTiles][4];

  __device__ __forceinline__ void clear() {
    CONVSCOPE_UNROLL
    for (int t = 0; t < C::kTiles; ++t) {
      CONVSCOPE_UNROLL
      for (int e = 0; e < 4; ++e) v[t][e] = 0;
    }
  }
  __device__ __forceinline__ void add(const uint32_t (&weights)[4], const uint32_t (&low)[C::kTiles],
                                      const uint32_t (&high)[C::kTiles]) {
    CONVSCOPE_UNROLL
    for (int t = 0; t < C::kTiles; ++t) multiply_tf32(v[t], weights, low[t], high[t]);
  }
};

/// A step's products for all output rows that it reaches: its part of the window's unit k belongs to the row
/// begun k units ago. The rows take turns, since a product waits for the one before in the same sums.
template <class C>
__device__ __forceinline__ void multiply_step(const RowsOperands<C>& o, const RowsWeights<C>& weights, int i,
                                              int turn, RowsSums<C> (&sum)[C::kUnits]) {
  CONVSCOPE_UNROLL
  for (int product = C::kSplit ? 0 : 2; product < 3; ++product) {
    CONVSCOPE_UNROLL
    for (int k = 0; k < C::kUnits; ++k) {
      if (!C::has(k, i)) continue;
      RowsSums<C>& own = sum[(turn - k + C::kUnits) % C::kUnits];
      const auto& w = weights.v[k][i];
      if constexpr (C::kSplit) {  // the small products first, so that they are not cut off one by one
        if (product == 0) own.add(w[0], o.small[0], o.small[1]);
        if (product == 1) own.add(w[1], o.big[0], o.big[1]);
      }
      if (product == 2) own.add(w[0], o.big[0], o.big[1]);
    }
  }
}

/// Where a lane stores, of a row of outputs: four neighbours of a map, or one value, and which there are.
struct RowsOutput {
  float* to;
  bool map[2], column[2];

  template <class C>
  __device__ __forceinline__ static RowsOutput place(const DeviceShape& s, const RowsPlace& at, int lane,
                                                     float* out) {
    RowsOutput o;
    const int map = C::kVectors ? lane / 4 : 0, x = at.x + (C::kVectors ? lane % 4 * 4 : lane);
    o.to = out + ((int64_t{at.image} * s.c_out + map) * s.out_h + at.y) * s.out_w + x;
    o.map[0] = map < s.c_out, o.map[1] = map + 8 < s.c_out;
    o.column[0] = x < s.out_w, o.column[1] = x + 16 < s.out_w;
    return o;
  }
};

/// A row of outputs that is done: of 8 maps and of 8 more, a lane's pixels. By fours where rows are aligned,
/// otherwise through shared memory, so that a store writes neighbours.
template <class C>
__device__ __forceinline__ void store_row(const DeviceShape& s, Activation activation, const float (&bias)[2],
                                          int lane, bool stores, const RowsSums<C>& sum, float* staged,
                                          const RowsOutput& output) {
  float v[2][2][4];  // of maps, columns
  CONVSCOPE_UNROLL
  for (int half = 0; half < 2; ++half) {
    CONVSCOPE_UNROLL
    for (int e = 0; e < 8; ++e) {
      float& value = v[half][e / 4][e % 4];
      value = sum.v[e / 2][half * 2 + e % 2] + bias[half];
      if constexpr (C::kActivated) value = activate_apart(value, activation);
    }
    CONVSCOPE_UNROLL
    for (int pair = 0; pair < 2; ++pair) {
      const float(&four_values)[4] = v[half][pair];
      if constexpr (!C::kVectors) {
        float* const to = staged + (8 * half + lane / 4) * RowsPlan::kStagedRow + 16 * pair + lane % 4 * 4;
        *reinterpret_cast<Four<float>*>(to) = {
            {four_values[0], four_values[1], four_values[2], four_values[3]}};
      } else if (stores && output.map[half] && output.column[pair]) {
        store4(output.to + 8 * half * s.out_plane + 16 * pair, four_values[0], four_values[1], four_values[2],
               four_values[3]);
      }
    }
  }
  if constexpr (!C::kVectors) {
    sync_warp();
    if (stores && output.column[0]) {
      float* line = output.to;
      CONVSCOPE_UNROLL
      for (int m = 0; m < RowsPlan::kMaps; ++m, line += s.out_plane) {
        if (m < s.c_out) *line = staged[m * RowsPlan::kStagedRow + lane];
      }
    }
    sync_warp();
  }
}

/// Shared memory: a ring of units of each warp, then a row of outputs of each.
template <class C>
__global__ void __launch_bounds__(RowsPlan::kThreads, C::kBlocks)
    implicit_gemm_rows_kernel(DeviceShape s, RowsGrid g, Activation activation, In<float> in,
                              In<uint32_t> weight_table, const int* offset_table, const float* bias,
                              Out<float> out) {
  constexpr int kAhead = C::kRing - 1;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const RowsPlace at = rows_place(s, g, warp);
  const int ring_words = C::kRing * g.unit_words;
  float* const ring = shared_memory<float>() + warp * ring_words;
  float* const staged =
      shared_memory<float>() + RowsPlan::kWarps * ring_words + warp * RowsPlan::kMaps * RowsPlan::kStagedRow;

  RowsCopies copies;
  copies.place(s, g, at, C::kStride, lane);
  const float* const image = in + (at.rows > 0 ? int64_t{at.image} * s.c_in * s.in_plane : 0);
  const int all = g.rows + C::kUnits - 1, to_next = g.step * C::kStride;
  int filled = 0;  // words of the ring before the unit to be copied next
  CONVSCOPE_UNROLL_BY(1)
  for (int unit = 0; unit < kAhead; ++unit, filled += g.unit_words) {
    if (unit < all) copies.start(s, g, image, to_next, ring + filled);
    copy_async_commit();
  }
  for (int unit = 0; unit < C::kRing; ++unit) {
    for (int i = lane; i < g.pitch; i += 32) ring[unit * g.unit_words + g.zeros + i] = 0;
  }

  RowsWeights<C> weights;
  weights.load(weight_table, lane);
  int offset[C::kSteps][2];
  CONVSCOPE_UNROLL
  for (int i = 0; i < C::kSteps; ++i) {
    CONVSCOPE_UNROLL
    for (int half = 0; half < 2; ++half) {
      offset[i][half] = offset_table[8 * i + lane % 4 * 2 + half] + rows_pixel(lane / 4) * C::kStride;
    }
  }
  float own_bias[2];
  CONVSCOPE_UNROLL
  for (int half = 0; half < 2; ++half) {  // -0 changes no sum
    const int map = 8 * half + lane / 4;
    own_bias[half] = bias != nullptr && map < s.c_out ? bias[map] : -0.0f;
  }

  RowsSums<C> sum[C::kUnits];  // of the rows that are begun, in turns
  CONVSCOPE_UNROLL
  for (int k = 0; k < C::kUnits; ++k) sum[k].clear();
  RowsOutput output = RowsOutput::place<C>(s, at, lane, out);
  int used = 0;
  CONVSCOPE_UNROLL_BY(1)
  for (int first = 0; first < all; first += C::kUnits) {
    CONVSCOPE_UNROLL
    for (int u = 0; u < C::kUnits; ++u) {
      const int unit = first + u;
      if (unit >= all) break;
      copy_async_wait<kAhead - 1>();
      sync_warp();  // all lanes' copies are here, and none reads the unit before any more
      if (filled == ring_words) filled = 0;
      if (unit + kAhead < all) copies.start(s, g, image, to_next, ring + filled);
      copy_async_commit();
      filled += g.unit_words;
      sum[u].clear();
      CONVSCOPE_UNROLL
      for (int i = 0; i < C::kSteps; ++i) {
        RowsOperands<C> operands;
        operands.load(ring + used, offset[i]);
        multiply_step<C>(operands, weights, i, u, sum);
      }
      used += g.unit_words;
      if (used == ring_words) used = 0;
      const int row = unit - (C::kUnits - 1);  // that is done
      if (row < 0) continue;
      store_row<C>(s, activation, own_bias, lane, row < at.rows, sum[(u + 1) % C::kUnits], staged, output);
      output.to += int64_t{g.step} * s.out_w;
    }
  }
}

template <bool kSplit>
class ImplicitGemmRows final : public Strategy {
 public:
  explicit ImplicitGemmRows(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    if (auto why = lacks_tensor_cores()) return why;
    return refuses_rows(p.shape, static_cast<int64_t>(max_shared_bytes()));
  }
  double error_bounds(const ConvProblem& p) const override { return tf32_error_bounds(p.shape, kSplit); }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    plan_ = rows_plan(problem.shape);
    const Choice both[] = {choice(false), choice(true)};
    const auto bytes = static_cast<std::size_t>(plan_.shared_bytes(problem.shape));
    for (const Choice& c : both) allow_shared_bytes(c.kernel, bytes);
    const int64_t blocks = resident_blocks(both[0].kernel, RowsPlan::kThreads, bytes);
    plan_.divide(problem.shape, RowsPlan::kWarps * blocks, both[0].about);
    offsets_.assign(plan_.offsets(problem.shape));
    weights_.assign(plan_.weights(problem.shape, weights, kSplit));
    bias_.assign(as<float>(weights.bias));
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const StageTimer timer(stages, kSplit ? "implicit_gemm_3xtf32" : "implicit_gemm_tf32");
    const ConvShape& s = problem_.shape;
    const RowsPlan& p = plan_;
    const auto i = [](int64_t v) { return static_cast<int>(v); };
    const RowsGrid grid{Divisor(p.strips), Divisor(p.bands), i(s.n),         i(p.step),       i(p.rows),
                        i(p.lead),         i(p.pitch),       i(p.copies(s)), i(p.row_copies), i(p.zeros(s)),
                        i(p.unit_words(s))};
    const bool vectors = s.out_w() % 4 == 0 && is_aligned(out);
    TARGET::launch(info().name.c_str(), choice(vectors).kernel, dim3(static_cast<unsigned>(p.blocks(s))),
                   dim3(RowsPlan::kThreads), static_cast<std::size_t>(p.shared_bytes(s)), device_shape(s),
                   grid, problem_.activation, static_cast<const float*>(in), weights_.data(), offsets_.data(),
                   bias_.size() == 0 ? nullptr : bias_.data(), static_cast<float*>(out));
  }

 private:
  using Kernel = decltype(&implicit_gemm_rows_kernel<RowsConfig<1, 3, kSplit, true, false>>);
  struct Choice {
    Kernel kernel;
    int64_t about;
  };
  template <int kStride, int kRows, bool kVectors>
  Choice choice_of() const {
    using Plain = RowsConfig<kStride, kRows, kSplit, kVectors, false>;
    using Activated = RowsConfig<kStride, kRows, kSplit, kVectors, true>;
    if (problem_.activation == Activation::none) return {implicit_gemm_rows_kernel<Plain>, Plain::kAbout};
    return {implicit_gemm_rows_kernel<Activated>, Activated::kAbout};
  }
  template <int kStride, int kRows>
  Choice choice_of(bool vectors) const {
    return vectors ? choice_of<kStride, kRows, true>() : choice_of<kStride, kRows, false>();
  }
  Choice choice(bool vectors) const {
    const bool tall = problem_.shape.k_h == 5;
    if (plan_.stride == 2) return tall ? choice_of<2, 5>(vectors) : choice_of<2, 3>(vectors);
    return tall ? choice_of<1, 5>(vectors) : choice_of<1, 3>(vectors);
  }

  ConvProblem problem_;
  RowsPlan plan_;
  DeviceArray<int> offsets_;
  DeviceArray<uint32_t> weights_;
  DeviceArray<float> bias_;
};

}  // namespace

std::unique_ptr<Strategy> make_implicit_gemm_rows(StrategyInfo info, bool split) {
  if (split) return std::make_unique<ImplicitGemmRows<true>>(std::move(info));
  return std::make_unique<ImplicitGemmRows<false>>(std::move(info));
}

}  // namespace convscope::TARGET
