#pragma once
// What the suites over strategies share: seeded data, the table of cases, and a run of one row on one case.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "kernels/chain.h"
#include "kernels/compare.h"
#include "kernels/error.h"
#include "kernels/registry.h"
#include "kernels/runtime.h"

namespace convscope::testing {

template <class T>
constexpr Precision precision_of() {
  return sizeof(T) == 8 ? Precision::fp64 : Precision::fp32;
}

/// Values in [-1, 1) with full mantissas, the same on every machine.
template <class T>
std::vector<T> random_values(std::size_t count, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<T> values(count);
  for (T& v : values) v = static_cast<T>(static_cast<double>(bits() >> 11) * 0x1p-52 - 1.0);
  return values;
}

inline ConvWeights random_weights(const ConvShape& s, uint64_t seed, bool bias) {
  // float values, so that both precisions hold the same weights
  const auto values = random_values<float>(static_cast<std::size_t>(s.weight_size()), seed);
  ConvWeights w{s.c_out, s.c_in, s.k_h, s.k_w, {values.begin(), values.end()}, {}};
  if (bias) {
    const auto b = random_values<float>(static_cast<std::size_t>(s.c_out), seed + 1);
    w.bias.assign(b.begin(), b.end());
  }
  return w;
}

inline ConvWeights constant_weights(const ConvShape& s, double value) {
  return {
      s.c_out, s.c_in, s.k_h, s.k_w, std::vector<double>(static_cast<std::size_t>(s.weight_size()), value),
      {}};
}

/// Runs a strategy on planar input over an output full of NaN, followed by a guard that must stay untouched.
template <class T>
std::vector<T> run(Runtime& runtime, const RegistryRow& row, const ConvProblem& problem,
                   const ConvWeights& weights, const std::vector<T>& in) {
  constexpr std::size_t kGuard = 64;
  const auto count = static_cast<std::size_t>(problem.shape.output_size());
  std::vector<T> out(count + kGuard, std::numeric_limits<T>::quiet_NaN());
  const auto in_memory = runtime.allocate(in.size() * sizeof(T));
  const auto out_memory = runtime.allocate(out.size() * sizeof(T));
  runtime.upload(in_memory->data(), in.data(), in.size() * sizeof(T));
  runtime.upload(out_memory->data(), out.data(), out.size() * sizeof(T));
  runtime.synchronise();
  const auto strategy = row.make();
  strategy->prepare(problem, weights);
  strategy->launch(in_memory->data(), out_memory->data(), runtime.stages());
  runtime.download(out.data(), out_memory->data(), out.size() * sizeof(T));
  for (std::size_t i = count; i < out.size(); ++i) EXPECT_TRUE(std::isnan(out[i])) << "wrote past its output";
  out.resize(count);
  return out;
}

/// Equal in every bit, any NaN being equal to any other.
template <class T>
::testing::AssertionResult same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size())
    return ::testing::AssertionFailure() << a.size() << " values against " << b.size();
  std::size_t different = 0, first = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0 && different++ == 0) first = i;
  }
  if (different == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << different << " of " << a.size() << " values differ, first ["
                                       << first << "] " << a[first] << " and " << b[first];
}

/// The error bounds of one input, computed once for each reach that a strategy asks for.
template <class T>
class BoundsWithin {
 public:
  BoundsWithin(const ConvShape& shape, const ConvWeights& weights, const std::vector<T>& in)
      : shape_(shape), weights_(weights), in_(in) {}

  Comparison compare_with(const std::vector<T>& expected, const std::vector<T>& result,
                          const Strategy& strategy, const ConvProblem& problem) {
    const int64_t reach = strategy.error_reach(problem);
    std::vector<float>& bound = of_reach_[reach];
    if (bound.empty()) {
      bound.resize(expected.size());
      error_bound_within(reach, shape_, weights_, precision_of<T>(), in_.data(), bound.data());
    }
    return compare<T>(result, expected, bound, {0, strategy.error_bounds(problem)});
  }

 private:
  const ConvShape& shape_;
  const ConvWeights& weights_;
  const std::vector<T>& in_;
  std::map<int64_t, std::vector<float>> of_reach_;
};

struct ConvCase {
  ConvShape shape;
  bool bias = false;
  Activation activation = Activation::none;
};
inline std::ostream& operator<<(std::ostream& os, const ConvCase& c) {
  return os << describe(c.shape) << (c.bias ? ", bias, " : ", ") << to_string(c.activation);
}

/// Sizes x kernels x strides in full; pad, dilation, batch, channels, bias and activation turn with a seeded
/// choice, and a combination whose kernel does not fit is left out. `largest`: pixels of the largest image
/// wanted.
inline std::vector<ConvCase> conv_cases(int64_t largest, int turns = 2) {
  const Axes sizes[] = {{1, 1}, {3, 4}, {12, 13}, {17, 33}, {61, 97}, {144, 123}, {1080, 1920}};
  const Axes kernels[] = {{1, 1}, {2, 2}, {3, 3}, {5, 5}, {7, 7}, {1, 7}, {7, 1}};
  const Axes strides[] = {{1, 1}, {2, 2}, {2, 3}};
  const Axes pads[] = {{0, 0}, {1, 1}, {3, 2}}, dilations[] = {{1, 1}, {2, 2}, {1, 3}};
  const int64_t batches[] = {1, 2, 3}, inputs[] = {1, 3, 5}, outputs[] = {1, 7, 16};
  const Activation activations[] = {Activation::none, Activation::relu, Activation::none};
  std::mt19937 choice(2026);
  const auto pick = [&choice](const auto& list) { return list[choice() % 3]; };
  std::vector<ConvCase> cases;
  for (const Axes size : sizes) {
    if (size.y * size.x > largest) continue;
    const bool large = size.y * size.x > 100000;
    for (const Axes kernel : kernels) {
      for (const Axes stride : strides) {
        for (int turn = 0; turn < (large ? 1 : turns); ++turn) {
          ConvCase c;
          c.shape = {large ? 1 : pick(batches),
                     pick(inputs),
                     size.y,
                     size.x,
                     pick(outputs),
                     kernel.y,
                     kernel.x,
                     stride,
                     pick(pads),
                     pick(dilations)};
          c.bias = choice() % 2 == 0;
          c.activation = pick(activations);
          if (!fault(c.shape)) cases.push_back(c);
        }
      }
    }
  }
  return cases;
}

}  // namespace convscope::testing
