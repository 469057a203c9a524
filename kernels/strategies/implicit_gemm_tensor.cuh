// Implicit GEMM on tensor cores: the products of 8 taps at a time, in TF32, by mma.sync.
//
// A block makes 256 pixels of one image in up to 64 maps. It copies the input of its pixels with the halo,
// some channels at a time, into shared memory, asynchronously and each value once; the column matrix is a
// table of offsets into that tile, from which every thread picks the operands of the tensor core. The weights
// lie in global memory in the order in which the lanes hold them, and come from the first-level cache.
// Bytes per pixel: each input 1.2 to 1.4 times, each output once. TF32 keeps 11 bits of an operand; 3xTF32
// splits both into two TF32 parts and adds three products: nearly fp32, at three times the multiplications.
// Limits: compute capability 8.0; the tile of one channel must fit in shared memory. An operand within 2^-12
// of the largest float becomes infinite.

#include "kernels/strategies/costs.h"
#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"
#include "kernels/strategies/implicit_gemm_tensor_plan.h"
#include "kernels/strategies/tensor_values.cuh"

namespace convscope::TARGET {

/// In implicit_gemm_rows.cuh and implicit_gemm_wgmma.cuh, with their own reasons to refuse: what both refuse
/// runs by the kernel of this file.
std::unique_ptr<Strategy> make_implicit_gemm_rows(StrategyInfo info, bool split);
std::unique_ptr<Strategy> make_implicit_gemm_wgmma(StrategyInfo info, bool split);

namespace {

struct TensorConfig {
  static constexpr int kWarps = TensorPlan::kPixels / 64, kThreads = 32 * kWarps;
  static constexpr int kRows = 4;  // 16-pixel rows of tensor-core tiles that a warp makes
  static_assert(kWarps * kRows * 16 == TensorPlan::kPixels, "the warps divide the pixels");
};

/// How a block's number splits, and the plan as the kernel takes it.
struct TensorGrid {
  Divisor map_tiles, tiles_x, tiles_y, halo_columns;
  int tile_w_log2, tile_h;                  // pixels of a block
  int halo_h, halo_w, row, plane;           // its input; words from row to row and channel to channel
  int chunk_channels, chunks, taps, steps;  // of a chunk: taps, and steps of 8 taps
};

/// Starts the copies of a chunk's input tile.
__device__ __forceinline__ void load_tile(const DeviceShape& s, const TensorGrid& g, const float* image,
                                          int first_y, int first_x, int first_c, float* tile) {
  for (int i = static_cast<int>(threadIdx.x); i < g.halo_h * g.halo_w; i += TensorConfig::kThreads) {
    uint32_t rest = static_cast<uint32_t>(i);
    const int x = static_cast<int>(g.halo_columns.take(rest)), y = static_cast<int>(rest);
    const int in_y = first_y + y, in_x = first_x + x;
    const bool inside = in_y >= 0 && in_y < s.h && in_x >= 0 && in_x < s.w;
    const float* from = image + (inside ? first_c * s.in_plane + int64_t{in_y} * s.w + in_x : 0);
    float* to = tile + y * g.row + x;
    for (int c = 0; c < g.chunk_channels; ++c, from += s.in_plane, to += g.plane) {
      const bool there = inside && first_c + c < s.c_in;
      copy_async(to, there ? from : image, there);
    }
  }
}

/// The weights of one step in a thread's registers: for 8 maps b0 and b1, then their small parts.
template <int kMaps, bool kSplit>
struct StepWeights {
  static constexpr int kParts = kSplit ? 4 : 2;
  struct alignas(4 * kParts) Lane {
    uint32_t v[kParts];
  };
  Lane lane[kMaps / 8];

  __device__ __forceinline__ void load(const uint32_t* from) {  // [8 maps][lane][part]
    CONVSCOPE_UNROLL
    for (int n = 0; n < kMaps / 8; ++n) {
      lane[n] = *reinterpret_cast<const Lane*>(from + (n * 32 + static_cast<int>(threadIdx.x) % 32) * kParts);
    }
  }
};

/// Sums of a thread, [row of tiles][8 maps][as the tensor core holds them].
template <int kMaps>
struct TensorSums {
  float v[TensorConfig::kRows][kMaps / 8][4];
};

/// 8 taps: `low` and `high` are where the thread's two taps lie in the tile; those that are not there count
/// as 0.
template <int kMaps, bool kSplit>
__device__ __forceinline__ void multiply_taps(const float* tile, const int (&pixel)[TensorConfig::kRows][2],
                                              int low, int high, bool low_there, bool high_there,
                                              const StepWeights<kMaps, kSplit>& weights,
                                              TensorSums<kMaps>& sum) {
  CONVSCOPE_UNROLL
  for (int r = 0; r < TensorConfig::kRows; ++r) {
    uint32_t big[4], small[4] = {}, finite[4] = {};
    CONVSCOPE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const bool there = i < 2 ? low_there : high_there;
      tf32_operands<kSplit>(there ? tile[pixel[r][i % 2] + (i < 2 ? low : high)] : 0.0f, big[i], small[i],
                            finite[i]);
    }
    CONVSCOPE_UNROLL
    for (int n = 0; n < kMaps / 8; ++n) {
      const uint32_t* const w = weights.lane[n].v;
      if constexpr (kSplit) {  // the small products first, so that they are not cut off one by one
        multiply_tf32(sum.v[r][n], small, w[0], w[1]);
        multiply_tf32(sum.v[r][n], finite, w[2], w[3]);
      }
      multiply_tf32(sum.v[r][n], big, w[0], w[1]);
    }
  }
}

/// All taps of a chunk. `offsets`: [step][lane % 4][low, high].
template <int kMaps, bool kSplit>
__device__ __forceinline__ void multiply_chunk(const TensorGrid& g, const float* tile, const int* offsets,
                                               const int (&pixel)[TensorConfig::kRows][2],
                                               const uint32_t* weights, TensorSums<kMaps>& sum) {
  constexpr int kStepWords = kMaps * 8 * (kSplit ? 2 : 1);
  const int column = static_cast<int>(threadIdx.x) % 4;
  const int* offset = offsets + 2 * column;
  StepWeights<kMaps, kSplit> next;
  next.load(weights);
  for (int step = 0; step < g.steps; ++step, offset += 8) {
    const StepWeights<kMaps, kSplit> now = next;
    if (step + 1 < g.steps) next.load(weights + (step + 1) * kStepWords);
    if (8 * step + 8 <= g.taps) {
      multiply_taps<kMaps, kSplit>(tile, pixel, offset[0], offset[1], true, true, now, sum);
    } else {
      multiply_taps<kMaps, kSplit>(tile, pixel, offset[0], offset[1], 8 * step + column < g.taps,
                                   8 * step + column + 4 < g.taps, now, sum);
    }
  }
}

/// A block's place: its image, first pixel and first map.
struct TensorPlace {
  int image, y, x, map_tile;
};

template <int kMaps, bool kActivated>
__device__ __forceinline__ void store_sums(const DeviceShape& s, const TensorGrid& g, const TensorPlace& at,
                                           Activation activation, const float* bias,
                                           const TensorSums<kMaps>& sum, float* out) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  CONVSCOPE_UNROLL
  for (int column = 0; column < kMaps / 4; ++column) {
    const int map = at.map_tile * kMaps + column / 2 * 8 + lane % 4 * 2 + column % 2;
    if (map >= s.c_out) continue;
    const float own_bias = bias == nullptr ? -0.0f : bias[map];  // -0 changes no sum
    float* const plane = out + (int64_t{at.image} * s.c_out + map) * s.out_plane;
    CONVSCOPE_UNROLL
    for (int r = 0; r < 2 * TensorConfig::kRows; ++r) {
      const int p = warp * TensorConfig::kRows * 16 + r * 8 + lane / 4;
      const int y = at.y + (p >> g.tile_w_log2), x = at.x + (p & ((1 << g.tile_w_log2) - 1));
      float v = sum.v[r / 2][column / 2][r % 2 * 2 + column % 2] + own_bias;
      if constexpr (kActivated) v = activate_apart(v, activation);
      if (y < s.out_h && x < s.out_w) plane[int64_t{y} * s.out_w + x] = v;
    }
  }
}

/// Shared memory: one input tile, or two where there are several chunks; then the offsets.
template <int kMaps, bool kSplit>
__global__ void __launch_bounds__(TensorConfig::kThreads, kMaps > 32 ? 2
                                                          : kSplit   ? 3
                                                                     : 4)
    implicit_gemm_tensor_kernel(DeviceShape s, TensorGrid g, Activation activation, In<float> in,
                                In<uint32_t> weights, const int* offset_table, const float* bias,
                                Out<float> out) {
  uint32_t block = blockIdx.x;
  TensorPlace at;
  at.map_tile = static_cast<int>(g.map_tiles.take(block));  // fastest: the blocks of a tile share its inputs
  at.x = static_cast<int>(g.tiles_x.take(block)) << g.tile_w_log2;
  at.y = static_cast<int>(g.tiles_y.take(block)) * g.tile_h;
  at.image = static_cast<int>(block);

  float* const tiles = shared_memory<float>();
  const int tile_words = g.chunk_channels * g.plane;
  int* const offsets = reinterpret_cast<int*>(tiles + (g.chunks > 1 ? 2 : 1) * tile_words);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  for (int i = thread; i < 8 * g.steps; i += TensorConfig::kThreads) offsets[i] = offset_table[i];

  int pixel[TensorConfig::kRows][2];  // where the thread's pixels lie in the tile
  CONVSCOPE_UNROLL
  for (int r = 0; r < TensorConfig::kRows; ++r) {
    CONVSCOPE_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int p = (warp * TensorConfig::kRows + r) * 16 + half * 8 + lane / 4;
      const int y = p >> g.tile_w_log2, x = p & ((1 << g.tile_w_log2) - 1);
      pixel[r][half] = y * s.stride_y * g.row + x * s.stride_x;
    }
  }

  const float* const image = in + int64_t{at.image} * s.c_in * s.in_plane;
  const int first_y = at.y * s.stride_y - s.pad_y, first_x = at.x * s.stride_x - s.pad_x;
  const int chunk_words = g.steps * kMaps * 8 * (kSplit ? 2 : 1);
  const uint32_t* chunk_weights = weights + int64_t{at.map_tile} * g.chunks * chunk_words;
  TensorSums<kMaps> sum = {};
  load_tile(s, g, image, first_y, first_x, 0, tiles);
  copy_async_commit();
  for (int chunk = 0; chunk < g.chunks; ++chunk, chunk_weights += chunk_words) {
    if (chunk + 1 < g.chunks) {
      load_tile(s, g, image, first_y, first_x, (chunk + 1) * g.chunk_channels,
                tiles + (chunk + 1) % 2 * tile_words);
    }
    copy_async_commit();
    copy_async_wait<1>();
    __syncthreads();
    multiply_chunk<kMaps, kSplit>(g, tiles + chunk % 2 * tile_words, offsets, pixel, chunk_weights, sum);
    __syncthreads();  // the next turn writes over this tile
  }
  if (activation == Activation::none) {
    store_sums<kMaps, false>(s, g, at, activation, bias, sum, out);
  } else {
    store_sums<kMaps, true>(s, g, at, activation, bias, sum, out);
  }
}

template <bool kSplit>
class ImplicitGemmTensor final : public Strategy {
 public:
  explicit ImplicitGemmTensor(StrategyInfo info)
      : Strategy(info),
        others_{make_implicit_gemm_rows(info, kSplit), make_implicit_gemm_wgmma(info, kSplit)} {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    if (auto why = lacks_tensor_cores()) return why;
    if (auto why = refuses_rounding(p)) return why;
    if (other_for(p) != nullptr) return std::nullopt;
    return refuses_tensor(p.shape, static_cast<int64_t>(max_shared_bytes()));
  }
  Cost cost(const ConvProblem& p, const ConvWeights& weights) const override {
    return kSplit ? split_cost(p.shape, info().precision) : Strategy::cost(p, weights);
  }
  double error_bounds(const ConvProblem& p) const override { return tf32_error_bounds(p.shape, kSplit); }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    if (const auto why = refuses(problem)) throw Error(info().name + " refuses: " + *why);
    problem_ = problem;
    other_ = other_for(problem);
    if (other_ != nullptr) return other_->prepare(problem, weights);
    plan_ = tensor_plan(problem.shape, static_cast<int64_t>(max_shared_bytes()));
    allow_shared_bytes(kernel(), static_cast<std::size_t>(plan_.shared_bytes()));
    offsets_.assign(plan_.offsets(problem.shape));
    weights_.assign(plan_.weights(problem.shape, weights, kSplit));
    bias_.assign(as<float>(weights.bias));
  }

  void launch(const void* in, void* out, Stages& stages) override {
    if (other_ != nullptr) return other_->launch(in, out, stages);
    const StageTimer timer(stages, kSplit ? "implicit_gemm_3xtf32" : "implicit_gemm_tf32");
    const TensorPlan& p = plan_;
    const auto i = [](int64_t v) { return static_cast<int>(v); };
    const TensorGrid grid{
        Divisor(p.map_tiles), Divisor(p.tiles_x), Divisor(p.tiles_y), Divisor(p.halo_w), i(p.tile_w_log2),
        i(p.tile_h),          i(p.halo_h),        i(p.halo_w),        i(p.row),          i(p.plane),
        i(p.chunk_channels),  i(p.chunks),        i(p.taps),          i(p.steps)};
    TARGET::launch(info().name.c_str(), kernel(), dim3(static_cast<unsigned>(p.blocks(problem_.shape))),
                   dim3(TensorConfig::kThreads), static_cast<std::size_t>(p.shared_bytes()),
                   device_shape(problem_.shape), grid, problem_.activation, static_cast<const float*>(in),
                   weights_.data(), offsets_.data(), bias_.size() == 0 ? nullptr : bias_.data(),
                   static_cast<float*>(out));
  }

 private:
  using Kernel = decltype(&implicit_gemm_tensor_kernel<8, kSplit>);

  Kernel kernel() const {
    switch (plan_.maps) {
      case 64:
        return implicit_gemm_tensor_kernel<64, kSplit>;
      case 32:
        return implicit_gemm_tensor_kernel<32, kSplit>;
      case 16:
        return implicit_gemm_tensor_kernel<16, kSplit>;
      default:
        return implicit_gemm_tensor_kernel<8, kSplit>;
    }
  }

  /// The first of the other kernels that takes the problem; nullptr: this file's does.
  Strategy* other_for(const ConvProblem& p) const {
    for (const auto& other : others_) {
      if (!other->refuses(p)) return other.get();
    }
    return nullptr;
  }

  const std::unique_ptr<Strategy> others_[2];
  Strategy* other_ = nullptr;
  ConvProblem problem_;
  TensorPlan plan_;
  DeviceArray<int> offsets_;
  DeviceArray<uint32_t> weights_;
  DeviceArray<float> bias_;
};

}  // namespace

std::unique_ptr<Strategy> make_implicit_gemm_tf32(StrategyInfo info) {
  return std::make_unique<ImplicitGemmTensor<false>>(std::move(info));
}
std::unique_ptr<Strategy> make_implicit_gemm_3xtf32(StrategyInfo info) {
  return std::make_unique<ImplicitGemmTensor<true>>(std::move(info));
}

}  // namespace convscope::TARGET
