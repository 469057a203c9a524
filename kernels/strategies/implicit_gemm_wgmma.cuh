// Implicit GEMM by wgmma: what implicit_gemm_tf32 and _3xtf32 run on compute capability 9.0 where channels
// and maps are many.
//
// mma.sync reaches two thirds of the multiply-adds of these tensor cores, wgmma all. A block of two
// warpgroups makes 256 consecutive pixels, of any rows and images, in 128 maps. The input rows under its
// pixels, 8 channels at a time, come into shared memory by asynchronous copies, each value once for all taps;
// every thread picks its operands there, a step ahead of the tensor core, which reads them from registers.
// The weights come by bulk copies in the very order in which wgmma reads them. One barrier for each three to
// nine steps of 8 taps. Shared memory read for each multiply-add: 1/128 of a value, and 1/64 of a weight by
// the tensor core itself.

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"
#include "kernels/strategies/implicit_gemm_wgmma_plan.h"
#include "kernels/strategies/tensor_values.cuh"

namespace convscope::TARGET {
namespace {

struct WgmmaConfig {
  static constexpr int kThreads = 256, kTiles = 2;  // 64-pixel tiles of a warpgroup
  static_assert(kThreads / 128 * kTiles * 64 == WgmmaPlan::kPixels, "the warpgroups divide the pixels");
};

struct WgmmaGrid {
  Divisor map_tiles, plane, row;  // of a block's number; of a pixel's number into image, y and x
  Divisor image_rows,
      halo_columns;  // of a row in shared memory into image and y; of a value into row and column
  int pixels, halo_h, halo_w, words;  // words from channel to channel in shared memory
  int chunk_channels, chunks, steps, stage_steps, step_bytes;
};

/// A pixel's place among the outputs, and its first input row, counted through all images.
struct WgmmaPixel {
  int image, y, x;
};
__device__ __forceinline__ WgmmaPixel pixel_of(const WgmmaGrid& g, int number) {
  uint32_t image = static_cast<uint32_t>(number < g.pixels ? number : g.pixels - 1);
  uint32_t y = g.plane.take(image);
  const int x = static_cast<int>(g.row.take(y));
  return {static_cast<int>(image), static_cast<int>(y), x};
}

/// Starts the copies of a chunk's input: the rows from that of pixel `first` on.
__device__ __forceinline__ void load_rows(const DeviceShape& s, const WgmmaGrid& g, const WgmmaPixel& first,
                                          int first_c, const float* in, float* rows) {
  for (int i = static_cast<int>(threadIdx.x); i < g.halo_h * g.halo_w; i += WgmmaConfig::kThreads) {
    uint32_t rest = static_cast<uint32_t>(i);
    const int in_x = static_cast<int>(g.halo_columns.take(rest)) - s.pad_x;
    rest += static_cast<uint32_t>(first.y * s.stride_y);
    const int in_y = static_cast<int>(g.image_rows.take(rest)) - s.pad_y;
    const int image = first.image + static_cast<int>(rest);
    const bool inside = image < s.n && in_y >= 0 && in_y < s.h && in_x >= 0 && in_x < s.w;
    const float* from = in;
    if (inside) from += (int64_t{image} * s.c_in + first_c) * s.in_plane + int64_t{in_y} * s.w + in_x;
    float* to = rows + i;
    for (int c = 0; c < g.chunk_channels; ++c, from += s.in_plane, to += g.words) {
      const bool there = inside && first_c + c < s.c_in;
      copy_async(to, there ? from : in, there);
    }
  }
}

/// A thread's values of a step.
struct WgmmaValues {
  float v[WgmmaConfig::kTiles][4];

  __device__ __forceinline__ void pick(const float* rows, const int (&pixel)[WgmmaConfig::kTiles][2],
                                       const int* offset) {
    CONVSCOPE_UNROLL
    for (int t = 0; t < WgmmaConfig::kTiles; ++t) {
      CONVSCOPE_UNROLL
      for (int i = 0; i < 4; ++i) v[t][i] = rows[pixel[t][i % 2] + offset[i / 2]];
    }
  }
};

/// Starts the products of a step: its values with the weights at `weights`.
template <bool kSplit>
__device__ __forceinline__ void start_products(const WgmmaValues& values, const float* weights,
                                               float (&sum)[WgmmaConfig::kTiles][64]) {
  constexpr int kFour = WgmmaPlan::kMaps * 16, kEight = 128;  // bytes to the next four taps and eight maps
  constexpr int kTiles = WgmmaConfig::kTiles;
  uint32_t big[kTiles][4], small[kTiles][4], finite[kTiles][4];
  CONVSCOPE_UNROLL
  for (int t = 0; t < kTiles; ++t) {
    CONVSCOPE_UNROLL
    for (int i = 0; i < 4; ++i) tf32_operands<kSplit>(values.v[t][i], big[t][i], small[t][i], finite[t][i]);
  }
  const FactorInShared big_weights = factor_in_shared(weights, kFour, kEight);
  open_products();
  if constexpr (kSplit) {
    const FactorInShared small_weights = factor_in_shared(weights + 8 * WgmmaPlan::kMaps, kFour, kEight);
    CONVSCOPE_UNROLL
    for (int t = 0; t < kTiles; ++t) multiply_tf32_128(sum[t], small[t], big_weights);
    CONVSCOPE_UNROLL
    for (int t = 0; t < kTiles; ++t) multiply_tf32_128(sum[t], finite[t], small_weights);
  }
  CONVSCOPE_UNROLL
  for (int t = 0; t < kTiles; ++t) multiply_tf32_128(sum[t], big[t], big_weights);
  close_products();
}

/// The steps of one stage: while the tensor core multiplies one, the values of the next are picked, and while
/// they are converted, it multiplies the other warpgroup's.
template <bool kSplit>
__device__ __forceinline__ void multiply_stage(const float* rows, const int (&pixel)[WgmmaConfig::kTiles][2],
                                               const int* offset, const float* weights, int steps,
                                               int step_words, float (&sum)[WgmmaConfig::kTiles][64]) {
  WgmmaValues values;
  values.pick(rows, pixel, offset);
  for (int step = 0; step < steps; ++step, weights += step_words) {
    start_products<kSplit>(values, weights, sum);
    if (step + 1 < steps) values.pick(rows, pixel, offset += 8);
    wait_for_products();
  }
}

template <bool kActivated>
__device__ __forceinline__ void store_sums(const DeviceShape& s, const WgmmaGrid& g, Activation activation,
                                           int first_pixel, int first_map, const float* bias,
                                           const float (&sum)[WgmmaConfig::kTiles][64], float* out) {
  float* pixel[WgmmaConfig::kTiles][2];
  CONVSCOPE_UNROLL
  for (int t = 0; t < WgmmaConfig::kTiles; ++t) {
    CONVSCOPE_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int number = first_pixel + t * 64 + half * 8;
      uint32_t image = static_cast<uint32_t>(number);
      const uint32_t in_plane = g.plane.take(image);
      pixel[t][half] = number < g.pixels ? out + int64_t{image} * s.c_out * s.out_plane + in_plane : nullptr;
    }
  }
  CONVSCOPE_UNROLL
  for (int column = 0; column < WgmmaPlan::kMaps / 4; ++column) {
    const int map = first_map + column / 2 * 8 + static_cast<int>(threadIdx.x) % 4 * 2 + column % 2;
    if (map >= s.c_out) continue;
    const float own_bias = bias == nullptr ? -0.0f : bias[map];  // -0 changes no sum
    CONVSCOPE_UNROLL
    for (int t = 0; t < WgmmaConfig::kTiles; ++t) {
      CONVSCOPE_UNROLL
      for (int half = 0; half < 2; ++half) {
        float v = sum[t][column / 2 * 4 + half * 2 + column % 2] + own_bias;
        if constexpr (kActivated) v = activate_apart(v, activation);
        if (pixel[t][half] != nullptr) pixel[t][half][map * s.out_plane] = v;
      }
    }
  }
}

/// Shared memory: kStages buffers of weights, two of input rows, the offsets, the barriers of the weights.
template <bool kSplit>
__global__ void __launch_bounds__(WgmmaConfig::kThreads, 1)
    implicit_gemm_wgmma_kernel(DeviceShape s, WgmmaGrid g, Activation activation, In<float> in,
                               In<float> weights, const int* offset_table, const float* bias,
                               Out<float> out) {
  constexpr int kStages = WgmmaPlan::kStages;
  uint32_t block = blockIdx.x;
  const int map_tile =
      static_cast<int>(g.map_tiles.take(block));  // fastest: the blocks of a tile share its inputs
  const int first_pixel = static_cast<int>(block) * WgmmaPlan::kPixels;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int step_words = g.step_bytes / 4, stage_words = g.stage_steps * step_words;
  const int row_words = g.chunk_channels * g.words;
  float* const stages = shared_memory<float>();
  float* const rows = stages + kStages * stage_words;
  int* const offsets = reinterpret_cast<int*>(rows + 2 * row_words);
  CopyBarrier* const barriers = reinterpret_cast<CopyBarrier*>(offsets + 8 * g.steps);
  for (int i = thread; i < 8 * g.steps; i += WgmmaConfig::kThreads) offsets[i] = offset_table[i];
  if (thread < kStages) barriers[thread].init();

  const WgmmaPixel first = pixel_of(g, first_pixel);
  const int own_pixel = first_pixel + thread / 128 * 128 + thread % 128 / 32 * 16 + lane / 4;
  int pixel[WgmmaConfig::kTiles][2];  // where the thread's pixels lie in the rows
  CONVSCOPE_UNROLL
  for (int t = 0; t < WgmmaConfig::kTiles; ++t) {
    CONVSCOPE_UNROLL
    for (int half = 0; half < 2; ++half) {
      const WgmmaPixel p = pixel_of(g, own_pixel + t * 64 + half * 8);
      const int row =
          (p.image - first.image) * static_cast<int>(g.image_rows.value) + (p.y - first.y) * s.stride_y;
      pixel[t][half] = row * g.halo_w + p.x * s.stride_x;
    }
  }
  __syncthreads();  // the barriers are there

  const int stages_of_chunk = (g.steps + g.stage_steps - 1) / g.stage_steps,
            turns = g.chunks * stages_of_chunk;
  const float* tile_weights = weights + int64_t{map_tile} * g.chunks * g.steps * step_words;
  int loading_step = 0;  // of its chunk
  const auto load_weights = [&](int turn) {
    const int left = g.steps - loading_step, steps = left < g.stage_steps ? left : g.stage_steps;
    if (thread == 0) {
      barriers[turn % kStages].copy(stages + turn % kStages * stage_words, tile_weights,
                                    steps * g.step_bytes);
    }
    tile_weights += steps * step_words;
    loading_step = steps == left ? 0 : loading_step + steps;
  };
  float sum[WgmmaConfig::kTiles][64] = {};
  load_weights(0);
  load_rows(s, g, first, 0, in, rows);
  close_copies();
  int chunk = 0, step = 0;
  for (int turn = 0; turn < turns; ++turn) {
    if (step == 0) wait_for_copies<0>();
    barriers[turn % kStages].wait(turn / kStages % 2);
    // all is there for all threads; none reads the rows of the last chunk any more, nor the weights of the
    // last turn but one
    __syncthreads();
    if (turn + 1 < turns) load_weights(turn + 1);
    if (step == 0 && chunk + 1 < g.chunks) {
      load_rows(s, g, first, (chunk + 1) * g.chunk_channels, in, rows + (chunk + 1) % 2 * row_words);
      close_copies();
    }
    const int left = g.steps - step, steps = left < g.stage_steps ? left : g.stage_steps;
    multiply_stage<kSplit>(rows + chunk % 2 * row_words, pixel, offsets + 8 * step + lane % 4 * 2,
                           stages + turn % kStages * stage_words, steps, step_words, sum);
    step += steps;
    if (step == g.steps) step = 0, ++chunk;
  }
  const int first_map = map_tile * WgmmaPlan::kMaps;
  if (activation == Activation::none) {
    store_sums<false>(s, g, activation, own_pixel, first_map, bias, sum, out);
  } else {
    store_sums<true>(s, g, activation, own_pixel, first_map, bias, sum, out);
  }
}

template <bool kSplit>
class ImplicitGemmWgmma final : public Strategy {
 public:
  explicit ImplicitGemmWgmma(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    if (auto why = lacks_warpgroups()) return why;
    return refuses_wgmma(p.shape, kSplit, static_cast<int64_t>(max_shared_bytes()));
  }
  double error_bounds(const ConvProblem& p) const override { return tf32_error_bounds(p.shape, kSplit); }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    plan_ = wgmma_plan(problem.shape, kSplit, static_cast<int64_t>(max_shared_bytes()));
    allow_shared_bytes(implicit_gemm_wgmma_kernel<kSplit>, static_cast<std::size_t>(plan_.shared_bytes()));
    offsets_.assign(plan_.offsets(problem.shape));
    weights_.assign(plan_.weights(problem.shape, weights));
    bias_.assign(as<float>(weights.bias));
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const StageTimer timer(stages, kSplit ? "implicit_gemm_3xtf32" : "implicit_gemm_tf32");
    const ConvShape& s = problem_.shape;
    const WgmmaPlan& p = plan_;
    const auto i = [](int64_t v) { return static_cast<int>(v); };
    const WgmmaGrid grid{Divisor(p.map_tiles), Divisor(s.out_h() * s.out_w()),
                         Divisor(s.out_w()),   Divisor(p.image_rows),
                         Divisor(p.halo_w),    i(p.pixels),
                         i(p.halo_h),          i(p.halo_w),
                         i(p.plane),           i(p.chunk_channels),
                         i(p.chunks),          i(p.steps),
                         i(p.stage_steps),     i(p.step_bytes)};
    TARGET::launch(info().name.c_str(), implicit_gemm_wgmma_kernel<kSplit>,
                   dim3(static_cast<unsigned>(p.blocks())), dim3(WgmmaConfig::kThreads),
                   static_cast<std::size_t>(p.shared_bytes()), device_shape(s), grid, problem_.activation,
                   static_cast<const float*>(in), weights_.data(), offsets_.data(),
                   bias_.size() == 0 ? nullptr : bias_.data(), static_cast<float*>(out));
  }

 private:
  ConvProblem problem_;
  WgmmaPlan plan_;
  DeviceArray<int> offsets_;
  DeviceArray<float> weights_, bias_;
};

}  // namespace

std::unique_ptr<Strategy> make_implicit_gemm_wgmma(StrategyInfo info, bool split) {
  if (split) return std::make_unique<ImplicitGemmWgmma<true>>(std::move(info));
  return std::make_unique<ImplicitGemmWgmma<false>>(std::move(info));
}

}  // namespace convscope::TARGET
