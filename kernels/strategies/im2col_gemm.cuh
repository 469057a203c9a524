// im2col and a matrix product (Caffe's way): every output pixel becomes a column of all its taps, and all
// maps are one product of the weights with that matrix, by the best GEMM of the target (cuBLAS; oneDNN).
//
// The column matrix is [c_in k_h k_w][out_h out_w] of an image. It is written and read once: 2 c_in k_h k_w
// values moved for each pixel, against c_in + c_out of the image and the maps; that is the price of a perfect
// GEMM. The bias is one more row of ones times one more column of weights, so that it costs no pass over the
// maps. An activation is a pass.
//
// `im2col_chunked` makes the matrix for as many pixels at a time as half the L2 cache holds, so that what was
// written is read from there: only image and maps travel to memory.
//
// Limits: the column matrix of one image, 2^31 - 1 values (not of im2col_chunked, which never holds it).
//
// Error: within one error bound, since a GEMM sums the same products in some order.

#include <algorithm>

#include "kernels/strategies/costs.h"
#include "kernels/strategies/epilogue_pass.cuh"
#include "kernels/targets/gemm.h"
#include "kernels/targets/host_runtime.h"

namespace convscope::TARGET {
namespace {

struct Im2colConfig {
  static constexpr int kThreads = 128;
  static constexpr int64_t kPitch = 32;               // rows of the matrix start at a multiple of this
  static constexpr int64_t kMostColumn = kGemmLimit;  // values of one image's matrix
  static constexpr int64_t kMostTogether = int64_t{1} << 28;  // values of several images' matrices: 1 GiB
  static constexpr int64_t kMostImages = 65535;               // of one batched product
  static_assert(kPitch * sizeof(float) % 128 == 0, "a warp writes whole lines of 128 bytes");
};

/// What one launch makes columns of: all pixels of several images, or a range of pixels of one.
struct ColumnChunk {
  int64_t image, images, pixel, pixels;
};

/// A thread's neighbouring pixels, which it writes at once.
template <class T>
struct alignas(16) ColumnPixels {
  static constexpr int kCount = 16 / sizeof(T);
  T v[kCount];
};

/// A block makes a channel's taps of its pixels of one image, or one row of these taps; rows of the matrix
/// have room for a thread's pixels where there are fewer. The last part is the row of ones.
struct Im2colGrid {
  Divisor tiles, parts, parts_a_channel, out_w;
  int first_image, first_pixel, pixels;
  int rows;  // of taps, of a part
  int64_t pitch, image_stride;
};

template <class T>
__global__ void im2col_kernel(DeviceShape s, Im2colGrid g, In<T> in, Out<T> column) {
  constexpr int kCount = ColumnPixels<T>::kCount;
  uint32_t block = blockIdx.x;
  const int at = kCount * static_cast<int>(g.tiles.take(block) * Im2colConfig::kThreads + threadIdx.x);
  uint32_t part = g.parts.take(block);
  const int first_row = static_cast<int>(g.parts_a_channel.take(part)) * g.rows;
  const int c = static_cast<int>(part), image = static_cast<int>(block);
  if (at >= g.pixels) return;

  T* to = column + image * g.image_stride + (int64_t{c} * s.k_h + first_row) * s.k_w * g.pitch + at;
  ColumnPixels<T> values;
  if (c == s.c_in) {
    CONVSCOPE_UNROLL
    for (int e = 0; e < kCount; ++e) values.v[e] = T(1);
    *reinterpret_cast<ColumnPixels<T>*>(to) = values;
    return;
  }
  int first_y[kCount], first_x[kCount];
  CONVSCOPE_UNROLL
  for (int e = 0; e < kCount; ++e) {
    uint32_t pixel = static_cast<uint32_t>(g.first_pixel + at + e);
    const int x = static_cast<int>(g.out_w.take(pixel)), y = static_cast<int>(pixel);
    first_y[e] = y * s.stride_y - s.pad_y, first_x[e] = x * s.stride_x - s.pad_x;
  }
  const T* const plane = in + (int64_t{g.first_image + image} * s.c_in + c) * s.in_plane;
  for (int i = first_row; i < first_row + g.rows; ++i) {
    const T* row[kCount];
    bool inside[kCount];
    CONVSCOPE_UNROLL
    for (int e = 0; e < kCount; ++e) {
      const int y = first_y[e] + i * s.dilation_y;
      inside[e] = y >= 0 && y < s.h;
      row[e] = plane + int64_t{y} * s.w;
    }
    CONVSCOPE_UNROLL_BY(1)
    for (int j = 0; j < s.k_w; ++j, to += g.pitch) {
      CONVSCOPE_UNROLL
      for (int e = 0; e < kCount; ++e) {
        const int x = first_x[e] + j * s.dilation_x;
        values.v[e] = inside[e] && x >= 0 && x < s.w ? read_only(row[e] + x) : T(0);
      }
      *reinterpret_cast<ColumnPixels<T>*>(to) = values;
    }
  }
}

template <class T, bool kChunked>
class Im2colGemm final : public Strategy {
 public:
  explicit Im2colGemm(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    const ConvShape& s = p.shape;
    if (p.rounding == Rounding::separate)
      return "the matrix product is a library's and uses fused multiply-add; choose rounding=fused";
    const int64_t plane = s.out_h() * s.out_w();
    if (plane > kGemmLimit || s.taps() + 1 > kGemmLimit)
      return "a matrix of " + std::to_string(s.taps()) + " x " + std::to_string(plane) +
             " values is beyond the GEMM's 32-bit counters";
    if (!kChunked && plane > Im2colConfig::kMostColumn / s.taps())
      return "the column matrix of one image would have " + std::to_string(s.taps() * plane) + " values, " +
             readable_bytes(static_cast<std::size_t>(s.taps() * plane) * sizeof(T)) +
             "; it may have at most " + std::to_string(Im2colConfig::kMostColumn) +
             " values (im2col_chunked never holds it whole)";
    const int64_t column_blocks = column_tiles(plane) * (s.c_in + 1);
    return refuses_size(
        s, std::max(column_blocks * std::min(s.n, largest_chunk(p, true).images), epilogue_pass_blocks(s)));
  }

  Cost cost(const ConvProblem& p, const ConvWeights& weights) const override {
    const ConvShape& s = p.shape;
    const ColumnChunk first = largest_chunk(p, !weights.bias.empty());
    const int64_t chunks = ceil_div(s.n, first.images) * ceil_div(s.out_h() * s.out_w(), first.pixels);
    return im2col_cost(p, info().precision, chunks, kChunked);
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    rows_ = problem.shape.taps() + (weights.bias.empty() ? 0 : 1);
    chunk_ = largest_chunk(problem, !weights.bias.empty());
    column_ = DeviceMemory(static_cast<std::size_t>(chunk_.images * rows_ * pitch(chunk_)) * sizeof(T));
    resident_ = resident_blocks(im2col_kernel<T>, Im2colConfig::kThreads, 0);
    // a chunk's product is too short for a trial to tell what is fastest between others
    gemm_ = plan_gemm(gemm_size(chunk_), kChunked ? nullptr : column());
    weights_.assign(as<T>(matrix_of(weights, gemm_.a_transposed)));
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const ConvShape& s = problem_.shape;
    const T* const planes = static_cast<const T*>(in);
    T* const maps = static_cast<T*>(out);
    if (chunk_.images == s.n && chunk_.pixels == s.out_h() * s.out_w()) {
      {
        const StageTimer timer(stages, "im2col");
        fill(chunk_, planes);
      }
      const StageTimer timer(stages, "gemm");
      multiply(chunk_, maps);
    } else {  // in turn, too many to be timed one by one
      const StageTimer timer(stages, "im2col+gemm");
      for_each_chunk([&](const ColumnChunk& chunk) {
        fill(chunk, planes);
        multiply(chunk, maps);
      });
    }
    if (problem_.activation != Activation::none) {
      const StageTimer timer(stages, "activation");
      launch_epilogue_pass<T>("activation", s, problem_.activation, nullptr, maps);
    }
  }

 private:
  static int64_t round_up(int64_t v) { return ceil_div(v, Im2colConfig::kPitch) * Im2colConfig::kPitch; }
  static int64_t pitch(const ColumnChunk& chunk) { return round_up(chunk.pixels); }

  /// The weights, m x rows_ or transposed, the biases as the last of the rows_.
  static std::vector<double> matrix_of(const ConvWeights& w, bool transposed) {
    const int64_t taps = w.c_in * w.k_h * w.k_w, rows = taps + (w.bias.empty() ? 0 : 1);
    std::vector<double> all(static_cast<std::size_t>(w.c_out * rows));
    for (int64_t map = 0; map < w.c_out; ++map) {
      for (int64_t row = 0; row < rows; ++row) {
        all[static_cast<std::size_t>(transposed ? row * w.c_out + map : map * rows + row)] =
            row < taps ? w.values[static_cast<std::size_t>(map * taps + row)]
                       : w.bias[static_cast<std::size_t>(map)];
      }
    }
    return all;
  }

  /// The first chunk: as many images as the budget takes, or an equal share of the pixels of one.
  static ColumnChunk largest_chunk(const ConvProblem& p, bool bias) {
    const ConvShape& s = p.shape;
    const int64_t plane = s.out_h() * s.out_w(), rows = s.taps() + (bias ? 1 : 0);
    const int64_t budget =
        kChunked ? static_cast<int64_t>(l2_bytes() / 2 / sizeof(T)) : Im2colConfig::kMostTogether;
    const int64_t image = rows * round_up(plane);
    const int64_t images = std::clamp<int64_t>(budget / image, 1, std::min(s.n, Im2colConfig::kMostImages));
    if (!kChunked || image <= budget) return {0, images, 0, plane};
    const int64_t most =
        std::max(Im2colConfig::kPitch, budget / rows / Im2colConfig::kPitch * Im2colConfig::kPitch);
    return {0, 1, 0, std::min(plane, round_up(ceil_div(plane, ceil_div(plane, most))))};
  }

  template <class Body>
  void for_each_chunk(const Body& body) const {
    const int64_t n = problem_.shape.n, plane = problem_.shape.out_h() * problem_.shape.out_w();
    for (int64_t image = 0; image < n; image += chunk_.images)
      for (int64_t pixel = 0; pixel < plane; pixel += chunk_.pixels)
        body(ColumnChunk{image, std::min(chunk_.images, n - image), pixel,
                         std::min(chunk_.pixels, plane - pixel)});
  }

  static int64_t column_tiles(int64_t pixels) {
    return ceil_div(pixels, ColumnPixels<T>::kCount * Im2colConfig::kThreads);
  }
  void fill(const ColumnChunk& chunk, const T* in) const {
    const ConvShape& s = problem_.shape;
    const auto i = [](int64_t v) { return static_cast<int>(v); };
    const int64_t tiles = column_tiles(chunk.pixels);
    // few pixels leave the device idle where a block makes all taps of a channel
    const bool apart = tiles * s.c_in * chunk.images < resident_;
    const int64_t of_channel = apart ? s.k_h : 1;
    const int64_t parts = s.c_in * of_channel + (rows_ > s.taps() ? 1 : 0);
    TARGET::launch("im2col", im2col_kernel<T>, dim3(static_cast<unsigned>(tiles * parts * chunk.images)),
                   dim3(Im2colConfig::kThreads), 0, device_shape(s),
                   Im2colGrid{Divisor(tiles), Divisor(parts), Divisor(of_channel), Divisor(s.out_w()),
                              i(chunk.image), i(chunk.pixel), i(chunk.pixels), i(s.k_h / of_channel),
                              pitch(chunk), rows_ * pitch(chunk)},
                   in, column());
  }

  GemmSize gemm_size(const ColumnChunk& chunk) const {
    const ConvShape& s = problem_.shape;
    const int64_t plane = s.out_h() * s.out_w();
    return {s.c_out,      chunk.pixels,         rows_,          pitch(chunk), plane,
            chunk.images, rows_ * pitch(chunk), s.c_out * plane};
  }
  void multiply(const ColumnChunk& chunk, T* out) const {
    const ConvShape& s = problem_.shape;
    gemm(gemm_, gemm_size(chunk), weights_.data(), column(),
         out + chunk.image * s.c_out * s.out_h() * s.out_w() + chunk.pixel);
  }
  T* column() const { return static_cast<T*>(column_.get()); }

  ConvProblem problem_;
  int64_t rows_ = 0;  // of the column matrix: the taps, and the ones where there is a bias
  ColumnChunk chunk_{};
  int64_t resident_ = 1;  // blocks that the target runs at once
  GemmPlan gemm_;
  DeviceArray<T> weights_;
  DeviceMemory column_;
};

template <bool kChunked>
std::unique_ptr<Strategy> make_of(StrategyInfo info) {
  if (info.precision == Precision::fp64)
    return std::make_unique<Im2colGemm<double, kChunked>>(std::move(info));
  return std::make_unique<Im2colGemm<float, kChunked>>(std::move(info));
}

}  // namespace

std::unique_ptr<Strategy> make_im2col_gemm(StrategyInfo info) { return make_of<false>(std::move(info)); }
std::unique_ptr<Strategy> make_im2col_chunked(StrategyInfo info) { return make_of<true>(std::move(info)); }

}  // namespace convscope::TARGET
