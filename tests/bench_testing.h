// Strategies made by the tests of race and bench, to be known wrong, slow or unwilling.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/race.h"
#include "kernels/error.h"
#include "kernels/registry.h"

namespace convscope::bench_testing {

/// What a strategy of a test does beside the reference's sums (fp32, on the host).
struct Manner {
  std::string refusal{};                                     // refuses, where not empty
  std::string prepare_fault{};                               // prepare() throws it
  int sleep_ms = 0;                                          // a launch
  std::optional<ConvWeights> weights{};                      // computes with these
  std::function<void(const float* in, float* out)> after{};  // spoils or looks
};

class Made final : public Strategy {
 public:
  Made(StrategyInfo info, Manner manner) : Strategy(std::move(info)), manner_(std::move(manner)) {}

  std::optional<std::string> refuses(const ConvProblem&) const override {
    return manner_.refusal.empty() ? std::nullopt : std::optional(manner_.refusal);
  }
  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    if (!manner_.prepare_fault.empty()) throw Error(manner_.prepare_fault);
    inner_ = find_strategy("reference", Target::cpu, Precision::fp32)->make();
    inner_->prepare(problem, manner_.weights.value_or(weights));
  }
  void launch(const void* in, void* out, Stages& stages) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(manner_.sleep_ms));
    inner_->launch(in, out, stages);
    if (manner_.after) manner_.after(static_cast<const float*>(in), static_cast<float*>(out));
  }

 private:
  Manner manner_;
  std::unique_ptr<Strategy> inner_;
};

inline RegistryRow made_row(const std::string& name, const Manner& manner, Target target = Target::emulated) {
  const StrategyInfo info{name, target, Precision::fp32, "of a test"};
  return {info, [info, manner] { return std::make_unique<Made>(info, manner); }};
}

/// A race on 3 x h x w bytes counted up, with filters of 3x3.
inline bench::RaceRequest request_of(int64_t h, int64_t w, const std::vector<const RegistryRow*>& rows,
                                     PadAmounts border = {}, int64_t maps = 8) {
  auto op = std::make_shared<Operation>();
  op->pixels = {.type = PixelType::u8, .w = w, .h = h, .channels = 3, .planes = 3};
  op->border = border;
  const int64_t pad = border.none() ? 1 : 0;
  op->problem.shape = {
      1,          3,     h + border.top + border.bottom, w + border.left + border.right, maps, 3, 3, {1, 1},
      {pad, pad}, {1, 1}};
  op->weights = {maps, 3, 3, 3, {}, {}};
  for (int64_t i = 0; i < op->problem.shape.weight_size(); ++i)
    op->weights.values.push_back(static_cast<double>(i * 7 % 23 - 11) / 8);
  auto pixels = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(h * w * 3));
  for (std::size_t i = 0; i < pixels->size(); ++i) (*pixels)[i] = static_cast<std::byte>(i * 31 % 251);
  bench::RaceRequest request;
  request.operation = op;
  request.pixels = pixels;
  request.rows = rows;
  request.rounds = 5;
  request.most_seconds_a_row = 0.5;
  return request;
}

}  // namespace convscope::bench_testing
