#pragma once
// Sizes of the transforms of `fft`: how large a plane must be so that nothing wraps around into a result.

#include <algorithm>
#include <cstdint>

#include "kernels/shape.h"

namespace convscope {

/// The least 2^a 3^b 5^c 7^d that is `least` or more: the sizes for which cuFFT has its fast kernels.
constexpr int64_t smooth_size(int64_t least) {
  for (int64_t size = std::max<int64_t>(least, 1);; ++size) {
    int64_t rest = size;
    for (const int64_t prime : {2, 3, 5, 7})
      while (rest % prime == 0) rest /= prime;
    if (rest == 1) return size;
  }
}

/// The least size of a circular correlation along an axis that equals the linear one at every lag wanted.
/// Lags
/// -(extent - 1) .. in - 1 are the ones whose window meets the image; a lag wanted, first .. last, is clean
/// where adding or taking away the size leaves that range.
constexpr int64_t circular_size(int64_t in, int64_t extent, int64_t stride, int64_t pad, int64_t out) {
  const int64_t first = -std::min(pad, extent - 1);
  const int64_t last = std::min((out - 1) * stride - pad, in - 1);
  return std::max({in - first, last + extent, extent});
}

/// One plane of a transform. A plane one pixel wide or high is transformed along the other axis alone.
struct FftPlane {
  int64_t h = 1, w = 1;
  int64_t reals() const { return h * w; }
  /// Complex values of the spectrum: half of the last axis, as the input is real.
  int64_t complexes() const { return w == 1 ? h / 2 + 1 : h * (w / 2 + 1); }
};

/// What a kernel covers with its dilation.
constexpr int64_t kernel_extent(int64_t kernel, int64_t dilation) { return (kernel - 1) * dilation + 1; }

inline FftPlane fft_plane(const ConvShape& s) {
  const auto side = [](int64_t in, int64_t k, int64_t stride, int64_t pad, int64_t dilation, int64_t out) {
    return smooth_size(circular_size(in, kernel_extent(k, dilation), stride, pad, out));
  };
  const FftPlane plane{side(s.h, s.k_h, s.stride.y, s.pad.y, s.dilation.y, s.out_h()),
                       side(s.w, s.k_w, s.stride.x, s.pad.x, s.dilation.x, s.out_w())};
  return plane.reals() == 1 ? FftPlane{1, 2} : plane;  // there is no transform of one point
}

}  // namespace convscope
