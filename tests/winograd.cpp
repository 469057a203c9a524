// Winograd on the emulated target: shapes at the edges of its blocks, exact transforms, refusals.

#include "tests/strategy_checks.h"
#include "tests/winograd_cases.h"

namespace convscope {
namespace {

using namespace convscope::testing;

template <class T>
void check_against_reference(const std::vector<ConvCase>& cases) {
  constexpr Precision precision = precision_of<T>();
  const auto runtime = make_runtime(Target::emulated);
  double worst[2] = {};
  for (const ConvCase& c : cases) {
    const auto in = random_values<T>(static_cast<std::size_t>(c.shape.input_size()), 21);
    const ConvWeights weights = random_weights(c.shape, 22, c.bias);
    const auto expected = run<T>(*runtime, *find_strategy("reference", Target::cpu, precision),
                                 {c.shape, c.activation, Rounding::fused}, weights, in);
    BoundsWithin<T> bounds(c.shape, weights, in);
    for (const int which : {0, 1}) {
      const RegistryRow& row = *find_strategy(kWinogradNames[which], Target::emulated, precision);
      for (const Rounding rounding : {Rounding::fused, Rounding::separate}) {
        const ConvProblem problem{c.shape, c.activation, rounding};
        ASSERT_EQ(row.make()->refuses(problem).value_or(""), "") << c;
        const Comparison d =
            bounds.compare_with(expected, run<T>(*runtime, row, problem, weights, in), *row.make(), problem);
        ASSERT_TRUE(d.pass) << row.info.id() << " " << to_string(rounding) << ": " << c << ": "
                            << d.over_tolerance << " values over the bound, worst " << d.worst_a << " for "
                            << d.worst_b << " at " << d.worst_index;
        worst[which] = std::max(worst[which], d.max_bound_fraction);
      }
    }
  }
  fmt::print("{}: worst fraction of the error bound {:.3f} (F2), {:.3f} (F4)\n", to_string(precision),
             worst[0], worst[1]);
  EXPECT_GT(worst[1], worst[0]);  // larger tiles round more, as the registry says of them
}

TEST(Winograd, MatchesReferenceFp32) { check_against_reference<float>(winograd_cases(100000)); }
TEST(Winograd, MatchesReferenceFp64) { check_against_reference<double>(winograd_cases(5000)); }

// With whole numbers and filters that the transforms' fractions (halves; 1/24) divide, every step is exact: a
// single wrong coefficient or place shows.
TEST(Winograd, IsExactWhereItsFractionsAre) {
  const auto runtime = make_runtime(Target::emulated);
  for (const ConvCase& c : winograd_cases(5000)) {
    const auto whole = [](double v) { return std::nearbyint(3 * v); };
    auto in = random_values<double>(static_cast<std::size_t>(c.shape.input_size()), 1);
    for (double& v : in) v = whole(v);
    ConvWeights weights = random_weights(c.shape, 2, c.bias);
    for (double& w : weights.values) w = 576 * whole(w);
    const ConvProblem problem{c.shape, c.activation, Rounding::fused};
    const auto expected = run<double>(*runtime, *find_strategy("reference", Target::cpu, Precision::fp64),
                                      problem, weights, in);
    for (const char* name : kWinogradNames) {
      const RegistryRow& row = *find_strategy(name, Target::emulated, Precision::fp64);
      const auto result = run<double>(*runtime, row, problem, weights, in);
      const Comparison d = compare<double>(result, expected);
      ASSERT_TRUE(d.pass) << name << ": " << c << ": " << d.worst_a << " for " << d.worst_b << " at "
                          << d.worst_index;
    }
  }
}

TEST(Winograd, OneNanReachesItsTiles) {  // C8
  ConvShape s;
  s.h = s.w = 32, s.k_h = s.k_w = 3, s.pad = {1, 1};
  const auto runtime = make_runtime(Target::emulated);
  for (const int64_t at : {9, 10, 11, 12}) {
    std::vector<float> in(32 * 32, 1.0f);
    in[static_cast<std::size_t>(at * 32 + at)] = std::numeric_limits<float>::quiet_NaN();
    for (const char* name : kWinogradNames) {
      const RegistryRow& row = *find_strategy(name, Target::emulated, Precision::fp32);
      const auto out = run<float>(*runtime, row, {s, {}, {}}, constant_weights(s, 1), in);
      const auto count = std::count_if(out.begin(), out.end(), [](float v) { return std::isnan(v); });
      EXPECT_TRUE(nan_spreads(out, 32, at, row.make()->error_reach({s, {}, {}}))) << name << " " << at;
      EXPECT_GE(count, 9) << name << " " << at;
      if (at != 10) continue;
      EXPECT_LE(count, 16) << name;
      EXPECT_TRUE(count == 16 || row.info.name == "winograd_f2") << count;
    }
  }
}

TEST(Winograd, RefusesInWords) {  // C17
  struct Refusal {
    int64_t k_h, k_w;
    Axes stride, dilation;
    const char* words;
  };
  const Refusal table[] = {{5, 5, {1, 1}, {1, 1}, "made for 3x3 kernels, not for 5x5"},
                           {3, 1, {1, 1}, {1, 1}, "made for 3x3 kernels, not for 3x1"},
                           {3, 3, {2, 2}, {1, 1}, "stride 1 only, not 2"},
                           {3, 3, {1, 2}, {1, 1}, "stride 1 only, not 1,2"},
                           {3, 3, {1, 1}, {2, 2}, "dilation 1 only, not 2"}};
  for (const Refusal& r : table) {
    ConvShape s;
    s.h = s.w = 20, s.k_h = r.k_h, s.k_w = r.k_w, s.stride = r.stride, s.dilation = r.dilation;
    for (const char* name : kWinogradNames) {
      const auto why = find_strategy(name, Target::emulated, Precision::fp32)->make()->refuses({s, {}, {}});
      ASSERT_TRUE(why) << describe(s);
      EXPECT_NE(why->find(r.words), std::string::npos) << *why;
    }
  }
}

}  // namespace
}  // namespace convscope
