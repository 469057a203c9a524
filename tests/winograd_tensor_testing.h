#pragma once
// What winograd_f4_3xtf32 must satisfy, on a device and on the emulated tensor cores alike.

#include <fmt/format.h>

#include "tests/strategy_checks.h"

namespace convscope::testing {

/// 3x3 shapes around the edges of tiles, of the products' blocks (256 or 512 tiles, 16 to 128 maps, 16
/// channels at a time) and of padding that reaches beyond a window.
inline std::vector<ConvCase> winograd_tensor_cases() {
  struct Sizes {
    int64_t n, c_in, h, w, c_out;
    Axes pad;
  };
  const Sizes table[] = {
      {1, 3, 1, 1, 9, {1, 1}},     {1, 3, 5, 7, 16, {1, 1}},      {2, 4, 13, 17, 17, {1, 1}},
      {3, 7, 31, 29, 31, {0, 0}},  {1, 8, 40, 45, 32, {1, 1}},    {2, 9, 9, 66, 33, {2, 1}},
      {5, 16, 14, 14, 64, {1, 1}}, {1, 17, 33, 70, 65, {1, 3}},   {4, 24, 11, 13, 96, {1, 1}},
      {1, 33, 20, 19, 97, {4, 2}}, {2, 64, 14, 14, 128, {1, 1}},  {1, 70, 12, 30, 129, {1, 1}},
      {1, 12, 64, 64, 12, {1, 1}}, {1, 5, 65, 65, 40, {5, 6}},    {20, 6, 7, 9, 12, {1, 0}},
      {1, 3, 4, 1030, 11, {1, 1}}, {1, 10, 130, 131, 30, {1, 1}}, {1, 19, 6, 5, 300, {1, 1}},
      {3, 36, 3, 3, 70, {0, 0}},   {9, 3, 24, 48, 90, {1, 1}}};
  std::vector<ConvCase> cases;
  for (const Sizes& z : table) {
    ConvCase c;
    c.shape.n = z.n, c.shape.c_in = z.c_in, c.shape.h = z.h, c.shape.w = z.w, c.shape.c_out = z.c_out;
    c.shape.k_h = c.shape.k_w = 3, c.shape.pad = z.pad;
    c.bias = cases.size() % 2 == 0;
    c.activation = cases.size() % 3 == 1 ? Activation::relu : Activation::none;
    cases.push_back(c);
  }
  return cases;
}

/// How values of one channel or filter plane are those of another.
enum class Channels { apart, alike };

/// Images and filters of random values; alike: of the first plane in all channels, so that no rounding error
/// of a tile meets one of the other sign.
struct WinogradData {
  std::vector<float> in;
  ConvWeights weights;

  WinogradData(const ConvCase& c, Channels channels)
      : in(random_values<float>(static_cast<std::size_t>(c.shape.input_size()), 21)),
        weights(random_weights(c.shape, 22, c.bias)) {
    if (channels == Channels::apart) return;
    const ConvShape& s = c.shape;
    const auto plane = static_cast<std::size_t>(s.h * s.w), planes = static_cast<std::size_t>(s.c_in);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = in[i / plane / planes * planes * plane + i % plane];
    for (std::size_t i = 0; i < weights.values.size(); ++i)
      weights.values[i] = weights.values[i / 9 / planes * planes * 9 + i % 9];
  }
};

inline void check_winograd_bounds(Runtime& runtime, const RegistryRow& row,
                                  const std::vector<ConvCase>& cases, Channels channels) {
  const auto host = make_runtime(Target::emulated);
  double worst = 0;
  for (const ConvCase& c : cases) {
    const WinogradData data(c, channels);
    const ConvProblem problem{c.shape, c.activation, Rounding::fused};
    const auto expected = run<float>(*host, *find_strategy("reference", Target::cpu, Precision::fp32),
                                     problem, data.weights, data.in);
    const auto strategy = row.make();
    ASSERT_EQ(strategy->refuses(problem).value_or(""), "") << c;
    BoundsWithin<float> bounds(c.shape, data.weights, data.in);
    const Comparison d = bounds.compare_with(
        expected, run<float>(runtime, row, problem, data.weights, data.in), *strategy, problem);
    ASSERT_TRUE(d.pass) << c << ": " << d.over_tolerance << " values over " << strategy->error_bounds(problem)
                        << " bounds, worst " << d.worst_a << " for " << d.worst_b << " at " << d.worst_index;
    worst = std::max(worst, d.max_bound_fraction / strategy->error_bounds(problem));
  }
  fmt::print("{} cases, channels {}, at most {:.3f} of the stated error\n", cases.size(),
             channels == Channels::alike ? "alike" : "apart", worst);
  EXPECT_GT(worst, 1e-2) << "the stated error says nothing";
  EXPECT_LT(worst, 0.5) << "the stated error is twice the most that was seen";
}

/// With whole numbers and filters that the transforms' fractions (1/24) divide every step is exact: a single
/// wrong coefficient or place shows.
inline void check_winograd_is_exact(Runtime& runtime, const RegistryRow& row,
                                    const std::vector<ConvCase>& cases) {
  const auto host = make_runtime(Target::emulated);
  for (const ConvCase& c : cases) {
    if (c.shape.c_in > 10) continue;  // sums of more are beyond 2^24
    WinogradData data(c, Channels::apart);
    for (float& v : data.in) v = std::nearbyint(1.2f * v);
    for (double& w : data.weights.values) w = 576 * std::nearbyint(1.2 * w);
    for (double& b : data.weights.bias) b = std::nearbyint(8 * b);
    const ConvProblem problem{c.shape, c.activation, Rounding::fused};
    const auto expected = run<float>(*host, *find_strategy("reference", Target::cpu, Precision::fp32),
                                     problem, data.weights, data.in);
    const Comparison d = compare<float>(run<float>(runtime, row, problem, data.weights, data.in), expected);
    // the small part of such a weight is 2^-135 and not 0
    ASSERT_LT(d.max_abs, 1e-30) << c << ": " << d.worst_a << " for " << d.worst_b << " at " << d.worst_index;
    ASSERT_EQ(d.nonfinite_a, 0) << c;
  }
}

/// C8: what is not finite reaches all maps of its nine neighbours and nothing beyond its tiles.
inline void check_winograd_nonfinite(Runtime& runtime, const RegistryRow& row) {
  ConvShape s;
  s.c_in = 5, s.c_out = 20, s.h = s.w = 32, s.k_h = s.k_w = 3, s.pad = {1, 1};
  const ConvProblem problem{s, {}, Rounding::fused};
  const ConvWeights ones = constant_weights(s, 1);
  const auto strategy = row.make();
  const std::vector<float> clean(static_cast<std::size_t>(s.input_size()), 1.0f);
  const auto expected = run<float>(runtime, row, problem, ones, clean);
  for (const float special :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const int64_t at : {9, 10, 11, 12}) {
      std::vector<float> in = clean;
      in[static_cast<std::size_t>((3 * 32 + at) * 32 + at)] = special;
      auto out = run<float>(runtime, row, problem, ones, in);
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (std::isfinite(out[i])) {
          EXPECT_EQ(out[i], expected[i]) << special << " " << at << ": " << i;
        }
        if (std::isinf(out[i])) out[i] = std::numeric_limits<float>::quiet_NaN();
      }
      for (int64_t map = 0; map < s.c_out; ++map) {
        const std::vector<float> plane(out.begin() + map * 1024, out.begin() + (map + 1) * 1024);
        EXPECT_TRUE(nan_spreads(plane, 32, at, strategy->error_reach(problem)))
            << special << " " << at << " map " << map;
      }
    }
  }
}

/// What a launch leaves between its kernels says nothing about the next one's images.
inline void check_winograd_again(Runtime& runtime, const RegistryRow& row) {
  ConvCase c;
  c.shape.n = 2, c.shape.c_in = 9, c.shape.h = 21, c.shape.w = 18, c.shape.c_out = 30;
  c.shape.k_h = c.shape.k_w = 3, c.shape.pad = {1, 1};
  const WinogradData data(c, Channels::apart);
  const ConvProblem problem{c.shape, {}, Rounding::fused};
  std::vector<float> special(data.in.size(), std::numeric_limits<float>::quiet_NaN());
  std::vector<float> out(static_cast<std::size_t>(c.shape.output_size()));
  const auto in_memory = runtime.allocate(special.size() * sizeof(float));
  const auto out_memory = runtime.allocate(out.size() * sizeof(float));
  const auto strategy = row.make();
  strategy->prepare(problem, data.weights);
  for (const std::vector<float>* in : {&std::as_const(special), &data.in}) {
    runtime.upload(in_memory->data(), in->data(), in->size() * sizeof(float));
    runtime.synchronise();
    strategy->launch(in_memory->data(), out_memory->data(), runtime.stages());
    runtime.download(out.data(), out_memory->data(), out.size() * sizeof(float));
    EXPECT_EQ(std::isnan(out[0]), in == &special);
  }
  EXPECT_TRUE(same_bits(out, run<float>(runtime, row, problem, data.weights, data.in)));
}

}  // namespace convscope::testing
