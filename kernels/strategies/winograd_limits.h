#pragma once
// What Winograd's minimal filtering F(m x m, 3x3) is not made for.

#include <optional>
#include <string>

#include "kernels/shape.h"

namespace convscope {

inline std::optional<std::string> refuses_winograd(const ConvShape& s) {
  const auto pair = [](const Axes& a) {
    return a.y == a.x ? std::to_string(a.y) : std::to_string(a.y) + "," + std::to_string(a.x);
  };
  if (s.k_h != 3 || s.k_w != 3) {
    return "its transforms are made for 3x3 kernels, not for " + std::to_string(s.k_h) + "x" +
           std::to_string(s.k_w);
  }
  if (s.stride != Axes{1, 1}) {
    return "neighbouring outputs of a tile must share inputs: stride 1 only, not " + pair(s.stride);
  }
  if (s.dilation != Axes{1, 1}) {
    return "the taps must be neighbours: dilation 1 only, not " + pair(s.dilation);
  }
  return std::nullopt;
}

}  // namespace convscope
