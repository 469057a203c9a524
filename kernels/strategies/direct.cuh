// Direct: one thread for each output value, exactly as the formula says.
//
// Every thread reads its c_in * k_h * k_w inputs and as many weights from global memory; only the caches
// spare it the same reads of its neighbours and of the other maps. Per output value: 2 loads for each
// multiply-add. Limits: none but the 32-bit counters.

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"

namespace convscope::TARGET {
namespace {

struct DirectConfig {
  static constexpr int kTileX = 32, kTileY = 8;  // outputs of a block; a warp lies along a row
  static_assert(kTileX % 32 == 0, "a warp must lie along one row, so that its loads are coalesced");
};

/// How a block's number along the grid's x axis, the only long one, splits: tile by tile, map by map, image
/// by image.
struct DirectGrid {
  Divisor tiles_x, tiles_y, maps;
};

template <class T, Rounding R>
__global__ void direct_kernel(DeviceShape s, DirectGrid g, Activation activation, In<T> in, In<T> weights,
                              const T* bias, Out<T> out) {
  uint32_t block = blockIdx.x;
  const int x = static_cast<int>(g.tiles_x.take(block) * DirectConfig::kTileX + threadIdx.x);
  const int y = static_cast<int>(g.tiles_y.take(block) * DirectConfig::kTileY + threadIdx.y);
  const int map = static_cast<int>(g.maps.take(block));
  const int image = static_cast<int>(block);
  if (x >= s.out_w || y >= s.out_h) return;

  const int first_y = y * s.stride_y - s.pad_y, first_x = x * s.stride_x - s.pad_x;
  const T* plane = in + int64_t{image} * s.c_in * s.in_plane;
  const T* weight = weights + int64_t{map} * s.c_in * s.k_h * s.k_w;
  T sum = 0;
  for (int c = 0; c < s.c_in; ++c, plane += s.in_plane) {
    for (int i = 0; i < s.k_h; ++i) {
      const int in_y = first_y + i * s.dilation_y;
      const bool row_inside = in_y >= 0 && in_y < s.h;
      const T* const row = plane + int64_t{in_y} * s.w;
      for (int j = 0; j < s.k_w; ++j, ++weight) {
        const int in_x = first_x + j * s.dilation_x;
        const T value = row_inside && in_x >= 0 && in_x < s.w ? read_only(row + in_x) : T(0);
        sum = mad<R>(value, read_only(weight), sum);
      }
    }
  }
  out[(int64_t{image} * s.c_out + map) * s.out_plane + int64_t{y} * s.out_w + x] =
      finish(sum, bias == nullptr ? nullptr : bias + map, activation);
}

template <class T>
class Direct final : public Strategy {
 public:
  explicit Direct(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    return refuses_size(p.shape, blocks(p.shape));
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    weights_.assign(as<T>(weights.values));
    bias_.assign(as<T>(weights.bias));
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const ConvShape& shape = problem_.shape;
    const StageTimer timer(stages, "direct");
    const auto kernel = problem_.rounding == Rounding::fused ? direct_kernel<T, Rounding::fused>
                                                             : direct_kernel<T, Rounding::separate>;
    TARGET::launch("direct", kernel, dim3(static_cast<unsigned>(blocks(shape))),
                   dim3(DirectConfig::kTileX, DirectConfig::kTileY), 0, device_shape(shape),
                   DirectGrid{Divisor(tiles_x(shape)), Divisor(tiles_y(shape)), Divisor(shape.c_out)},
                   problem_.activation, static_cast<const T*>(in), weights_.data(),
                   bias_.size() == 0 ? nullptr : bias_.data(), static_cast<T*>(out));
  }

 private:
  static int64_t tiles_x(const ConvShape& s) { return ceil_div(s.out_w(), DirectConfig::kTileX); }
  static int64_t tiles_y(const ConvShape& s) { return ceil_div(s.out_h(), DirectConfig::kTileY); }
  static int64_t blocks(const ConvShape& s) { return tiles_x(s) * tiles_y(s) * s.c_out * s.n; }

  ConvProblem problem_;
  DeviceArray<T> weights_, bias_;
};

}  // namespace

std::unique_ptr<Strategy> make_direct(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<Direct<double>>(std::move(info));
  return std::make_unique<Direct<float>>(std::move(info));
}

}  // namespace convscope::TARGET
