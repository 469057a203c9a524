#pragma once
// What the suites of winograd_f2 and winograd_f4 share.

#include <fmt/format.h>

#include "tests/conv_testing.h"

namespace convscope::testing {

inline const char* const kWinogradNames[] = {"winograd_f2", "winograd_f4"};

/// 3x3 shapes around the edges of tiles (2 and 4 outputs), of blocks (16x8 to 32x8 pixels, 16 input channels,
/// 32 maps) and of padding that reaches beyond a window. `largest`: pixels of the largest image wanted.
inline std::vector<ConvCase> winograd_cases(int64_t largest) {
  const Axes sizes[] = {{1, 1},   {1, 2},   {2, 1},   {3, 4},   {4, 4},   {5, 9},   {8, 32},
                        {14, 14}, {16, 16}, {33, 17}, {31, 66}, {7, 129}, {97, 61}, {1080, 1920}};
  const int64_t inputs[] = {1, 3, 15, 16, 17, 40}, outputs[] = {1, 5, 31, 32, 33, 70};
  const Axes pads[] = {{0, 0}, {1, 1}, {2, 1}, {1, 3}, {4, 2}, {5, 6}};
  const Activation activations[] = {Activation::none, Activation::relu};
  std::mt19937 choice(41);
  const auto pick = [&choice](const auto& list) { return list[choice() % std::size(list)]; };
  std::vector<ConvCase> cases;
  for (const Axes size : sizes) {
    if (size.y * size.x > largest) continue;
    const bool large = size.y * size.x > 100000;
    for (int turn = 0; turn < (large ? 1 : 10); ++turn) {
      ConvCase c;
      c.shape.n = large ? 1 : 1 + static_cast<int64_t>(choice() % 3);
      c.shape.h = size.y, c.shape.w = size.x, c.shape.k_h = c.shape.k_w = 3;
      c.shape.c_in = large ? 3 : pick(inputs), c.shape.c_out = large ? 16 : pick(outputs);
      c.shape.pad = large ? Axes{1, 1} : pick(pads);
      c.bias = choice() % 2 == 0;
      c.activation = pick(activations);
      if (!fault(c.shape)) cases.push_back(c);
    }
  }
  return cases;
}

}  // namespace convscope::testing
