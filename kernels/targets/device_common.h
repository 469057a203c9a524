#pragma once
// Included by the two target headers, inside neither namespace: plain types that kernels of both targets
// share.

#include <cstdint>

#include "kernels/shape.h"

namespace convscope {

/// ConvShape as kernels take it: 32-bit sizes along the axes (strategies refuse larger ones), 64-bit strides
/// of planes.
struct DeviceShape {
  int n, c_in, h, w, c_out, k_h, k_w;
  int stride_y, stride_x, pad_y, pad_x, dilation_y, dilation_x;
  int out_h, out_w;
  int64_t in_plane, out_plane;  // values in a plane: h * w, out_h * out_w
};

inline DeviceShape device_shape(const ConvShape& s) {
  const auto i = [](int64_t v) { return static_cast<int>(v); };
  return {i(s.n),          i(s.c_in),     i(s.h),        i(s.w),     i(s.c_out),           i(s.k_h),
          i(s.k_w),        i(s.stride.y), i(s.stride.x), i(s.pad.y), i(s.pad.x),           i(s.dilation.y),
          i(s.dilation.x), i(s.out_h()),  i(s.out_w()),  s.h * s.w,  s.out_h() * s.out_w()};
}

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace convscope
