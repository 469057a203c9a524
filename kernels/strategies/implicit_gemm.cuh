// Implicit GEMM: a matrix product whose first factor, the column matrix of im2col, is never in memory.
//
// Rows of the product are the output pixels of all images, columns the maps, and the sum runs over the taps
// (channel, row, column of the kernel). A block makes a tile of pixels x maps: step by step it gathers a few
// taps of its pixels, and the weights of its maps, into shared memory, and every thread multiplies a small
// tile in registers. While one step is multiplied, the next is on its way (two buffers, one barrier a step).
// Per multiply-add: 1/maps + 1/pixels of a global load, (1/8 + 1/4) of a shared one. Limits: the pixels of
// all images are counted in 31 bits.

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"
#include "kernels/strategies/four.cuh"

namespace convscope::TARGET {
namespace {

template <int kTilePixels, int kTileMaps, int kThreadPixels, int kThreadMaps>
struct ImplicitTile {
  static constexpr int kPixels = kTilePixels, kMaps = kTileMaps;                      // of a block
  static constexpr int kPixelQuads = kThreadPixels / 4, kMapQuads = kThreadMaps / 4;  // of a thread
  static constexpr int kDepth = 8;                                                    // taps of a step
  static constexpr int kAcross = kPixels / kThreadPixels;  // threads along the pixels
  static constexpr int kThreads = kAcross * (kMaps / kThreadMaps);
  static constexpr int kRows = kThreads / kPixels;  // taps that all threads together gather at a time
  static constexpr int kGathered = kDepth / kRows, kWeights = kDepth * kMaps / kThreads;  // a thread and step
  static_assert(kThreads % kPixels == 0 && kDepth % kRows == 0,
                "a thread gathers for one pixel, whole steps");
  static_assert(kDepth * kMaps % kThreads == 0, "every thread fetches equally many weights");
  static_assert(kThreadPixels % 4 == 0 && kThreadMaps % 4 == 0, "operands are read four at a time");
};
using WideTile = ImplicitTile<128, 64, 8, 4>;
using NarrowTile = ImplicitTile<128, 16, 4, 4>;  // for banks of at most 16 maps

/// Where a tap lies, seen from the first value of a pixel.
struct alignas(16) ImplicitTap {
  int64_t offset;
  int y, x;
};

struct ImplicitGrid {
  Divisor map_tiles, plane, row;  // of a block's number; of a pixel's number into image, y and x
  int pixels, taps, steps;
  bool wide;  // four neighbouring pixels may be stored at once
};

/// What a thread gathers: always for the same pixel.
template <class T>
struct Gather {
  const T* corner;
  int first_y, first_x;
};

template <class T>
__device__ __forceinline__ Gather<T> gather_of(const DeviceShape& s, const ImplicitGrid& g, In<T> in,
                                               int pixel) {
  uint32_t rest = static_cast<uint32_t>(pixel < g.pixels ? pixel : g.pixels - 1);
  const uint32_t in_plane = g.plane.take(rest);
  uint32_t y = in_plane;
  const int x = static_cast<int>(g.row.take(y));
  const int first_y = static_cast<int>(y) * s.stride_y - s.pad_y, first_x = x * s.stride_x - s.pad_x;
  return {in + int64_t{rest} * s.c_in * s.in_plane + int64_t{first_y} * s.w + first_x, first_y, first_x};
}

/// The pixel's value at tap k, 0 beyond the image and beyond the last tap.
template <class T>
__device__ __forceinline__ T gathered(const DeviceShape& s, const Gather<T>& from, In<ImplicitTap> taps,
                                      int k, int count) {
  if (k >= count) return T(0);
  const ImplicitTap tap = taps[k];
  const int y = from.first_y + tap.y, x = from.first_x + tap.x;
  return y >= 0 && y < s.h && x >= 0 && x < s.w ? read_only(from.corner + tap.offset) : T(0);
}

/// One step: the thread's tile of sums from the pixels [depth][pixel] and weights [depth][map] in shared
/// memory.
template <class T, class Tile, Rounding R>
__device__ __forceinline__ void multiply_step(const T* pixels, const T* maps, int across, int down,
                                              T (&sum)[4 * Tile::kMapQuads][4 * Tile::kPixelQuads]) {
  CONVSCOPE_UNROLL
  for (int k = 0; k < Tile::kDepth; ++k) {
    Four<T> value[Tile::kPixelQuads], weight[Tile::kMapQuads];
    CONVSCOPE_UNROLL
    for (int q = 0; q < Tile::kPixelQuads; ++q) {
      value[q] = four(pixels + k * Tile::kPixels + 4 * (q * Tile::kAcross + across));
    }
    CONVSCOPE_UNROLL
    for (int q = 0; q < Tile::kMapQuads; ++q) {
      weight[q] = four(maps + k * Tile::kMaps + 4 * (down * Tile::kMapQuads + q));
    }
    CONVSCOPE_UNROLL
    for (int m = 0; m < 4 * Tile::kMapQuads; ++m) {
      CONVSCOPE_UNROLL
      for (int p = 0; p < 4 * Tile::kPixelQuads; ++p) {
        sum[m][p] = mad<R>(value[p / 4].v[p % 4], weight[m / 4].v[m % 4], sum[m][p]);
      }
    }
  }
}

/// Four neighbouring pixels of one map.
template <class T, bool kActivated>
__device__ __forceinline__ void store_quad(const DeviceShape& s, const ImplicitGrid& g, Activation activation,
                                           int pixel, int map, T bias, const T* sum, Out<T> out) {
  Four<T> done;
  CONVSCOPE_UNROLL
  for (int p = 0; p < 4; ++p) {
    done.v[p] = sum[p] + bias;
    if constexpr (kActivated) done.v[p] = activate(done.v[p], activation);
  }
  uint32_t image = static_cast<uint32_t>(pixel);
  uint32_t in_plane = g.plane.take(image);
  if (g.wide) {  // the four lie in one plane, all inside
    *reinterpret_cast<Four<T>*>(out + (int64_t{image} * s.c_out + map) * s.out_plane + in_plane) = done;
    return;
  }
  CONVSCOPE_UNROLL
  for (int p = 0; p < 4; ++p, ++in_plane) {
    if (pixel + p >= g.pixels) break;
    if (in_plane == s.out_plane) in_plane = 0, ++image;
    out[(int64_t{image} * s.c_out + map) * s.out_plane + in_plane] = done.v[p];
  }
}

/// The thread's tile of sums, whose first pixel and map are given.
template <class T, class Tile, bool kActivated>
__device__ __forceinline__ void store_tile(const DeviceShape& s, const ImplicitGrid& g, Activation activation,
                                           int first_pixel, int first_map, const T* bias,
                                           const T (&sum)[4 * Tile::kMapQuads][4 * Tile::kPixelQuads],
                                           Out<T> out) {
  CONVSCOPE_UNROLL
  for (int m = 0; m < 4 * Tile::kMapQuads; ++m) {
    const int map = first_map + m;
    if (map >= s.c_out) break;
    const T own_bias = bias == nullptr ? -T(0) : read_only(bias + map);  // -0 changes no sum
    CONVSCOPE_UNROLL
    for (int q = 0; q < Tile::kPixelQuads; ++q) {
      const int pixel = first_pixel + 4 * q * Tile::kAcross;
      if (pixel < g.pixels)
        store_quad<T, kActivated>(s, g, activation, pixel, map, own_bias, &sum[m][4 * q], out);
    }
  }
}

/// Shared memory: two buffers of [depth][pixel], then two of [depth][map].
template <class T, class Tile, Rounding R>
__global__ void implicit_gemm_kernel(DeviceShape s, ImplicitGrid g, Activation activation, In<T> in,
                                     In<T> weights, In<ImplicitTap> taps, const T* bias, Out<T> out) {
  constexpr int kPixelBuffer = Tile::kDepth * Tile::kPixels, kMapBuffer = Tile::kDepth * Tile::kMaps;
  T* const pixels = shared_memory<T>();
  T* const maps = pixels + 2 * kPixelBuffer;
  uint32_t block = blockIdx.x;
  const int map_tile =
      static_cast<int>(g.map_tiles.take(block));  // fastest: the blocks of a tile share its inputs
  const int first_pixel = static_cast<int>(block) * Tile::kPixels;
  const int thread = static_cast<int>(threadIdx.x);
  const int own_pixel = thread % Tile::kPixels, own_row = thread / Tile::kPixels;
  const Gather<T> from = gather_of<T>(s, g, in, first_pixel + own_pixel);
  const T* const own_weights = weights + int64_t{map_tile} * g.steps * kMapBuffer + thread;

  T value[Tile::kGathered], weight[Tile::kWeights];
  T sum[4 * Tile::kMapQuads][4 * Tile::kPixelQuads] = {};
  for (int step = -1; step < g.steps; ++step) {
    const int next = step + 1;
    if (next < g.steps) {
      CONVSCOPE_UNROLL
      for (int i = 0; i < Tile::kGathered; ++i) {
        value[i] = gathered(s, from, taps, next * Tile::kDepth + i * Tile::kRows + own_row, g.taps);
      }
      CONVSCOPE_UNROLL
      for (int i = 0; i < Tile::kWeights; ++i) {
        weight[i] = read_only(own_weights + int64_t{next} * kMapBuffer + i * Tile::kThreads);
      }
    }
    if (step >= 0) {
      multiply_step<T, Tile, R>(pixels + step % 2 * kPixelBuffer, maps + step % 2 * kMapBuffer,
                                thread % Tile::kAcross, thread / Tile::kAcross, sum);
    }
    if (next < g.steps) {
      T* const to = pixels + next % 2 * kPixelBuffer + own_row * Tile::kPixels + own_pixel;
      CONVSCOPE_UNROLL
      for (int i = 0; i < Tile::kGathered; ++i) to[i * Tile::kRows * Tile::kPixels] = value[i];
      CONVSCOPE_UNROLL
      for (int i = 0; i < Tile::kWeights; ++i) {
        maps[next % 2 * kMapBuffer + i * Tile::kThreads + thread] = weight[i];
      }
    }
    __syncthreads();
  }

  const int pixel = first_pixel + 4 * (thread % Tile::kAcross);
  const int map = map_tile * Tile::kMaps + thread / Tile::kAcross * 4 * Tile::kMapQuads;
  if (activation == Activation::none) {  // apart, so that the common case carries no exp and tanh
    store_tile<T, Tile, false>(s, g, activation, pixel, map, bias, sum, out);
  } else {
    store_tile<T, Tile, true>(s, g, activation, pixel, map, bias, sum, out);
  }
}

template <class T>
class ImplicitGemm final : public Strategy {
 public:
  explicit ImplicitGemm(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    const ConvShape& s = p.shape;
    constexpr int64_t kLimit = (int64_t{1} << 31) - WideTile::kPixels;
    if (auto why = refuses_size(s, 1)) return why;
    if (pixels(s) >= kLimit || s.taps() >= kLimit) {
      return "the product of " + std::to_string(pixels(s)) + " pixels and " + std::to_string(s.taps()) +
             " taps is beyond its 31-bit counters";
    }
    return refuses_size(s, ceil_div(pixels(s), WideTile::kPixels) * map_tiles(s));
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    const ConvShape& s = problem.shape;
    std::vector<ImplicitTap> taps;
    for (int64_t c = 0; c < s.c_in; ++c) {
      for (int64_t i = 0; i < s.k_h; ++i) {
        for (int64_t j = 0; j < s.k_w; ++j) {
          const int64_t y = i * s.dilation.y, x = j * s.dilation.x;
          taps.push_back({(c * s.h + y) * s.w + x, static_cast<int>(y), static_cast<int>(x)});
        }
      }
    }
    taps_.assign(taps);
    weights_.assign(arranged(weights));
    bias_.assign(as<T>(weights.bias));
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const StageTimer timer(stages, "implicit_gemm");
    const bool fused = problem_.rounding == Rounding::fused;
    const auto* from = static_cast<const T*>(in);
    auto* const to = static_cast<T*>(out);
    if (narrow(problem_.shape)) {
      fused ? enqueue<NarrowTile, Rounding::fused>(from, to)
            : enqueue<NarrowTile, Rounding::separate>(from, to);
    } else {
      fused ? enqueue<WideTile, Rounding::fused>(from, to) : enqueue<WideTile, Rounding::separate>(from, to);
    }
  }

 private:
  static int64_t pixels(const ConvShape& s) { return s.n * s.out_h() * s.out_w(); }
  static bool narrow(const ConvShape& s) { return s.c_out <= NarrowTile::kMaps; }
  static int64_t tile_maps(const ConvShape& s) { return narrow(s) ? NarrowTile::kMaps : WideTile::kMaps; }
  static int64_t map_tiles(const ConvShape& s) { return ceil_div(s.c_out, tile_maps(s)); }
  static int64_t steps(const ConvShape& s) { return ceil_div(s.taps(), WideTile::kDepth); }

  /// [map tile][tap][map in tile]. Taps that fill up the last step are -0: their product with the 0 gathered
  /// for them changes no sum, not even one of -0.
  std::vector<T> arranged(const ConvWeights& w) const {
    const ConvShape& s = problem_.shape;
    const int64_t maps = tile_maps(s), depth = steps(s) * WideTile::kDepth, taps = s.taps();
    std::vector<T> values(static_cast<std::size_t>(map_tiles(s) * depth * maps), -T(0));
    for (int64_t map = 0; map < s.c_out; ++map) {
      T* const to = values.data() + map / maps * depth * maps + map % maps;
      for (int64_t k = 0; k < taps; ++k) {
        to[k * maps] = static_cast<T>(w.values[static_cast<std::size_t>(map * taps + k)]);
      }
    }
    return values;
  }

  template <class Tile, Rounding R>
  void enqueue(const T* in, T* out) const {
    const ConvShape& s = problem_.shape;
    const int64_t plane = s.out_h() * s.out_w();
    const bool wide = plane % 4 == 0 && reinterpret_cast<uintptr_t>(out) % alignof(Four<T>) == 0;
    const ImplicitGrid grid{Divisor(map_tiles(s)),
                            Divisor(plane),
                            Divisor(s.out_w()),
                            static_cast<int>(pixels(s)),
                            static_cast<int>(s.taps()),
                            static_cast<int>(steps(s)),
                            wide};
    const int64_t blocks = ceil_div(pixels(s), Tile::kPixels) * map_tiles(s);
    TARGET::launch("implicit_gemm", implicit_gemm_kernel<T, Tile, R>, dim3(static_cast<unsigned>(blocks)),
                   dim3(Tile::kThreads), 2 * Tile::kDepth * (Tile::kPixels + Tile::kMaps) * sizeof(T),
                   device_shape(s), grid, problem_.activation, in, weights_.data(), taps_.data(),
                   bias_.size() == 0 ? nullptr : bias_.data(), out);
  }

  ConvProblem problem_;
  DeviceArray<ImplicitTap> taps_;
  DeviceArray<T> weights_, bias_;
};

}  // namespace

std::unique_ptr<Strategy> make_implicit_gemm(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<ImplicitGemm<double>>(std::move(info));
  return std::make_unique<ImplicitGemm<float>>(std::move(info));
}

}  // namespace convscope::TARGET
