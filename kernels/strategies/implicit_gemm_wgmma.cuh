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
#include "kernels/strategies/implicit_gemm_wgmma_parts.cuh"

namespace convscope::TARGET {
namespace {

/// What the threads of a block wait for.
struct WgmmaBarriers {
  CopyBarrier weights_full[WgmmaPlan::kStages], weights_empty[WgmmaPlan::kStages], rows_full[2],
      rows_empty[2];

  __device__ __forceinline__ void init() {
    for (int i = 0; i < WgmmaPlan::kStages; ++i) {
      weights_full[i].init(1);
      weights_empty[i].init(WgmmaConfig::kThreads / 32);
    }
    for (int i = 0; i < 2; ++i) {
      rows_full[i].init(WgmmaConfig::kThreads);
      rows_empty[i].init(WgmmaConfig::kThreads / 32);
    }
  }
};
static_assert(sizeof(WgmmaBarriers) == WgmmaPlan::kBarrierBytes, "the plan leaves room for the barriers");

/// A block's buffers and how far it has come with filling them.
struct WgmmaPipe {
  float *stages, *rows;
  int* offsets;
  WgmmaBarriers* barriers;
  const float* weights;  // the next to be loaded
  int loading_step;      // their step of the chunk
  WgmmaRows own_rows;

  /// The weights of a turn, into the buffer of the third turn before it.
  __device__ __forceinline__ void load_weights(const WgmmaGrid& g, int turn) {
    constexpr int kStages = WgmmaPlan::kStages;
    const int left = g.steps - loading_step, steps = left < g.stage_steps ? left : g.stage_steps;
    const int step_words = g.step_bytes / 4;
    if (turn >= kStages) barriers->weights_empty[turn % kStages].wait((turn / kStages - 1) % 2);
    if (threadIdx.x == 0) {
      barriers->weights_full[turn % kStages].copy(stages + turn % kStages * g.stage_steps * step_words,
                                                  weights, steps * g.step_bytes);
    }
    weights += steps * step_words;
    loading_step = steps == left ? 0 : loading_step + steps;
  }

  /// Some channels of a chunk, its `slice`-th, into the buffer of the chunk before the last.
  __device__ __forceinline__ void load_rows(const DeviceShape& s, const WgmmaGrid& g, int chunk, int slice) {
    const int begin = slice * g.slice_channels;
    if (begin >= g.chunk_channels) return;
    const int end = begin + g.slice_channels < g.chunk_channels ? begin + g.slice_channels : g.chunk_channels;
    if (slice == 0 && chunk >= 2) barriers->rows_empty[chunk % 2].wait((chunk / 2 - 1) % 2);
    own_rows.load(s, g, chunk * g.chunk_channels, begin, end, rows + chunk % 2 * g.chunk_channels * g.words);
    if (end == g.chunk_channels) barriers->rows_full[chunk % 2].arrive_when_copied();
  }
};

/// All products of a block.
template <bool kSplit>
__device__ __forceinline__ void multiply_all(const DeviceShape& s, const WgmmaGrid& g, WgmmaPipe& pipe,
                                             const int (&pixel)[WgmmaConfig::kTiles][2],
                                             float (&sum)[WgmmaConfig::kTiles][64]) {
  constexpr int kStages = WgmmaPlan::kStages;
  const int turns = g.chunks * ((g.steps + g.stage_steps - 1) / g.stage_steps), step_words = g.step_bytes / 4;
  const bool first_lane = threadIdx.x % 32 == 0;
  int chunk = 0, step = 0;
  for (int turn = 0; turn < turns; ++turn) {
    if (step == 0) pipe.barriers->rows_full[chunk % 2].wait(chunk / 2 % 2);
    pipe.barriers->weights_full[turn % kStages].wait(turn / kStages % 2);
    const int left = g.steps - step, last = step + (left < g.stage_steps ? left : g.stage_steps);
    const float* const rows = pipe.rows + chunk % 2 * g.chunk_channels * g.words;
    const float* weights = pipe.stages + turn % kStages * g.stage_steps * step_words;
    const int* offset = pipe.offsets + 8 * step + threadIdx.x % 4 * 2;
    const bool load_weights = turn + 1 < turns, load_rows = chunk + 1 < g.chunks;
    WgmmaValues values;
    values.pick(rows, pixel, offset);
    for (bool first = true; step < last; ++step, first = false, weights += step_words) {
      start_products<kSplit>(values, weights, sum);
      // behind the products: the next weights, some of the next rows, the next values
      if (first && load_weights) pipe.load_weights(g, turn + 1);
      if (load_rows) pipe.load_rows(s, g, chunk + 1, step);
      if (step + 1 < last) values.pick(rows, pixel, offset += 8);
      wait_for_products();
    }
    if (first_lane) pipe.barriers->weights_empty[turn % kStages].arrive();
    if (step == g.steps) {
      if (first_lane) pipe.barriers->rows_empty[chunk % 2].arrive();
      step = 0, ++chunk;
    }
  }
}

/// Shared memory: kStages buffers of weights, two of input rows, the offsets, the barriers.
template <bool kSplit>
__global__ void __launch_bounds__(WgmmaConfig::kThreads, 1)
    implicit_gemm_wgmma_kernel(DeviceShape s, WgmmaGrid g, Activation activation, In<float> in,
                               In<float> weights, const int* offset_table, const float* bias,
                               Out<float> out) {
  uint32_t block = blockIdx.x;
  // the map tile runs fastest: the blocks of a tile of pixels share its inputs
  const int map_tile = static_cast<int>(g.map_tiles.take(block));
  const int first_pixel = static_cast<int>(block) * WgmmaPlan::kPixels;
  const int thread = static_cast<int>(threadIdx.x);
  const WgmmaPixel first = pixel_of(g, first_pixel);
  WgmmaPipe pipe;
  pipe.stages = shared_memory<float>();
  pipe.rows = pipe.stages + WgmmaPlan::kStages * g.stage_steps * (g.step_bytes / 4);
  pipe.offsets = reinterpret_cast<int*>(pipe.rows + 2 * g.chunk_channels * g.words);
  pipe.barriers = reinterpret_cast<WgmmaBarriers*>(pipe.offsets + 8 * g.steps);
  pipe.weights = weights + int64_t{map_tile} * g.chunks * g.steps * (g.step_bytes / 4);
  pipe.loading_step = 0;
  pipe.own_rows.place(s, g, first, in);
  for (int i = thread; i < 8 * g.steps; i += WgmmaConfig::kThreads) pipe.offsets[i] = offset_table[i];
  if (thread == 0) pipe.barriers->init();
  __syncthreads();
  pipe.load_weights(g, 0);
  for (int slice = 0; slice * g.slice_channels < g.chunk_channels; ++slice) pipe.load_rows(s, g, 0, slice);

  const int own_pixel = first_pixel + thread / 128 * 128 + thread % 128 / 32 * 16 + thread % 32 / 4;
  int pixel[WgmmaConfig::kTiles][2];  // where the thread's pixels lie in the rows
  CONVSCOPE_UNROLL
  for (int t = 0; t < WgmmaConfig::kTiles; ++t) {
    CONVSCOPE_UNROLL
    for (int half = 0; half < 2; ++half) {
      pixel[t][half] = place_in_rows(s, g, first, pixel_of(g, own_pixel + t * 64 + half * 8));
    }
  }
  float sum[WgmmaConfig::kTiles][64] = {};
  multiply_all<kSplit>(s, g, pipe, pixel, sum);

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
                         i(p.stage_steps),     i(p.step_bytes),
                         i(p.slice_channels)};
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
