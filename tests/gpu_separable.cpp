// `separable` on a device, on banks of rank 1: against the reference, and against the emulated target bit for
// bit. Exits 77 (skipped) where there is no device.

#include <fmt/format.h>

#include <algorithm>

#include "tests/separable_cases.h"

namespace convscope {
namespace {

using namespace convscope::testing;

template <class T>
void check_bit_for_bit(const std::vector<ConvCase>& cases) {
  constexpr Precision precision = precision_of<T>();
  const auto host = make_runtime(Target::emulated), device = make_runtime(Target::cuda);
  const RegistryRow &on_device = *find_strategy("separable", Target::cuda, precision),
                    &emulated = *find_strategy("separable", Target::emulated, precision);
  int compared = 0;
  double worst = 0;
  for (const ConvCase& c : cases) {
    if (fault(c.shape)) continue;  // longer than the program takes: kernels alone
    const auto in = random_values<T>(static_cast<std::size_t>(c.shape.input_size()), 7);
    const ConvWeights weights = rank_one_weights(c.shape, 11, c.bias);
    const auto expected = run<T>(*host, *find_strategy("reference", Target::cpu, precision),
                                 {c.shape, c.activation, Rounding::fused}, weights, in);
    std::vector<float> bound(expected.size());
    error_bound(c.shape, weights, precision, in.data(), bound.data());
    for (const Rounding rounding : {Rounding::fused, Rounding::separate}) {
      const ConvProblem problem{c.shape, c.activation, rounding};
      ASSERT_EQ(on_device.make()->refuses(problem, weights).value_or(""), "") << c;
      const auto a = run<T>(*device, on_device, problem, weights, in);
      const Comparison d = compare<T>(a, expected, bound, {0, on_device.make()->error_bounds(problem)});
      ASSERT_TRUE(d.pass) << to_string(rounding) << ": " << c << ": " << d.worst_a << " for " << d.worst_b;
      ASSERT_TRUE(same_bits(a, run<T>(*host, emulated, problem, weights, in)))
          << to_string(rounding) << ": " << c;
      worst = std::max(worst, d.max_bound_fraction);
      ++compared;
    }
  }
  fmt::print("{} runs equal in every bit, {}, at most {:.3f} of the bound\n", compared, to_string(precision),
             worst);
  EXPECT_GE(compared, 80);
}

/// Random kernels, approximated: the same sums on both targets.
TEST(GpuSeparable, RanksEqualEmulatedBitForBit) {
  const auto host = make_runtime(Target::emulated), device = make_runtime(Target::cuda);
  for (const ConvCase& c : conv_cases(20000, 1)) {
    const auto in = random_values<float>(static_cast<std::size_t>(c.shape.input_size()), 7);
    const ConvWeights weights = random_weights(c.shape, 11, c.bias);
    for (const int64_t rank : {1, 2, 7}) {
      const ConvProblem problem{c.shape, c.activation, Rounding::fused, rank};
      const auto a = run<float>(*device, *find_strategy("separable", Target::cuda, Precision::fp32), problem,
                                weights, in);
      const auto b = run<float>(*host, *find_strategy("separable", Target::emulated, Precision::fp32),
                                problem, weights, in);
      ASSERT_TRUE(same_bits(a, b)) << "rank " << rank << ": " << c;
    }
  }
}

TEST(GpuSeparable, EqualsEmulatedBitForBitFp32) { check_bit_for_bit<float>(conv_cases(20000)); }
TEST(GpuSeparable, EqualsEmulatedBitForBitFp64) { check_bit_for_bit<double>(conv_cases(20000)); }
TEST(GpuSeparable, EqualsEmulatedOnLongKernelsFp32) { check_bit_for_bit<float>(separable_cases()); }
TEST(GpuSeparable, EqualsEmulatedOverQuads) { check_bit_for_bit<float>(quads_cases()); }
TEST(GpuSeparable, EqualsEmulatedOnLongKernelsFp64) { check_bit_for_bit<double>(separable_cases()); }

}  // namespace
}  // namespace convscope
