// Sizes, faults in words, names and kernel flips.
#include "kernels/shape.h"

#include <gtest/gtest.h>

#include <numeric>

#include "kernels/strategy.h"

namespace convscope {
namespace {

struct SizeCase {
  int64_t in, kernel, stride, pad, dilation, expected;
};

TEST(Shapes, OutputSizes) {
  const SizeCase cases[] = {
      {7, 3, 2, 1, 1, 4},
      {8, 3, 2, 1, 1, 4},
      {6, 3, 2, 0, 1, 2},
      {1920, 7, 2, 3, 1, 960},  // C15
      {1081, 3, 2, 1, 1, 541},
      {1080, 5, 3, 2, 2, 359},  // C15
      {5, 3, 1, 0, 2, 1},
      {4, 3, 1, 0, 2, 0},
      {2, 3, 2, 0, 1, 0},
      {5, 3, 1, 0, 0, 0},  // C16
      {1, 1, 1, 0, 1, 1},
      {1, 1, 7, 0, 1, 1},
      {2, 3, 7, 0, 1, 0},
      {3, 5, 4, 0, 1, 0},
      {1, 31, 1, 15, 1, 1},
      {10, 2, 1, 1, 1, 11},
      {4, 2, 3, 0, 1, 1},
      {5, 2, 3, 0, 1, 2},
      {1, 1, 1, 5, 1, 11},
      {0, 1, 1, 0, 1, 0},
      {5, 0, 1, 0, 1, 0},
      {5, 3, 0, 0, 1, 0},
      {5, 3, 1, -1, 1, 0},
      {1LL << 40, 3, 1, 1, 1, 1LL << 40},
      {1LL << 40, 2, 1LL << 39, 0, 1, 2},
      {100, 31, 1, 0, INT64_MAX, 0},
      {INT64_MAX, 1, 1, INT64_MAX, 1, INT64_MAX},  // beyond 64 bits: saturates, never wraps
  };
  for (const SizeCase& c : cases) {
    SCOPED_TRACE(::testing::Message()
                 << c.in << " k" << c.kernel << " s" << c.stride << " p" << c.pad << " d" << c.dilation);
    EXPECT_EQ(conv_output_size(c.in, c.kernel, c.stride, c.pad, c.dilation), c.expected);
    const ConvShape tall{1, 1, c.in, 50, 1, c.kernel, 1, {c.stride, 1}, {c.pad, 0}, {c.dilation, 1}};
    const ConvShape wide{1, 1, 50, c.in, 1, 1, c.kernel, {1, c.stride}, {0, c.pad}, {1, c.dilation}};
    EXPECT_EQ(tall.out_h(), c.expected);
    EXPECT_EQ(tall.out_w(), 50);
    EXPECT_EQ(wide.out_w(), c.expected);
    EXPECT_EQ(wide.out_h(), 50);
    if (c.expected == 0) {
      EXPECT_TRUE(fault(tall).has_value());
      EXPECT_TRUE(fault(wide).has_value());
    }
  }
}

TEST(Shapes, CountsInSixtyFourBits) {
  const ConvShape s{2, 3, 40000, 50000, 16, 3, 5, {1, 1}, {1, 2}, {1, 1}};
  EXPECT_FALSE(fault(s).has_value());
  EXPECT_EQ(s.input_size(), 12'000'000'000);
  EXPECT_EQ(s.output_size(), 64'000'000'000);
  EXPECT_EQ(s.weight_size(), 720);
  EXPECT_EQ(s.taps(), 45);
  EXPECT_EQ(s.multiply_adds(), 2'880'000'000'000);
}

struct FaultCase {
  const char* name;
  ConvShape shape;
  const char* expected;  // the whole sentence, or nullptr where the shape is valid
};

TEST(Shapes, FaultsInWords) {
  constexpr int64_t kBig = 1LL << 40;
  const FaultCase cases[] = {
      {"smallest", {}, nullptr},
      {"largest kernel", {1, 1, 31, 31, 1, 31, 31}, nullptr},
      {"2^40 wide", {1, 1, 1, kBig, 1, 1, 1}, nullptr},
      {"pad beyond the kernel", {1, 1, 2, 2, 1, 1, 1, {1, 1}, {9, 9}}, nullptr},
      {"C16 fits", {1, 1, 5, 5, 1, 3, 3, {1, 1}, {0, 0}, {2, 2}}, nullptr},
      {"C16 too large",
       {1, 1, 4, 4, 1, 3, 3, {1, 1}, {0, 0}, {2, 2}},
       "a 3x3 kernel with dilation 2 covers 5x5 pixels, the padded input is 4x4"},
      {"C16 stride 2",
       {1, 1, 2, 2, 1, 3, 3, {2, 2}},
       "a 3x3 kernel covers 3x3 pixels, the padded input is 2x2"},
      {"C16 dilation 0",
       {1, 1, 5, 5, 1, 3, 3, {1, 1}, {0, 0}, {0, 1}},
       "the vertical dilation is 0, expected at least 1"},
      {"one axis too small",
       {1, 1, 9, 2, 1, 1, 7, {1, 1}, {0, 2}, {1, 1}},
       "a 1x7 kernel covers 1x7 pixels, the padded input is 9x6"},
      {"unequal dilation",
       {1, 1, 4, 9, 1, 3, 3, {1, 1}, {0, 0}, {2, 3}},
       "a 3x3 kernel with dilation 2,3 covers 5x7 pixels, the padded input is 4x9"},
      {"batch", {0}, "the batch size is 0, expected at least 1"},
      {"channels", {1, -3}, "the number of input channels is -3, expected at least 1"},
      {"height", {1, 1, 0}, "the input height is 0, expected at least 1"},
      {"width", {1, 1, 1, -1}, "the input width is -1, expected at least 1"},
      {"maps", {1, 1, 1, 1, 0}, "the number of maps is 0, expected at least 1"},
      {"kernel height", {1, 1, 1, 1, 1, 0}, "the kernel height is 0, expected at least 1"},
      {"kernel width", {1, 1, 1, 1, 1, 1, 0}, "the kernel width is 0, expected at least 1"},
      {"stride y", {1, 1, 1, 1, 1, 1, 1, {0, 1}}, "the vertical stride is 0, expected at least 1"},
      {"stride x", {1, 1, 1, 1, 1, 1, 1, {1, -2}}, "the horizontal stride is -2, expected at least 1"},
      {"pad y", {1, 1, 1, 1, 1, 1, 1, {1, 1}, {-1, 0}}, "the vertical pad is -1, expected at least 0"},
      {"pad x", {1, 1, 1, 1, 1, 1, 1, {1, 1}, {0, -7}}, "the horizontal pad is -7, expected at least 0"},
      {"dilation x",
       {1, 1, 1, 1, 1, 1, 1, {1, 1}, {0, 0}, {1, -1}},
       "the horizontal dilation is -1, expected at least 1"},
      {"kernel 32", {1, 1, 99, 99, 1, 3, 32}, "the kernel is 3x32, expected sides of at most 31"},
      {"beyond 2^40",
       {1, 1, 1, kBig + 1, 1, 1, 1},
       "the input width is 1099511627777, expected at most 2^40"},
      {"largest integer", {INT64_MAX}, "the batch size is 9223372036854775807, expected at most 2^40"},
      {"input wraps to 0",
       {kBig, kBig, kBig, kBig, 1, 1, 1},
       "the input (1099511627776x1099511627776x1099511627776x1099511627776) would be 2^60 values or more, "
       "expected fewer"},
      {"input wraps to a positive number",
       {1, 5, 1LL << 31, 1LL << 31, 1, 1, 1},
       "the input (1x5x2147483648x2147483648) would be 2^60 values or more, expected fewer"},
      {"weights",
       {1, kBig, 1, 1, kBig, 1, 1},
       "the weights (1099511627776x1099511627776x1x1) would be 2^60 values or more, expected fewer"},
      {"padded input",
       {1, 1, 1, 1, 1, 1, 1, {kBig, kBig}, {kBig, kBig}},
       "the padded input (1x1x2199023255553x2199023255553) would be 2^60 values or more, expected fewer"},
      {"output",
       {1, 1, 1, kBig, kBig, 1, 1},
       "the output (1x1099511627776x1x1099511627776) would be 2^60 values or more, expected fewer"},
      {"multiply-adds",
       {1, 1, 1LL << 29, 1LL << 29, 1, 31, 31, {1, 1}, {15, 15}},
       "the count of multiply-adds (1x1x536870912x536870912x1x31x31) would be 2^60 values or more, expected "
       "fewer"},
  };
  for (const FaultCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto reason = fault(c.shape);
    if (c.expected)
      EXPECT_EQ(reason.value_or("(no fault)"), c.expected);
    else
      EXPECT_FALSE(reason.has_value()) << *reason;
  }
}

ConvWeights numbered(int64_t c_out, int64_t c_in, int64_t k_h, int64_t k_w) {
  ConvWeights w{
      c_out, c_in, k_h, k_w, std::vector<double>(static_cast<std::size_t>(c_out * c_in * k_h * k_w)), {}};
  std::iota(w.values.begin(), w.values.end(), 1.0);
  return w;
}

TEST(Weights, FaultsInWords) {
  const ConvShape shape{1, 3, 8, 8, 2, 3, 3};
  ConvWeights short_values = numbered(2, 3, 3, 3), long_values = short_values, bias_of_3 = short_values,
              bias_of_2 = short_values;
  short_values.values.pop_back();
  long_values.values.push_back(0);
  bias_of_3.bias = {1, 2, 3};
  bias_of_2.bias = {1, 2};
  const std::pair<ConvWeights, const char*> cases[] = {
      {numbered(2, 3, 3, 3), nullptr},
      {bias_of_2, nullptr},
      {numbered(2, 1, 3, 3), "the weights are 2x1x3x3 (maps x channels x height x width), expected 2x3x3x3"},
      {numbered(3, 2, 3, 3), "the weights are 3x2x3x3 (maps x channels x height x width), expected 2x3x3x3"},
      {numbered(2, 3, 1, 9), "the weights are 2x3x1x9 (maps x channels x height x width), expected 2x3x3x3"},
      {short_values, "there are 53 weights, expected 54 (2x3x3x3)"},
      {long_values, "there are 55 weights, expected 54 (2x3x3x3)"},
      {bias_of_3, "there are 3 bias values, expected 2 (one a map) or none"},
  };
  for (const auto& [weights, expected] : cases) {
    const auto reason = fault(weights, shape);
    EXPECT_EQ(reason.value_or("(no fault)"), expected ? expected : "(no fault)");
  }
}

TEST(Weights, FlippedTurnsEachKernel) {
  const std::pair<ConvWeights, std::vector<double>> cases[] = {
      {numbered(1, 1, 3, 3), {9, 8, 7, 6, 5, 4, 3, 2, 1}},
      {numbered(2, 2, 1, 2), {2, 1, 4, 3, 6, 5, 8, 7}},
      {numbered(1, 2, 2, 2), {4, 3, 2, 1, 8, 7, 6, 5}},
      {numbered(3, 1, 1, 1), {1, 2, 3}},
      {{}, {}},
  };
  for (auto [weights, expected] : cases) {
    weights.bias = {7};
    const ConvWeights turned = flipped(weights);
    EXPECT_EQ(turned.values, expected);
    EXPECT_EQ(turned.bias, weights.bias);
    EXPECT_EQ(flipped(turned), weights);
  }
}

TEST(Names, RoundTrip) {
  for (const auto v : {Precision::fp32, Precision::fp64}) EXPECT_EQ(parse_precision(to_string(v)), v);
  for (const auto v : {Rounding::fused, Rounding::separate}) EXPECT_EQ(parse_rounding(to_string(v)), v);
  for (const auto v : {Activation::none, Activation::relu, Activation::sigmoid, Activation::tanh})
    EXPECT_EQ(parse_activation(to_string(v)), v);
  for (const auto v : {Border::zero, Border::replicate, Border::reflect, Border::reflect_101, Border::wrap})
    EXPECT_EQ(parse_border(to_string(v)), v);
  for (const auto v : {Target::cuda, Target::emulated, Target::cpu}) EXPECT_EQ(parse_target(to_string(v)), v);
  EXPECT_STREQ(to_string(Border::reflect_101), "reflect_101");
  for (const char* text : {"", "fp16", "FP32", " fused", "relu6", "reflect101", "gpu"}) {
    EXPECT_FALSE(parse_precision(text) || parse_rounding(text) || parse_activation(text) ||
                 parse_border(text) || parse_target(text))
        << text;
  }
  EXPECT_EQ((StrategyInfo{"direct", Target::emulated, Precision::fp64, ""}.id()), "direct/emulated/fp64");
}

TEST(Names, Describe) {
  EXPECT_EQ(describe({1, 3, 1080, 1920, 16, 3, 3, {2, 2}, {0, 0}}),
            "1x3x1080x1920 -> 16, 3x3, stride 2,2, pad 0,0");
  EXPECT_EQ(describe({2, 1, 5, 6, 1, 1, 7, {1, 3}, {0, 2}, {1, 2}}),
            "2x1x5x6 -> 1, 1x7, stride 1,3, pad 0,2, dilation 1,2");
}

}  // namespace
}  // namespace convscope
