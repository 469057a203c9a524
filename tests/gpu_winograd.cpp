// Winograd on a device: against the reference, and against the emulated target bit for bit. Exits 77
// (skipped) where there is no device.

#include "tests/winograd_cases.h"

namespace convscope {
namespace {

using namespace convscope::testing;

template <class T>
void check_bit_for_bit(const std::vector<ConvCase>& cases) {
  constexpr Precision precision = precision_of<T>();
  const auto host = make_runtime(Target::emulated), device = make_runtime(Target::cuda);
  int compared = 0;
  for (const ConvCase& c : cases) {
    const auto in = random_values<T>(static_cast<std::size_t>(c.shape.input_size()), 21);
    const ConvWeights weights = random_weights(c.shape, 22, c.bias);
    const auto expected = run<T>(*host, *find_strategy("reference", Target::cpu, precision),
                                 {c.shape, c.activation, Rounding::fused}, weights, in);
    BoundsWithin<T> bounds(c.shape, weights, in);
    for (const char* name : kWinogradNames) {
      const RegistryRow &on_device = *find_strategy(name, Target::cuda, precision),
                        &emulated = *find_strategy(name, Target::emulated, precision);
      for (const Rounding rounding : {Rounding::fused, Rounding::separate}) {
        const ConvProblem problem{c.shape, c.activation, rounding};
        if (const auto why =
                on_device.make()->refuses(problem)) {  // F4 in double, on devices with less memory
          EXPECT_NE(why->find("shared memory"), std::string::npos) << *why;
          continue;
        }
        const auto a = run<T>(*device, on_device, problem, weights, in);
        const Comparison d = bounds.compare_with(expected, a, *on_device.make(), problem);
        ASSERT_TRUE(d.pass) << name << ": " << c << ": " << d.worst_a << " for " << d.worst_b << " at "
                            << d.worst_index;
        ASSERT_TRUE(same_bits(a, run<T>(*host, emulated, problem, weights, in)))
            << name << " " << to_string(rounding) << ": " << c;
        ++compared;
      }
    }
  }
  fmt::print("{} runs equal in every bit, {}\n", compared, to_string(precision));
  EXPECT_GT(compared, 100);
}

int64_t largest() {
  const char* text = std::getenv("CONVSCOPE_TEST_LARGEST");
  return text == nullptr ? 1920 * 1080 : std::atoll(text);
}

TEST(GpuWinograd, EqualsEmulatedBitForBitFp32) { check_bit_for_bit<float>(winograd_cases(largest())); }
TEST(GpuWinograd, EqualsEmulatedBitForBitFp64) { check_bit_for_bit<double>(winograd_cases(largest())); }

}  // namespace
}  // namespace convscope
