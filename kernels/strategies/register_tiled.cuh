// Register-tiled: a thread makes several pixels of several maps, up to 64 sums in registers.
//
// One read of a weight from constant memory feeds as many multiply-adds as the thread has pixels, one read of
// a pixel as many as it has maps and taps. Bytes moved: the input once, but for halos that the caches serve,
// and the output once. Three kernels: strips straight from the image (small windows), a ring of tiles in
// shared memory (large windows, few maps), and a tile for any other shape. Which, and how many pixels and
// maps a thread has, is chosen by shape in for_common_size(). Limits: the tile of one channel must fit in
// shared memory, a filter in constant memory.

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

  Cost cost(const ConvProblem& p) const override {
    int64_t maps = 1;
    for_shape(p, &maps);
    return passes_cost(p.shape, info().precision, constant_launches<T>(p.shape, maps));
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    int64_t maps = 1;
    enqueue_ = for_shape(problem, &maps);
    passes_ = constant_passes<T>(problem.shape, weights, maps);
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const StageTimer timer(stages, "register_tiled");
    for (const ConstantPass<T>& pass : passes_) {
      (this->*enqueue_)(pass, static_cast<const T*>(in), static_cast<T*>(out));
    }
  }

 private:
  using Enqueue = void (RegisterTiled::*)(const ConstantPass<T>&, const T*, T*) const;

  RegisterGrid grid_of(const ConstantPass<T>& pass, int64_t width, int64_t rows, int64_t maps) const {
    const ConvShape& s = problem_.shape;
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

  /// Calls body with a parameter as large as the weights need, since what a launch hands over costs time, and
  /// with whether there is an activation.
  template <class Body>
  void with_weights(const std::vector<T>& values, const Body& body) const {
    constexpr std::size_t kFew = 1280;
    if (problem_.activation != Activation::none) {
      body(constant_weights<T, kMost>(values), std::true_type());
    } else if (values.size() > kFew) {
      body(constant_weights<T, kMost>(values), std::false_type());
    } else {
      body(constant_weights<T, static_cast<int>(kFew)>(values), std::false_type());
    }
  }

  template <class C>
  void strip(const ConstantPass<T>& pass, const T* in, T* out) const {
    const RegisterGrid grid = grid_of(pass, C::kWidth, C::kBlockRows, C::kMaps);
    with_weights(pass.weights,
                 [&]<int kCount, class Active>(const ConstantWeights<T, kCount>& weights, Active) {
                   TARGET::launch("register_tiled", register_strip_kernel<C, kCount, Active::value>,
                                  dim3(static_cast<unsigned>(grid.tiles)), dim3(C::kThreads), 0,
                                  device_shape(problem_.shape), grid, problem_.activation, in, out, weights);
                 });
  }

  template <class C>
  void ring(const ConstantPass<T>& pass, const T* in, T* out) const {
    const RegisterGrid grid = grid_of(pass, C::kWidth, C::kBlockRows, C::kMaps);
    const auto bytes = static_cast<std::size_t>(C::shared_bytes(problem_.shape));
    with_weights(
        pass.weights, [&]<int kCount, class Active>(const ConstantWeights<T, kCount>& weights, Active) {
          const auto kernel = register_ring_kernel<C, kCount, Active::value>;
          allow_shared_bytes(kernel, bytes);
          // as many blocks as run at once, each with the same number of tiles
          const int64_t rounds = ceil_div(grid.tiles, resident_blocks(kernel, C::kThreads, bytes));
          TARGET::launch("register_tiled", kernel, dim3(static_cast<unsigned>(ceil_div(grid.tiles, rounds))),
                         dim3(C::kThreads), bytes, device_shape(problem_.shape), grid, problem_.activation,
                         in, out, weights);
        });
  }

  template <int kMaps, Rounding R>
  void any(const ConstantPass<T>& pass, const T* in, T* out) const {
    using C = TileConfig;
    const ConvShape& s = problem_.shape;
    const RegisterGrid grid = grid_of(pass, C::kWidth, C::kBlockRows, kMaps);
    const TileSize size(s, sizeof(T));
    const std::size_t bytes = std::size_t{1} * size.channels * size.h * size.w * sizeof(T);
    const auto kernel = register_tile_kernel<T, kMaps, R, kMost>;
    allow_shared_bytes(kernel, bytes);
    TARGET::launch("register_tiled", kernel, dim3(static_cast<unsigned>(int64_t{grid.tiles} * grid.groups)),
                   dim3(C::kThreads), bytes, device_shape(s), grid, size, problem_.activation, in, out,
                   constant_weights<T, kMost>(pass.weights));
  }

  template <class C>
  static Enqueue use_strip(int64_t* maps) {
    *maps = C::kMaps;
    return &RegisterTiled::strip<C>;
  }
  template <int kK, int kD, int kMaps, int kRows, int kBlocks, bool kUnrolled>
  static Enqueue use_ring(const ConvShape& s, int64_t* maps) {
    using C = RingConfig<T, kK, kD, kMaps, kRows, kBlocks, kUnrolled>;
    if (C::shared_bytes(s) > kRingBytes) return nullptr;
    *maps = C::kMaps;
    return &RegisterTiled::ring<C>;
  }

  /// The kernel for a shape, and the maps of a group; weights are grouped for it.
  static Enqueue for_shape(const ConvProblem& p, int64_t* maps) {
    if (const Enqueue known = for_common_size(p, maps)) return known;
    const ConvShape& s = p.shape;
    const auto fits = [&s](int64_t m) { return constant_group_bytes<T>(s, m) <= kConstantBytes; };
    if (s.c_out > 4 && fits(16)) return use_any<16>(p, maps);
    if (s.c_out > 1 && fits(4)) return use_any<4>(p, maps);
    return use_any<1>(p, maps);
  }
  template <int kMaps>
  static Enqueue use_any(const ConvProblem& p, int64_t* maps) {
    *maps = kMaps;
    return p.rounding == Rounding::fused ? &RegisterTiled::any<kMaps, Rounding::fused>
                                         : &RegisterTiled::any<kMaps, Rounding::separate>;
  }

  /// Configurations for the shapes of filter banks on images, measured on an H200; the kernels' files say
  /// why.
  static Enqueue for_common_size(const ConvProblem& p, int64_t* maps) {
    const ConvShape& s = p.shape;
    if constexpr (std::is_same_v<T, float>) {
      if (p.rounding != Rounding::fused || s.k_h != s.k_w || s.stride.y != s.stride.x) return nullptr;
      if (s.dilation.y != s.dilation.x || s.w % 4 != 0) return nullptr;
      if (constant_group_bytes<T>(s, 16) > kConstantBytes) return nullptr;
      const int64_t k = s.k_h, stride = s.stride.x, dilation = s.dilation.x, c = s.c_out;
      if (k == 3 && stride == 2 && dilation == 1 && s.pad.x % 2 == 0) {
        if (c > 8 && c <= 16 && s.c_in == 3)
          return use_strip<StripConfig<T, 3, 2, 16, 1, 2, false, true, 256, 4, 3>>(maps);
        if (c > 8) return use_strip<StripConfig<T, 3, 2, 16, 1, 2, false, true, 256, 4>>(maps);
        if (c > 4) return use_strip<StripConfig<T, 3, 2, 8, 1, 4, false, true, 128, 7>>(maps);
      }
      if (stride != 1) return nullptr;
      if (s.out_w() != s.w || s.pad.x != k / 2 * dilation) {  // rows of the output are not aligned
        if (k == 3 && dilation == 1 && c > 4)
          return use_strip<StripConfig<T, 3, 1, 8, 2, 4, false, false, 128, 4>>(maps);
        return nullptr;
      }
      if (k == 3 && dilation == 1) {
        if (c > 4) return use_strip<StripConfig<T, 3, 1, 8, 2, 4, true, false, 128, 4>>(maps);
        return c > 1 ? use_ring<3, 1, 4, 2, 5, true>(s, maps) : use_ring<3, 1, 1, 4, 8, true>(s, maps);
      }
      if (k == 3 && dilation == 2 && c > 1) return use_ring<3, 2, 8, 2, 5, true>(s, maps);
      if (k == 5 && dilation == 1) {
        if (c > 4) return use_ring<5, 1, 8, 2, 4, true>(s, maps);
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

  ConvProblem problem_;
  std::vector<ConstantPass<T>> passes_;
  Enqueue enqueue_ = nullptr;
};

}  // namespace

std::unique_ptr<Strategy> make_register_tiled(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<RegisterTiled<double>>(std::move(info));
  return std::make_unique<RegisterTiled<float>>(std::move(info));
}

}  // namespace convscope::TARGET
