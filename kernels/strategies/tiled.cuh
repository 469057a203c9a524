// Tiled: a block loads the input tile of its outputs, with the halo, and the weights into shared memory once,
// and every thread takes its operands from there.
//
// The threads of a block share what `direct` reads again and again: each input value is read from global
// memory once a block and channel. One thread makes one pixel of up to 16 maps, so that a value read from
// shared memory serves all of them. Per multiply-add: one shared load of a weight, 1/maps of one of a pixel.
// Limits: the tile and the weights of one channel must fit in a block's shared memory.

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"

namespace convscope::TARGET {
namespace {

struct TiledConfig {
  static constexpr int kTileX = 32, kTileY = 8;  // outputs of a block
  static constexpr int kThreads = kTileX * kTileY;
  static_assert(kTileX == 32, "a warp reads one row of the tile, so that its 32 words lie in 32 banks");
};

/// What the launch derives from the shape.
struct TiledGrid {
  Divisor tiles_x, tiles_y, map_groups;  // how a block's number along the grid's x axis splits
  int tile_h, tile_w;                    // input tile with its halo
};

/// Shared memory: the weights of one channel as [tap][map], then the input tile.
template <class T, int kMaps, Rounding R>
__global__ void tiled_kernel(DeviceShape s, TiledGrid g, Activation activation, In<T> in, In<T> weights,
                             const T* bias, Out<T> out) {
  uint32_t block = blockIdx.x;
  const int tile_x = static_cast<int>(g.tiles_x.take(block));
  const int tile_y = static_cast<int>(g.tiles_y.take(block));
  const int first_map = static_cast<int>(g.map_groups.take(block)) * kMaps;
  const int image = static_cast<int>(block);

  const int taps = s.k_h * s.k_w;
  T* const tile_weights = shared_memory<T>();
  T* const tile = tile_weights + taps * kMaps;
  const int thread = static_cast<int>(threadIdx.y) * TiledConfig::kTileX + static_cast<int>(threadIdx.x);
  const int first_y = tile_y * TiledConfig::kTileY * s.stride_y - s.pad_y;
  const int first_x = tile_x * TiledConfig::kTileX * s.stride_x - s.pad_x;

  T sum[kMaps] = {};
  for (int c = 0; c < s.c_in; ++c) {
    if (c > 0) __syncthreads();  // the last channel's tile is still being read
    for (int i = thread; i < taps * kMaps; i += TiledConfig::kThreads) {
      const int map = first_map + i % kMaps;
      tile_weights[i] = map < s.c_out ? weights[(int64_t{map} * s.c_in + c) * taps + i / kMaps] : T(0);
    }
    const int64_t plane = (int64_t{image} * s.c_in + c) * s.in_plane;
    for (int y = static_cast<int>(threadIdx.y); y < g.tile_h; y += TiledConfig::kTileY) {
      const int in_y = first_y + y;
      for (int x = static_cast<int>(threadIdx.x); x < g.tile_w; x += TiledConfig::kTileX) {
        const int in_x = first_x + x;
        const bool inside = in_y >= 0 && in_y < s.h && in_x >= 0 && in_x < s.w;
        tile[y * g.tile_w + x] = inside ? in[plane + int64_t{in_y} * s.w + in_x] : T(0);
      }
    }
    __syncthreads();
    const T* const corner = tile + static_cast<int>(threadIdx.y) * s.stride_y * g.tile_w +
                            static_cast<int>(threadIdx.x) * s.stride_x;
    for (int i = 0; i < s.k_h; ++i) {
      for (int j = 0; j < s.k_w; ++j) {
        const T value = corner[i * s.dilation_y * g.tile_w + j * s.dilation_x];
        const T* const tap = tile_weights + (i * s.k_w + j) * kMaps;
        CONVSCOPE_UNROLL_MAPS
        for (int m = 0; m < kMaps; ++m) sum[m] = mad<R>(value, tap[m], sum[m]);
      }
    }
  }

  const int x = tile_x * TiledConfig::kTileX + static_cast<int>(threadIdx.x);
  const int y = tile_y * TiledConfig::kTileY + static_cast<int>(threadIdx.y);
  if (x >= s.out_w || y >= s.out_h) return;
  CONVSCOPE_UNROLL_MAPS
  for (int m = 0; m < kMaps; ++m) {
    const int map = first_map + m;
    if (map < s.c_out) {
      out[(int64_t{image} * s.c_out + map) * s.out_plane + int64_t{y} * s.out_w + x] =
          finish(sum[m], bias == nullptr ? nullptr : bias + map, activation);
    }
  }
}

template <class T>
class Tiled final : public Strategy {
 public:
  explicit Tiled(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    const ConvShape& s = p.shape;
    if (auto why = refuses_size(s, tiles_x(s) * tiles_y(s) * s.c_out * s.n)) return why;
    const auto limit = static_cast<int64_t>(max_shared_bytes());
    if (maps_that_fit(s, limit) == 0) {
      return "the input tile of " + std::to_string(tile_h(s)) + "x" + std::to_string(tile_w(s)) +
             " values and the weights of one channel take " + std::to_string(shared_bytes(s, 1)) +
             " bytes of shared memory, a block has " + std::to_string(limit);
    }
    return std::nullopt;
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    const ConvShape& s = problem.shape;
    // 48 KiB need no opt-in and leave room for several blocks on a multiprocessor
    maps_ = maps_that_fit(s, static_cast<int64_t>(kDefaultSharedBytes));
    if (maps_ == 0) maps_ = maps_that_fit(s, static_cast<int64_t>(max_shared_bytes()));
    if (maps_ == 0) throw Error("tiled refuses: " + refuses(problem).value_or("shared memory"));
    allow_shared_bytes(kernel(), static_cast<std::size_t>(shared_bytes(s, maps_)));
    weights_.assign(as<T>(weights.values));
    bias_.assign(as<T>(weights.bias));
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const ConvShape& s = problem_.shape;
    const int64_t groups = ceil_div(s.c_out, maps_);
    const TiledGrid grid{Divisor(tiles_x(s)), Divisor(tiles_y(s)), Divisor(groups),
                         static_cast<int>(tile_h(s)), static_cast<int>(tile_w(s))};
    const int64_t blocks = tiles_x(s) * tiles_y(s) * groups * s.n;
    const StageTimer timer(stages, "tiled");
    TARGET::launch("tiled", kernel(), dim3(static_cast<unsigned>(blocks)),
                   dim3(TiledConfig::kTileX, TiledConfig::kTileY),
                   static_cast<std::size_t>(shared_bytes(s, maps_)), device_shape(s), grid,
                   problem_.activation, static_cast<const T*>(in), weights_.data(),
                   bias_.size() == 0 ? nullptr : bias_.data(), static_cast<T*>(out));
  }

 private:
  using Kernel = decltype(&tiled_kernel<T, 1, Rounding::fused>);

  static int64_t tiles_x(const ConvShape& s) { return ceil_div(s.out_w(), TiledConfig::kTileX); }
  static int64_t tiles_y(const ConvShape& s) { return ceil_div(s.out_h(), TiledConfig::kTileY); }
  static int64_t tile_w(const ConvShape& s) {
    return (TiledConfig::kTileX - 1) * s.stride.x + (s.k_w - 1) * s.dilation.x + 1;
  }
  static int64_t tile_h(const ConvShape& s) {
    return (TiledConfig::kTileY - 1) * s.stride.y + (s.k_h - 1) * s.dilation.y + 1;
  }
  static int64_t shared_bytes(const ConvShape& s, int64_t maps) {
    return static_cast<int64_t>(sizeof(T)) * (tile_h(s) * tile_w(s) + s.k_h * s.k_w * maps);
  }

  /// The most maps a thread can make within the shared memory, no more than a power of two that covers c_out;
  /// 0: none.
  static int maps_that_fit(const ConvShape& s, int64_t limit) {
    int maps = 1;
    while (maps < 16 && maps < s.c_out) maps *= 2;
    while (maps > 0 && shared_bytes(s, maps) > limit) maps /= 2;
    return maps;
  }

  template <int kMaps>
  Kernel kernel_of() const {
    return problem_.rounding == Rounding::fused ? tiled_kernel<T, kMaps, Rounding::fused>
                                                : tiled_kernel<T, kMaps, Rounding::separate>;
  }
  Kernel kernel() const {
    switch (maps_) {
      case 16:
        return kernel_of<16>();
      case 8:
        return kernel_of<8>();
      case 4:
        return kernel_of<4>();
      case 2:
        return kernel_of<2>();
      default:
        return kernel_of<1>();
    }
  }

  ConvProblem problem_;
  int maps_ = 0;
  DeviceArray<T> weights_, bias_;
};

}  // namespace

std::unique_ptr<Strategy> make_tiled(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<Tiled<double>>(std::move(info));
  return std::make_unique<Tiled<float>>(std::move(info));
}

}  // namespace convscope::TARGET
