#pragma once
// What strategies on tensor cores must satisfy, on a device and on the emulated tensor cores alike.

#include <algorithm>

#include "tests/conv_testing.h"

namespace convscope::testing {

/// Shapes beyond conv_cases(): chunks of channels, tiles of maps, kernels and strides of every size.
inline std::vector<ConvCase> tensor_cases() {
  struct Sizes {
    int64_t n, c_in, h, w, c_out, k_h, k_w, stride, pad, dilation;
  };
  const Sizes table[] = {{1, 8, 17, 33, 32, 3, 3, 1, 1, 1},   {2, 16, 9, 40, 33, 3, 3, 1, 1, 1},
                         {1, 12, 20, 20, 24, 3, 3, 2, 0, 1},  {3, 20, 14, 14, 70, 3, 3, 1, 1, 1},
                         {1, 40, 8, 8, 64, 1, 1, 1, 0, 1},    {1, 24, 15, 19, 9, 5, 5, 1, 2, 2},
                         {1, 3, 40, 45, 64, 11, 11, 1, 5, 1}, {1, 1, 40, 45, 1, 31, 31, 1, 15, 1},
                         {2, 64, 14, 14, 128, 3, 3, 1, 1, 1}, {1, 5, 1, 700, 4, 1, 9, 3, 4, 1},
                         {1, 2, 700, 1, 4, 9, 1, 3, 4, 1},    {2, 17, 31, 29, 130, 2, 3, 1, 1, 3},
                         {1, 33, 7, 300, 40, 3, 3, 1, 1, 1},  {1, 130, 6, 5, 257, 3, 3, 1, 1, 1},
                         {40, 8, 5, 5, 65, 3, 3, 1, 1, 1},    {3, 72, 11, 13, 128, 1, 1, 1, 0, 1},
                         {2, 16, 25, 25, 100, 3, 3, 2, 1, 1}, {9, 9, 9, 9, 90, 5, 4, 3, 2, 2},
                         {1, 8, 2, 300, 66, 2, 7, 4, 3, 1},   {1, 5, 9, 380, 60, 3, 3, 1, 1, 1},
                         {1, 4, 5, 256, 96, 5, 5, 1, 2, 1},   {3, 9, 20, 21, 90, 3, 3, 1, 1, 1},
                         {1, 6, 4, 380, 128, 3, 3, 1, 1, 1},  {1, 3, 30, 257, 16, 7, 7, 1, 3, 2},
                         {2, 3, 40, 259, 16, 3, 3, 2, 0, 1},  {2, 12, 20, 20, 15, 3, 3, 1, 1, 1},
                         {1, 3, 19, 301, 12, 3, 3, 1, 1, 1},  {1, 40, 20, 400, 128, 1, 1, 3, 0, 1},
                         {1, 24, 9, 270, 100, 1, 1, 2, 0, 1}, {1, 37, 6, 300, 120, 1, 2, 1, 0, 1},
                         {1, 36, 3, 260, 128, 5, 5, 1, 2, 1}};
  std::vector<ConvCase> cases;
  for (const Sizes& z : table) {
    ConvCase c;
    c.shape = {z.n,
               z.c_in,
               z.h,
               z.w,
               z.c_out,
               z.k_h,
               z.k_w,
               {z.stride, z.stride},
               {z.k_h > 1 ? z.pad : 0, z.k_w > 1 ? z.pad : 0},
               {z.dilation, z.dilation}};
    c.bias = cases.size() % 2 == 0;
    c.activation = cases.size() % 3 == 1 ? Activation::relu : Activation::none;
    cases.push_back(c);
  }
  return cases;
}

/// Shapes that implicit_gemm_rows takes: every one of its kernels, strips and bands that are not whole, rows
/// that are not aligned, images smaller than a strip, padding beyond the kernel.
inline std::vector<ConvCase> rows_cases() {
  const ConvShape table[] = {
      {1, 3, 20, 72, 16, 3, 3, {1, 1}, {1, 1}, {1, 1}},  {2, 3, 19, 68, 16, 3, 3, {2, 2}, {0, 0}, {1, 1}},
      {1, 3, 21, 40, 13, 5, 5, {1, 1}, {2, 2}, {1, 1}},  {1, 3, 30, 36, 16, 3, 3, {1, 1}, {2, 2}, {2, 2}},
      {2, 1, 9, 8, 9, 3, 3, {1, 1}, {1, 1}, {1, 1}},     {1, 1, 7, 4, 16, 5, 5, {1, 1}, {2, 2}, {1, 1}},
      {1, 3, 33, 100, 16, 5, 3, {2, 2}, {2, 1}, {1, 3}}, {1, 16, 6, 40, 16, 3, 1, {1, 1}, {1, 0}, {1, 1}},
      {1, 2, 12, 64, 10, 3, 8, {1, 1}, {1, 3}, {1, 1}},  {3, 3, 5, 132, 16, 3, 4, {2, 2}, {1, 2}, {1, 2}},
      {1, 3, 64, 32, 16, 3, 3, {1, 1}, {0, 0}, {1, 1}},  {1, 3, 10, 48, 11, 3, 2, {2, 2}, {1, 0}, {1, 1}},
      {1, 3, 9, 40, 16, 3, 3, {1, 1}, {60, 1}, {60, 1}}, {1, 3, 8, 12, 16, 3, 3, {1, 1}, {7, 6}, {1, 1}},
      {1, 1, 90, 8, 16, 3, 3, {1, 1}, {3, 1}, {3, 1}},   {1, 1, 15, 44, 12, 5, 7, {2, 2}, {2, 3}, {1, 1}},
      {1, 5, 11, 84, 16, 5, 3, {1, 1}, {4, 1}, {2, 1}},  {1, 1, 3, 4, 16, 3, 3, {1, 1}, {0, 0}, {1, 1}},
      {2, 1, 40, 260, 16, 3, 8, {1, 1}, {1, 4}, {1, 5}}, {1, 2, 9, 44, 14, 5, 3, {1, 1}, {2, 0}, {1, 1}}};
  std::vector<ConvCase> cases;
  for (const ConvShape& shape : table) {
    ConvCase c;
    c.shape = shape;
    c.bias = cases.size() % 2 == 0;
    c.activation = cases.size() % 3 == 1 ? Activation::tanh : Activation::none;
    cases.push_back(c);
  }
  return cases;
}

inline void check_tensor_bounds(Runtime& runtime, const std::vector<RegistryRow>& rows,
                                const std::vector<ConvCase>& cases) {
  const auto host = make_runtime(Target::emulated);
  std::vector<double> worst(rows.size(), 0);
  for (const ConvCase& c : cases) {
    const auto in = random_values<float>(static_cast<std::size_t>(c.shape.input_size()), 7);
    const ConvWeights weights = random_weights(c.shape, 11, c.bias);
    const ConvProblem problem{c.shape, c.activation, Rounding::fused};
    const auto expected =
        run<float>(*host, *find_strategy("reference", Target::cpu, Precision::fp32), problem, weights, in);
    std::vector<float> bound(expected.size());
    error_bound(c.shape, weights, Precision::fp32, in.data(), bound.data());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto strategy = rows[i].make();
      ASSERT_FALSE(strategy->refuses(problem))
          << rows[i].info.id() << ": " << c << ": " << *strategy->refuses(problem);
      const double allowed = strategy->error_bounds(problem);
      const Comparison d =
          compare<float>(run<float>(runtime, rows[i], problem, weights, in), expected, bound, {0, allowed});
      ASSERT_TRUE(d.pass) << rows[i].info.id() << ": " << c << ": " << d.over_tolerance << " values over "
                          << allowed << " bounds, worst " << d.worst_a << " for " << d.worst_b << " at "
                          << d.worst_index;
      worst[i] = std::max(worst[i], d.max_bound_fraction / allowed);
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::printf("%s: %zu cases, at most %.3f of the stated error\n", rows[i].info.id().c_str(), cases.size(),
                worst[i]);
    EXPECT_GT(worst[i], 1e-4) << "the stated error says nothing about " << rows[i].info.id();
  }
}

/// C4: what TF32 loses, and three TF32 products keep.
inline void check_identity_of_4097(Runtime& runtime, const RegistryRow& row, float expected) {
  for (const int64_t maps : {1, 16}) {
    ConvShape s;
    s.h = 33, s.w = 44 + maps % 2 * 3, s.c_out = maps, s.k_h = s.k_w = 3, s.pad = {1, 1};
    ConvWeights identity = constant_weights(s, 0);
    const auto centre = [&](double value) {
      for (int64_t map = 0; map < maps; ++map) identity.at(map, 0, 1, 1) = value;
    };
    centre(1);
    const auto pixels = static_cast<std::size_t>(s.input_size());
    const std::vector<float> all(static_cast<std::size_t>(s.output_size()), expected);
    EXPECT_EQ(run<float>(runtime, row, {s, {}, {}}, identity, std::vector<float>(pixels, 4097.0f)), all)
        << row.info.id() << ", maps " << maps;
    centre(4097);  // the weights are rounded like the pixels
    EXPECT_EQ(run<float>(runtime, row, {s, {}, {}}, identity, std::vector<float>(pixels, 1.0f)), all)
        << row.info.id() << ", maps " << maps;
  }
}

/// C8, C19: a value that is not finite reaches exactly the nine outputs around it in every map, and Inf stays
/// Inf.
inline void check_nonfinite(Runtime& runtime, const RegistryRow& row, int64_t c_in, int64_t c_out) {
  ConvShape s;
  s.c_in = c_in, s.c_out = c_out, s.h = s.w = 32, s.k_h = s.k_w = 3, s.pad = {1, 1};
  for (const float special :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> in(static_cast<std::size_t>(s.input_size()), 1.0f);
    in[10 * 32 + 10] = special;
    const auto out = run<float>(runtime, row, {s, {}, {}}, constant_weights(s, 1), in);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t y = i / 32 % 32, x = i % 32;
      const bool near = y >= 9 && y <= 11 && x >= 9 && x <= 11;
      const int rows = 3 - (y == 0 || y == 31), columns = 3 - (x == 0 || x == 31);
      const bool as_expected = !near                 ? out[i] == static_cast<float>(rows * columns * c_in)
                               : std::isnan(special) ? std::isnan(out[i])
                                                     : out[i] == special;
      EXPECT_TRUE(as_expected) << row.info.id() << " " << c_in << " channels, " << special << " at " << y
                               << "," << x << " of map " << i / 1024 << ": " << out[i];
    }
  }
}

}  // namespace convscope::testing
