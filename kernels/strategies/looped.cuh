// Looped: one launch for each image, filter and input channel, which adds its part to the output.
//
// The convolution as a loop on the host, the way it is often first written: n * c_out * c_in launches, each
// as small as one plane. A launch costs about 2 us however little it does, and a plane of a small image gives
// a GPU nothing to be busy with: this is how a GPU comes to be slower than a CPU. The output is read and
// written again c_in times. Each launch goes on with the sum that the last one left in memory, which rounds
// nothing more: results equal those of `direct` in every bit. Limits: 100 000 launches.

#include "kernels/strategies/costs.h"
#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"

namespace convscope::TARGET {
namespace {

struct LoopedConfig {
  static constexpr int kTileX = 32, kTileY = 8;      // outputs of a block; a warp lies along a row
  static constexpr int64_t kMostLaunches = 100'000;  // a fifth of a second on a fast machine
};

/// Which part of a sum this launch makes.
struct LoopedPart {
  bool first, last;  // channel
};

/// `in`: one channel of an image. `weights`: its kernel. `out`: the plane of one map.
template <class T, Rounding R>
__global__ void looped_kernel(DeviceShape s, Divisor tiles_x, LoopedPart part, Activation activation,
                              In<T> in, In<T> weights, const T* bias, T* out) {
  uint32_t block = blockIdx.x;
  const int x = static_cast<int>(tiles_x.take(block) * LoopedConfig::kTileX + threadIdx.x);
  const int y = static_cast<int>(block * LoopedConfig::kTileY + threadIdx.y);
  if (x >= s.out_w || y >= s.out_h) return;

  const int first_y = y * s.stride_y - s.pad_y, first_x = x * s.stride_x - s.pad_x;
  T* const to = out + int64_t{y} * s.out_w + x;
  T sum = part.first ? T(0) : *to;
  for (int i = 0; i < s.k_h; ++i) {
    const int in_y = first_y + i * s.dilation_y;
    const bool row_inside = in_y >= 0 && in_y < s.h;
    const T* const row = in + int64_t{in_y} * s.w;
    for (int j = 0; j < s.k_w; ++j) {
      const int in_x = first_x + j * s.dilation_x;
      const T value = row_inside && in_x >= 0 && in_x < s.w ? read_only(row + in_x) : T(0);
      sum = mad<R>(value, read_only(weights + i * s.k_w + j), sum);
    }
  }
  *to = part.last ? finish(sum, bias, activation) : sum;
}

template <class T>
class Looped final : public Strategy {
 public:
  explicit Looped(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    const ConvShape& s = p.shape;
    const int64_t launches = s.n * s.c_out * s.c_in;
    if (launches > LoopedConfig::kMostLaunches) {
      return "it would take " + std::to_string(launches) +
             " launches, one for each image, filter and input channel; more than " +
             std::to_string(LoopedConfig::kMostLaunches) + " would hold up the window";
    }
    return refuses_size(s, blocks(s));
  }

  Cost cost(const ConvProblem& p, const ConvWeights&) const override {
    return looped_cost(p.shape, info().precision);
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    if (auto why = refuses(problem)) throw Error("looped refuses: " + *why);
    problem_ = problem;
    weights_.assign(as<T>(weights.values));
    bias_.assign(as<T>(weights.bias));
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const ConvShape& s = problem_.shape;
    const DeviceShape shape = device_shape(s);
    const auto kernel = problem_.rounding == Rounding::fused ? looped_kernel<T, Rounding::fused>
                                                             : looped_kernel<T, Rounding::separate>;
    const StageTimer timer(stages, "looped");
    for (int64_t image = 0; image < s.n; ++image) {
      for (int64_t map = 0; map < s.c_out; ++map) {
        T* const to = static_cast<T*>(out) + (image * s.c_out + map) * shape.out_plane;
        for (int64_t c = 0; c < s.c_in; ++c) {
          TARGET::launch("looped", kernel, dim3(static_cast<unsigned>(blocks(s))),
                         dim3(LoopedConfig::kTileX, LoopedConfig::kTileY), 0, shape, Divisor(tiles_x(s)),
                         LoopedPart{c == 0, c == s.c_in - 1}, problem_.activation,
                         static_cast<const T*>(in) + (image * s.c_in + c) * shape.in_plane,
                         weights_.data() + (map * s.c_in + c) * s.k_h * s.k_w,
                         bias_.size() == 0 ? nullptr : bias_.data() + map, to);
        }
      }
    }
  }

 private:
  static int64_t tiles_x(const ConvShape& s) { return ceil_div(s.out_w(), LoopedConfig::kTileX); }
  static int64_t blocks(const ConvShape& s) { return tiles_x(s) * ceil_div(s.out_h(), LoopedConfig::kTileY); }

  ConvProblem problem_;
  DeviceArray<T> weights_, bias_;
};

}  // namespace

std::unique_ptr<Strategy> make_looped(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<Looped<double>>(std::move(info));
  return std::make_unique<Looped<float>>(std::move(info));
}

}  // namespace convscope::TARGET
