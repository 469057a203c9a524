// Register-tiled: a thread makes four neighbouring pixels of up to 16 maps, 64 sums in registers.
//
// Three levels of reuse: the block shares an input tile with its halo in shared memory, a thread reads a row
// segment of it into registers once and uses each value for all taps and maps it meets, and one read of a
// weight from constant memory feeds four multiply-adds. Per multiply-add: 1/4 of a read of a weight, 1/(taps
// of a row * maps) of one of a pixel. Bytes moved: the input once, but for halos, and the output once.
//
// Stores are as wide as they can be: 16 bytes a thread where rows of the output are aligned; elsewhere they
// are turned through shared memory so that a warp writes whole 128-byte lines, because a line written in two
// halves costs the memory twice (H200, workload A, whose rows have 959 values: 22.8 us for its bytes alone as
// they come, 16.5 us in whole lines). Limits: the tile of one channel must fit in shared memory, a filter in
// constant memory.

#include "kernels/strategies/constant_weights.cuh"
#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"

namespace convscope::TARGET {
namespace {

struct RegisterConfig {
  static constexpr int kThreads = 128;
  static constexpr int kPixels = 4;  // of a thread, along a row
  static constexpr int kBlockPixels = kThreads * kPixels;
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
  int tile_h, tile_w, pitch;  // input tile of one channel with its halo; pitch in values, a multiple of four
  int channels;               // taken at a time
  int first_map, last_map;    // of this launch
  bool aligned;               // every row of the output begins at a multiple of four values
};

/// kRows: output rows of a block, 1 or 4; its threads lie along them. kK, kS, kD: square kernel, stride and
/// dilation where the compiler is to know them, 0 where it is not.
template <class T, int kRows, int kK, int kS, int kD, int kMaps, Rounding R, int kCount>
__global__ void CONVSCOPE_LAUNCH_BOUNDS(RegisterConfig::kThreads, sizeof(T) == 4 && kMaps == 16 ? 5 : 1)
    register_tiled_kernel(DeviceShape s, RegisterGrid g, Activation activation, In<T> in, Out<T> out,
                          CONVSCOPE_CONSTANT(ConstantWeights<T, kCount>) weights) {
  using C = RegisterConfig;
  constexpr int kRowThreads = C::kThreads / kRows, kRowPixels = C::kBlockPixels / kRows;
  const int k_h = kK > 0 ? kK : s.k_h, k_w = kK > 0 ? kK : s.k_w;
  const int stride_y = kS > 0 ? kS : s.stride_y, stride_x = kS > 0 ? kS : s.stride_x;
  const int dilation_y = kD > 0 ? kD : s.dilation_y, dilation_x = kD > 0 ? kD : s.dilation_x;

  uint32_t block = blockIdx.x;
  const int block_x = static_cast<int>(g.tiles_x.take(block)) * kRowPixels;
  const int block_y = static_cast<int>(g.tiles_y.take(block)) * kRows;
  const int group = static_cast<int>(g.groups.take(block));
  const int image = static_cast<int>(block);
  const int thread = static_cast<int>(threadIdx.x);
  const int row_thread = thread % kRowThreads, row = thread / kRowThreads;
  const int lane = thread % 32, warp = thread / 32;
  const int first_y = block_y * stride_y - s.pad_y, first_x = block_x * stride_x - s.pad_x;
  const int first_weight = group * (s.c_in * k_h * k_w + 1) * kMaps;

  T* const tile = shared_memory<T>();
  T sum[C::kPixels][kMaps] = {};
  for (int c0 = 0; c0 < s.c_in; c0 += g.channels) {
    const int channels = s.c_in - c0 < g.channels ? s.c_in - c0 : g.channels;
    if (c0 > 0) __syncthreads();  // the last channels are still being read
    const T* const planes = in + (int64_t{image} * s.c_in + c0) * s.in_plane;
    for (int r = warp; r < channels * g.tile_h; r += C::kThreads / 32) {  // a warp loads a row of the tile
      uint32_t channel = static_cast<uint32_t>(r);
      const int in_y = first_y + static_cast<int>(g.tile_h_divisor.take(channel));
      const bool row_inside = in_y >= 0 && in_y < s.h;
      const T* const from = planes + channel * s.in_plane + int64_t{row_inside ? in_y : 0} * s.w;
      CONVSCOPE_UNROLL_BY(4)
      for (int x = lane; x < g.tile_w; x += 32) {
        const int in_x = first_x + x;
        tile[r * g.pitch + x] = row_inside && in_x >= 0 && in_x < s.w ? read_only(from + in_x) : T(0);
      }
    }
    __syncthreads();
    for (int c = 0; c < channels; ++c) {
      const T* const corner =
          tile + (c * g.tile_h + row * stride_y) * g.pitch + row_thread * C::kPixels * stride_x;
      const int tap0 = first_weight + (c0 + c) * k_h * k_w * kMaps;
      if constexpr (kK > 0) {
        constexpr int kSpan = (C::kPixels - 1) * kS + (kK - 1) * kD + 1, kFours = (kSpan + 3) / 4;
        CONVSCOPE_UNROLL_BY(kK <= 5 ? kK : 1)
        for (int i = 0; i < kK; ++i) {
          Four<T> segment[kFours];
          CONVSCOPE_UNROLL
          for (int q = 0; q < kFours; ++q) {
            segment[q] = *reinterpret_cast<const Four<T>*>(corner + i * kD * g.pitch + 4 * q);
          }
          CONVSCOPE_UNROLL
          for (int j = 0; j < kK; ++j) {
            CONVSCOPE_UNROLL
            for (int m = 0; m < kMaps; ++m) {
              const T weight = weights.values[tap0 + (i * kK + j) * kMaps + m];
              CONVSCOPE_UNROLL
              for (int p = 0; p < C::kPixels; ++p) {
                const int at = p * kS + j * kD;
                sum[p][m] = mad<R>(segment[at / 4].v[at % 4], weight, sum[p][m]);
              }
            }
          }
        }
      } else {
        for (int i = 0; i < k_h; ++i) {
          for (int j = 0; j < k_w; ++j) {
            const T* const at = corner + i * dilation_y * g.pitch + j * dilation_x;
            CONVSCOPE_UNROLL
            for (int p = 0; p < C::kPixels; ++p) {
              const T value = at[p * stride_x];
              CONVSCOPE_UNROLL
              for (int m = 0; m < kMaps; ++m) {
                sum[p][m] = mad<R>(value, weights.values[tap0 + (i * k_w + j) * kMaps + m], sum[p][m]);
              }
            }
          }
        }
      }
    }
  }

  const int bias = first_weight + s.c_in * k_h * k_w * kMaps;
  CONVSCOPE_UNROLL
  for (int m = 0; m < kMaps; ++m) {
    CONVSCOPE_UNROLL
    for (int p = 0; p < C::kPixels; ++p) sum[p][m] = sum[p][m] + weights.values[bias + m];
  }
  if (activation != Activation::none) {
    CONVSCOPE_UNROLL
    for (int m = 0; m < kMaps; ++m) {
      CONVSCOPE_UNROLL
      for (int p = 0; p < C::kPixels; ++p) sum[p][m] = activate(sum[p][m], activation);
    }
  }

  const int map0 = g.first_map + group * kMaps, y = block_y + row;
  T* const out_row = out + (int64_t{image} * s.c_out + map0) * s.out_plane + int64_t{y} * s.out_w + block_x;
  if (g.aligned) {
    const int x = row_thread * C::kPixels;
    if (y < s.out_h && block_x + x < s.out_w) {
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
  CONVSCOPE_UNROLL
  for (int m0 = 0; m0 < kMaps; m0 += C::kTurnMaps) {
    __syncthreads();  // the tile, or the last maps, are still being read
    CONVSCOPE_UNROLL
    for (int m = m0; m < m0 + C::kTurnMaps && m < kMaps; ++m) {
      *reinterpret_cast<Four<T>*>(tile + ((m - m0) * C::kThreads + thread) *
                                             C::kPixels) = {{sum[0][m], sum[1][m], sum[2][m], sum[3][m]}};
    }
    __syncthreads();
    for (int m = m0; m < m0 + C::kTurnMaps && m < kMaps; ++m) {
      if (map0 + m >= g.last_map || y >= s.out_h) continue;
      T* const to = out_row + m * s.out_plane;
      const T* const from = tile + (m - m0) * C::kBlockPixels + row * kRowPixels;
      // begins where a line does, so that each warp writes whole lines but for the row's ends
      const int lead = static_cast<int>((to - out) % C::kLine);
      for (int x = row_thread - lead; x < kRowPixels; x += kRowThreads) {
        if (x >= 0 && block_x + x < s.out_w) to[x] = from[x];
      }
    }
  }
}

template <class T>
class RegisterTiled final : public Strategy {
 public:
  explicit RegisterTiled(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    const ConvShape& s = p.shape;
    if (auto why = refuses_constant<T>(s)) return why;
    const Tile tile(s, 4);
    if (tile.bytes(1) > static_cast<int64_t>(max_shared_bytes())) {
      return "the input tile of " + std::to_string(tile.h) + "x" + std::to_string(tile.w) + " values takes " +
             std::to_string(tile.bytes(1)) + " bytes of shared memory, a block has " +
             std::to_string(max_shared_bytes());
    }
    return refuses_size(s, ceil_div(s.out_w(), 128) * s.out_h() * s.c_out * s.n);
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

  /// Input tile of one channel for `rows` rows of outputs.
  struct Tile {
    int64_t h, w, pitch;
    Tile(const ConvShape& s, int64_t rows)
        : h((rows - 1) * s.stride.y + (s.k_h - 1) * s.dilation.y + 1),
          w((C::kBlockPixels / rows - 1) * s.stride.x + (s.k_w - 1) * s.dilation.x + 1),
          pitch(ceil_div(w, 4) * 4 + 4) {}  // the last vector of a segment may reach past the last value
    int64_t bytes(int64_t channels) const {
      const int64_t turn = C::kTurnMaps * C::kBlockPixels;
      const int64_t values = channels * h * pitch;
      return (values > turn ? values : turn) * static_cast<int64_t>(sizeof(T));
    }
  };

  template <int kRows, int kK, int kS, int kD, int kMaps, Rounding R>
  void enqueue(const ConstantPass<T>& pass, const T* in, T* out) const {
    const ConvShape& s = problem_.shape;
    constexpr int kCount = static_cast<int>(kConstantBytes / static_cast<int64_t>(sizeof(T)));
    const Tile tile(s, kRows);
    int64_t channels = s.c_in;
    while (channels > 1 && tile.bytes(channels) > C::kTileBytes) --channels;
    const int64_t tiles_x = ceil_div(s.out_w(), C::kBlockPixels / kRows),
                  tiles_y = ceil_div(s.out_h(), kRows);
    const int64_t groups = ceil_div(pass.last_map - pass.first_map, kMaps);
    const auto i = [](int64_t v) { return static_cast<int>(v); };
    const RegisterGrid grid{Divisor(tiles_x),
                            Divisor(tiles_y),
                            Divisor(groups),
                            Divisor(tile.h),
                            i(tile.h),
                            i(tile.w),
                            i(tile.pitch),
                            i(channels),
                            i(pass.first_map),
                            i(pass.last_map),
                            s.out_w() % C::kPixels == 0};
    const auto kernel = register_tiled_kernel<T, kRows, kK, kS, kD, kMaps, R, kCount>;
    const auto bytes = static_cast<std::size_t>(tile.bytes(channels));
    allow_shared_bytes(kernel, bytes);
    TARGET::launch("register_tiled", kernel, dim3(static_cast<unsigned>(tiles_x * tiles_y * groups * s.n)),
                   dim3(C::kThreads), bytes, device_shape(s), grid, problem_.activation, in, out,
                   constant_weights<T, kCount>(pass.weights));
  }

  template <int kRows, int kK, int kS, int kD, int kMaps>
  Enqueue known() {
    maps_ = kMaps;
    return &RegisterTiled::enqueue<kRows, kK, kS, kD, kMaps, Rounding::fused>;
  }

  /// Configurations for the shapes of filter banks on images, measured on an H200. Up to 16 maps a thread:
  /// every weight and pixel read is then shared by as many sums as registers hold. Stride 2 takes one wide
  /// row a block, because rows of outputs then share too little of their input to pay for the narrower
  /// stores.
  Enqueue for_common_size() {
    const ConvShape& s = problem_.shape;
    if constexpr (std::is_same_v<T, float>) {
      if (problem_.rounding != Rounding::fused || s.k_h != s.k_w || s.stride.y != s.stride.x) return nullptr;
      if (s.dilation.y != s.dilation.x) return nullptr;
      const auto is = [&s](int64_t k, int64_t stride, int64_t dilation, int64_t least_maps) {
        return s.k_h == k && s.stride.x == stride && s.dilation.x == dilation && s.c_out >= least_maps;
      };
      if (is(3, 1, 1, 9)) return known<4, 3, 1, 1, 16>();
      if (is(3, 1, 1, 5)) return known<4, 3, 1, 1, 8>();
      if (is(3, 1, 1, 2)) return known<4, 3, 1, 1, 4>();
      if (is(3, 1, 1, 1)) return known<4, 3, 1, 1, 1>();
      if (is(3, 2, 1, 5)) return known<1, 3, 2, 1, 16>();
      if (is(3, 2, 1, 1)) return known<1, 3, 2, 1, 4>();
      if (is(3, 1, 2, 5)) return known<4, 3, 1, 2, 16>();
      if (is(5, 1, 1, 5)) return known<4, 5, 1, 1, 16>();
      if (is(5, 1, 1, 2)) return known<4, 5, 1, 1, 4>();
      if (is(5, 1, 1, 1)) return known<4, 5, 1, 1, 1>();
      if (is(7, 1, 1, 5)) return known<4, 7, 1, 1, 16>();
      if (is(7, 1, 1, 1)) return known<4, 7, 1, 1, 4>();
      if (is(15, 1, 1, 1)) return known<4, 15, 1, 1, 1>();
    }
    return nullptr;
  }

  template <int kMaps>
  Enqueue any() {
    maps_ = kMaps;
    return problem_.rounding == Rounding::fused
               ? &RegisterTiled::enqueue<4, 0, 0, 0, kMaps, Rounding::fused>
               : &RegisterTiled::enqueue<4, 0, 0, 0, kMaps, Rounding::separate>;
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
