// cudnn: the library that most people use, as they would use it: planar tensors, cudnnConvolutionForward.
//
// `cudnn` times every forward algorithm that takes the shape, in prepare(), and keeps the fastest; the other
// rows are the algorithms one by one. All are strict fp32 (CUDNN_FMA_MATH) but `cudnn_tf32`, which has the
// library's default since Ampere, where tensor cores may round the factors to 10 bits. (Not
// ..._ALLOW_CONVERSION, which lets it go down to fp16.) Bias and activation are a pass of ours, as in other
// programs.
//
// Limits: what cuDNN says, in its words.
//
// Error: one error bound where the products are summed as they are. The Fourier and Winograd algorithms mix
// neighbours (error_reach()): log2 of the plane's points as in fft.cu; 32 bounds within 16 pixels for
// whatever tiles are in use. TF32: factors rounded or cut to 10 bits, 2^-10 of each at most, so 2^-9 of sum
// |w||x|, which is 2^15 / n error bounds of n 2^-24.

#include "kernels/targets/cuda.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "kernels/strategies/costs.h"
#include "kernels/strategies/epilogue_pass.cuh"
#include "kernels/strategies/fft_plan.h"
#include "kernels/targets/cuda_event.h"

#if __has_include(<cudnn.h>)
#include "kernels/targets/cudnn_operation.h"
#include "kernels/targets/host_runtime.h"

namespace convscope::cuda {
namespace {

/// How far an algorithm's errors go.
enum class Mixing { none, tile, plane };

struct CudnnAlgorithm {
  cudnnConvolutionFwdAlgo_t algorithm;
  const char* stage;  // names what was chosen, in the timings
  Mixing mixing;
};
constexpr CudnnAlgorithm kImplicitGemm{CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, "cudnn implicit_gemm",
                                       Mixing::none};
constexpr CudnnAlgorithm kImplicitPrecompGemm{CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                                              "cudnn implicit_precomp_gemm", Mixing::none};
constexpr CudnnAlgorithm kGemm{CUDNN_CONVOLUTION_FWD_ALGO_GEMM, "cudnn gemm", Mixing::none};
constexpr CudnnAlgorithm kDirect{CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, "cudnn direct", Mixing::none};
constexpr CudnnAlgorithm kFft{CUDNN_CONVOLUTION_FWD_ALGO_FFT, "cudnn fft", Mixing::plane};
constexpr CudnnAlgorithm kFftTiling{CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, "cudnn fft_tiling", Mixing::plane};
constexpr CudnnAlgorithm kWinograd{CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, "cudnn winograd", Mixing::tile};
constexpr CudnnAlgorithm kWinogradNonfused{CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED,
                                           "cudnn winograd_nonfused", Mixing::tile};
constexpr CudnnAlgorithm kAll[] = {kImplicitGemm, kImplicitPrecompGemm, kGemm,     kDirect,
                                   kFft,          kFftTiling,           kWinograd, kWinogradNonfused};

/// A row of the registry: one algorithm, or the fastest of all; strict, or with TF32 where cuDNN likes.
struct CudnnChoice {
  const CudnnAlgorithm* only = nullptr;
  cudnnMathType_t math = CUDNN_FMA_MATH;
};

struct CudnnConfig {
  static constexpr int kRuns = 5;             // of which the median counts, after one to warm up
  static constexpr int64_t kTileKernel = 16;  // the widest kernel for tiles of 32x32
  static constexpr double kHopeless = 8;      // times the best so far: one run tells enough
  static constexpr int64_t kTileReach = 16, kPlaneReach = int64_t{1} << 40;  // pixels
  static constexpr double kWinogradBounds = 32;
};

/// Device time of what `enqueue` puts on the stream.
template <class Enqueue>
float time_ms(const Enqueue& enqueue) {
  Event start, stop;
  start.record(stream());
  enqueue();
  stop.record(stream());
  stop.wait();
  return static_cast<float>(stop.ms_since(start));
}

template <class T>
class Cudnn final : public Strategy {
 public:
  Cudnn(StrategyInfo info, CudnnChoice choice) : Strategy(std::move(info)), choice_(choice) {}

  double error_bounds(const ConvProblem& p) const override {
    double bounds = 1;
    for (const CudnnAlgorithm& a : candidates()) {
      if (a.mixing == Mixing::tile) {
        // the larger the kernel, the larger the numbers in the transforms: 100 bounds were seen at 5x5 on an
        // H200
        const double growth = std::max(p.shape.k_h, p.shape.k_w) > 3 ? 16 : 1;
        bounds = std::max(bounds, growth * CudnnConfig::kWinogradBounds);
      }
      if (a.mixing == Mixing::plane)
        bounds = std::max(bounds, std::log2(static_cast<double>(fft_plane(p.shape).reals())));
    }
    if (choice_.math != CUDNN_FMA_MATH) bounds += 0x1p15 / static_cast<double>(p.shape.taps() + 1);
    return bounds;
  }

  int64_t error_reach(const ConvProblem&) const override {
    int64_t reach = 0;
    for (const CudnnAlgorithm& a : candidates())
      reach = std::max(reach, a.mixing == Mixing::plane  ? CudnnConfig::kPlaneReach
                              : a.mixing == Mixing::tile ? CudnnConfig::kTileReach
                                                         : 0);
    return reach;
  }

  Cost cost(const ConvProblem& p, const ConvWeights& weights) const override {
    const Cost cost = library_cost(p.shape, info().precision, "cuDNN");
    const bool bias = !weights.bias.empty(), activation = p.activation != Activation::none;
    if (!bias && !activation) return cost;
    return with_output_pass(cost, p.shape, info().precision,
                            !bias        ? "the activation"
                            : activation ? "bias and activation"
                                         : "the bias");
  }

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    if (p.rounding == Rounding::separate) return "cuDNN uses fused multiply-add; choose rounding=fused";
    if (auto why = refuses_size(p.shape, epilogue_pass_blocks(p.shape))) return why;
    try {
      const CudnnOperation operation(p.shape, info().precision, choice_.math);
      std::string first;
      for (const CudnnAlgorithm& a : candidates()) {
        std::size_t bytes = 0;
        const std::string why = refuses_algorithm(a, operation, p.shape, bytes);
        if (why.empty()) return std::nullopt;
        if (first.empty()) first = why;
      }
      return first;
    } catch (const Error& e) {
      return e.what();
    }
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    weights_.assign(as<T>(weights.values));
    bias_.assign(as<T>(weights.bias));
    operation_.emplace(problem.shape, info().precision, choice_.math);
    workspace_ = {};
    choose();
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const ConvShape& s = problem_.shape;
    {
      const StageTimer timer(stages, chosen_->stage);
      check_cudnn(operation_->run(chosen_->algorithm, static_cast<const T*>(in), weights_.data(),
                                  workspace_.get(), workspace_bytes_, static_cast<T*>(out)),
                  chosen_->stage);
    }
    if (bias_.size() > 0 || problem_.activation != Activation::none) {
      const StageTimer timer(stages, "bias");
      launch_epilogue_pass<T>("bias", s, problem_.activation, bias_.size() == 0 ? nullptr : bias_.data(),
                              static_cast<T*>(out));
    }
  }

 private:
  std::span<const CudnnAlgorithm> candidates() const {
    return choice_.only == nullptr ? std::span<const CudnnAlgorithm>(kAll)
                                   : std::span<const CudnnAlgorithm>(choice_.only, 1);
  }

  /// Why not, in words; empty where the algorithm takes the shape. `bytes`: of its workspace.
  static std::string refuses_algorithm(const CudnnAlgorithm& a, const CudnnOperation& operation,
                                       const ConvShape& s, std::size_t& bytes) {
    const int64_t side = std::max(s.k_h, s.k_w);
    if (a.algorithm == CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING && side > CudnnConfig::kTileKernel) {
      return "FFT_TILING's tiles of 32x32 hold " + std::to_string(33 - side) +
             " new outputs a side with this kernel (1080p with 31x31 takes 7 s on an H200)";
    }
    return operation.refuses(a.algorithm, bytes);
  }

  /// Runs every algorithm that takes the shape, on an input and an output of its own, and keeps the fastest.
  void choose() {
    const ConvShape& s = problem_.shape;
    const std::size_t in_bytes = static_cast<std::size_t>(s.input_size()) * sizeof(T);
    const DeviceMemory in(in_bytes), out(static_cast<std::size_t>(s.output_size()) * sizeof(T));
    check(cudaMemsetAsync(in.get(), 0x3c, in_bytes, stream()), "input to time with");  // 0.0115 everywhere
    float best = std::numeric_limits<float>::infinity();
    std::string refusals;
    for (const CudnnAlgorithm& a : candidates()) {
      std::size_t bytes = 0;
      std::string why = refuses_algorithm(a, *operation_, s, bytes);
      if (why.empty()) {
        try {
          DeviceMemory workspace(bytes);
          const float ms = median_ms(a, in, workspace, bytes, out, best);
          if (ms < best) {
            best = ms;
            chosen_ = &a;
            workspace_bytes_ = bytes;
            workspace_ = std::move(workspace);
          }
        } catch (const Error& e) {
          if (cuda_unavailable()) throw;
          why = e.what();
        }
      }
      if (!why.empty() && refusals.empty()) refusals = why;
    }
    if (best == std::numeric_limits<float>::infinity()) throw Error(info().name + " refuses: " + refusals);
  }

  float median_ms(const CudnnAlgorithm& a, const DeviceMemory& in, const DeviceMemory& workspace,
                  std::size_t bytes, const DeviceMemory& out, float best) const {
    const auto run = [&] {
      check_cudnn(operation_->run(a.algorithm, static_cast<const T*>(in.get()), weights_.data(),
                                  workspace.get(), bytes, static_cast<T*>(out.get())),
                  a.stage);
    };
    const float first = time_ms(run);
    if (first > CudnnConfig::kHopeless * best) return first;
    float ms[CudnnConfig::kRuns];
    for (float& each : ms) each = time_ms(run);
    std::sort(std::begin(ms), std::end(ms));
    return ms[CudnnConfig::kRuns / 2];
  }

  CudnnChoice choice_;
  ConvProblem problem_;
  DeviceArray<T> weights_, bias_;
  std::optional<CudnnOperation> operation_;
  const CudnnAlgorithm* chosen_ = nullptr;
  DeviceMemory workspace_;
  std::size_t workspace_bytes_ = 0;
};

std::unique_ptr<Strategy> make_choice(StrategyInfo info, CudnnChoice choice) {
  if (info.precision == Precision::fp64) return std::make_unique<Cudnn<double>>(std::move(info), choice);
  return std::make_unique<Cudnn<float>>(std::move(info), choice);
}

}  // namespace

std::optional<std::string> cudnn_missing() {
  try {
    cudnn();
    return std::nullopt;
  } catch (const Error& e) {
    return e.what();
  }
}

#define MAKE_CUDNN(name, ...)                                \
  std::unique_ptr<Strategy> make_##name(StrategyInfo info) { \
    return make_choice(std::move(info), {__VA_ARGS__});      \
  }

#else

namespace convscope::cuda {

std::optional<std::string> cudnn_missing() { return "this build was made without cuDNN's header (cudnn.h)"; }

#define MAKE_CUDNN(name, ...) \
  std::unique_ptr<Strategy> make_##name(StrategyInfo) { throw Error(*cudnn_missing()); }

#endif

MAKE_CUDNN(cudnn, nullptr)
MAKE_CUDNN(cudnn_tf32, nullptr, CUDNN_DEFAULT_MATH)
MAKE_CUDNN(cudnn_implicit_gemm, &kImplicitGemm)
MAKE_CUDNN(cudnn_precomp_gemm, &kImplicitPrecompGemm)
MAKE_CUDNN(cudnn_gemm, &kGemm)
MAKE_CUDNN(cudnn_fft, &kFft)
MAKE_CUDNN(cudnn_fft_tiling, &kFftTiling)
MAKE_CUDNN(cudnn_winograd, &kWinograd)
// WINOGRAD_NONFUSED has no row: on an H200 (cuDNN 9.19) it made finite values of NaN and Inf.

}  // namespace convscope::cuda
