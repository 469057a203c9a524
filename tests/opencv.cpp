// The strategy `opencv`: the checks of all strategies, and what is its own: the sizes from which filter2D
// transforms, zeros in the kernel under NaN, and geometry that filter2D does not know.

#include <fmt/format.h>

#include "tests/strategy_checks.h"

namespace convscope {
namespace {

using namespace convscope::testing;

Rows rows_of(Precision precision) { return {find_strategy("opencv", Target::cpu, precision)}; }

/// Pads that make the result larger than the image, even kernels, dilations beyond the image, large kernels.
std::vector<ConvCase> opencv_cases() {
  //                        n  c   h   w  out kh kw stride  pad    dilation
  const ConvShape shapes[] = {{1, 1, 1, 1, 1, 1, 1, {1, 1}, {0, 0}, {1, 1}},
                              {2, 3, 9, 11, 4, 3, 3, {1, 1}, {5, 7}, {1, 1}},
                              {1, 2, 9, 11, 3, 2, 4, {1, 1}, {1, 2}, {1, 1}},
                              {1, 2, 9, 11, 3, 2, 4, {2, 3}, {0, 3}, {1, 1}},
                              {1, 2, 30, 41, 3, 3, 3, {1, 2}, {4, 6}, {4, 6}},
                              {1, 1, 30, 41, 2, 7, 7, {1, 1}, {3, 3}, {1, 1}},
                              {1, 2, 30, 41, 2, 7, 8, {1, 1}, {3, 4}, {1, 1}},
                              {1, 1, 40, 41, 2, 11, 12, {2, 1}, {5, 0}, {1, 1}},
                              {1, 3, 64, 70, 2, 31, 31, {1, 1}, {15, 15}, {1, 1}},
                              {1, 1, 33, 20, 1, 31, 31, {1, 1}, {25, 30}, {1, 1}},
                              {1, 1, 12, 300, 1, 1, 31, {1, 3}, {0, 15}, {1, 5}},
                              {1, 1, 70001, 1, 2, 31, 1, {1, 1}, {15, 0}, {1, 1}}};
  std::vector<ConvCase> cases;
  for (const ConvShape& s : shapes) cases.push_back({s, cases.size() % 2 == 0, Activation::none});
  return cases;
}

TEST(OpenCv, MatchesReferenceFp32) {
  const auto runtime = make_runtime(Target::cpu);
  check_against_reference<float>(*runtime, rows_of(Precision::fp32), opencv_cases(), 12);
  check_against_reference<float>(*runtime, rows_of(Precision::fp32), conv_cases(20000), 150);
}
TEST(OpenCv, MatchesReferenceFp64) {
  const auto runtime = make_runtime(Target::cpu);
  check_against_reference<double>(*runtime, rows_of(Precision::fp64), opencv_cases(), 12);
  check_against_reference<double>(*runtime, rows_of(Precision::fp64), conv_cases(20000, 1), 70);
}
TEST(OpenCv, SumsOfOnes) { check_sums_of_ones(*make_runtime(Target::cpu), rows_of(Precision::fp32)); }
TEST(OpenCv, OneNan) { check_one_nan(*make_runtime(Target::cpu), rows_of(Precision::fp32)); }
TEST(OpenCv, Activations) {
  check_activations_on_extremes(*make_runtime(Target::cpu), rows_of(Precision::fp32));
}

/// NaN and Inf under taps of weight 0 are where the reference has them; where filter2D transforms, at least
/// there.
template <class T>
void check_unusual_values() {
  const auto runtime = make_runtime(Target::cpu);
  const RegistryRow& reference = *find_strategy("reference", Target::cpu, precision_of<T>());
  int transformed = 0;
  for (const ConvCase& c : opencv_cases()) {
    const ConvShape& s = c.shape;
    auto in = random_values<T>(static_cast<std::size_t>(s.input_size()), 3);
    in[in.size() / 2] = std::numeric_limits<T>::quiet_NaN();
    in[in.size() / 3] = -std::numeric_limits<T>::infinity();
    ConvWeights weights = random_weights(s, 4, c.bias);
    for (std::size_t i = 0; i < weights.values.size(); i += 2) weights.values[i] = 0;
    const ConvProblem problem{s, Activation::none, Rounding::fused};
    const RegistryRow& row = *rows_of(precision_of<T>()).front();
    const auto expected = run<T>(*runtime, reference, problem, weights, in);
    const auto found = run<T>(*runtime, row, problem, weights, in);
    const bool everywhere = row.make()->error_reach(problem) > 0;
    transformed += everywhere;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool same_kind =
          std::isnan(found[i]) == std::isnan(expected[i]) && std::isinf(found[i]) == std::isinf(expected[i]);
      ASSERT_TRUE(everywhere ? std::isfinite(expected[i]) || !std::isfinite(found[i]) : same_kind)
          << describe(s) << " [" << i << "] " << found[i] << " for " << expected[i];
    }
  }
  EXPECT_GT(transformed, 3);
}
TEST(OpenCv, NanAndInfUnderWeightsOfZeroFp32) { check_unusual_values<float>(); }
TEST(OpenCv, NanAndInfUnderWeightsOfZeroFp64) { check_unusual_values<double>(); }

/// Where filter2D only adds products, a NaN reaches its window alone: below the size from which a reach is
/// stated.
TEST(OpenCv, StatesAReachWhereFilter2dTransforms) {
  const auto runtime = make_runtime(Target::cpu);
  for (const Precision precision : {Precision::fp32, Precision::fp64}) {
    const RegistryRow& row = *find_strategy("opencv", Target::cpu, precision);
    int spread = 0;
    for (int64_t k = 1; k <= 31; k += 2) {
      ConvShape s;
      s.h = s.w = 80, s.k_h = s.k_w = k, s.pad = {k / 2, k / 2};
      const ConvProblem problem{s, {}, Rounding::fused};
      const auto count = [&]<class T>(std::vector<T> in) {
        in[40 * 80 + 40] = std::numeric_limits<T>::quiet_NaN();
        const auto out = run<T>(*runtime, row, problem, constant_weights(s, 1), in);
        return std::count_if(out.begin(), out.end(), [](T v) { return std::isnan(v); });
      };
      const int64_t nans = precision == Precision::fp32 ? count(std::vector<float>(6400, 1.0f))
                                                        : count(std::vector<double>(6400, 1.0));
      EXPECT_GE(nans, k * k) << k;
      if (nans > k * k) {
        ++spread;
        EXPECT_GT(row.make()->error_reach(problem), 0) << k << " " << to_string(precision);
      }
      EXPECT_EQ(row.make()->error_reach(problem) > 0, k * k >= 50) << k;
    }
    fmt::print("{}: a NaN spread beyond its window with {} of 16 sizes\n", to_string(precision), spread);
    EXPECT_GT(spread, 0);
  }
}

TEST(OpenCv, RefusalsNameTheReason) {
  const auto strategy = find_strategy("opencv", Target::cpu, Precision::fp32)->make();
  ConvShape s;
  s.c_out = 16, s.h = s.w = 40000, s.k_h = s.k_w = 3, s.dilation = {5000, 5000};
  const auto dilated = strategy->refuses({s, {}, Rounding::fused});
  ASSERT_TRUE(dilated);
  EXPECT_NE(dilated->find("10001x10001"), std::string::npos) << *dilated;
  const auto separate = strategy->refuses({{}, {}, Rounding::separate});
  ASSERT_TRUE(separate);
  EXPECT_NE(separate->find("rounding=fused"), std::string::npos) << *separate;
}

TEST(OpenCv, CostIsOfItsCalls) {
  ConvShape s;  // 40 values in, 60 out, 6 calls
  s.c_in = 2, s.h = 4, s.w = 5, s.c_out = 3, s.k_h = s.k_w = 3, s.pad = {1, 1};
  const Cost cost = find_strategy("opencv", Target::cpu, Precision::fp32)->make()->cost({s, {}, {}}, {});
  EXPECT_EQ(cost.launches, 6);
  EXPECT_EQ(cost.multiply_adds, 1080);
  EXPECT_EQ(cost.bytes, 4 * (6 * 2 * 20 + 3 * 3 * 20 + 54));
}

TEST(OpenCv, ComesLastAndOnceInTheRegistry) {
  const auto& rows = registry();
  ASSERT_GE(rows.size(), 3u);
  EXPECT_EQ(rows[rows.size() - 3].info.id(), "onednn/cpu/fp32");
  EXPECT_EQ(rows[rows.size() - 2].info.id(), "opencv/cpu/fp32");
  EXPECT_EQ(rows[rows.size() - 1].info.id(), "opencv/cpu/fp64");
  EXPECT_THROW(register_strategy(rows.back()), Error);  // the registry has been read
}

}  // namespace
}  // namespace convscope
