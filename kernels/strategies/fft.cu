// Convolution theorem: the spectrum of the output is the spectrum of the input times the conjugate of the
// kernel's, summed over the channels. cuFFT, for the cuda target alone.
//
// The planes are padded with zeros to a size at which nothing wraps around into a wanted output (fft_plan.h),
// transformed, multiplied, summed, transformed back and cropped: strides and pads are in the crop, the
// dilation is in the kernel. Spectra of the filters are kept from prepare() on. The cost does not depend on
// the size of the kernel: about ten passes over each padded plane, and c_in c_out complex multiply-adds a
// frequency.
//
// Limits: memory, above all of c_in c_out spectra of the whole image's size.
//
// Error: norm-wise, log2(points) roundings of the largest sums of the plane (Higham, Accuracy and Stability,
// 2nd ed., section 24.1), whatever the size of the sum itself: error_reach(). One NaN or Inf reaches the
// whole plane. Outputs whose window misses the image are zeros exactly.

#include "kernels/targets/cuda.cuh"

#include <algorithm>
#include <cmath>

#include "kernels/strategies/costs.h"
#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"
#include "kernels/strategies/fft_plan.h"
#include "kernels/targets/cufft.h"
#include "kernels/targets/host_runtime.h"

namespace convscope::cuda {
namespace {

struct FftConfig {
  static constexpr int kThreads = 256;
  static constexpr int64_t kEverywhere = int64_t{1} << 40;  // pixels: no image is as wide
  static constexpr int kMaps = 4,
                       kImages = 4;  // products that a thread makes of a frequency, where there are so many
};

template <class T>
struct ComplexOf;
template <>
struct ComplexOf<float> {
  using type = float2;
};
template <>
struct ComplexOf<double> {
  using type = double2;
};
template <class T>
using Complex = typename ComplexOf<T>::type;

/// Blocks are numbered along a padded plane, plane after plane.
struct FftPadGrid {
  Divisor tiles, plane_w;
  int points;  // of a padded plane
};

template <class T>
__global__ void fft_pad_kernel(FftPadGrid g, int h, int w, In<T> in, Out<T> padded) {
  uint32_t block = blockIdx.x;
  const int at = static_cast<int>(g.tiles.take(block) * FftConfig::kThreads + threadIdx.x);
  if (at >= g.points) return;
  uint32_t point = static_cast<uint32_t>(at);
  const int x = static_cast<int>(g.plane_w.take(point)), y = static_cast<int>(point);
  const int64_t plane = block;
  padded[plane * g.points + at] = y < h && x < w ? in[(plane * h + y) * w + x] : T(0);
}

/// The filters' planes, taps a dilation apart from the corner on.
template <class T>
__global__ void fft_filter_kernel(FftPadGrid g, DeviceShape s, In<T> weights, Out<T> padded) {
  uint32_t block = blockIdx.x;
  const int at = static_cast<int>(g.tiles.take(block) * FftConfig::kThreads + threadIdx.x);
  if (at >= g.points) return;
  uint32_t point = static_cast<uint32_t>(at);
  const int x = static_cast<int>(g.plane_w.take(point)), y = static_cast<int>(point);
  const int i = y / s.dilation_y, j = x / s.dilation_x;
  const bool tap = i < s.k_h && j < s.k_w && i * s.dilation_y == y && j * s.dilation_x == x;
  const int64_t plane = block;
  padded[plane * g.points + at] = tap ? weights[(plane * s.k_h + i) * s.k_w + j] : T(0);
}

/// Blocks are numbered along a spectrum, then over groups of maps, then of images.
struct FftProductGrid {
  Divisor tiles, map_groups;
  int64_t frequencies;
  int images, c_in, c_out;
};

/// out[image][map] = scale * sum over c of in[image][c] * conj(filters[map][c]), frequency by frequency.
template <class T, int kImages>
__global__ void fft_product_kernel(FftProductGrid g, T scale, In<Complex<T>> in, In<Complex<T>> filters,
                                   Out<Complex<T>> out) {
  constexpr int kMaps = FftConfig::kMaps;
  uint32_t block = blockIdx.x;
  const int64_t f = int64_t{g.tiles.take(block)} * FftConfig::kThreads + threadIdx.x;
  const int first_map = static_cast<int>(g.map_groups.take(block)) * kMaps;
  const int first_image = static_cast<int>(block) * kImages;
  if (f >= g.frequencies) return;

  // Past the last image or map a thread reads the last again and stores nothing.
  const Complex<T>*x[kImages], *w[kMaps];
  for (int i = 0; i < kImages; ++i)
    x[i] = in + int64_t{min(first_image + i, g.images - 1)} * g.c_in * g.frequencies + f;
  for (int m = 0; m < kMaps; ++m)
    w[m] = filters + int64_t{min(first_map + m, g.c_out - 1)} * g.c_in * g.frequencies + f;
  Complex<T> sum[kImages][kMaps] = {};
  for (int64_t c = 0; c < g.c_in; ++c) {
    Complex<T> a[kImages], b[kMaps];
    for (int i = 0; i < kImages; ++i) a[i] = x[i][c * g.frequencies];
    for (int m = 0; m < kMaps; ++m) b[m] = w[m][c * g.frequencies];
    for (int i = 0; i < kImages; ++i) {
      for (int m = 0; m < kMaps; ++m) {
        sum[i][m].x = fma(a[i].x, b[m].x, fma(a[i].y, b[m].y, sum[i][m].x));
        sum[i][m].y = fma(a[i].y, b[m].x, fma(-a[i].x, b[m].y, sum[i][m].y));
      }
    }
  }
  for (int i = 0; i < kImages; ++i) {
    for (int m = 0; m < kMaps; ++m) {
      if (first_image + i >= g.images || first_map + m >= g.c_out) continue;
      const int64_t plane = int64_t{first_image + i} * g.c_out + first_map + m;
      out[plane * g.frequencies + f] = {sum[i][m].x * scale, sum[i][m].y * scale};
    }
  }
}

/// Blocks are numbered along an output plane, then over the maps, then over the images.
struct FftCropGrid {
  Divisor tiles, out_w, maps;
  int extent_y, extent_x;  // of the dilated kernel
  int plane_h, plane_w;
};

template <class T>
__global__ void fft_crop_kernel(DeviceShape s, FftCropGrid g, Activation activation, In<T> planes,
                                const T* bias, Out<T> out) {
  uint32_t block = blockIdx.x;
  const int64_t at = int64_t{g.tiles.take(block)} * FftConfig::kThreads + threadIdx.x;
  const int64_t plane = block;
  const int map = static_cast<int>(g.maps.take(block));
  if (at >= s.out_plane) return;
  uint32_t pixel = static_cast<uint32_t>(at);
  const int x = static_cast<int>(g.out_w.take(pixel)), y = static_cast<int>(pixel);
  const int lag_y = y * s.stride_y - s.pad_y, lag_x = x * s.stride_x - s.pad_x;
  const bool meets = lag_y > -g.extent_y && lag_y < s.h && lag_x > -g.extent_x && lag_x < s.w;
  const T* const from = planes + plane * g.plane_h * g.plane_w;
  const int64_t row = lag_y < 0 ? lag_y + g.plane_h : lag_y, column = lag_x < 0 ? lag_x + g.plane_w : lag_x;
  // a NaN of the plane's stays one where the window misses the image
  const T sum = meets ? from[row * g.plane_w + column] : from[0] * T(0);
  out[plane * s.out_plane + at] = finish(sum, bias == nullptr ? nullptr : bias + map, activation);
}

template <class T>
class Fft final : public Strategy {
 public:
  explicit Fft(StrategyInfo info) : Strategy(std::move(info)) {}

  double error_bounds(const ConvProblem& p) const override {
    return std::max(1.0, std::log2(static_cast<double>(fft_plane(p.shape).reals())));
  }
  int64_t error_reach(const ConvProblem&) const override { return FftConfig::kEverywhere; }

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    const ConvShape& s = p.shape;
    if (p.rounding == Rounding::separate)
      return "a Fourier transform has other products than the sum of the formula; choose rounding=fused";
    const FftPlane plane = fft_plane(s);
    constexpr int64_t kMost = (int64_t{1} << 31) - 1;
    if (plane.reals() > kMost || s.out_h() * s.out_w() > kMost)
      return "a plane of " + std::to_string(plane.h) + "x" + std::to_string(plane.w) +
             " values is beyond its 32-bit counters";
    const int64_t planes = std::max({s.n * s.c_in, s.n * s.c_out, s.c_in * s.c_out});
    if (auto why = refuses_size(s, std::max(tiles(plane.reals()), tiles(s.out_h() * s.out_w())) * planes))
      return why;
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "free memory");
    const Needs needs(s, plane);
    if (needs.bytes() > free)
      return "planes and spectra of " + std::to_string(plane.h) + "x" + std::to_string(plane.w) +
             " points, of " + std::to_string(s.c_in * s.c_out) + " kernels among them, need " +
             readable_bytes(needs.bytes()) + " of device memory, " + readable_bytes(free) + " are free";
    return std::nullopt;
  }

  Cost cost(const ConvProblem& p, const ConvWeights&) const override {
    return fft_cost(p.shape, info().precision, FftConfig::kMaps, p.shape.n == 1 ? 1 : FftConfig::kImages);
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    const ConvShape& s = problem.shape;
    plane_ = fft_plane(s);
    bias_.assign(as<T>(weights.bias));
    const Needs needs(s, plane_);
    reals_ = DeviceMemory(needs.reals);
    in_spectra_ = DeviceMemory(needs.in_spectra);
    out_spectra_ = DeviceMemory(needs.out_spectra);
    filter_spectra_ = DeviceMemory(needs.filter_spectra);
    const Precision precision = info().precision;
    forward_ = FftPlan(plane_, s.n * s.c_in, FftDirection::forward, precision);
    inverse_ = FftPlan(plane_, s.n * s.c_out, FftDirection::inverse, precision);
    work_ = DeviceMemory(std::max(forward_.work_bytes(), inverse_.work_bytes()));
    forward_.set_work_area(work_.get());
    inverse_.set_work_area(work_.get());
    transform_filters(weights);
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const ConvShape& s = problem_.shape;
    {
      const StageTimer timer(stages, "fft pad");
      cuda::launch("fft pad", fft_pad_kernel<T>, grid(tiles(plane_.reals()) * s.n * s.c_in),
                   dim3(FftConfig::kThreads), 0, pad_grid(), static_cast<int>(s.h), static_cast<int>(s.w),
                   static_cast<const T*>(in), reals());
    }
    {
      const StageTimer timer(stages, "fft forward");
      forward_.execute(reals_.get(), in_spectra_.get());
    }
    {
      const StageTimer timer(stages, "fft multiply");
      multiply();
    }
    {
      const StageTimer timer(stages, "fft inverse");
      inverse_.execute(out_spectra_.get(), reals_.get());
    }
    const StageTimer timer(stages, "fft crop");
    const auto i = [](int64_t v) { return static_cast<int>(v); };
    const int64_t out_tiles = tiles(s.out_h() * s.out_w());
    cuda::launch("fft crop", fft_crop_kernel<T>, grid(out_tiles * s.n * s.c_out), dim3(FftConfig::kThreads),
                 0, device_shape(s),
                 FftCropGrid{Divisor(out_tiles), Divisor(s.out_w()), Divisor(s.c_out),
                             i(kernel_extent(s.k_h, s.dilation.y)), i(kernel_extent(s.k_w, s.dilation.x)),
                             i(plane_.h), i(plane_.w)},
                 problem_.activation, reals(), bias_.size() == 0 ? nullptr : bias_.data(),
                 static_cast<T*>(out));
  }

 private:
  /// Bytes of the buffers, without cuFFT's work area.
  struct Needs {
    std::size_t reals, in_spectra, out_spectra, filter_spectra;
    Needs(const ConvShape& s, const FftPlane& plane) {
      const auto planes = [](int64_t count, int64_t values) {
        return static_cast<std::size_t>(count) * static_cast<std::size_t>(values) * sizeof(T);
      };
      reals = planes(s.n * std::max(s.c_in, s.c_out), plane.reals());
      in_spectra = planes(s.n * s.c_in, 2 * plane.complexes());
      out_spectra = planes(s.n * s.c_out, 2 * plane.complexes());
      filter_spectra = planes(s.c_in * s.c_out, 2 * plane.complexes());
    }
    std::size_t bytes() const { return reals + in_spectra + out_spectra + filter_spectra; }
  };

  static int64_t tiles(int64_t values) { return ceil_div(values, FftConfig::kThreads); }
  static dim3 grid(int64_t blocks) { return dim3(static_cast<unsigned>(blocks)); }
  T* reals() const { return static_cast<T*>(reals_.get()); }
  static Complex<T>* spectra(const DeviceMemory& memory) { return static_cast<Complex<T>*>(memory.get()); }
  FftPadGrid pad_grid() const {
    return {Divisor(tiles(plane_.reals())), Divisor(plane_.w), static_cast<int>(plane_.reals())};
  }

  /// As many filters at a time as reals_ holds planes; the last group goes back over some of the one before,
  /// so that one plan serves all.
  void transform_filters(const ConvWeights& weights) {
    const ConvShape& s = problem_.shape;
    const int64_t filters = s.c_in * s.c_out;
    const int64_t together = std::min(filters, s.n * std::max(s.c_in, s.c_out));
    DeviceArray<T> taps;
    taps.assign(as<T>(weights.values));
    FftPlan plan(plane_, together, FftDirection::forward, info().precision);
    const DeviceMemory work(plan.work_bytes());
    plan.set_work_area(work.get());
    for (int64_t next = 0; next < filters; next += together) {
      const int64_t first = std::min(next, filters - together);
      cuda::launch("fft filters", fft_filter_kernel<T>, grid(tiles(plane_.reals()) * together),
                   dim3(FftConfig::kThreads), 0, pad_grid(), device_shape(s),
                   taps.data() + first * s.k_h * s.k_w, reals());
      plan.execute(reals_.get(), spectra(filter_spectra_) + first * plane_.complexes());
    }
    check(cudaStreamSynchronize(stream()), "spectra of the filters");  // before plan, taps and work area go
  }

  void multiply() {
    const ConvShape& s = problem_.shape;
    const int64_t frequency_tiles = tiles(plane_.complexes()),
                  map_groups = ceil_div(s.c_out, FftConfig::kMaps);
    const int64_t images = s.n == 1 ? 1 : FftConfig::kImages;
    const auto kernel = s.n == 1 ? fft_product_kernel<T, 1> : fft_product_kernel<T, FftConfig::kImages>;
    cuda::launch("fft multiply", kernel, grid(frequency_tiles * map_groups * ceil_div(s.n, images)),
                 dim3(FftConfig::kThreads), 0,
                 FftProductGrid{Divisor(frequency_tiles), Divisor(map_groups), plane_.complexes(),
                                static_cast<int>(s.n), static_cast<int>(s.c_in), static_cast<int>(s.c_out)},
                 T(1) / static_cast<T>(plane_.reals()), spectra(in_spectra_), spectra(filter_spectra_),
                 spectra(out_spectra_));
  }

  ConvProblem problem_;
  FftPlane plane_;
  DeviceArray<T> bias_;
  DeviceMemory reals_;  // the padded input, then the output before it is cropped
  DeviceMemory in_spectra_, out_spectra_, filter_spectra_, work_;
  FftPlan forward_, inverse_;
};

}  // namespace

std::unique_ptr<Strategy> make_fft(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<Fft<double>>(std::move(info));
  return std::make_unique<Fft<float>>(std::move(info));
}

}  // namespace convscope::cuda
