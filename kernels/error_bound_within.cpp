#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/compare.h"
#include "kernels/error.h"
#include "kernels/targets/host_runtime.h"

namespace convscope {
namespace {

/// Each of `count` values, `stride` apart, becomes the largest of those up to `reach` away.
template <class T>
void spread_maximum(T* values, int64_t count, int64_t stride, int64_t reach, std::vector<T>& line) {
  line.resize(static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) line[static_cast<std::size_t>(i)] = values[i * stride];
  if (reach >= count) {
    const T largest = *std::max_element(line.begin(), line.end());
    for (int64_t i = 0; i < count; ++i) values[i * stride] = largest;
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const auto first = line.begin() + std::max<int64_t>(i - reach, 0);
    const auto last = line.begin() + std::min(i + reach + 1, count);
    values[i * stride] = *std::max_element(first, last);
  }
}

/// The magnitudes of the planes with their zero padding, each the largest within reach. NaN counts as
/// infinite.
template <class T>
std::vector<T> largest_within(int64_t reach, const ConvShape& s, const T* in) {
  const int64_t h = s.h + 2 * s.pad.y, w = s.w + 2 * s.pad.x, planes = s.n * s.c_in;
  const auto count = static_cast<std::size_t>(planes * h * w);
  check_available(count * sizeof(T));
  std::vector<T> largest(count, T(0)), line;
  for (int64_t p = 0; p < planes; ++p) {
    T* const plane = largest.data() + p * h * w;
    for (int64_t y = 0; y < s.h; ++y) {
      for (int64_t x = 0; x < s.w; ++x) {
        const T value = std::abs(in[(p * s.h + y) * s.w + x]);
        plane[(y + s.pad.y) * w + x + s.pad.x] =
            std::isnan(value) ? std::numeric_limits<T>::infinity() : value;
      }
    }
    for (int64_t y = 0; y < h; ++y) spread_maximum(plane + y * w, w, 1, reach, line);
    for (int64_t x = 0; x < w; ++x) spread_maximum(plane + x, h, w, reach, line);
  }
  return largest;
}

/// Every tap as large as the largest of its filter's plane.
ConvWeights largest_taps(const ConvWeights& weights) {
  ConvWeights largest = weights;
  const int64_t taps = weights.k_h * weights.k_w;
  for (auto first = largest.values.begin(); first != largest.values.end(); first += taps) {
    double most = 0;
    for (auto tap = first; tap != first + taps; ++tap) most = std::max(most, std::abs(*tap));
    std::fill(first, first + taps, most);
  }
  return largest;
}

}  // namespace

void error_bound_within(int64_t reach, const ConvShape& shape, const ConvWeights& weights,
                        Precision precision, const void* in, float* bound) {
  if (reach <= 0) return error_bound(shape, weights, precision, in, bound);
  if (const auto reason = fault(shape)) throw Error(*reason);
  if (const auto reason = fault(weights, shape)) throw Error(*reason);
  ConvShape padded = shape;
  padded.h += 2 * shape.pad.y, padded.w += 2 * shape.pad.x, padded.pad = {0, 0};
  const auto bound_of = [&](const auto* values) {
    const auto largest = largest_within(reach, shape, values);
    error_bound(padded, largest_taps(weights), precision, largest.data(), bound);
  };
  if (precision == Precision::fp64) {
    bound_of(static_cast<const double*>(in));
  } else {
    bound_of(static_cast<const float*>(in));
  }
}

}  // namespace convscope
