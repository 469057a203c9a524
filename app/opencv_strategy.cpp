// opencv: cv::filter2D as one would write it, a call for each map and input channel, the results added up.
// OpenCV correlates like us, and its constant border is zeros. It knows neither strides nor dilation: a
// stride takes every so-manieth value of the full result; a dilated kernel is spread with zeros.
//
// From 50 taps on (130 in fp32 with SSE3) filter2D goes by way of Fourier transforms, in double: a large
// value then disturbs its whole plane (error_reach), in fp32 by less than a rounding, in fp64 by
// log2(points). Below, it leaves taps of weight 0 out of the sum; where they meet NaN or Inf, which make NaN
// of 0, the result is mended. filter2D allocates inside each call.
#include "app/opencv_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "kernels/parallel.h"
#include "kernels/registry.h"
#include "kernels/strategies/costs.h"
#include "kernels/strategies/host_activation.h"
#include "kernels/strategies/validate.h"

namespace convscope {
namespace {

constexpr int64_t kTransformedFrom = 50;                 // taps, the spread ones included
constexpr int64_t kEverywhere = int64_t{1} << 40;        // pixels: no image is as wide
constexpr int64_t kMostSpreadValues = int64_t{1} << 26;  // of all kernels: 256 MiB of floats

/// What a kernel covers with its dilation.
Axes extent(const ConvShape& s) { return {(s.k_h - 1) * s.dilation.y + 1, (s.k_w - 1) * s.dilation.x + 1}; }

/// filter2D's result has the size of its input. Where a padded result would be larger, the zeros are made in
/// memory.
bool needs_padded_planes(const ConvShape& s) {
  const Axes e = extent(s);
  return 2 * s.pad.y > e.y - 1 || 2 * s.pad.x > e.x - 1;
}

bool transforms(const ConvShape& s) { return extent(s).y * extent(s).x >= kTransformedFrom; }

struct Position {
  int64_t y, x;
};

template <class T>
class OpenCv final : public Strategy {
 public:
  explicit OpenCv(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& problem) const override {
    const ConvShape& s = problem.shape;
    if (problem.rounding == Rounding::separate)
      return "OpenCV chooses by itself where to fuse multiply and add; choose rounding=fused";
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (s.h + 2 * s.pad.y > kMost || s.w + 2 * s.pad.x > kMost)
      return fmt::format(
          "OpenCV counts pixels in 32 bits: {}x{} with its padding, expected sides of at most {}",
          s.h + 2 * s.pad.y, s.w + 2 * s.pad.x, kMost);
    const Axes e = extent(s);
    if (s.dilation != Axes{1, 1} && e.y * e.x > kMostSpreadValues / (s.c_out * s.c_in))
      return fmt::format(
          "OpenCV knows no dilation: {} kernels spread with zeros over {}x{} pixels would have {} values, "
          "expected at most {}",
          s.c_out * s.c_in, e.y, e.x, s.c_out * s.c_in * e.y * e.x, kMostSpreadValues);
    return std::nullopt;
  }

  double error_bounds(const ConvProblem& problem) const override {
    const ConvShape& s = problem.shape;
    if (!transforms(s) || sizeof(T) == sizeof(float)) return 1;
    const double points = static_cast<double>(s.h + 2 * s.pad.y + extent(s).y) *
                          static_cast<double>(s.w + 2 * s.pad.x + extent(s).x);
    return std::log2(points);
  }
  int64_t error_reach(const ConvProblem& problem) const override {
    return transforms(problem.shape) ? kEverywhere : 0;
  }

  Cost cost(const ConvProblem& problem, const ConvWeights&) const override {
    const ConvShape& s = problem.shape;
    const double calls = static_cast<double>(s.n * s.c_out * s.c_in),
                 maps = static_cast<double>(s.n * s.c_out);
    const double plane = plane_values(s), width = sizeof(T);
    // each call reads a plane and writes one; from the second channel on two are read and one is written
    const double values =
        calls * 2 * plane + (calls - maps) * 3 * plane + static_cast<double>(s.weight_size());
    const bool thinned = s.stride != Axes{1, 1};
    return {.bytes = width * (values + (thinned ? 2 * static_cast<double>(s.output_size()) : 0)),
            .multiply_adds = calls * plane * static_cast<double>(s.k_h * s.k_w),
            .launches = calls,
            .note = fmt::format("a call for each map and channel, whose results are added up{}{}",
                                thinned ? ", at every pixel whatever the stride" : "",
                                transforms(s) ? "; its Fourier transforms are not counted" : "")};
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    cpu::validate(*this, problem, weights);
    problem_ = problem;
    weights_.assign(weights.values.begin(), weights.values.end());
    bias_.assign(weights.bias.begin(), weights.bias.end());
    mends_ = std::find(weights_.begin(), weights_.end(), T(0)) != weights_.end();
    spread_kernels();
    const ConvShape& s = problem.shape;
    padded_.clear();
    if (needs_padded_planes(s)) {
      for (int64_t p = 0; p < s.n * s.c_in; ++p) padded_.push_back(empty_plane());
    }
    const int64_t maps = s.n * s.c_out;
    grain_ = (maps + thread_count() - 1) / thread_count();
    scratch_.clear();
    for (int64_t first = 0; first < maps; first += grain_) scratch_.push_back({empty_plane(), empty_plane()});
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const ConvShape& s = problem_.shape;
    const T* const values = static_cast<const T*>(in);
    try {
      if (!padded_.empty()) {
        const StageTimer timer(stages, "opencv pad");
        parallel_for(s.n * s.c_in, 1, [&](int64_t begin, int64_t) { pad(values, begin); });
      }
      const StageTimer timer(stages, "opencv");
      const std::vector<std::vector<Position>> unusual =
          mends_ ? not_finite(values) : decltype(not_finite(values))();
      parallel_for(s.n * s.c_out, grain_, [&](int64_t begin, int64_t end) {
        Scratch& scratch = scratch_[static_cast<std::size_t>(begin / grain_)];
        for (int64_t map = begin; map < end; ++map) {
          T* const to = static_cast<T*>(out) + map * s.out_h() * s.out_w();
          convolve(values, map, scratch, to);
          if (mends_) mend(unusual, map, to);
          cpu::activate(problem_.activation, to, s.out_h() * s.out_w());
        }
      });
    } catch (const cv::Exception& e) {
      throw Error(fmt::format("OpenCV cannot run {}: {}", describe(s), e.err));
    }
  }

 private:
  static constexpr int kType = sizeof(T) == 8 ? CV_64F : CV_32F;
  struct Scratch {
    cv::Mat sum, part;
  };

  static double plane_values(const ConvShape& s) {
    const bool padded = needs_padded_planes(s);
    return static_cast<double>(s.h + (padded ? 2 * s.pad.y : 0)) *
           static_cast<double>(s.w + (padded ? 2 * s.pad.x : 0));
  }
  cv::Mat empty_plane() const {
    const ConvShape& s = problem_.shape;
    const bool padded = needs_padded_planes(s);
    return cv::Mat(static_cast<int>(s.h + (padded ? 2 * s.pad.y : 0)),
                   static_cast<int>(s.w + (padded ? 2 * s.pad.x : 0)), kType);
  }
  cv::Mat plane(const T* values, int64_t p) const {
    const ConvShape& s = problem_.shape;
    return cv::Mat(static_cast<int>(s.h), static_cast<int>(s.w), kType,
                   const_cast<T*>(values + p * s.h * s.w));
  }

  /// [map][channel], taps a dilation apart and zeros between.
  void spread_kernels() {
    const ConvShape& s = problem_.shape;
    const Axes e = extent(s);
    kernels_.clear();
    const T* w = weights_.data();
    for (int64_t pair = 0; pair < s.c_out * s.c_in; ++pair) {
      kernels_.push_back(cv::Mat::zeros(static_cast<int>(e.y), static_cast<int>(e.x), kType));
      for (int64_t i = 0; i < s.k_h; ++i)
        for (int64_t j = 0; j < s.k_w; ++j)
          kernels_.back().template at<T>(static_cast<int>(i * s.dilation.y),
                                         static_cast<int>(j * s.dilation.x)) = *w++;
    }
  }

  void pad(const T* values, int64_t p) {
    const auto y = static_cast<int>(problem_.shape.pad.y), x = static_cast<int>(problem_.shape.pad.x);
    cv::copyMakeBorder(plane(values, p), padded_[static_cast<std::size_t>(p)], y, y, x, x,
                       cv::BORDER_CONSTANT);
  }

  void convolve(const T* values, int64_t map, Scratch& scratch, T* out) {
    const ConvShape& s = problem_.shape;
    const bool padded = !padded_.empty();
    const cv::Point anchor =
        padded ? cv::Point(0, 0) : cv::Point(static_cast<int>(s.pad.x), static_cast<int>(s.pad.y));
    const int64_t image = map / s.c_out, o = map % s.c_out;
    for (int64_t c = 0; c < s.c_in; ++c) {
      const int64_t p = image * s.c_in + c;
      const cv::Mat in = padded ? padded_[static_cast<std::size_t>(p)] : plane(values, p);
      const double bias =
          c > 0 || bias_.empty() ? 0.0 : static_cast<double>(bias_[static_cast<std::size_t>(o)]);
      cv::Mat& to = c == 0 ? scratch.sum : scratch.part;
      cv::filter2D(in, to, kType, kernels_[static_cast<std::size_t>(o * s.c_in + c)], anchor, bias,
                   cv::BORDER_CONSTANT);
      if (c > 0) scratch.sum += scratch.part;
    }
    for (int64_t y = 0; y < s.out_h(); ++y) {
      const T* const row = scratch.sum.template ptr<T>(static_cast<int>(y * s.stride.y));
      if (s.stride.x == 1) {
        std::copy_n(row, s.out_w(), out + y * s.out_w());
      } else {
        for (int64_t x = 0; x < s.out_w(); ++x) out[y * s.out_w() + x] = row[x * s.stride.x];
      }
    }
  }

  /// Where the planes hold NaN and Inf.
  std::vector<std::vector<Position>> not_finite(const T* values) const {
    const ConvShape& s = problem_.shape;
    std::vector<std::vector<Position>> found(static_cast<std::size_t>(s.n * s.c_in));
    parallel_for(s.n * s.c_in, 1, [&](int64_t p, int64_t) {
      for (int64_t y = 0; y < s.h; ++y) {
        const T* const row = values + (p * s.h + y) * s.w;
        bool any = false;
        for (int64_t x = 0; x < s.w; ++x) any |= !(std::abs(row[x]) <= std::numeric_limits<T>::max());
        for (int64_t x = 0; any && x < s.w; ++x)
          if (!std::isfinite(row[x])) found[static_cast<std::size_t>(p)].push_back({y, x});
      }
    });
    return found;
  }

  /// NaN wherever a tap of weight 0 lies on NaN or Inf.
  void mend(const std::vector<std::vector<Position>>& unusual, int64_t map, T* out) const {
    const ConvShape& s = problem_.shape;
    const int64_t image = map / s.c_out, o = map % s.c_out;
    for (int64_t c = 0; c < s.c_in; ++c) {
      const T* const kernel = weights_.data() + (o * s.c_in + c) * s.k_h * s.k_w;
      for (const Position& at : unusual[static_cast<std::size_t>(image * s.c_in + c)]) {
        for (int64_t tap = 0; tap < s.k_h * s.k_w; ++tap) {
          if (kernel[tap] != T(0)) continue;
          const int64_t y = at.y + s.pad.y - tap / s.k_w * s.dilation.y;
          const int64_t x = at.x + s.pad.x - tap % s.k_w * s.dilation.x;
          if (y < 0 || x < 0 || y % s.stride.y != 0 || x % s.stride.x != 0) continue;
          if (y / s.stride.y >= s.out_h() || x / s.stride.x >= s.out_w()) continue;
          out[y / s.stride.y * s.out_w() + x / s.stride.x] = std::numeric_limits<T>::quiet_NaN();
        }
      }
    }
  }

  ConvProblem problem_;
  std::vector<T> weights_, bias_;
  bool mends_ = false;  // there are weights of 0
  std::vector<cv::Mat> kernels_;
  std::vector<cv::Mat> padded_;   // the input with its zeros, where it needs them
  int64_t grain_ = 1;             // maps that one thread makes
  std::vector<Scratch> scratch_;  // of each thread
};

std::unique_ptr<Strategy> make_opencv(const StrategyInfo& info) {
  if (info.precision == Precision::fp64) return std::make_unique<OpenCv<double>>(info);
  return std::make_unique<OpenCv<float>>(info);
}

}  // namespace

void register_opencv_strategies() {
  for (const Precision precision : {Precision::fp32, Precision::fp64}) {
    const StrategyInfo info{"opencv", Target::cpu, precision,
                            "OpenCV's filter2D for each map and input channel, the results added up."};
    register_strategy({info, [info] { return make_opencv(info); }});
  }
}

}  // namespace convscope
