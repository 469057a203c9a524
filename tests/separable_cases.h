#pragma once
// Banks of rank 1 over the table of cases, and shapes that reach each way `separable` goes.

#include "tests/conv_testing.h"

namespace convscope::testing {

/// Kernels that are the product of a random column and a random row of whole numbers over 1024: every weight
/// is exact in both precisions.
inline ConvWeights rank_one_weights(const ConvShape& s, uint64_t seed, bool bias) {
  ConvWeights w = random_weights(s, seed, bias);
  std::mt19937_64 bits(seed + 100);
  const auto factor = [&bits](int64_t count) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& v : values) v = (static_cast<double>(bits() % 2047) - 1023) / 1024;
    return values;
  };
  for (int64_t o = 0; o < s.c_out; ++o) {
    for (int64_t c = 0; c < s.c_in; ++c) {
      const auto column = factor(s.k_h), row = factor(s.k_w);
      for (int64_t i = 0; i < s.k_h; ++i)
        for (int64_t j = 0; j < s.k_w; ++j)
          w.at(o, c, i, j) = column[static_cast<std::size_t>(i)] * row[static_cast<std::size_t>(j)];
    }
  }
  return w;
}

/// Shapes beyond the table: long kernels with every remainder of 4 taps, narrow, flat and 1-D signals, and
/// tiles that shared memory does not hold.
inline std::vector<ConvCase> separable_cases() {
  std::vector<ConvCase> cases;
  const auto add = [&cases](ConvShape s, bool bias, Activation activation = Activation::none) {
    if (!fault(s)) cases.push_back({s, bias, activation});
  };
  for (int64_t k = 2; k <= 31; ++k) {
    const int64_t other = 33 - k;
    add({1, 2, 70, 150, 2, k, std::min<int64_t>(other, 31), {1, 1}, {k / 2, k / 2}, {1, 1}}, k % 2 == 0);
  }
  add({1, 1, 64 + 16, 128 + 16, 1, 17, 17, {1, 1}, {0, 0}, {1, 1}}, false);  // whole tiles only
  add({2, 1, 1, 5000, 3, 1, 31, {1, 1}, {0, 15}, {1, 1}}, true);             // 1-D, several tiles
  add({1, 3, 1, 4099, 1, 1, 17, {3, 3}, {0, 8}, {1, 2}}, true);              // 1-D, stride and dilation
  add({1, 1, 5000, 1, 1, 31, 1, {1, 1}, {15, 0}, {1, 1}}, true);             // 1-D, down
  add({1, 2, 3000, 3, 2, 9, 3, {1, 1}, {4, 1}, {1, 1}}, true, Activation::relu);
  add({1, 2, 9, 3000, 2, 7, 5, {1, 1}, {0, 2}, {1, 1}}, true, Activation::relu);  // three rows out
  add({1, 1, 3, 2000, 1, 1, 5, {1, 1}, {0, 2}, {1, 1}}, false);
  add({2, 3, 40, 45, 2, 31, 31, {1, 1}, {180, 180}, {12, 12}}, true);
  add({2, 2, 40, 2500, 3, 3, 3, {1, 1}, {1, 900}, {1, 900}}, true, Activation::relu);  // two kernels, scratch
  add({1, 2, 33, 5000, 2, 3, 5, {2, 40}, {1, 0}, {1, 3}}, true);                       // two kernels, stride
  add({1, 1, 1, 9000, 1, 1, 4, {1, 1}, {0, 0}, {1, 2900}}, false);                     // and 1-D
  return cases;
}

/// Shapes for the kernels over quads: every remainder of taps and of padding by 4, rows of outputs that are
/// whole quads and that are not, several tiles and runs, several launches, and one dimension both ways.
inline std::vector<ConvCase> quads_cases() {
  std::vector<ConvCase> cases;
  const auto add = [&cases](ConvShape s, bool bias, Activation activation = Activation::none) {
    cases.push_back({s, bias, activation});
  };
  for (int64_t k = 1; k <= 19; ++k) {
    add({1, 1, 21, 268, 1, k + 1, k, {1, 1}, {k / 2, k / 2}, {1, 1}}, k % 2 == 0);
    add({1, 2, 9, 660, 2, 1, k, {1, 1}, {0, (k + 3) / 2}, {1, 1}}, k % 2 == 1);
    add({2, 2, 1, 4200, 1, 1, k, {1, 1}, {0, k / 2}, {1, 1}}, k % 2 == 0);
  }
  add({1, 1, 50, 132, 120, 17, 17, {1, 1}, {8, 8}, {1, 1}}, true, Activation::relu);  // five launches, 3 runs
  add({2, 3, 60, 508, 3, 3, 3, {1, 1}, {1, 1}, {1, 1}}, true, Activation::relu);
  add({1, 2, 50, 256, 3, 5, 7, {1, 1}, {0, 0}, {1, 1}}, true);  // 250 columns out
  add({1, 1, 40, 500, 2, 31, 31, {1, 1}, {15, 15}, {1, 1}}, false);
  add({1, 1, 12, 300, 1, 2, 127, {1, 1}, {1, 63}, {1, 1}}, false);  // the widest row that a run takes
  add({1, 2, 70, 128, 1, 65, 1, {1, 1}, {32, 0}, {1, 1}}, true);    // down alone
  add({1, 1, 3, 200, 1, 5, 3, {1, 1}, {2, 1}, {1, 1}}, false);      // fewer rows than taps
  add({1, 1, 6, 128, 1, 1, 9, {1, 1}, {2, 4}, {1, 1}}, true, Activation::relu);  // rows of padding
  add({1, 1, 1, 3000, 1, 1, 601, {1, 1}, {0, 300}, {1, 1}}, false);
  add({1, 1, 1, 3000, 1, 1, 5, {1, 1}, {1, 2}, {1, 1}}, true);   // a row, and rows of padding
  add({2, 2, 1, 70000, 2, 1, 7, {1, 1}, {0, 3}, {1, 1}}, true);  // more tiles than blocks
  add({1, 1, 2, 200000, 1, 1, 4, {1, 1}, {0, 1}, {1, 1}}, false);
  return cases;
}

}  // namespace convscope::testing
