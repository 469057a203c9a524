#pragma once
// What the suites that need a device share: cuda against emulated, in every bit.

#include <fmt/format.h>

#include <cstdlib>

#include "tests/conv_testing.h"

namespace convscope::testing {

/// Pixels of the largest image: CONVSCOPE_TEST_LARGEST, for runs under compute-sanitizer, which are a hundred
/// times slower.
inline int64_t largest_wanted() {
  const char* text = std::getenv("CONVSCOPE_TEST_LARGEST");
  return text == nullptr ? 1920 * 1080 : std::atoll(text);
}

/// One case: each name on cuda within its bounds of the reference and equal to emulated in every bit;
/// `direct` rounded separately is `scalar`, too.
template <class T>
class BitForBit {
 public:
  explicit BitForBit(std::vector<std::string> names) : names_(std::move(names)) {}

  void check(const std::vector<ConvCase>& cases, int least) {
    for (const ConvCase& c : cases) {
      check(c);
      if (::testing::Test::HasFatalFailure()) return;
    }
    fmt::print("{} runs, {} values equal in every bit, {}\n", compared_, values_, to_string(kPrecision));
    EXPECT_GE(compared_, least);
  }

 private:
  static constexpr Precision kPrecision = precision_of<T>();

  void check(const ConvCase& c) {
    const auto in = random_values<T>(static_cast<std::size_t>(c.shape.input_size()), 7);
    const ConvWeights weights = random_weights(c.shape, 11, c.bias);
    const auto expected = run<T>(*host_, *find_strategy("reference", Target::cpu, kPrecision),
                                 {c.shape, c.activation, Rounding::fused}, weights, in);
    BoundsWithin<T> bounds(c.shape, weights, in);
    for (const Rounding rounding : {Rounding::fused, Rounding::separate}) {
      const ConvProblem problem{c.shape, c.activation, rounding};
      for (const std::string& name : names_) {
        const RegistryRow& on_device = *find_strategy(name, Target::cuda, kPrecision);
        const RegistryRow& emulated = *find_strategy(name, Target::emulated, kPrecision);
        if (on_device.make()->refuses(problem, weights) || emulated.make()->refuses(problem, weights))
          continue;
        const auto a = run<T>(*device_, on_device, problem, weights, in);
        const Comparison d = bounds.compare_with(expected, a, *on_device.make(), problem);
        ASSERT_TRUE(d.pass) << on_device.info.id() << ": " << c << ": " << d.worst_a << " for " << d.worst_b
                            << " at " << d.worst_index;
        ASSERT_TRUE(same_bits(a, run<T>(*host_, emulated, problem, weights, in)))
            << name << " " << to_string(rounding) << ": " << c;
        ++compared_;
        values_ += static_cast<int64_t>(a.size());
        if (name != "direct" || rounding == Rounding::fused) continue;
        const RegistryRow& scalar = *find_strategy("scalar", Target::cpu, kPrecision);
        ASSERT_TRUE(same_bits(a, run<T>(*host_, scalar, problem, weights, in))) << "scalar: " << c;
      }
    }
  }

  std::vector<std::string> names_;
  std::unique_ptr<Runtime> host_ = make_runtime(Target::emulated), device_ = make_runtime(Target::cuda);
  int compared_ = 0;
  int64_t values_ = 0;
};

}  // namespace convscope::testing
