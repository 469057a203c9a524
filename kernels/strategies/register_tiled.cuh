// Register-tiled: a thread makes several pixels of several maps, up to 64 sums in registers.
//
// One read of a weight from constant memory feeds as many multiply-adds as the thread has pixels, one read of
// a pixel as many as it has maps and taps. Bytes moved: the input once, but for halos that the caches serve,
// and the output once. Three kernels: strips straight from the image (small windows), a ring of tiles in
// shared memory (large windows, few maps), and a tile for any other shape. Which, and how many pixels and
// maps a thread has, is chosen by shape in for_common_size(). Limits: the tile of one channel must fit in
// shared memory, a filter in constant memory.

#include <functional>
#include <type_traits>
#include <vector>

#include "kernels/strategies/constant_weights.cuh"
#include "kernels/strategies/costs.h"
#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/register_ring.cuh"
#include "kernels/strategies/register_strip.cuh"
#include "kernels/strategies/register_tile.cuh"

namespace convscope::TARGET {
namespace {

template <class T>
class RegisterTiled final : public Strategy {
 public:
  explicit RegisterTiled(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    const ConvShape& s = p.shape;
    if (auto why = refuses_constant<T>(s)) return why;
    const int64_t h = TileSize::height(s), w = TileSize::width(s),
                  bytes = h * w * static_cast<int64_t>(sizeof(T));
    if (bytes > static_cast<int64_t>(max_shared_bytes())) {
      return "the input tile of " + std::to_string(h) + "x" + std::to_string(w) + " values takes " +
             std::to_string(bytes) + " bytes of shared memory, a block has " +
             std::to_string(max_shared_bytes());
    }
    return refuses_size(s, ceil_div(s.out_w(), 64) * s.out_h() * s.c_out * s.n);
  }

  Cost cost(const ConvProblem& p, const ConvWeights&) const override {
    int64_t maps = 1;
    for_shape(p, &maps);
    return passes_cost(p.shape, info().precision, constant_launches<T>(p.shape, maps));
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    int64_t maps = 1;
    const Plan plan = for_shape(problem, &maps);
    launches_.clear();
    for (const ConstantPass<T>& pass : constant_passes<T>(problem.shape, weights, maps))
      launches_.push_back(plan(problem, pass));
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const StageTimer timer(stages, "register_tiled");
    for (const Launch& enqueue : launches_) enqueue(static_cast<const T*>(in), static_cast<T*>(out));
  }

 private:
  /// One launch with its weights and everything that the shape decides.
  using Launch = std::function<void(const T* in, T* out)>;
  using Plan = Launch (*)(const ConvProblem&, const ConstantPass<T>&);

  static RegisterGrid grid_of(const ConvShape& s, const ConstantPass<T>& pass, int64_t width, int64_t rows,
                              int64_t maps) {
    RegisterGrid g{};
    g.tiles_x = Divisor(ceil_div(s.out_w(), width));
    g.tiles_y = Divisor(ceil_div(s.out_h(), rows));
    g.tiles = static_cast<int>(int64_t{g.tiles_x.value} * g.tiles_y.value * s.n);
    g.groups = static_cast<int>(ceil_div(pass.last_map - pass.first_map, maps));
    g.first_map = static_cast<int>(pass.first_map);
    g.last_map = static_cast<int>(pass.last_map);
    return g;
  }

  static constexpr int kMost = static_cast<int>(kConstantBytes / static_cast<int64_t>(sizeof(T)));

  /// Calls make with a parameter as large as the weights need, since what a launch hands over costs time, and
  /// with whether there is an activation.
  template <class Make>
  static Launch with_weights(const ConvProblem& p, const std::vector<T>& values, const Make& make) {
    constexpr std::size_t kFew = 1280;
    if (p.activation != Activation::none) return make(constant_weights<T, kMost>(values), std::true_type());
    if (values.size() > kFew) return make(constant_weights<T, kMost>(values), std::false_type());
    return make(constant_weights<T, static_cast<int>(kFew)>(values), std::false_type());
  }

  template <class C>
  static Launch strip(const ConvProblem& p, const ConstantPass<T>& pass) {
    const RegisterGrid grid = grid_of(p.shape, pass, C::kWidth, C::kBlockRows, C::kMaps);
    return with_weights(
        p, pass.weights,
        [&]<int kCount, class Active>(const ConstantWeights<T, kCount>& weights, Active) -> Launch {
          return [=, shape = device_shape(p.shape), activation = p.activation](const T* in, T* out) {
            TARGET::launch("register_tiled", register_strip_kernel<C, kCount, Active::value>,
                           dim3(static_cast<unsigned>(grid.tiles)), dim3(C::kThreads), 0, shape, grid,
                           activation, in, out, weights);
          };
        });
  }

  template <class C>
  static Launch ring(const ConvProblem& p, const ConstantPass<T>& pass) {
    const RegisterGrid grid = grid_of(p.shape, pass, C::kWidth, C::kBlockRows, C::kMaps);
    const auto bytes = static_cast<std::size_t>(C::shared_bytes(p.shape));
    return with_weights(
        p, pass.weights,
        [&]<int kCount, class Active>(const ConstantWeights<T, kCount>& weights, Active) -> Launch {
          const auto kernel = register_ring_kernel<C, kCount, Active::value>;
          allow_shared_bytes(kernel, bytes);
          const dim3 blocks(
              static_cast<unsigned>(even_blocks(grid.tiles, resident_blocks(kernel, C::kThreads, bytes))));
          return [=, shape = device_shape(p.shape), activation = p.activation](const T* in, T* out) {
            TARGET::launch("register_tiled", kernel, blocks, dim3(C::kThreads), bytes, shape, grid,
                           activation, in, out, weights);
          };
        });
  }

  template <int kMaps, Rounding R>
  static Launch any(const ConvProblem& p, const ConstantPass<T>& pass) {
    using C = TileConfig;
    const RegisterGrid grid = grid_of(p.shape, pass, C::kWidth, C::kBlockRows, kMaps);
    const TileSize size(p.shape, sizeof(T));
    const std::size_t bytes = std::size_t{1} * size.channels * size.h * size.w * sizeof(T);
    const auto kernel = register_tile_kernel<T, kMaps, R, kMost>;
    allow_shared_bytes(kernel, bytes);
    return [=, shape = device_shape(p.shape), activation = p.activation,
            weights = constant_weights<T, kMost>(pass.weights)](const T* in, T* out) {
      TARGET::launch("register_tiled", kernel, dim3(static_cast<unsigned>(int64_t{grid.tiles} * grid.groups)),
                     dim3(C::kThreads), bytes, shape, grid, size, activation, in, out, weights);
    };
  }

  template <class C>
  static Plan use_strip(int64_t* maps) {
    *maps = C::kMaps;
    return strip<C>;
  }
  template <int kK, int kD, int kMaps, int kRows, int kBlocks, bool kUnrolled>
  static Plan use_ring(const ConvShape& s, int64_t* maps) {
    using C = RingConfig<T, kK, kD, kMaps, kRows, kBlocks, kUnrolled>;
    if (C::shared_bytes(s) > kRingBytes) return nullptr;
    *maps = C::kMaps;
    return ring<C>;
  }

  /// The kernel for a shape, and the maps of a group; weights are grouped for it.
  static Plan for_shape(const ConvProblem& p, int64_t* maps) {
    if (const Plan known = for_common_size(p, maps)) return known;
    const ConvShape& s = p.shape;
    const auto fits = [&s](int64_t m) { return constant_group_bytes<T>(s, m) <= kConstantBytes; };
    if (s.c_out > 4 && fits(16)) return use_any<16>(p, maps);
    if (s.c_out > 1 && fits(4)) return use_any<4>(p, maps);
    return use_any<1>(p, maps);
  }
  template <int kMaps>
  static Plan use_any(const ConvProblem& p, int64_t* maps) {
    *maps = kMaps;
    return p.rounding == Rounding::fused ? any<kMaps, Rounding::fused> : any<kMaps, Rounding::separate>;
  }

  /// Configurations for the shapes of filter banks on images, measured on an H200; the kernels' files say
  /// why.
  static Plan for_common_size(const ConvProblem& p, int64_t* maps) {
    const ConvShape& s = p.shape;
    if constexpr (std::is_same_v<T, float>) {
      if (p.rounding != Rounding::fused || s.k_h != s.k_w || s.stride.y != s.stride.x) return nullptr;
      if (s.dilation.y != s.dilation.x || s.w % 4 != 0) return nullptr;
      if (constant_group_bytes<T>(s, 16) > kConstantBytes) return nullptr;
      const int64_t k = s.k_h, stride = s.stride.x, dilation = s.dilation.x, c = s.c_out;
      if (k == 3 && stride == 2 && dilation == 1 && s.pad.x % 2 == 0) {
        if (c > 8 && c <= 16 && s.c_in == 3)
          return use_strip<StripConfig<T, 3, 2, 1, 16, 1, 2, false, true, 256, 4, 3>>(maps);
        if (c > 8) return use_strip<StripConfig<T, 3, 2, 1, 16, 1, 2, false, true, 256, 4>>(maps);
        if (c > 4) return use_strip<StripConfig<T, 3, 2, 1, 8, 1, 4, false, true, 128, 7>>(maps);
      }
      if (stride != 1) return nullptr;
      if (s.out_w() != s.w || s.pad.x != k / 2 * dilation) {  // rows of the output are not aligned
        if (k == 3 && dilation == 1 && c > 4)
          return use_strip<StripConfig<T, 3, 1, 1, 8, 2, 4, false, false, 128, 4>>(maps);
        return nullptr;
      }
      if (k == 3 && dilation == 1) {
        if (c > 4) return use_strip<StripConfig<T, 3, 1, 1, 4, 4, 4, true, false, 128, 4>>(maps);
        return c > 1 ? use_ring<3, 1, 4, 2, 5, true>(s, maps) : use_ring<3, 1, 1, 4, 8, true>(s, maps);
      }
      if (k == 3 && dilation == 2 && c > 1)
        return use_strip<StripConfig<T, 3, 1, 2, 4, 4, 4, true, false, 128, 4>>(maps);
      if (k == 5 && dilation == 1) {
        if (c > 4) return use_ring<5, 1, 4, 4, 4, true>(s, maps);
        return c > 1 ? use_ring<5, 1, 4, 2, 5, true>(s, maps) : use_ring<5, 1, 1, 4, 6, true>(s, maps);
      }
      if (k == 7 && dilation == 1) {
        return c > 1 ? use_ring<7, 1, 8, 2, 4, false>(s, maps) : use_ring<7, 1, 1, 4, 5, true>(s, maps);
      }
      if (k == 15 && dilation == 1 && c == 1) return use_ring<15, 1, 1, 2, 6, true>(s, maps);
    }
    return nullptr;
  }

  static constexpr int64_t kRingBytes = 64 * 1024;  // three blocks an SM at least

  std::vector<Launch> launches_;
};

}  // namespace

std::unique_ptr<Strategy> make_register_tiled(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<RegisterTiled<double>>(std::move(info));
  return std::make_unique<RegisterTiled<float>>(std::move(info));
}

}  // namespace convscope::TARGET
