// Direct, weights in constant memory: one thread for each pixel makes all maps of it.
//
// An input value is loaded once and multiplied into up to 16 sums in registers. The weights are the same for
// all threads of a warp at any moment, which is what constant memory is made for: one read serves the warp.
// They travel as a parameter of the kernel, which CUDA keeps in constant memory (bank 0): no launch can find
// another's weights there. Per multiply-add: 1/maps of a load of a pixel. Limits: the filter of one map must
// fit in the 32 000 bytes of parameters. Where all filters do not, they are launched pass by pass.

#include "kernels/strategies/constant_weights.cuh"
#include "kernels/strategies/costs.h"
#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"

namespace convscope::TARGET {
namespace {

struct ConstantConfig {
  static constexpr int kThreads = 128;  // pixels of a block, along a row
  static constexpr int kMostMaps = 16;  // sums a thread holds in registers
};

/// Blocks are numbered along the rows, row by row, image by image, on the grid's x axis; maps that one launch
/// makes.
struct ConstantGrid {
  Divisor tiles, rows;
  int first_map, last_map;
};

/// kC and kK: c_in and the side of a square kernel where the compiler is to know them (then dilation is 1 and
/// c_out is kMaps), 0 where it is not. kInterior: no tap of any pixel lies outside the image, so no load
/// needs a guard.
template <class T, int kMaps, int kC, int kK, bool kInterior, Rounding R, int kCount>
__global__ void direct_constant_kernel(DeviceShape s, ConstantGrid g, Activation activation, In<T> in,
                                       Out<T> out, CONVSCOPE_CONSTANT(ConstantWeights<T, kCount>) weights) {
  uint32_t block = blockIdx.x;
  const int x = static_cast<int>(g.tiles.take(block) * ConstantConfig::kThreads + threadIdx.x);
  const int y = static_cast<int>(g.rows.take(block));
  const int image = static_cast<int>(block);
  if (x >= s.out_w) return;

  const int c_in = kC > 0 ? kC : s.c_in, k_h = kK > 0 ? kK : s.k_h, k_w = kK > 0 ? kK : s.k_w;
  const int dilation_y = kC > 0 ? 1 : s.dilation_y, dilation_x = kC > 0 ? 1 : s.dilation_x;
  const int first_y = y * s.stride_y - s.pad_y, first_x = x * s.stride_x - s.pad_x;
  // Interior pixels walk from their own corner; guarded ones from the image's, where no address is made that
  // is not read.
  const T* const images = in + int64_t{image} * s.c_in * s.in_plane;
  const T* const corner = kInterior ? images + int64_t{first_y} * s.w + first_x : images;

  int group = 0;  // first weight of the maps at hand
  for (int map = g.first_map; map < g.last_map; map += kMaps) {
    T sum[kMaps] = {};
    CONVSCOPE_UNROLL
    for (int c = 0; c < c_in; ++c) {
      CONVSCOPE_UNROLL
      for (int i = 0; i < k_h; ++i) {
        const int in_y = first_y + i * dilation_y;
        const T* const row = corner + c * s.in_plane + int64_t{kInterior ? i * dilation_y : in_y} * s.w;
        CONVSCOPE_UNROLL
        for (int j = 0; j < k_w; ++j) {
          const int in_x = first_x + j * dilation_x;
          const bool inside = kInterior || (in_y >= 0 && in_y < s.h && in_x >= 0 && in_x < s.w);
          const T value = inside ? read_only(row + (kInterior ? j * dilation_x : in_x)) : T(0);
          const int tap = group + ((c * k_h + i) * k_w + j) * kMaps;
          CONVSCOPE_UNROLL
          for (int m = 0; m < kMaps; ++m) sum[m] = mad<R>(value, weights.values[tap + m], sum[m]);
        }
      }
    }
    const int bias = group + c_in * k_h * k_w * kMaps;
    T* const pixel = out + (int64_t{image} * s.c_out + map) * s.out_plane + int64_t{y} * s.out_w + x;
    const int left = kC > 0 ? kMaps : g.last_map - map;
    if (activation == Activation::none) {  // apart, so that the common case carries no branch a map
      CONVSCOPE_UNROLL
      for (int m = 0; m < kMaps; ++m) {
        if (m < left) pixel[m * s.out_plane] = sum[m] + weights.values[bias + m];
      }
    } else {
      CONVSCOPE_UNROLL
      for (int m = 0; m < kMaps; ++m) {
        if (m < left) pixel[m * s.out_plane] = activate(sum[m] + weights.values[bias + m], activation);
      }
    }
    if (kC > 0) break;
    group = bias + kMaps;
  }
}

template <class T>
class DirectConstant final : public Strategy {
 public:
  explicit DirectConstant(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    const ConvShape& s = p.shape;
    if (auto why = refuses_constant<T>(s)) return why;
    return refuses_size(s, blocks(s));
  }

  Cost cost(const ConvProblem& p, const ConvWeights&) const override {
    return passes_cost(p.shape, info().precision, constant_launches<T>(p.shape, maps_that_fit(p.shape)));
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    const ConvShape& s = problem.shape;
    enqueue_ = for_common_size();
    maps_ = s.c_out;
    if (enqueue_ == nullptr) {
      maps_ = maps_that_fit(s);
      enqueue_ = for_any_size();
    }
    passes_ = constant_passes<T>(s, weights, maps_);
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const StageTimer timer(stages, "direct_constant");
    for (const ConstantPass<T>& pass : passes_)
      (this->*enqueue_)(pass, static_cast<const T*>(in), static_cast<T*>(out));
  }

 private:
  using Enqueue = void (DirectConstant::*)(const ConstantPass<T>&, const T*, T*) const;

  /// A power of two, for kernels that do not know the sizes.
  static int64_t maps_that_fit(const ConvShape& s) {
    int64_t maps = 1;
    while (maps < ConstantConfig::kMostMaps && maps < s.c_out &&
           constant_group_bytes<T>(s, 2 * maps) <= kConstantBytes) {
      maps *= 2;
    }
    return maps;
  }
  static int64_t tiles(const ConvShape& s) { return ceil_div(s.out_w(), ConstantConfig::kThreads); }
  static int64_t blocks(const ConvShape& s) { return tiles(s) * s.out_h() * s.n; }

  template <int kMaps, int kC, int kK, bool kInterior, Rounding R>
  void enqueue(const ConstantPass<T>& pass, const T* in, T* out) const {
    constexpr int kCount =
        kC > 0 ? (kC * kK * kK + 1) * kMaps : static_cast<int>(kConstantBytes / static_cast<int>(sizeof(T)));
    const ConvShape& s = problem_.shape;
    TARGET::launch("direct_constant", direct_constant_kernel<T, kMaps, kC, kK, kInterior, R, kCount>,
                   dim3(static_cast<unsigned>(blocks(s))), dim3(ConstantConfig::kThreads), 0, device_shape(s),
                   ConstantGrid{Divisor(tiles(s)), Divisor(s.out_h()), static_cast<int>(pass.first_map),
                                static_cast<int>(pass.last_map)},
                   problem_.activation, in, out, constant_weights<T, kCount>(pass.weights));
  }

  template <int kMaps, int kC, int kK>
  Enqueue known_size() const {
    return problem_.shape.pad == Axes{0, 0} ? &DirectConstant::enqueue<kMaps, kC, kK, true, Rounding::fused>
                                            : &DirectConstant::enqueue<kMaps, kC, kK, false, Rounding::fused>;
  }

  /// The kernel that knows the sizes of the common filter banks, or nullptr.
  Enqueue for_common_size() const {
    const ConvShape& s = problem_.shape;
    if constexpr (std::is_same_v<T, float>) {
      if (problem_.rounding != Rounding::fused || s.k_h != s.k_w || s.dilation != Axes{1, 1}) return nullptr;
      const auto is = [&s](int64_t c_in, int64_t k, int64_t c_out) {
        return s.c_in == c_in && s.k_h == k && s.c_out == c_out;
      };
      if (is(1, 3, 1)) return known_size<1, 1, 3>();
      if (is(1, 3, 16)) return known_size<16, 1, 3>();
      if (is(3, 3, 3)) return known_size<3, 3, 3>();
      if (is(3, 3, 16)) return known_size<16, 3, 3>();
      if (is(1, 5, 1)) return known_size<1, 1, 5>();
      if (is(1, 5, 16)) return known_size<16, 1, 5>();
      if (is(3, 5, 3)) return known_size<3, 3, 5>();
      if (is(3, 5, 16)) return known_size<16, 3, 5>();
    }
    return nullptr;
  }

  template <int kMaps>
  Enqueue any_size() const {
    return problem_.rounding == Rounding::fused
               ? &DirectConstant::enqueue<kMaps, 0, 0, false, Rounding::fused>
               : &DirectConstant::enqueue<kMaps, 0, 0, false, Rounding::separate>;
  }
  Enqueue for_any_size() const {
    switch (maps_) {
      case 16:
        return any_size<16>();
      case 8:
        return any_size<8>();
      case 4:
        return any_size<4>();
      case 2:
        return any_size<2>();
      default:
        return any_size<1>();
    }
  }

  ConvProblem problem_;
  int64_t maps_ = 1;
  std::vector<ConstantPass<T>> passes_;
  Enqueue enqueue_ = nullptr;
};

}  // namespace

std::unique_ptr<Strategy> make_direct_constant(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<DirectConstant<double>>(std::move(info));
  return std::make_unique<DirectConstant<float>>(std::move(info));
}

}  // namespace convscope::TARGET
