// The numbers of a difference, worked out by hand, and the error bound.
#include "kernels/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/error.h"

namespace convscope {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();
constexpr float kMax = std::numeric_limits<float>::max();

Comparison compare_floats(const std::vector<float>& a, const std::vector<float>& b,
                          const std::vector<float>& bound = {}, Tolerance tolerance = {}) {
  return compare<float>(a, b, bound, tolerance);
}

TEST(Compare, Numbers) {
  const auto c = compare_floats({1, 2.5f, -3, 8}, {1, 2, -4, 8}, {}, {0.75, 1});
  EXPECT_EQ(c.count, 4);
  EXPECT_EQ(c.max_abs, 1);
  EXPECT_EQ(c.mean_abs, 0.375);
  EXPECT_EQ(c.max_rel, 0.25);  // 0.5/2 and 1/4
  EXPECT_DOUBLE_EQ(c.rmse, std::sqrt(1.25 / 4));
  EXPECT_DOUBLE_EQ(c.psnr_db, 20 * std::log10(8 / std::sqrt(1.25 / 4)));
  EXPECT_EQ(c.max_ulp, 4u << 20);  // [3, 4) holds 2^22 floats
  EXPECT_EQ(c.over_tolerance, 1);
  EXPECT_EQ(c.worst_index, 2);
  EXPECT_EQ(c.worst_a, -3);
  EXPECT_EQ(c.worst_b, -4);
  EXPECT_EQ(c.max_bound_fraction, 0);
  EXPECT_FALSE(c.pass);
}

TEST(Compare, EqualPlanes) {
  const auto c = compare_floats({1, -0.0f, 3}, {1, 0.0f, 3}, {1, 0, 1});
  EXPECT_TRUE(c.pass);
  EXPECT_EQ(c.max_abs, 0);
  EXPECT_EQ(c.max_ulp, 0u);
  EXPECT_EQ(c.worst_index, -1);
  EXPECT_EQ(c.max_bound_fraction, 0);
  EXPECT_EQ(c.psnr_db, std::numeric_limits<double>::infinity());
}

struct NonFiniteCase {
  float a, b;
  int64_t in_a, in_b, mismatch;
};

TEST(Compare, NonFiniteNeverPasses) {
  const NonFiniteCase cases[] = {
      {kNan, 1, 1, 0, 1},      {1, kNan, 0, 1, 1},     {kNan, kNan, 1, 1, 0}, {kInf, kInf, 1, 1, 0},
      {-kInf, -kInf, 1, 1, 0}, {kInf, -kInf, 1, 1, 1}, {kInf, kNan, 1, 1, 1}, {kInf, kMax, 1, 0, 1},
      {-kNan, kNan, 1, 1, 0},  {0, -kInf, 0, 1, 1},
  };
  for (const NonFiniteCase& n : cases) {
    SCOPED_TRACE(::testing::Message() << n.a << " against " << n.b);
    for (const bool with_bound : {false, true}) {
      const std::vector<float> bound =
          with_bound ? std::vector<float>{kInf, kInf, kInf} : std::vector<float>{};
      const auto c = compare_floats({5, 2, n.a}, {3, 2, n.b}, bound, {kInf, 1});
      EXPECT_EQ(c.nonfinite_a, n.in_a);
      EXPECT_EQ(c.nonfinite_b, n.in_b);
      EXPECT_EQ(c.nonfinite_mismatch, n.mismatch);
      EXPECT_EQ(c.over_tolerance, 1);  // no tolerance is wide enough for it
      EXPECT_EQ(c.worst_index, 2);
      EXPECT_FALSE(c.pass);
      EXPECT_EQ(c.max_abs, 2);  // left out of the errors
      EXPECT_EQ(c.mean_abs, 1);
      EXPECT_TRUE(std::isfinite(c.rmse));
    }
  }
}

TEST(Compare, AllNonFinite) {
  const auto c = compare_floats({kNan, kInf}, {kNan, kInf});
  EXPECT_FALSE(c.pass);
  EXPECT_EQ(c.over_tolerance, 2);
  EXPECT_EQ(c.mean_abs, 0);
  EXPECT_FALSE(std::isnan(c.rmse));
  EXPECT_EQ(c.psnr_db, 0);  // not Inf: nothing was measured
}

TEST(Compare, WorstPosition) {
  // by share of the bound, not by size: 0.5 of 0.25 is worse than 2 of 4
  EXPECT_EQ(compare_floats({2, 0.5f}, {0, 0}, {4, 0.25f}).worst_index, 1);
  EXPECT_EQ(compare_floats({2, 0.5f}, {0, 0}).worst_index, 0);
  EXPECT_EQ(compare_floats({1, 1, 1}, {0, 0, 0}).worst_index, 0);           // the first of equals
  EXPECT_EQ(compare_floats({9, kInf, kNan}, {0, kInf, 0}).worst_index, 2);  // a mismatch before a shared Inf
  EXPECT_EQ(compare_floats({9, 1, kInf}, {0, 1, kInf}).worst_index, 2);  // a shared Inf before a finite error
  EXPECT_EQ(compare_floats({0, kTiny}, {0, 0}, {1, kInf}).worst_index,
            1);  // differs, though by 0 of its bound
}

TEST(Compare, WorstAcrossParts) {
  std::vector<float> a(1'000'003, 1.0f), b = a;
  for (const std::size_t at : {std::size_t{999'999}, std::size_t{70'000}, std::size_t{5}}) {
    a[at] = 1.5f;
    EXPECT_EQ(compare_floats(a, b).worst_index, static_cast<int64_t>(at));
  }
  a[1'000'002] = kNan;
  const auto c = compare_floats(a, b, {}, {1, 0});
  EXPECT_EQ(c.worst_index, 1'000'002);
  EXPECT_EQ(c.over_tolerance, 1);
  EXPECT_EQ(c.count, 1'000'003);
  EXPECT_DOUBLE_EQ(c.mean_abs, 1.5 / 1'000'002);
}

struct BoundCase {
  float a, b, bound;
  Tolerance tolerance;
  double fraction;
  bool pass;
};

TEST(Compare, Bound) {
  const BoundCase cases[] = {
      {1.5f, 1, 0.5f, {}, 1, true},
      {1.75f, 1, 0.5f, {}, 1.5, false},
      {1.75f, 1, 0.5f, {0.25, 1}, 1.5, true},
      {1.75f, 1, 0.5f, {0, 2}, 1.5, true},
      {0, 0, 0, {}, 0, true},
      {kTiny, 0, 0, {}, HUGE_VAL, false},
      {1, 0, kInf, {}, 0, true},
      {1, 0, 0, {2, 1}, HUGE_VAL, true},
      {0, 0, kInf, {}, 0, true},
  };
  for (const BoundCase& t : cases) {
    SCOPED_TRACE(::testing::Message() << t.a << " against " << t.b << ", bound " << t.bound);
    const auto c = compare_floats({t.a}, {t.b}, {t.bound}, t.tolerance);
    EXPECT_EQ(c.max_bound_fraction, t.fraction);
    EXPECT_EQ(c.pass, t.pass);
    EXPECT_EQ(c.over_tolerance, t.pass ? 0 : 1);
  }
  const auto c = compare_floats({1, 1}, {2, 1.5f}, {0.5f, kNan});  // a NaN bound allows nothing
  EXPECT_EQ(c.max_bound_fraction, HUGE_VAL);
  EXPECT_EQ(c.worst_index, 1);
  EXPECT_EQ(c.over_tolerance, 2);
  EXPECT_FALSE(compare_floats({1}, {1}, {kNan}).pass);
}

TEST(Compare, NothingComparedDoesNotPass) {
  const auto c = compare_floats({}, {});
  EXPECT_EQ(c.count, 0);
  EXPECT_EQ(c.worst_index, -1);
  EXPECT_FALSE(c.pass);
}

TEST(Compare, SizesMustAgree) {
  EXPECT_THROW(compare_floats({1, 2}, {1}), Error);
  EXPECT_THROW(compare_floats({1, 2}, {1, 2}, {1}), Error);
}

TEST(Compare, Doubles) {
  const std::vector<double> a{1 + 0x1p-52, 1e300}, b{1, 1e300};
  const auto c = compare<double>(a, b);
  EXPECT_EQ(c.max_abs, 0x1p-52);
  EXPECT_EQ(c.max_ulp, 1u);
  EXPECT_EQ(c.over_tolerance, 1);
}

TEST(Ulp, Distances) {
  const float next = std::nextafter(1.0f, 2.0f);
  const std::tuple<float, float, uint64_t> floats[] = {
      {1, 1, 0},
      {1, next, 1},
      {next, 1, 1},
      {-1, -next, 1},
      {0.0f, -0.0f, 0},
      {kTiny, 0, 1},
      {-kTiny, 0, 1},
      {kTiny, -kTiny, 2},
      {-0.0f, kTiny, 1},
      {1, 2, 1 << 23},
      {1, -1, 2ull * 0x3f800000},
      {kMax, kInf, 1},
      {kMax, -kMax, 2ull * 0x7f7fffff},
      {kNan, 1, UINT64_MAX},
      {1, kNan, UINT64_MAX},
      {kNan, kNan, UINT64_MAX},
  };
  for (const auto& [a, b, expected] : floats) EXPECT_EQ(ulp_distance(a, b), expected) << a << " " << b;
  constexpr double kBig = std::numeric_limits<double>::max(),
                   kSmall = std::numeric_limits<double>::denorm_min();
  const std::tuple<double, double, uint64_t> doubles[] = {
      {1, 1 + 0x1p-52, 1},
      {kSmall, -kSmall, 2},
      {0.0, -0.0, 0},
      {1, 2, 1ull << 52},
      {kBig, -kBig, 2 * 0x7fefffffffffffffull},
      {-kBig, kBig, 2 * 0x7fefffffffffffffull},
      {std::nan(""), 1, UINT64_MAX},
      {-HUGE_VAL, HUGE_VAL, 2 * 0x7ff0000000000000ull},
  };
  for (const auto& [a, b, expected] : doubles) EXPECT_EQ(ulp_distance(a, b), expected) << a << " " << b;
}

/// n eps (sum |w||x| + |bias|) by the formula, in the widest type there is.
long double exact_bound(const ConvShape& s, const ConvWeights& w, const std::vector<double>& in,
                        long double eps, int64_t o, int64_t y, int64_t x) {
  long double sum = w.bias.empty() ? 0 : std::fabs(w.bias[static_cast<std::size_t>(o)]);
  for (int64_t c = 0; c < s.c_in; ++c)
    for (int64_t i = 0; i < s.k_h; ++i)
      for (int64_t j = 0; j < s.k_w; ++j) {
        const int64_t row = y * s.stride.y - s.pad.y + i * s.dilation.y;
        const int64_t column = x * s.stride.x - s.pad.x + j * s.dilation.x;
        if (row < 0 || row >= s.h || column < 0 || column >= s.w) continue;
        sum += std::fabs(static_cast<long double>(w.at(o, c, i, j)) *
                         in[static_cast<std::size_t>((c * s.h + row) * s.w + column)]);
      }
  return static_cast<long double>(s.taps() + 1) * eps * sum;
}

TEST(ErrorBound, NeverSmallerThanTheFormulaAndClose) {
  const ConvShape shapes[] = {{1, 3, 9, 11, 2, 3, 3, {1, 1}, {1, 1}},
                              {1, 2, 12, 700, 3, 1, 7, {2, 3}, {0, 2}, {1, 2}},
                              {1, 1, 5, 5, 1, 1, 1}};
  std::mt19937 random(3);
  std::uniform_real_distribution<float> value(-1, 1);
  for (const ConvShape& s : shapes)
    for (const double scale : {1.0, 1e-18, 1e18}) {
      SCOPED_TRACE(::testing::Message() << describe(s) << " scale " << scale);
      std::vector<double> in(static_cast<std::size_t>(s.input_size()));
      for (double& v : in) v = static_cast<float>(value(random) * scale);
      ConvWeights w{s.c_out, s.c_in, s.k_h, s.k_w, {}, {}};
      for (int64_t k = 0; k < s.weight_size(); ++k) w.values.push_back(value(random));
      for (int64_t k = 0; k < s.c_out; ++k) w.bias.push_back(value(random) * static_cast<float>(scale));
      const std::vector<float> narrow(in.begin(), in.end());
      for (const Precision precision : {Precision::fp32, Precision::fp64}) {
        std::vector<float> bound(static_cast<std::size_t>(s.output_size()), kNan);
        const bool single = precision == Precision::fp32;
        error_bound(s, w, precision, single ? static_cast<const void*>(narrow.data()) : in.data(),
                    bound.data());
        std::size_t k = 0;
        for (int64_t o = 0; o < s.c_out; ++o)
          for (int64_t y = 0; y < s.out_h(); ++y)
            for (int64_t x = 0; x < s.out_w(); ++x, ++k) {
              const long double exact = exact_bound(s, w, in, single ? 0x1p-24L : 0x1p-53L, o, y, x);
              ASSERT_GE(bound[k], exact) << "[" << k << "]";
              ASSERT_LE(bound[k], exact * 1.00001L + 200 * 0x1p-149L) << "[" << k << "]";
            }
      }
    }
}

TEST(ErrorBound, EdgesOfTheRange) {
  const ConvShape s{1, 1, 1, 1, 1, 1, 1};
  struct Case {
    double w, x;
    Precision precision;
    float low, high;
  };
  const Case cases[] = {
      {0, 5, Precision::fp32, 0, 0},  // nothing rounds: an exact zero
      {5, 0, Precision::fp64, 0, 0},
      {0x1p-100, 0x1p-100, Precision::fp32, kTiny,
       4 * kTiny},  // the product is below every float, its error is not
      {1e-200, 1e-200, Precision::fp64, kTiny, 4 * kTiny},  // below every double
      {0x1p100, 0x1p100, Precision::fp32, kInf, kInf},
      {1e308, 1e10, Precision::fp64, kInf, kInf},
  };
  for (const Case& c : cases) {
    const ConvWeights w{1, 1, 1, 1, {c.w}, {}};
    const auto narrow = static_cast<float>(c.x);
    float bound = kNan;
    error_bound(s, w, c.precision, c.precision == Precision::fp32 ? static_cast<const void*>(&narrow) : &c.x,
                &bound);
    EXPECT_GE(bound, c.low) << c.w << " * " << c.x;
    EXPECT_LE(bound, c.high) << c.w << " * " << c.x;
  }
  const std::pair<double, float> non_finite[] = {
      {1, kNan}, {1, kInf}, {0, kInf}, {HUGE_VAL, 0}, {std::nan(""), 1}};
  for (const auto& [w, x] : non_finite) {
    float bound = 0;
    error_bound(s, {1, 1, 1, 1, {w}, {}}, Precision::fp32, &x, &bound);
    EXPECT_FALSE(std::isfinite(bound)) << w << " * " << x;
  }
}

TEST(ErrorBound, FaultsAreErrors) {
  float value = 0;
  EXPECT_THROW(error_bound({0}, {}, Precision::fp32, &value, &value), Error);
  EXPECT_THROW(error_bound({}, {}, Precision::fp32, &value, &value), Error);
}

}  // namespace
}  // namespace convscope
