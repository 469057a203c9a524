#pragma once
// The transforms of Winograd's minimal filtering F(m x m, 3x3), m = 2 or 4: Lavin and Gray, Fast Algorithms
// for Convolutional Neural Networks (2015), section 4. Each of them runs over the columns and then over the
// rows. Factors that are no power of two stand in a mad(), as nvcc would contract them otherwise.

#include "kernels/targets/device_common.h"

namespace convscope::TARGET {

/// d = B^T d for m + 2 values that lie `kStride` apart.
template <int kM, int kStride, Rounding R, class T>
__device__ __forceinline__ void transform_input(T* d) {
  const T d0 = d[0], d1 = d[kStride], d2 = d[2 * kStride], d3 = d[3 * kStride];
  if constexpr (kM == 2) {
    d[0] = d0 - d2;
    d[kStride] = d1 + d2;
    d[2 * kStride] = d2 - d1;
    d[3 * kStride] = d1 - d3;
  } else {
    const T d4 = d[4 * kStride], d5 = d[5 * kStride];
    const T odd = d3 - d1, even = d4 - d2;
    d[0] = mad<R>(T(4), d0, mad<R>(T(-5), d2, d4));
    d[kStride] = mad<R>(T(-4), d1 + d2, d3 + d4);
    d[2 * kStride] = mad<R>(T(4), d1 - d2, d4 - d3);
    d[3 * kStride] = mad<R>(T(2), odd, even);
    d[4 * kStride] = mad<R>(T(-2), odd, even);
    d[5 * kStride] = mad<R>(T(4), d1, mad<R>(T(-5), d3, d5));
  }
}

/// y = A^T p, from m + 2 products to m results.
template <int kM, Rounding R, class T>
__device__ __forceinline__ void transform_output(const T* p, T* y) {
  if constexpr (kM == 2) {
    y[0] = p[0] + p[1] + p[2];
    y[1] = p[1] - p[2] - p[3];
  } else {
    const T sum_1 = p[1] + p[2], difference_1 = p[1] - p[2];
    const T sum_2 = p[3] + p[4], difference_2 = p[3] - p[4];
    y[0] = p[0] + sum_1 + sum_2;
    y[1] = mad<R>(T(2), difference_2, difference_1);
    y[2] = mad<R>(T(4), sum_2, sum_1);
    y[3] = mad<R>(T(8), difference_2, difference_1) + p[5];
  }
}

/// u = G g for the three taps g that lie `stride` apart, on the host, once for all launches.
template <int kM>
void transform_taps(const double* g, int64_t stride, double* u) {
  const double g0 = g[0], g1 = g[stride], g2 = g[2 * stride];
  if constexpr (kM == 2) {
    u[0] = g0;
    u[1] = (g0 + g1 + g2) / 2;
    u[2] = (g0 - g1 + g2) / 2;
    u[3] = g2;
  } else {
    u[0] = g0 / 4;
    u[1] = -(g0 + g1 + g2) / 6;
    u[2] = -(g0 - g1 + g2) / 6;
    u[3] = (g0 + 2 * g1 + 4 * g2) / 24;
    u[4] = (g0 - 2 * g1 + 4 * g2) / 24;
    u[5] = g2;
  }
}

/// G g G^T of a 3x3 filter: (m + 2)^2 values, row by row.
template <int kM>
std::vector<double> transformed_filter(const double* g) {
  constexpr int kSide = kM + 2;
  double rows[3 * kSide];  // each row of taps along x
  for (int i = 0; i < 3; ++i) transform_taps<kM>(g + 3 * i, 1, rows + i * kSide);
  std::vector<double> filter(kSide * kSide);
  for (int j = 0; j < kSide; ++j) {
    double column[kSide];
    transform_taps<kM>(rows + j, kSide, column);
    for (int i = 0; i < kSide; ++i) filter[static_cast<std::size_t>(i * kSide + j)] = column[i];
  }
  return filter;
}

/// Whether the window of output (y, x) lies in the padding as a whole: its terms cancel only roughly.
__device__ __forceinline__ bool sees_nothing(const DeviceShape& s, int y, int x) {
  const int in_y = y - s.pad_y, in_x = x - s.pad_x;
  return in_y < -2 || in_y >= s.h || in_x < -2 || in_x >= s.w;
}

}  // namespace convscope::TARGET
