#pragma once
// The formulas that the suites of the cpu target hold it against, and a run of one strategy.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kernels/compare.h"
#include "kernels/error.h"
#include "kernels/registry.h"

namespace convscope::cpu_testing {

template <class T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
constexpr Precision kPrecision = sizeof(T) == 8 ? Precision::fp64 : Precision::fp32;

/// Visits w and x of each tap of an output value in the order c, i, j; padded zeros included.
template <class T, class Visit>
void for_each_tap(const ConvShape& s, const ConvWeights& w, const std::vector<T>& in, int64_t b, int64_t o,
                  int64_t y, int64_t x, const Visit& visit) {
  for (int64_t c = 0; c < s.c_in; ++c)
    for (int64_t i = 0; i < s.k_h; ++i)
      for (int64_t j = 0; j < s.k_w; ++j) {
        const int64_t row = y * s.stride.y - s.pad.y + i * s.dilation.y;
        const int64_t column = x * s.stride.x - s.pad.x + j * s.dilation.x;
        const bool inside = 0 <= row && row < s.h && 0 <= column && column < s.w;
        visit(static_cast<T>(w.at(o, c, i, j)),
              inside ? in[static_cast<std::size_t>(((b * s.c_in + c) * s.h + row) * s.w + column)] : T(0));
      }
}

/// value(b, o, y, x) for every output, in memory order.
template <class T>
std::vector<T> tabulate(const ConvShape& s,
                        const std::function<T(int64_t, int64_t, int64_t, int64_t)>& value) {
  std::vector<T> out;
  for (int64_t b = 0; b < s.n; ++b)
    for (int64_t o = 0; o < s.c_out; ++o)
      for (int64_t y = 0; y < s.out_h(); ++y)
        for (int64_t x = 0; x < s.out_w(); ++x) out.push_back(value(b, o, y, x));
  return out;
}

/// The operation in long double, rounded once.
template <class T>
std::vector<T> exact(const ConvProblem& p, const ConvWeights& w, const std::vector<T>& in) {
  return tabulate<T>(p.shape, [&](int64_t b, int64_t o, int64_t y, int64_t x) {
    long double sum = 0;
    for_each_tap(p.shape, w, in, b, o, y, x, [&](T a, T v) { sum += static_cast<long double>(a) * v; });
    if (!w.bias.empty()) sum += static_cast<T>(w.bias[static_cast<std::size_t>(o)]);
    if (p.activation == Activation::relu && sum < 0) sum = 0;
    if (p.activation == Activation::sigmoid) sum = 1 / (1 + std::exp(-sum));
    if (p.activation == Activation::tanh) sum = std::tanh(sum);
    return static_cast<T>(sum);
  });
}

/// The stated order of the direct kernel, each rounding spelled out.
template <class T>
std::vector<T> in_order(const ConvProblem& p, const ConvWeights& w, const std::vector<T>& in) {
  return tabulate<T>(p.shape, [&](int64_t b, int64_t o, int64_t y, int64_t x) {
    volatile T acc = 0;  // volatile: nothing is contracted or reordered here
    for_each_tap(p.shape, w, in, b, o, y, x, [&](T a, T v) {
      if (p.rounding == Rounding::fused) {
        acc = std::fma(a, v, static_cast<T>(acc));
      } else {
        volatile T product = a * v;
        acc = product + acc;
      }
    });
    if (!w.bias.empty()) acc = acc + static_cast<T>(w.bias[static_cast<std::size_t>(o)]);
    if (p.activation == Activation::relu && acc < 0) acc = 0;
    return static_cast<T>(acc);
  });
}

inline std::unique_ptr<Strategy> make(const std::string& name, Precision precision) {
  const RegistryRow* row = find_strategy(name, Target::cpu, precision);
  return row ? row->make() : nullptr;
}

template <class T>
std::vector<T> launch(Strategy& strategy, const ConvShape& s, const std::vector<T>& in) {
  constexpr std::size_t kGuard = 16;
  HostStages stages;
  EXPECT_EQ(in.size(), static_cast<std::size_t>(s.input_size()));
  std::vector<T> out(static_cast<std::size_t>(s.output_size()) + kGuard, kNan<T>);
  for (std::size_t k = 0; k < kGuard; ++k) out[out.size() - 1 - k] = T(-777);
  strategy.launch(in.data(), out.data(), stages);
  for (std::size_t k = 0; k < kGuard; ++k)
    EXPECT_EQ(out[out.size() - 1 - k], T(-777)) << "wrote past its output";
  out.resize(out.size() - kGuard);
  return out;
}

template <class T>
std::vector<T> run(const std::string& name, const ConvProblem& p, const ConvWeights& w,
                   const std::vector<T>& in) {
  const auto strategy = make(name, kPrecision<T>);
  strategy->prepare(p, w);
  return launch(*strategy, p.shape, in);
}

/// Every strategy of the target with each rounding that it takes.
template <class T>
void for_each_strategy(const std::function<void(const std::string&, Rounding)>& body) {
  for (const char* name : {"reference", "scalar", "onednn"}) {
    const auto strategy = make(name, kPrecision<T>);
    if (!strategy) continue;
    for (const Rounding rounding : {Rounding::fused, Rounding::separate}) {
      if (strategy->refuses({{}, Activation::none, rounding})) continue;
      SCOPED_TRACE(::testing::Message() << strategy->info().id() << " " << to_string(rounding));
      body(name, rounding);
    }
  }
}

inline ConvWeights weights_of(const ConvShape& s, std::vector<double> values, std::vector<double> bias = {}) {
  return {s.c_out, s.c_in, s.k_h, s.k_w, std::move(values), std::move(bias)};
}
inline ConvWeights ones(const ConvShape& s) {
  return weights_of(s, std::vector<double>(static_cast<std::size_t>(s.weight_size()), 1.0));
}

template <class T>
void expect_same(const std::vector<T>& got, const std::vector<T>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < got.size(); ++k)
    ASSERT_TRUE(got[k] == expected[k] || (std::isnan(got[k]) && std::isnan(expected[k])))
        << "[" << k << "] is " << got[k] << ", expected " << expected[k];
}

}  // namespace convscope::cpu_testing
