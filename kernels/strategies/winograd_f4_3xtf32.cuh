#pragma once
// Winograd's F(4x4,3x3) in three kernels, whose products run on tensor cores in 3xTF32.
//
// Lavin and Gray, Fast Algorithms for Convolutional Neural Networks (2015), section 4.1: transformed tiles go
// to memory as 36 matrices of channels by tiles, the filters' (transformed once, on the host, in double) are
// 36 of maps by channels; their products go to memory too and are transformed back. So each is a matrix
// product of full size, by the kernel of implicit_gemm_3xtf32: 2.25 products an output and channel instead
// of 9, three times over. The price: for each pixel 2.25 values a channel and 2.25 a map are written and read
// in between, which pays where channels and maps are many.
//
// Limits: 3x3 kernels, stride 1, dilation 1, compute capability 9.0, 16 GiB between the kernels.

#include <algorithm>

#include "kernels/strategies/costs.h"
#include "kernels/strategies/implicit_gemm_tensor_plan.h"
#include "kernels/strategies/implicit_gemm_wgmma.cuh"
#include "kernels/strategies/winograd_passes.cuh"
#include "kernels/strategies/winograd_products_plan.h"

namespace convscope::TARGET {
namespace {

class WinogradProducts final : public Strategy {
 public:
  explicit WinogradProducts(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    if (auto why = lacks_warpgroups()) return why;
    if (auto why = refuses_rounding(p)) return why;
    return refuses_winograd_products(p.shape, static_cast<int64_t>(max_shared_bytes()));
  }

  /// What winograd_f4 states, and what the products add: tensor cores may cut off the sum of a position 30
  /// times for 8 channels, each time 2^-23 of its largest term (tf32_error_bounds()), always towards zero.
  /// Where all channels are alike and no cut meets one of the other sign, random values of 3 to 256 channels
  /// came to 1.9 bounds more than by winograd_f4; where channels differ, to 0.6.
  double error_bounds(const ConvProblem& p) const override {
    return std::max(1.0, 8.0 / static_cast<double>(p.shape.c_in)) + 4;
  }
  /// A tile is as wide as a window and three pixels more, on either side.
  int64_t error_reach(const ConvProblem&) const override { return WinogradPassConfig::kM - 1; }

  Cost cost(const ConvProblem& p, const ConvWeights&) const override {
    return winograd_products_cost(p.shape, info().precision, WinogradPassConfig::kM);
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    if (const auto why = refuses(problem)) throw Error(info().name + " refuses: " + *why);
    const WinogradProductsPlan plan(problem.shape);
    const WgmmaPlan kernel = wgmma_plan(plan.products, true);
    const std::vector<float> filters =
        winograd_products_weights(plan, kernel, weights, transformed_filter<WinogradPassConfig::kM>);
    multiply_.prepare(plan.products, kernel, filters,
                      static_cast<int64_t>(filters.size()) / WinogradProductsPlan::kPositions);
    transformed_ = DeviceMemory(static_cast<std::size_t>(plan.transformed_size()) * sizeof(float));
    products_ = DeviceMemory(static_cast<std::size_t>(plan.products_size()) * sizeof(float));
    bias_.assign(as<float>(weights.bias));
    problem_ = problem;
    tiles_ = {Divisor(plan.across), Divisor(plan.down), Divisor(plan.pitch / WinogradPassConfig::kThreads),
              static_cast<int>(plan.tiles), plan.pitch};
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const ConvShape& s = problem_.shape;
    auto* const transformed = static_cast<float*>(transformed_.get());
    auto* const products = static_cast<float*>(products_.get());
    const float* const bias = bias_.size() == 0 ? nullptr : bias_.data();
    {
      const StageTimer timer(stages, "input_transform");
      TARGET::launch("input_transform", winograd_input_kernel, blocks_of(s.c_in),
                     dim3(WinogradPassConfig::kThreads), 0, device_shape(s), tiles_,
                     static_cast<const float*>(in), transformed);
    }
    {
      const StageTimer timer(stages, "products");
      multiply_.launch("products", Activation::none, transformed, nullptr, products);
    }
    const StageTimer timer(stages, "output_transform");
    TARGET::launch("output_transform", winograd_output_kernel, blocks_of(s.c_out),
                   dim3(WinogradPassConfig::kThreads), WinogradPassConfig::kSharedBytes, device_shape(s),
                   tiles_, problem_.activation, products, bias, static_cast<float*>(out));
  }

 private:
  dim3 blocks_of(int64_t planes) const {
    return dim3(static_cast<unsigned>(tiles_.pitch / WinogradPassConfig::kThreads * planes));
  }

  ConvProblem problem_;
  WinogradTiles tiles_{};
  WgmmaProducts<true> multiply_;
  DeviceMemory transformed_, products_;
  DeviceArray<float> bias_;
};

}  // namespace

std::unique_ptr<Strategy> make_winograd_f4_3xtf32(StrategyInfo info) {
  return std::make_unique<WinogradProducts>(std::move(info));
}

}  // namespace convscope::TARGET
