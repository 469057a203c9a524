// The cpu target on seeded random problems: against the formula in long double, and against the stated order
// of summation bit for bit.
#include <random>

#include "tests/cpu_testing.h"

namespace convscope {
namespace {

using namespace convscope::cpu_testing;

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

}  // namespace
}  // namespace convscope
