#pragma once
// Included by the two target headers, inside neither namespace: plain types that kernels of both targets
// share.

#include <cstdint>

#include "kernels/shape.h"

#ifdef __CUDACC__
#define CONVSCOPE_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define CONVSCOPE_HOST_DEVICE inline
#endif

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

/// Divides numbers below 2^31 by a fixed divisor with a multiplication and a shift: a kernel's first lines
/// would otherwise cost as much as twenty of its taps. Granlund and Montgomery, Division by Invariant
/// Integers using Multiplication (1994), section 4.
struct Divisor {
  uint32_t value = 1, multiplier = 0, shift = 0;

  Divisor() = default;
  explicit Divisor(int64_t d) : value(static_cast<uint32_t>(d)) {
    while ((uint64_t{1} << shift) < value) ++shift;
    multiplier = static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - value)) / value + 1);
  }

  CONVSCOPE_HOST_DEVICE uint32_t divide(uint32_t n) const {
    // n < 2^31, so that the sum does not overflow
    return (static_cast<uint32_t>((static_cast<uint64_t>(n) * multiplier) >> 32) + n) >> shift;
  }
  /// The remainder; n becomes the quotient.
  CONVSCOPE_HOST_DEVICE uint32_t take(uint32_t& n) const {
    const uint32_t quotient = divide(n), remainder = n - quotient * value;
    n = quotient;
    return remainder;
  }
};

/// A tile's first output.
struct TilePlace {
  int x, y, image;
};
/// Of tiles of so many outputs that are numbered across an image, then down, then through the images.
CONVSCOPE_HOST_DEVICE TilePlace place_of_tile(uint32_t number, const Divisor& across, int width,
                                              const Divisor& down, int height) {
  TilePlace at;
  at.x = static_cast<int>(across.take(number)) * width;
  at.y = static_cast<int>(down.take(number)) * height;
  at.image = static_cast<int>(number);
  return at;
}

/// Whether 16 bytes can be moved at once from, or to, here.
inline bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Blocks for so many tiles where `at_once` run at once: none has more tiles than it must.
constexpr int64_t even_blocks(int64_t tiles, int64_t at_once) {
  return ceil_div(tiles, ceil_div(tiles, at_once));
}

}  // namespace convscope
