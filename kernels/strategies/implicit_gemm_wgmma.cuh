#pragma once
// Implicit GEMM by wgmma: what implicit_gemm_tf32 and _3xtf32 run on compute capability 9.0.
//
// Both factors come from shared memory, and no thread touches an operand. The input under a block's outputs
// lies there once for all taps, a quad of 4 channels of a pixel in 16 bytes and the pixels of a row side by
// side: so 8 outputs in a row are 128 bytes in a row, which is what the tensor core reads, for every tap from
// another place. The column matrix is that choice of places. Threads bring the input through registers, the
// next chunk of channels behind the products of this one, rounded to TF32 or split in two parts on the way.
// Weights come by bulk copies, in the order in which wgmma reads them. A block of two warpgroups makes 256 or
// 512 outputs in 16 to 128 maps, of a tile of one image, or, where images are small, of rows and images
// counted through.

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"
#include "kernels/strategies/implicit_gemm_wgmma_parts.cuh"

namespace convscope::TARGET {
namespace {

/// The buffers of weights, filled in turns: a turn's weights go where those of the third turn before it were.
/// Every thread keeps count of where it is, thread 0 also of what it has loaded.
struct WgmmaWeights {
  float* stages;
  CopyBarrier* full;  // of each stage
  const float* next;  // to be loaded
  int step_words;
  int stage = 0, parity = 0;                             // of the turn at hand
  int loading_stage = 0, loading_step = 0, to_load = 0;  // of the next to be loaded; turns left

  __device__ __forceinline__ const float* of(const WgmmaGrid& g) const {
    return stages + stage * g.stage_steps * step_words;
  }
  __device__ __forceinline__ void wait() const { full[stage].wait(parity); }
  __device__ __forceinline__ void leave() {
    if (++stage == WgmmaPlan::kStages) stage = 0, parity ^= 1;
  }
  /// By one thread, once all warps have left the stage.
  __device__ __forceinline__ void load(const WgmmaGrid& g) {
    if (to_load == 0) return;
    --to_load;
    const int left = g.steps - loading_step, steps = left < g.stage_steps ? left : g.stage_steps;
    full[loading_stage].copy(stages + loading_stage * g.stage_steps * step_words, next,
                             4 * steps * step_words);
    next += steps * step_words;
    loading_step = steps == left ? 0 : loading_step + steps;
    if (++loading_stage == WgmmaPlan::kStages) loading_stage = 0;
  }
};

/// Blocks that are to share a multiprocessor.
constexpr int wgmma_blocks(int maps, bool split) { return maps == 128 ? 1 : maps > 16 ? 2 : split ? 4 : 3; }

/// Shared memory: the buffers of weights, those of the input, at the end in their place the sums on their way
/// out; the barriers, the bias. kChunks: channels come in several chunks. kFetched: as the plan has it.
template <int kMaps, int kTiles, bool kSplit, bool kChunks, int kFetched>
__global__ void __launch_bounds__(WgmmaPlan::kThreads, wgmma_blocks(kMaps, kSplit))
    implicit_gemm_wgmma_kernel(DeviceShape s, WgmmaGrid g, CONVSCOPE_CONSTANT(WgmmaPlaces) places,
                               Activation activation, In<float> in, In<float> weights, In<uint32_t> spots,
                               const float* bias, Out<float> out) {
  constexpr bool kBeside = WgmmaSums<kMaps, kTiles, kSplit>::kBeside;
  constexpr int kStepWords = 8 * kMaps * (kSplit ? 2 : 1);
  const int thread = static_cast<int>(threadIdx.x), warpgroup = same_in_warp(thread / 128);
  const WgmmaPlace at = place_of_block<kTiles>(g);
  const int count = g.quads * g.positions;  // quads of a chunk
  const int buffer_words = 4 * count * (kSplit ? 2 : 1);

  float* const shared = shared_memory<float>();
  float* const own_bias = shared + g.bias;
  WgmmaWeights ring;
  ring.stages = shared;
  ring.full = reinterpret_cast<CopyBarrier*>(shared + g.barriers);
  ring.next = weights + at.image * g.image_weights + int64_t{at.map_tile} * g.chunks * g.steps * kStepWords;
  ring.step_words = kStepWords;
  ring.to_load = g.turns;
  if (thread == 0) {
    for (int i = 0; i < WgmmaPlan::kStages; ++i) ring.full[i].init(1);
    for (int i = 0; i < WgmmaPlan::kStages; ++i) ring.load(g);
  }

  const int chunk_channels = g.quads * 4;
  const float* chunk_in = in + int64_t{at.image} * s.c_in * s.in_plane;
  float* buffer = shared + g.input;
  int other_buffer = buffer_words;  // words from one buffer of the input to the other
  WgmmaInput<kFetched, kSplit> input;
  input.place(s, g, at, spots, count);
  input.fetch(s, chunk_in, s.c_in);
  if (thread < kMaps) {  // -0 changes no sum
    const int map = at.map_tile * kMaps + thread;
    own_bias[thread] = bias != nullptr && map < s.c_out ? bias[map] : -0.0f;
  }
  input.store(s, g, at, spots, chunk_in, s.c_in, count, buffer);
  __syncthreads();

  WgmmaSums<kMaps, kTiles, kSplit> sum = {};
  int channels = s.c_in, step = 0;  // those from the chunk's first on; done of the chunk
  for (int turn = 0; turn < g.turns; ++turn) {
    // the next chunk comes behind the products of this one: fetched in its first turn, stored in its last
    const bool more = kChunks && channels > chunk_channels;
    const bool fetches = more && step == 0, stores = more && step + g.stage_steps >= g.steps;
    if (fetches) chunk_in += chunk_channels * s.in_plane;
    const FactorInShared first =
        factor_in_shared(buffer + 4 * warpgroup * (kTiles / 2) * g.run_positions, 0, 16);
    ring.wait();
    FactorInShared step_weights = factor_in_shared(ring.of(g), kBeside ? 2 * kMaps : kMaps, 8);
    const int last = step + g.stage_steps < g.steps ? step + g.stage_steps : g.steps;
    sum.settle();
    open_products();
    start_products<kMaps, kTiles, kSplit>(g, first.moved(places.of_step[step]), step_weights, count, sum);
    if (fetches) input.fetch(s, chunk_in, channels - chunk_channels);
    if (stores) {
      input.store(s, g, at, spots, chunk_in, channels - chunk_channels, count, buffer + other_buffer);
    }
    CONVSCOPE_UNROLL_BY(2)
    while (++step < last) {
      step_weights = step_weights.moved(kStepWords / 4);
      start_products<kMaps, kTiles, kSplit>(g, first.moved(places.of_step[step]), step_weights, count, sum);
    }
    close_products();
    ring.leave();
    if (turn + 1 == g.turns) break;
    // the products of the turn before are done: what they read may be written over
    wait_for_products<1>();
    __syncthreads();
    if (thread == 0 && turn > 0) ring.load(g);
    if (!kChunks || step < g.steps) continue;
    step = 0;
    channels -= chunk_channels;
    buffer += other_buffer;
    other_buffer = -other_buffer;
  }
  wait_for_products<0>();
  sum.settle();
  __syncthreads();
  if (activation == Activation::none) {
    store_sums<kMaps, kTiles, kSplit, false>(s, g, at, activation, own_bias, sum, shared, out);
  } else {
    store_sums<kMaps, kTiles, kSplit, true>(s, g, at, activation, own_bias, sum, shared, out);
  }
}

/// The kernel for one shape and its weights.
template <bool kSplit>
class WgmmaProducts {
 public:
  /// `weights`: as the plan has them; `image_weights`: values from those of an image to those of the next, 0
  /// where all images have the same. Images with weights of their own are not counted through.
  void prepare(const ConvShape& shape, const WgmmaPlan& plan, const std::vector<float>& weights,
               int64_t image_weights) {
    if (plan.linear && image_weights != 0) throw Error("a block of several images has weights for one");
    shape_ = shape;
    plan_ = plan;
    image_weights_ = image_weights;
    allow_shared_bytes(kernel(), static_cast<std::size_t>(plan_.shared_bytes()));
    const std::vector<uint32_t> places = plan_.places(shape);
    std::copy(places.begin(), places.end(), places_.of_step);
    spots_.assign(plan_.spots());
    weights_.assign(weights);
  }

  /// `bias`: of each map, or nullptr.
  void launch(const char* name, Activation activation, const float* in, const float* bias, float* out) const {
    TARGET::launch(name, kernel(), dim3(static_cast<unsigned>(plan_.blocks())), dim3(WgmmaPlan::kThreads),
                   static_cast<std::size_t>(plan_.shared_bytes()), device_shape(shape_), grid(out), places_,
                   activation, in, weights_.data(), spots_.data(), bias, out);
  }

 private:
  using Kernel =
      decltype(&implicit_gemm_wgmma_kernel<64, 2, kSplit, false, wgmma_fetched(64, kSplit, false)>);

  WgmmaGrid grid(const float* out) const {
    const ConvShape& s = shape_;
    const WgmmaPlan& p = plan_;
    const auto i = [](int64_t v) { return static_cast<int>(v); };
    WgmmaGrid g;
    g.map_tiles = Divisor(p.map_tiles), g.strips = Divisor(p.strips), g.bands = Divisor(p.bands);
    g.pitch = Divisor(p.pitch), g.rows = Divisor(p.linear ? p.image_rows : 1);
    g.linear = p.linear;
    g.vectors = !p.linear && s.out_w() % 4 == 0 && is_aligned(out);
    g.positions = i(p.positions), g.quads = i(p.quads), g.chunks = i(p.chunks);
    g.steps = i(p.steps), g.stage_steps = i(p.stage_steps);
    g.turns = i(p.turns());
    g.run_positions = p.linear ? WgmmaPlan::kRun : i(s.stride.y * p.phases * p.pitch);
    g.input = i(p.work_bytes() - p.buffers * p.buffer_bytes()) / 4;
    g.barriers = i(p.shared_bytes() - WgmmaPlan::kBarrierBytes - WgmmaPlan::kBiasBytes) / 4;
    g.bias = g.barriers + i(WgmmaPlan::kBarrierBytes) / 4;
    g.image_weights = image_weights_;
    return g;
  }

  template <int kMaps, bool kOneTap = false>
  Kernel kernel_of() const {
    constexpr int kTiles = static_cast<int>(wgmma_tiles(kMaps, kSplit)),
                  kFetched = wgmma_fetched(kMaps, kSplit, kOneTap);
    return plan_.chunks > 1 ? implicit_gemm_wgmma_kernel<kMaps, kTiles, kSplit, true, kFetched>
                            : implicit_gemm_wgmma_kernel<kMaps, kTiles, kSplit, false, kFetched>;
  }
  Kernel kernel() const {
    switch (plan_.maps) {
      case 16:
        return kernel_of<16>();
      case 32:
        return kernel_of<32>();
      case 64:
        return kernel_of<64>();
      case 96:
        return kernel_of<96>();
      default:
        return plan_.fetched == wgmma_fetched(128, kSplit, true) ? kernel_of<128, true>() : kernel_of<128>();
    }
  }

  ConvShape shape_;
  WgmmaPlan plan_;
  int64_t image_weights_ = 0;
  WgmmaPlaces places_{};
  DeviceArray<uint32_t> spots_;
  DeviceArray<float> weights_;
};

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
    const WgmmaPlan plan = wgmma_plan(problem.shape, kSplit);
    products_.prepare(problem.shape, plan, plan.weights(problem.shape, weights), 0);
    activation_ = problem.activation;
    bias_.assign(as<float>(weights.bias));
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const StageTimer timer(stages, kSplit ? "implicit_gemm_3xtf32" : "implicit_gemm_tf32");
    products_.launch(info().name.c_str(), activation_, static_cast<const float*>(in),
                     bias_.size() == 0 ? nullptr : bias_.data(), static_cast<float*>(out));
  }

 private:
  Activation activation_ = Activation::none;
  WgmmaProducts<kSplit> products_;
  DeviceArray<float> bias_;
};

}  // namespace

std::unique_ptr<Strategy> make_implicit_gemm_wgmma(StrategyInfo info, bool split) {
  if (split) return std::make_unique<ImplicitGemmWgmma<true>>(std::move(info));
  return std::make_unique<ImplicitGemmWgmma<false>>(std::move(info));
}

}  // namespace convscope::TARGET
