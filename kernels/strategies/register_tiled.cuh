// Register-tiled: a thread makes four neighbouring pixels of up to 16 maps, 64 sums in registers.
//
// A thread reads a row segment of its input into registers once, as vectors, and uses each value for all taps
// and maps it meets; one read of a weight from constant memory feeds four multiply-adds. Per multiply-add:
// 1/4 of a read of a weight, 1/(taps of a row * maps) of one of a pixel. Bytes moved: the input once, but for
// halos that the caches serve, and the output once. Shapes that the compiler does not know take their
// segments from a tile in shared memory instead.
//
// Stores are as wide as they can be: 16 bytes a thread where rows of the output are aligned; elsewhere they
// are turned through shared memory so that a warp writes whole 128-byte lines, because a line written in two
// halves costs the memory twice (H200, workload A, whose rows have 959 values: 22.8 us for its bytes alone as
// they come, 16.5 us in whole lines). Limits: the tile of one channel must fit in shared memory, a filter in
// constant memory.

#include "kernels/strategies/constant_weights.cuh"
#include "kernels/strategies/costs.h"
#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"

namespace convscope::TARGET {
namespace {

struct RegisterConfig {
  static constexpr int kThreads = 128;
  static constexpr int kPixels = 4;  // of a thread, along a row
  static constexpr int kBlockPixels = kThreads * kPixels;
  static constexpr int kTileRows = 4;  // output rows of a block that reads from a tile
  static constexpr int kTurnMaps = 4;  // maps turned through shared memory at a time
  static constexpr int kLine = 32;     // values of 4 bytes in a 128-byte line
  static constexpr int64_t kTileBytes =
      40 * 1024;  // of channels taken at a time: leaves room for several blocks
  static_assert(kPixels == 4, "a row segment is read and written as vectors of four values");
};

template <class T>
struct alignas(16) Four {
  T v[4];
};

/// What the launch derives from the shape. Block numbers run along x, rows, groups of maps, images.
struct RegisterGrid {
  Divisor tiles_x, tiles_y, groups, tile_h_divisor;
  int tile_h, tile_w;       // input tile of one channel with its halo, where there is one
  int channels;             // taken at a time
  int first_map, last_map;  // of this launch
  bool aligned;             // every row of the output begins at a multiple of four values
};

/// Where a block and a thread stand. kRows: output rows of a block, 1 or 4; its threads lie along them.
template <int kRows>
struct RegisterPlace {
  static constexpr int kRowThreads = RegisterConfig::kThreads / kRows;
  static constexpr int kRowPixels = RegisterConfig::kBlockPixels / kRows;
  int block_x, block_y, group, image, row_thread, row;
};

template <int kRows>
__device__ __forceinline__ RegisterPlace<kRows> register_place(const RegisterGrid& g) {
  using P = RegisterPlace<kRows>;
  uint32_t block = blockIdx.x;
  P p;
  p.block_x = static_cast<int>(g.tiles_x.take(block)) * P::kRowPixels;
  p.block_y = static_cast<int>(g.tiles_y.take(block)) * kRows;
  p.group = static_cast<int>(g.groups.take(block));
  p.image = static_cast<int>(block);
  p.row_thread = static_cast<int>(threadIdx.x) % P::kRowThreads;
  p.row = static_cast<int>(threadIdx.x) / P::kRowThreads;
  return p;
}

/// Bias, activation and stores of a thread's sums. Every thread of the block comes here. `bias`: of the first
/// map.
template <class T, int kRows, int kMaps>
__device__ __forceinline__ void register_finish(const DeviceShape& s, const RegisterGrid& g,
                                                const RegisterPlace<kRows>& p, Activation activation,
                                                const T* bias, T (&sum)[RegisterConfig::kPixels][kMaps],
                                                Out<T> out) {
  using C = RegisterConfig;
  using P = RegisterPlace<kRows>;
  CONVSCOPE_UNROLL
  for (int m = 0; m < kMaps; ++m) {
    CONVSCOPE_UNROLL
    for (int q = 0; q < C::kPixels; ++q) sum[q][m] = sum[q][m] + bias[m];
  }
  if (activation != Activation::none) {
    CONVSCOPE_UNROLL
    for (int m = 0; m < kMaps; ++m) {
      CONVSCOPE_UNROLL
      for (int q = 0; q < C::kPixels; ++q) sum[q][m] = activate(sum[q][m], activation);
    }
  }
  const int map0 = g.first_map + p.group * kMaps, y = p.block_y + p.row;
  T* const out_row =
      out + (int64_t{p.image} * s.c_out + map0) * s.out_plane + int64_t{y} * s.out_w + p.block_x;
  if (g.aligned) {
    const int x = p.row_thread * C::kPixels;
    if (y < s.out_h && p.block_x + x < s.out_w) {
      CONVSCOPE_UNROLL
      for (int m = 0; m < kMaps; ++m) {
        if (map0 + m < g.last_map) {
          *reinterpret_cast<Four<T>*>(out_row + m * s.out_plane +
                                      x) = {{sum[0][m], sum[1][m], sum[2][m], sum[3][m]}};
        }
      }
    }
    return;
  }
  T* const turn = shared_memory<T>();
  CONVSCOPE_UNROLL
  for (int m0 = 0; m0 < kMaps; m0 += C::kTurnMaps) {
    __syncthreads();  // what was in shared memory is still being read
    CONVSCOPE_UNROLL
    for (int m = m0; m < m0 + C::kTurnMaps && m < kMaps; ++m) {
      *reinterpret_cast<Four<T>*>(turn + ((m - m0) * C::kThreads + static_cast<int>(threadIdx.x)) *
                                             C::kPixels) = {{sum[0][m], sum[1][m], sum[2][m], sum[3][m]}};
    }
    __syncthreads();
    for (int m = m0; m < m0 + C::kTurnMaps && m < kMaps; ++m) {
      if (map0 + m >= g.last_map || y >= s.out_h) continue;
      T* const to = out_row + m * s.out_plane;
      const T* const from = turn + (m - m0) * C::kBlockPixels + p.row * P::kRowPixels;
      // begins where a line does, so that each warp writes whole lines but for the row's ends
      const int lead = static_cast<int>((to - out) % C::kLine);
      for (int x = p.row_thread - lead; x < P::kRowPixels; x += P::kRowThreads) {
        if (x >= 0 && p.block_x + x < s.out_w) to[x] = from[x];
      }
    }
  }
}

/// A square kernel, stride and dilation that the compiler knows, and c_in where kC is not 0. kLead: values
/// between an aligned address and the first that a thread needs. Rows of the input must begin at multiples of
/// four values.
template <class T, int kRows, int kC, int kK, int kS, int kD, int kLead, int kMaps, int kCount>
__global__ void CONVSCOPE_LAUNCH_BOUNDS(RegisterConfig::kThreads, kMaps == 16 ? (kC > 0 ? 5 : 4) : 1)
    register_tiled_kernel(DeviceShape s, RegisterGrid g, Activation activation, In<T> in, Out<T> out,
                          CONVSCOPE_CONSTANT(ConstantWeights<T, kCount>) weights) {
  using C = RegisterConfig;
  constexpr int kFours = (kLead + (C::kPixels - 1) * kS + (kK - 1) * kD + 1 + 3) / 4;
  const auto p = register_place<kRows>(g);
  const int c_in = kC > 0 ? kC : s.c_in;
  // where c_in is known there is one group, and every weight has a constant address
  const int first_weight = kC > 0 ? 0 : p.group * (c_in * kK * kK + 1) * kMaps;
  const int x = (p.block_x + p.row_thread * C::kPixels) * kS - s.pad_x - kLead;
  const int y = (p.block_y + p.row) * kS - s.pad_y;
  const bool columns_inside = x >= 0 && x + 4 * kFours <= s.w;
  const T* const images = in + int64_t{p.image} * c_in * s.in_plane;

  T sum[C::kPixels][kMaps] = {};
  CONVSCOPE_UNROLL_BY(kC > 0 && kK <= 3 ? kC : 1)
  for (int c = 0; c < c_in; ++c) {
    CONVSCOPE_UNROLL_BY(kK <= 5 ? kK : 1)
    for (int i = 0; i < kK; ++i) {
      const int in_y = y + i * kD;
      const bool row_inside = in_y >= 0 && in_y < s.h;
      const T* const row = images + c * s.in_plane + int64_t{in_y} * s.w;
      Four<T> segment[kFours];
      if (columns_inside && row_inside) {
        CONVSCOPE_UNROLL
        for (int q = 0; q < kFours; ++q) segment[q] = *reinterpret_cast<const Four<T>*>(row + x + 4 * q);
      } else {
        CONVSCOPE_UNROLL
        for (int q = 0; q < 4 * kFours; ++q) {
          segment[q / 4].v[q % 4] = row_inside && x + q >= 0 && x + q < s.w ? read_only(row + x + q) : T(0);
        }
      }
      CONVSCOPE_UNROLL
      for (int j = 0; j < kK; ++j) {
        CONVSCOPE_UNROLL
        for (int m = 0; m < kMaps; ++m) {
          const T weight = weights.values[first_weight + ((c * kK + i) * kK + j) * kMaps + m];
          CONVSCOPE_UNROLL
          for (int q = 0; q < C::kPixels; ++q) {
            const int at = kLead + q * kS + j * kD;
            sum[q][m] = mad<Rounding::fused>(segment[at / 4].v[at % 4], weight, sum[q][m]);
          }
        }
      }
    }
  }
  register_finish<T, kRows, kMaps>(s, g, p, activation,
                                   weights.values + first_weight + c_in * kK * kK * kMaps, sum, out);
}

/// Any shape: segments come from a tile of the block's input in shared memory.
template <class T, int kMaps, Rounding R, int kCount>
__global__ void register_tile_kernel(DeviceShape s, RegisterGrid g, Activation activation, In<T> in,
                                     Out<T> out, CONVSCOPE_CONSTANT(ConstantWeights<T, kCount>) weights) {
  using C = RegisterConfig;
  const auto p = register_place<C::kTileRows>(g);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int first_y = p.block_y * s.stride_y - s.pad_y, first_x = p.block_x * s.stride_x - s.pad_x;
  const int taps = s.k_h * s.k_w, first_weight = p.group * (s.c_in * taps + 1) * kMaps;

  T* const tile = shared_memory<T>();
  T sum[C::kPixels][kMaps] = {};
  for (int c0 = 0; c0 < s.c_in; c0 += g.channels) {
    const int channels = s.c_in - c0 < g.channels ? s.c_in - c0 : g.channels;
    if (c0 > 0) __syncthreads();  // the last channels are still being read
    const T* const planes = in + (int64_t{p.image} * s.c_in + c0) * s.in_plane;
    for (int r = warp; r < channels * g.tile_h; r += C::kThreads / 32) {  // a warp loads a row of the tile
      uint32_t channel = static_cast<uint32_t>(r);
      const int in_y = first_y + static_cast<int>(g.tile_h_divisor.take(channel));
      const bool row_inside = in_y >= 0 && in_y < s.h;
      const T* const from = planes + channel * s.in_plane + int64_t{row_inside ? in_y : 0} * s.w;
      CONVSCOPE_UNROLL_BY(4)
      for (int x = lane; x < g.tile_w; x += 32) {
        const int in_x = first_x + x;
        tile[r * g.tile_w + x] = row_inside && in_x >= 0 && in_x < s.w ? read_only(from + in_x) : T(0);
      }
    }
    __syncthreads();
    for (int c = 0; c < channels; ++c) {
      const T* const corner =
          tile + (c * g.tile_h + p.row * s.stride_y) * g.tile_w + p.row_thread * C::kPixels * s.stride_x;
      const int tap0 = first_weight + (c0 + c) * taps * kMaps;
      for (int i = 0; i < s.k_h; ++i) {
        for (int j = 0; j < s.k_w; ++j) {
          const T* const at = corner + i * s.dilation_y * g.tile_w + j * s.dilation_x;
          CONVSCOPE_UNROLL
          for (int q = 0; q < C::kPixels; ++q) {
            const T value = at[q * s.stride_x];
            CONVSCOPE_UNROLL
            for (int m = 0; m < kMaps; ++m) {
              sum[q][m] = mad<R>(value, weights.values[tap0 + (i * s.k_w + j) * kMaps + m], sum[q][m]);
            }
          }
        }
      }
    }
  }
  register_finish<T, C::kTileRows, kMaps>(s, g, p, activation,
                                          weights.values + first_weight + s.c_in * taps * kMaps, sum, out);
}

template <class T>
class RegisterTiled final : public Strategy {
 public:
  explicit RegisterTiled(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    const ConvShape& s = p.shape;
    if (auto why = refuses_constant<T>(s)) return why;
    const Tile tile(s);
    if (tile.bytes(1) > static_cast<int64_t>(max_shared_bytes())) {
      return "the input tile of " + std::to_string(tile.h) + "x" + std::to_string(tile.w) + " values takes " +
             std::to_string(tile.bytes(1)) + " bytes of shared memory, a block has " +
             std::to_string(max_shared_bytes());
    }
    return refuses_size(s, ceil_div(s.out_w(), 128) * s.out_h() * s.c_out * s.n);
  }

  Cost cost(const ConvProblem& p) const override {
    const ConvShape& s = p.shape;
    const auto fits = [&s](int64_t maps) { return constant_group_bytes<T>(s, maps) <= kConstantBytes; };
    const int64_t maps = s.c_out > 4 && fits(16) ? 16 : s.c_out > 1 && fits(4) ? 4 : 1;
    return passes_cost(s, info().precision, constant_launches<T>(s, maps));
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    enqueue_ = for_common_size();
    if (enqueue_ == nullptr) enqueue_ = for_any_size();
    passes_ = constant_passes<T>(problem.shape, weights, maps_);
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const StageTimer timer(stages, "register_tiled");
    for (const ConstantPass<T>& pass : passes_) {
      (this->*enqueue_)(pass, static_cast<const T*>(in), static_cast<T*>(out));
    }
  }

 private:
  using C = RegisterConfig;
  using Enqueue = void (RegisterTiled::*)(const ConstantPass<T>&, const T*, T*) const;

  /// Input tile of one channel.
  struct Tile {
    int64_t h, w;
    explicit Tile(const ConvShape& s)
        : h((C::kTileRows - 1) * s.stride.y + (s.k_h - 1) * s.dilation.y + 1),
          w((C::kBlockPixels / C::kTileRows - 1) * s.stride.x + (s.k_w - 1) * s.dilation.x + 1) {}
    int64_t bytes(int64_t channels) const {
      const int64_t values = channels * h * w;
      return (values > kTurn ? values : kTurn) * static_cast<int64_t>(sizeof(T));
    }
  };
  static constexpr int64_t kTurn = C::kTurnMaps * C::kBlockPixels;  // values turned at a time

  RegisterGrid grid_of(const ConstantPass<T>& pass, int64_t rows, int64_t maps) const {
    const ConvShape& s = problem_.shape;
    RegisterGrid g{};
    g.tiles_x = Divisor(ceil_div(s.out_w(), C::kBlockPixels / rows));
    g.tiles_y = Divisor(ceil_div(s.out_h(), rows));
    g.groups = Divisor(ceil_div(pass.last_map - pass.first_map, maps));
    g.first_map = static_cast<int>(pass.first_map);
    g.last_map = static_cast<int>(pass.last_map);
    g.aligned = s.out_w() % C::kPixels == 0;
    return g;
  }
  dim3 blocks_of(const RegisterGrid& g) const {
    return dim3(static_cast<unsigned>(int64_t{g.tiles_x.value} * g.tiles_y.value * g.groups.value *
                                      problem_.shape.n));
  }

  template <int kRows, int kC, int kK, int kS, int kD, int kLead, int kMaps>
  void enqueue_known(const ConstantPass<T>& pass, const T* in, T* out) const {
    constexpr int kCount = kC > 0 ? (kC * kK * kK + 1) * kMaps : static_cast<int>(kConstantBytes / 4);
    const RegisterGrid grid = grid_of(pass, kRows, kMaps);
    TARGET::launch("register_tiled", register_tiled_kernel<T, kRows, kC, kK, kS, kD, kLead, kMaps, kCount>,
                   blocks_of(grid), dim3(C::kThreads), grid.aligned ? 0 : kTurn * sizeof(T),
                   device_shape(problem_.shape), grid, problem_.activation, in, out,
                   constant_weights<T, kCount>(pass.weights));
  }

  template <int kMaps, Rounding R>
  void enqueue_any(const ConstantPass<T>& pass, const T* in, T* out) const {
    const ConvShape& s = problem_.shape;
    constexpr int kCount = static_cast<int>(kConstantBytes / static_cast<int64_t>(sizeof(T)));
    const Tile tile(s);
    int64_t channels = s.c_in;
    while (channels > 1 && tile.bytes(channels) > C::kTileBytes) --channels;
    RegisterGrid grid = grid_of(pass, C::kTileRows, kMaps);
    grid.tile_h = static_cast<int>(tile.h);
    grid.tile_w = static_cast<int>(tile.w);
    grid.tile_h_divisor = Divisor(tile.h);
    grid.channels = static_cast<int>(channels);
    const auto kernel = register_tile_kernel<T, kMaps, R, kCount>;
    const auto bytes = static_cast<std::size_t>(tile.bytes(channels));
    allow_shared_bytes(kernel, bytes);
    TARGET::launch("register_tiled", kernel, blocks_of(grid), dim3(C::kThreads), bytes, device_shape(s), grid,
                   problem_.activation, in, out, constant_weights<T, kCount>(pass.weights));
  }

  /// Weights of all maps must travel with one launch where c_in is known: its parameter holds one group.
  template <int kRows, int kC, int kK, int kS, int kD, int kMaps>
  Enqueue known() {
    constexpr int kSame = (4 - kK / 2 * kD % 4) % 4;  // the lead of pad = dilation * (k / 2)
    maps_ = kMaps;
    const int64_t lead = (4 - problem_.shape.pad.x % 4) % 4;
    if (lead == kSame) return &RegisterTiled::enqueue_known<kRows, kC, kK, kS, kD, kSame, kMaps>;
    if (lead == 0) return &RegisterTiled::enqueue_known<kRows, kC, kK, kS, kD, 0, kMaps>;
    return nullptr;
  }

  /// Configurations for the shapes of filter banks on images, measured on an H200. Up to 16 maps a thread:
  /// every weight and pixel read is then shared by as many sums as registers hold. Stride 2 takes one wide
  /// row a block, so that turned rows are written in long runs of whole lines.
  Enqueue for_common_size() {
    const ConvShape& s = problem_.shape;
    if constexpr (std::is_same_v<T, float>) {
      if (problem_.rounding != Rounding::fused || s.k_h != s.k_w || s.stride.y != s.stride.x) return nullptr;
      if (s.dilation.y != s.dilation.x || s.w % 4 != 0) return nullptr;
      const auto is = [&s](int64_t k, int64_t stride, int64_t dilation, int64_t least_maps) {
        return s.k_h == k && s.stride.x == stride && s.dilation.x == dilation && s.c_out >= least_maps &&
               constant_group_bytes<T>(s, 16) <= kConstantBytes;
      };
      const bool colour = s.c_in == 3 && s.c_out > 8 && s.c_out <= 16;
      if (colour && is(3, 1, 1, 9)) return known<4, 3, 3, 1, 1, 16>();
      if (colour && is(3, 2, 1, 9)) return known<1, 3, 3, 2, 1, 16>();
      if (colour && is(3, 1, 2, 9)) return known<4, 3, 3, 1, 2, 16>();
      if (is(3, 1, 1, 5)) return known<4, 0, 3, 1, 1, 16>();
      if (is(3, 1, 1, 2)) return known<4, 0, 3, 1, 1, 4>();
      if (is(3, 1, 1, 1)) return known<4, 0, 3, 1, 1, 1>();
      if (is(5, 1, 1, 5)) return known<4, 0, 5, 1, 1, 16>();
      if (is(5, 1, 1, 2)) return known<4, 0, 5, 1, 1, 4>();
      if (is(5, 1, 1, 1)) return known<4, 0, 5, 1, 1, 1>();
      if (is(7, 1, 1, 5)) return known<4, 0, 7, 1, 1, 16>();
      if (is(15, 1, 1, 1) && s.c_out == 1) return known<4, 0, 15, 1, 1, 1>();
    }
    return nullptr;
  }

  template <int kMaps>
  Enqueue any() {
    maps_ = kMaps;
    return problem_.rounding == Rounding::fused ? &RegisterTiled::enqueue_any<kMaps, Rounding::fused>
                                                : &RegisterTiled::enqueue_any<kMaps, Rounding::separate>;
  }
  Enqueue for_any_size() {
    const ConvShape& s = problem_.shape;
    const auto fits = [&s](int64_t maps) { return constant_group_bytes<T>(s, maps) <= kConstantBytes; };
    if (s.c_out > 4 && fits(16)) return any<16>();
    if (s.c_out > 1 && fits(4)) return any<4>();
    return any<1>();
  }

  ConvProblem problem_;
  int64_t maps_ = 1;
  std::vector<ConstantPass<T>> passes_;
  Enqueue enqueue_ = nullptr;
};

}  // namespace

std::unique_ptr<Strategy> make_register_tiled(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<RegisterTiled<double>>(std::move(info));
  return std::make_unique<RegisterTiled<float>>(std::move(info));
}

}  // namespace convscope::TARGET
