// register_tiled on the emulated target: the same bits as `direct`, whose order of summation it keeps, in
// every configuration; and what lies outside of the image or of a window never reaches a sum.

#include "tests/register_cases.h"

namespace convscope {
namespace {

using namespace convscope::testing;

TEST(RegisterTiled, EqualsDirectInEveryConfiguration) {
  const auto host = make_runtime(Target::emulated);
  const RegistryRow& tiled = *find_strategy("register_tiled", Target::emulated, Precision::fp32);
  const RegistryRow& direct = *find_strategy("direct", Target::emulated, Precision::fp32);
  const auto cases = register_cases();
  EXPECT_GT(cases.size(), 350u);
  for (const ConvCase& c : cases) {
    const auto in = random_values<float>(static_cast<std::size_t>(c.shape.input_size()), 7);
    const ConvWeights weights = random_weights(c.shape, 11, c.bias);
    const ConvProblem problem{c.shape, c.activation, Rounding::fused};
    ASSERT_FALSE(tiled.make()->refuses(problem, weights)) << c;
    ASSERT_TRUE(same_bits(run<float>(*host, tiled, problem, weights, in),
                          run<float>(*host, direct, problem, weights, in)))
        << c;
  }
}

TEST(RegisterTiled, NanReachesWhatItReachesInDirect) {
  const auto host = make_runtime(Target::emulated);
  const RegistryRow& tiled = *find_strategy("register_tiled", Target::emulated, Precision::fp32);
  const RegistryRow& direct = *find_strategy("direct", Target::emulated, Precision::fp32);
  for (const ConvCase& c : register_cases()) {
    if (c.shape.c_out != 9 && c.shape.c_out != 1) continue;
    auto in = random_values<float>(static_cast<std::size_t>(c.shape.input_size()), 7);
    in.front() = in[in.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    in.back() = std::numeric_limits<float>::infinity();
    const ConvWeights weights = random_weights(c.shape, 11, c.bias);
    const ConvProblem problem{c.shape, Activation::none, Rounding::fused};
    ASSERT_TRUE(same_bits(run<float>(*host, tiled, problem, weights, in),
                          run<float>(*host, direct, problem, weights, in)))
        << c;
  }
}

}  // namespace
}  // namespace convscope
