#pragma once
// Limits common to the kernels of both targets.

#include <optional>
#include <string>

#include "kernels/shape.h"

namespace convscope {

/// Kernels count along an axis in 32 bits and blocks on the grid's x axis in 31.
inline std::optional<std::string> refuses_size(const ConvShape& s, int64_t blocks) {
  constexpr int64_t kLimit = (int64_t{1} << 31) - 1;
  const int64_t sides[] = {s.h + 2 * s.pad.y,
                           s.w + 2 * s.pad.x,
                           s.out_h(),
                           s.out_w(),
                           s.c_in,
                           s.c_out,
                           s.n,
                           s.dilation.y * s.k_h,
                           s.dilation.x * s.k_w,
                           s.stride.y * s.out_h(),
                           s.stride.x * s.out_w()};
  for (const int64_t side : sides) {
    if (side > kLimit) return "a side of " + std::to_string(side) + " pixels is beyond its 32-bit counters";
  }
  if (blocks > kLimit)
    return "it would need " + std::to_string(blocks) + " blocks; a grid has at most 2147483647";
  return std::nullopt;
}

}  // namespace convscope
