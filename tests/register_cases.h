#pragma once
// What the suites of register_tiled share.

#include "tests/conv_testing.h"

namespace convscope::testing {

/// Shapes for every configuration of register_tiled (kernels/strategies/register_tiled.cuh): its windows,
/// strides and dilations, with maps around its groups (1, 4, 8, 16), sizes around its strips and tiles (64
/// and 128 pixels across, 4 to 16 rows), rows of the output that are aligned and that are not, several
/// images.
inline std::vector<ConvCase> register_cases() {
  struct Window {
    int64_t k, stride, dilation;
  };
  const Window windows[] = {{3, 1, 1}, {3, 2, 1}, {3, 1, 2}, {5, 1, 1}, {7, 1, 1}, {15, 1, 1}};
  const Axes sizes[] = {{1, 4}, {3, 64}, {4, 128}, {9, 132}, {17, 260}, {33, 68}, {70, 36}};
  const int64_t maps[] = {1, 3, 7, 9, 16, 17}, channels[] = {1, 3, 4};
  // none whose last bits are a library's
  const Activation activations[] = {Activation::none, Activation::relu, Activation::none};
  std::vector<ConvCase> cases;
  int64_t turn = 0;
  for (const Window w : windows) {
    for (const Axes size : sizes) {
      for (const int64_t c_out : maps) {
        for (const bool same : {true, false}) {
          ConvCase c;
          ConvShape& s = c.shape;
          s.n = turn % 5 == 0 ? 2 : 1, s.c_in = channels[turn % 3];
          s.h = size.y, s.w = size.x, s.c_out = c_out, s.k_h = s.k_w = w.k;
          s.stride = {w.stride, w.stride}, s.dilation = {w.dilation, w.dilation};
          if (same) s.pad = {w.k / 2 * w.dilation, w.stride == 2 ? 0 : w.k / 2 * w.dilation};
          c.bias = turn % 2 == 0, c.activation = activations[turn % 7 % 3];
          ++turn;
          if (!fault(s)) cases.push_back(c);
        }
      }
    }
  }
  return cases;
}

}  // namespace convscope::testing
