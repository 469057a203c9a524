// The cpu target against formulas written out here, in long double or in float in the stated order.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/compare.h"
#include "kernels/error.h"
#include "kernels/registry.h"

namespace convscope {
namespace {

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

std::unique_ptr<Strategy> make(const std::string& name, Precision precision) {
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

ConvWeights weights_of(const ConvShape& s, std::vector<double> values, std::vector<double> bias = {}) {
  return {s.c_out, s.c_in, s.k_h, s.k_w, std::move(values), std::move(bias)};
}
ConvWeights ones(const ConvShape& s) {
  return weights_of(s, std::vector<double>(static_cast<std::size_t>(s.weight_size()), 1.0));
}

template <class T>
void expect_same(const std::vector<T>& got, const std::vector<T>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < got.size(); ++k)
    ASSERT_TRUE(got[k] == expected[k] || (std::isnan(got[k]) && std::isnan(expected[k])))
        << "[" << k << "] is " << got[k] << ", expected " << expected[k];
}

struct KnownCase {
  const char* name;
  ConvShape shape;
  std::vector<double> weights, in, expected;
  Activation activation = Activation::none;
};

std::vector<KnownCase> known_cases() {
  const std::vector<double> image{1, 2, 3, 4, 5, 6, 7, 8, 9}, box(9, 1.0), row5(5, 1.0);
  const ConvShape square{1, 1, 3, 3, 1, 3, 3, {1, 1}, {1, 1}};
  const double nan = kNan<double>;
  return {
      {"C12 correlation", square, {1, 0, 0, 0, 0, 0, 0, 0, 0}, image, {0, 0, 0, 0, 1, 2, 0, 4, 5}},
      {"C12 true convolution",
       square,
       flipped(weights_of(square, {1, 0, 0, 0, 0, 0, 0, 0, 0})).values,
       image,
       {5, 6, 0, 8, 9, 0, 0, 0, 0}},
      {"C13 no padding", {1, 1, 1, 4, 1, 1, 2}, {1, 10}, {1, 2, 3, 4}, {21, 32, 43}},
      {"C13 both anchors", {1, 1, 1, 4, 1, 1, 2, {1, 1}, {0, 1}}, {1, 10}, {1, 2, 3, 4}, {10, 21, 32, 43, 4}},
      {"C14 zero", {1, 1, 1, 5, 1, 1, 5, {1, 1}, {0, 2}}, row5, {1, 2, 3, 4, 5}, {6, 10, 15, 14, 12}},
      {"C18", {1, 1, 1, 4, 1, 1, 3, {1, 1}, {0, 1}}, {1, 1, 1}, {0, 0, 0, 1}, {0, 0, 1, 1}},
      {"C4 identity",
       square,
       {0, 0, 0, 0, 1, 0, 0, 0, 0},
       std::vector<double>(9, 4097),
       std::vector<double>(9, 4097)},
      {"C9 ReLU",
       {1, 1, 1, 6, 1, 1, 1},
       {1},
       {nan, -1, 0, 2, kInf, -kInf},
       {nan, 0, 0, 2, kInf, 0},
       Activation::relu},
      {"C10 tanh",
       {1, 1, 1, 9, 1, 1, 1},
       {1},
       {44, 45, 89, 100, -100, 2295, kInf, -kInf, nan},
       {1, 1, 1, 1, -1, 1, 1, -1, nan},
       Activation::tanh},
      {"sigmoid",
       {1, 1, 1, 6, 1, 1, 1},
       {1},
       {0, 100, -1000, kInf, -kInf, nan},
       {0.5, 1, 0, 1, 0, nan},
       Activation::sigmoid},
      {"padded zeros count: 0 * Inf",
       {1, 1, 1, 3, 1, 1, 3, {1, 1}, {0, 1}},
       {kInf, 1, 1},
       {1, 1, 1},
       {nan, kInf, kInf}},
      {"a zero weight counts: 0 * Inf", {1, 1, 1, 3, 1, 1, 2}, {0, 1}, {1, kInf, 1}, {kInf, nan}},
      {"pad beyond the kernel",
       {1, 1, 1, 1, 1, 1, 2, {1, 1}, {0, 4}},
       {1, 10},
       {3},
       {0, 0, 0, 30, 3, 0, 0, 0}},
      {"stride beyond the kernel",
       {1, 1, 1, 9, 1, 1, 2, {1, 4}},
       {1, 10},
       {1, 2, 3, 4, 5, 6, 7, 8, 9},
       {21, 65}},
      {"dilation", {1, 1, 1, 5, 1, 1, 3, {1, 1}, {0, 0}, {1, 2}}, {1, 10, 100}, {1, 2, 3, 4, 5}, {531}},
      {"channels, maps and batch",
       {2, 2, 1, 1, 2, 1, 1},
       {1, 10, 100, 1000},
       {1, 2, 3, 4},
       {21, 2100, 43, 4300}},
  };
}

template <class T>
void check_known_cases() {
  for (const KnownCase& c : known_cases()) {
    SCOPED_TRACE(c.name);
    for_each_strategy<T>([&](const std::string& name, Rounding rounding) {
      expect_same(run<T>(name, {c.shape, c.activation, rounding}, weights_of(c.shape, c.weights),
                         {c.in.begin(), c.in.end()}),
                  {c.expected.begin(), c.expected.end()});
    });
  }
}
TEST(Known, Fp32) { check_known_cases<float>(); }
TEST(Known, Fp64) { check_known_cases<double>(); }

TEST(Known, C5RoundingShows) {
  const ConvShape s{1, 1, 1, 2, 1, 1, 2};
  const ConvWeights w = weights_of(s, {-(1 + 0x1p-11), 1 + 0x1p-12});
  const std::vector<float> in{1, 1 + 0x1p-12f};
  EXPECT_EQ(run("scalar", {s, Activation::none, Rounding::separate}, w, in)[0], 0.0f);
  EXPECT_EQ(run("scalar", {s, Activation::none, Rounding::fused}, w, in)[0], 0x1p-24f);
  EXPECT_EQ(run("reference", {s, Activation::none, Rounding::fused}, w, in)[0], 0x1p-24f);
}

TEST(Known, C6OrderShows) {
  const ConvShape s{1, 1, 1, 3, 1, 1, 3, {1, 1}, {0, 1}};
  const std::vector<float> in{1e8f, 1, -1e8f};
  EXPECT_EQ(run("reference", {s}, ones(s), in)[1], 1.0f);
  EXPECT_EQ(run("scalar", {s}, ones(s), in)[1], 0.0f);
}

TEST(Known, C8OneNanReachesNine) {
  const ConvShape s{1, 1, 32, 32, 1, 3, 3, {1, 1}, {1, 1}};
  std::vector<float> in(32 * 32, 1.0f);
  in[10 * 32 + 10] = kNan<float>;
  for_each_strategy<float>([&](const std::string& name, Rounding rounding) {
    const auto out = run(name, {s, Activation::none, rounding}, ones(s), in);
    for (int y = 0; y < 32; ++y)
      for (int x = 0; x < 32; ++x)
        EXPECT_EQ(std::isnan(out[static_cast<std::size_t>(y * 32 + x)]),
                  std::abs(y - 10) <= 1 && std::abs(x - 10) <= 1)
            << y << "," << x;
  });
}

template <class T>
void check_ones() {
  const std::pair<int64_t, int64_t> sizes[] = {{1, 1}, {5, 5}, {5, 7}, {17, 33}, {1000, 1000}, {1080, 1920}};
  for (const auto& [h, w] : sizes) {
    const ConvShape s{1, 1, h, w, 1, 3, 3, {1, 1}, {1, 1}};
    for_each_strategy<T>([&, h = h, w = w](const std::string& name, Rounding rounding) {
      SCOPED_TRACE(::testing::Message() << h << "x" << w);
      const auto out = run(name, {s, Activation::none, rounding}, ones(s),
                           std::vector<T>(static_cast<std::size_t>(h * w), T(1)));
      int64_t sum = 0;
      for (int64_t y = 0; y < h; ++y)
        for (int64_t x = 0; x < w; ++x) {
          const int64_t rows = 3 - (y == 0) - (y == h - 1), columns = 3 - (x == 0) - (x == w - 1);
          const T value = out[static_cast<std::size_t>(y * w + x)];
          ASSERT_EQ(value, static_cast<T>(rows * columns)) << y << "," << x;
          sum += static_cast<int64_t>(value);
        }
      EXPECT_EQ(sum, (3 * h - 2) * (3 * w - 2));
    });
  }
}
TEST(Known, C11C19OnesFp32) { check_ones<float>(); }
TEST(Known, C11C19OnesFp64) { check_ones<double>(); }

TEST(Known, C20OneWideAndTall) {
  const ConvShape s{1, 1, 524281, 1, 1, 3, 1, {1, 1}, {1, 0}};
  for_each_strategy<float>([&](const std::string& name, Rounding rounding) {
    const auto out = run(name, {s, Activation::none, rounding}, ones(s), std::vector<float>(524281, 1.0f));
    EXPECT_EQ(std::accumulate(out.begin(), out.end(), int64_t{0}), 1572841);
  });
}

/// A seeded problem with values of full mantissas; weights that no float holds exactly.
template <class T>
struct RandomProblem {
  ConvProblem problem;
  ConvWeights weights;
  std::vector<T> in;

  RandomProblem(ConvShape shape, uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto pick = [&](std::initializer_list<int64_t> list) {
      return list.begin()[random() % list.size()];
    };
    const auto value = [&] { return std::uniform_real_distribution<double>(-1, 1)(random); };
    shape.n = pick({1, 2, 3});
    shape.c_in = pick({1, 2, 3, 5, 17});
    shape.c_out = pick({1, 2, 7, 16, 18});
    shape.h = pick({1, 4, 9, 13, 33});
    shape.w = pick({1, 3, 12, 17, 61, 530});  // 530: over the width of a tile
    shape.stride = {pick({1, 2, 3}), pick({1, 2, 3})};
    shape.pad = {pick({0, 1, 2, 7}), pick({0, 1, 3, 7})};
    shape.dilation = {pick({1, 2, 3}), pick({1, 2, 3})};
    problem = {shape, static_cast<Activation>(pick({0, 0, 1, 1, 2, 3})), Rounding::fused};
    weights = {shape.c_out, shape.c_in, shape.k_h, shape.k_w, {}, {}};
    for (int64_t k = 0; k < shape.weight_size(); ++k) weights.values.push_back(value());
    if (random() % 2)
      for (int64_t k = 0; k < shape.c_out; ++k) weights.bias.push_back(value());
    for (int64_t k = 0; k < shape.input_size(); ++k) in.push_back(static_cast<T>(value()));
  }
};

constexpr Axes kKernels[] = {{1, 1}, {2, 2}, {3, 3}, {5, 5}, {7, 7}, {1, 7}, {7, 1}};

template <class T>
void for_each_random(const std::function<void(const RandomProblem<T>&)>& body) {
  int ran = 0;
  for (const Axes kernel : kKernels)
    for (uint64_t seed = 0; seed < 24; ++seed) {
      ConvShape shape;
      shape.k_h = kernel.y;
      shape.k_w = kernel.x;
      const RandomProblem<T> random(shape, seed * 64 + static_cast<uint64_t>(kernel.y * 8 + kernel.x));
      if (fault(random.problem.shape)) continue;  // the kernel does not fit
      SCOPED_TRACE(::testing::Message()
                   << describe(random.problem.shape) << ", " << to_string(random.problem.activation)
                   << (random.weights.bias.empty() ? "" : ", bias"));
      body(random);
      if (::testing::Test::HasFatalFailure()) return;
      ++ran;
    }
  EXPECT_GT(ran, 100);
}

/// Rounds once, so at most one step from the formula in a wider type, which rounds once as well.
TEST(Random, ReferenceIsTheFormulaFp32) {
  for_each_random<float>([](const RandomProblem<float>& r) {
    const auto got = run("reference", r.problem, r.weights, r.in),
               expected = exact(r.problem, r.weights, r.in);
    for (std::size_t k = 0; k < got.size(); ++k)
      ASSERT_LE(std::abs(got[k] - expected[k]), 0x1p-23f * std::abs(expected[k]) + 1e-13f)
          << "[" << k << "] is " << got[k] << ", expected " << expected[k];
  });
}

template <class T>
void expect_within_bound(const std::vector<T>& got, const std::vector<T>& expected, const RandomProblem<T>& r,
                         Tolerance tolerance) {
  std::vector<float> bound(got.size());
  error_bound(r.problem.shape, r.weights, kPrecision<T>, r.in.data(), bound.data());
  const Comparison c = compare<T>(got, expected, bound, tolerance);
  ASSERT_TRUE(c.pass) << c.over_tolerance << " of " << c.count << " over, worst [" << c.worst_index << "] is "
                      << c.worst_a << ", expected " << c.worst_b << ", fraction of the bound "
                      << c.max_bound_fraction;
}

TEST(Random, ReferenceIsTheFormulaFp64) {
  for_each_random<double>([](const RandomProblem<double>& r) {
    expect_within_bound(run("reference", r.problem, r.weights, r.in), exact(r.problem, r.weights, r.in), r,
                        {1e-16, 1});
  });
}

/// sigmoid and tanh have slopes of at most 1, and an error of a few ULP of values of at most 1 of their own.
Tolerance with_activation(Activation activation, double few_ulps) {
  const bool curved = activation == Activation::sigmoid || activation == Activation::tanh;
  return {curved ? few_ulps : 0, 1};
}

TEST(Random, ScalarAndOneDnnWithinTheBoundOfTheReferenceFp32) {
  for_each_random<float>([](const RandomProblem<float>& r) {
    const auto expected = run("reference", r.problem, r.weights, r.in);
    for_each_strategy<float>([&](const std::string& name, Rounding rounding) {
      ConvProblem problem = r.problem;
      problem.rounding = rounding;
      const auto got = run(name, problem, r.weights, r.in);
      expect_within_bound(got, expected, r, with_activation(problem.activation, 4 * 0x1p-24));
    });
  });
}

template <class T>
void check_scalar_order() {
  for_each_random<T>([](const RandomProblem<T>& r) {
    for (const Rounding rounding : {Rounding::fused, Rounding::separate}) {
      SCOPED_TRACE(to_string(rounding));
      ConvProblem problem = r.problem;
      problem.rounding = rounding;
      if (problem.activation != Activation::relu) problem.activation = Activation::none;
      expect_same(run("scalar", problem, r.weights, r.in), in_order(problem, r.weights, r.in));
    }
  });
}
TEST(Random, ScalarKeepsTheStatedOrderFp32) { check_scalar_order<float>(); }
TEST(Random, ScalarKeepsTheStatedOrderFp64) { check_scalar_order<double>(); }

TEST(Random, LargestKernels) {
  for (const Axes kernel : {Axes{31, 31}, Axes{1, 31}, Axes{31, 1}, Axes{15, 15}}) {
    ConvShape s{1, 3, 40, 45, 4, kernel.y, kernel.x, {1, 1}, {kernel.y / 2, kernel.x / 2}};
    SCOPED_TRACE(describe(s));
    RandomProblem<float> r(s, 5);
    r.problem.shape = s;
    r.problem.activation = Activation::none;
    std::mt19937 random(9);
    std::uniform_real_distribution<float> value(-1, 1);
    r.in.resize(static_cast<std::size_t>(s.input_size()));
    for (float& v : r.in) v = value(random);
    r.weights = ones(s);
    for (double& v : r.weights.values) v = value(random);
    const auto expected = exact(r.problem, r.weights, r.in);
    for_each_strategy<float>([&](const std::string& name, Rounding rounding) {
      const ConvProblem problem{s, Activation::none, rounding};
      if (const auto why = make(name, Precision::fp32)->refuses(problem)) {
        EXPECT_EQ(name, "onednn") << *why;  // CPUs without AVX-512: the library may have slow loops only
        return;
      }
      expect_within_bound(run(name, problem, r.weights, r.in), expected, r, {});
    });
  }
}

TEST(Life, PreparedAgainAndLaunchedAgain) {
  const ConvShape first{1, 1, 3, 3, 1, 3, 3, {1, 1}, {2, 2}}, second{2, 1, 2, 4, 1, 2, 1, {1, 1}, {0, 1}};
  for_each_strategy<float>([&](const std::string& name, Rounding rounding) {
    const auto strategy = make(name, Precision::fp32);
    for (const ConvShape& s : {first, second, first}) {
      const ConvProblem problem{s, Activation::none, rounding};
      strategy->prepare(problem, ones(s));
      for (const float scale : {1.0f, 3.0f}) {
        std::vector<float> in(static_cast<std::size_t>(s.input_size()));
        std::iota(in.begin(), in.end(), scale);
        expect_same(launch(*strategy, s, in), exact(problem, ones(s), in));
      }
    }
  });
}

TEST(Life, StagesAreNamedForTheStrategy) {
  const ConvShape s{1, 3, 16, 16, 16, 3, 3, {1, 1}, {1, 1}};
  const std::vector<float> in(static_cast<std::size_t>(s.input_size()), 1.0f);
  for_each_strategy<float>([&](const std::string& name, Rounding rounding) {
    const auto strategy = make(name, Precision::fp32);
    strategy->prepare({s, Activation::relu, rounding}, ones(s));
    std::vector<float> out(static_cast<std::size_t>(s.output_size()));
    HostStages stages;
    stages.begin_frame(1);
    strategy->launch(in.data(), out.data(), stages);
    stages.end_frame();
    const auto frames = stages.collect();
    ASSERT_EQ(frames.size(), 1u);
    int named = 0;
    for (const StageTime& stage : frames[0].stages) {
      EXPECT_EQ(stage.name.substr(0, name.size()), name);
      EXPECT_GT(stage.ms, 0);
      named += stage.name == name;
    }
    EXPECT_EQ(named, 1);
  });
}

TEST(Refusals, InWords) {
  EXPECT_FALSE(make("onednn", Precision::fp64)) << "oneDNN has no fp64 convolution";
  const ConvShape s;
  const auto onednn = make("onednn", Precision::fp32);
  EXPECT_EQ(onednn->refuses({s, Activation::none, Rounding::separate}).value_or("(takes it)"),
            "oneDNN uses fused multiply-add; choose rounding=fused");
  EXPECT_TRUE(onednn->refuses({{1, 1, 1LL << 16, 1LL << 16}, Activation::none, Rounding::fused}).has_value());
  const ConvShape too_small{1, 1, 2, 2, 1, 3, 3};
  struct Case {
    ConvProblem problem;
    ConvWeights weights;
    const char* expected;
  };
  const Case cases[] = {
      {{too_small}, ones(too_small), "a 3x3 kernel covers 3x3 pixels, the padded input is 2x2"},
      {{s}, {1, 1, 1, 1, {}, {}}, "there are 0 weights, expected 1 (1x1x1x1)"},
      {{s}, {1, 1, 1, 1, {1}, {1, 2}}, "there are 2 bias values, expected 1 (one a map) or none"},
  };
  for (const char* name : {"reference", "scalar", "onednn"})
    for (const Case& c : cases) {
      try {
        make(name, Precision::fp32)->prepare(c.problem, c.weights);
        ADD_FAILURE() << name << " prepared: " << c.expected;
      } catch (const Error& e) {
        EXPECT_STREQ(e.what(), c.expected) << name;
      }
    }
  try {
    onednn->prepare({s, Activation::none, Rounding::separate}, ones(s));
    ADD_FAILURE() << "prepared";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "onednn refuses: oneDNN uses fused multiply-add; choose rounding=fused");
  }
}

}  // namespace
}  // namespace convscope
