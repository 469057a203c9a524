#pragma once
// Checks that every row of the registry must pass, on whichever target: each suite gives its rows.

#include <map>
#include <utility>

#include "tests/conv_testing.h"

namespace convscope::testing {

using Rows = std::vector<const RegistryRow*>;

/// Counts the runs of each row: one that refuses everything would pass any check.
class Ran {
 public:
  explicit Ran(const Rows& rows) {
    for (const RegistryRow* row : rows) runs_[row] = 0;
  }
  ~Ran() {
    for (const auto& [row, runs] : runs_) EXPECT_GT(runs, 0) << row->info.id() << " never ran";
  }
  Ran(const Ran&) = delete;
  Ran& operator=(const Ran&) = delete;
  void count(const RegistryRow* row) { ++runs_[row]; }

 private:
  std::map<const RegistryRow*, int> runs_;
};

/// Every row over every case and rounding against the reference, held to what it states; `ran`: how many runs
/// there must be.
template <class T>
void check_against_reference(Runtime& runtime, const Rows& rows, const std::vector<ConvCase>& cases,
                             int least) {
  const auto host = make_runtime(Target::emulated);
  const RegistryRow& reference = *find_strategy("reference", Target::cpu, precision_of<T>());
  int ran = 0;
  Ran each(rows);
  for (const ConvCase& c : cases) {
    const auto in = random_values<T>(static_cast<std::size_t>(c.shape.input_size()), 7);
    const ConvWeights weights = random_weights(c.shape, 11, c.bias);
    const auto expected = run<T>(*host, reference, {c.shape, c.activation, Rounding::fused}, weights, in);
    BoundsWithin<T> bounds(c.shape, weights, in);
    for (const RegistryRow* row : rows) {
      for (const Rounding rounding : {Rounding::fused, Rounding::separate}) {
        const ConvProblem problem{c.shape, c.activation, rounding};
        if (auto why = row->make()->refuses(problem, weights)) {
          EXPECT_FALSE(why->empty());
          continue;
        }
        const auto result = run<T>(runtime, *row, problem, weights, in);
        const Comparison d = bounds.compare_with(expected, result, *row->make(), problem);
        ASSERT_TRUE(d.pass) << row->info.id() << " " << to_string(rounding) << ": " << c << ": "
                            << d.over_tolerance << " values over the bound, worst " << d.worst_a << " for "
                            << d.worst_b << " at " << d.worst_index;
        ++ran;
        each.count(row);
      }
    }
  }
  EXPECT_GE(ran, least);
}

/// Images of ones under kernels of ones, and the sum of the outputs: C11, C19, C20.
struct Ones {
  int64_t h, w, k_h, k_w;
  int64_t sum;
  ConvShape shape() const {
    ConvShape s;
    s.h = h, s.w = w, s.k_h = k_h, s.k_w = k_w, s.pad = {k_h / 2, k_w / 2};
    return s;
  }
};
inline constexpr Ones kSumsOfOnes[] = {
    {1, 1, 3, 3, 1},           {5, 5, 3, 3, 169},           {5, 7, 3, 3, 247},
    {17, 33, 3, 3, 4753},      {1000, 1000, 3, 3, 8988004}, {1080, 1920, 3, 3, 18644404},
    {524281, 1, 3, 1, 1572841}};

/// The strategy makes of its input something else than sums of products, and rounds on the way.
inline bool transforms(const Strategy& strategy, const ConvProblem& problem) {
  return strategy.error_bounds(problem) > 1 || strategy.error_reach(problem) > 0;
}

/// The sum of outputs that are whole numbers, as those of ones are: exactly where a strategy only adds
/// products; within rounding errors (of sums of nine) where it does more.
inline int64_t sum_of_ones(const std::vector<float>& out, const Strategy& strategy,
                           const ConvProblem& problem) {
  constexpr double kBoundOfNine = 10 * 0x1p-24 * 9;  // error_bound() of nine products of ones
  const double allowed =
      transforms(strategy, problem) ? std::max(2.0, strategy.error_bounds(problem)) * kBoundOfNine : 0.0;
  int64_t sum = 0;
  for (const float v : out) {
    const float whole = std::nearbyint(v);
    EXPECT_LE(std::fabs(v - whole), allowed);
    sum += static_cast<int64_t>(whole);
  }
  return sum;
}

inline void check_sums_of_ones(Runtime& runtime, const Rows& rows) {
  Ran ran(rows);
  for (const Ones& o : kSumsOfOnes) {
    const ConvShape s = o.shape();
    const ConvProblem problem{s, {}, Rounding::fused};
    const std::vector<float> in(static_cast<std::size_t>(s.input_size()), 1.0f);
    for (const RegistryRow* row : rows) {
      const auto strategy = row->make();
      if (strategy->refuses(problem)) continue;
      ran.count(row);
      const auto out = run<float>(runtime, *row, problem, constant_weights(s, 1), in);
      EXPECT_EQ(sum_of_ones(out, *strategy, problem), o.sum) << row->info.id() << " " << describe(s);
    }
  }
}

/// What one NaN at (at, at) makes of a 3x3 convolution, pad 1, side x side: NaN in its nine neighbours, and
/// nowhere further from them than `reach`.
inline ::testing::AssertionResult nan_spreads(const std::vector<float>& out, int64_t side, int64_t at,
                                              int64_t reach) {
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t x = 0; x < side; ++x) {
      const int64_t distance = std::max(std::abs(y - at), std::abs(x - at)) - 1;
      const bool is_nan = std::isnan(out[static_cast<std::size_t>(y * side + x)]);
      if (is_nan ? distance > reach : distance <= 0)
        return ::testing::AssertionFailure() << y << "," << x << (is_nan ? " is NaN" : " is not NaN");
    }
  }
  return ::testing::AssertionSuccess();
}

inline void check_one_nan(Runtime& runtime, const Rows& rows) {  // C8
  ConvShape s;
  s.h = s.w = 32, s.k_h = s.k_w = 3, s.pad = {1, 1};
  const ConvProblem problem{s, {}, Rounding::fused};
  std::vector<float> in(32 * 32, 1.0f);
  in[10 * 32 + 10] = std::numeric_limits<float>::quiet_NaN();
  Ran ran(rows);
  for (const RegistryRow* row : rows) {
    const auto strategy = row->make();
    if (strategy->refuses(problem)) continue;
    ran.count(row);
    const auto out = run<float>(runtime, *row, problem, constant_weights(s, 1), in);
    EXPECT_TRUE(nan_spreads(out, 32, 10, strategy->error_reach(problem))) << row->info.id();
  }
}

inline void check_activations_on_extremes(Runtime& runtime, const Rows& rows) {  // C9, C10
  ConvShape s;
  s.w = 6;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const RegistryRow* row : rows) {
    // Winograd takes 3x3 alone; where a NaN is in every value there is nothing to see
    const auto strategy = row->make();
    if (row->info.name.starts_with("winograd") || strategy->error_reach({s, {}, {}}) > 0) continue;
    ASSERT_FALSE(strategy->refuses({s, {}, {}})) << row->info.id();
    const auto apply = [&](Activation a, const std::vector<float>& in) {
      return run<float>(runtime, *row, {s, a, Rounding::fused}, constant_weights(s, 1), in);
    };
    EXPECT_TRUE(
        same_bits(apply(Activation::relu, {nan, -1, 0, 2, -0x1p100f, 0x1p100f}), {nan, 0, 0, 2, 0, 0x1p100f}))
        << row->info.id();
    EXPECT_TRUE(same_bits(apply(Activation::tanh, {44, 45, 89, 100, -100, 2295}), {1, 1, 1, 1, -1, 1}))
        << row->info.id();
    EXPECT_TRUE(same_bits(apply(Activation::sigmoid, {0, 100, 2295, 0, 100, 0}), {0.5f, 1, 1, 0.5f, 1, 0.5f}))
        << row->info.id();
    EXPECT_EQ(apply(Activation::sigmoid, {-2295, 0, 0, 0, 0, 0})[0], 0.0f) << row->info.id();
  }
}

}  // namespace convscope::testing
