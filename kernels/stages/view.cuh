// View: full-resolution planes become the floats of the pixels that are visible. One thread makes one view
// pixel.
//
// Only window pixels reach GL. Boxes of neighbouring view pixels share no value and leave none out, so a
// difference reduced by maximum magnitude shows every wrong value at every zoom.

#include "kernels/stages/stages.h"

namespace convscope::TARGET {
namespace {

constexpr unsigned kThreadsX = 32, kThreadsY = 8;

template <class T>
__device__ __forceinline__ float evaluate(Metric metric, T a, T b, float bound) {
  const T difference = a - b;
  const T magnitude = difference < T(0) ? -difference : difference;
  switch (metric) {
    case Metric::value:
      return static_cast<float>(a);
    case Metric::signed_difference:
      return static_cast<float>(difference);
    case Metric::absolute:
      return static_cast<float>(magnitude);
    case Metric::relative:
      if (magnitude == T(0)) return 0;
      return static_cast<float>(magnitude / (b < T(0) ? -b : b));
    case Metric::ulp: {
      if (!(a == a) || !(b == b)) return static_cast<float>(difference);
      const int64_t at_a = ordered_bits(a), at_b = ordered_bits(b);
      // across zero the distance may exceed 64 bits
      if ((at_a < 0) != (at_b < 0)) return fabsf(static_cast<float>(at_a)) + fabsf(static_cast<float>(at_b));
      return static_cast<float>(at_a < at_b ? at_b - at_a : at_a - at_b);
    }
    case Metric::bound_fraction:
      if (magnitude == T(0)) return 0;
      return static_cast<float>(magnitude / static_cast<T>(bound));
  }
  return 0;
}

/// The values of one axis that belong to view pixel i: [first, last), at least one.
struct Span {
  int64_t first, last;
};
__device__ __forceinline__ Span span_of(int i, double origin, double step) {
  // fma, said aloud, so that both targets round alike
  const double begin = floor(fma(static_cast<double>(i), step, origin));
  const double end = floor(fma(static_cast<double>(i) + 1.0, step, origin));
  const auto first = static_cast<int64_t>(begin);
  const auto last = static_cast<int64_t>(end);
  return {first, last > first ? last : first + 1};
}

/// Values: the mean of the box. Four loads are in flight at a time; the sum keeps its order.
template <class T>
__device__ __forceinline__ float mean(const ViewLayout& v, Span ys, Span xs, In<T> a) {
  const int width = static_cast<int>(xs.last - xs.first), height = static_cast<int>(ys.last - ys.first);
  const T* row = a + ys.first * v.plane_w + xs.first;
  T sum = 0;
  for (int y = 0; y < height; ++y, row += v.plane_w) {
    int x = 0;
    for (; x + 4 <= width; x += 4) {
      const T v0 = read_only(row + x), v1 = read_only(row + x + 1), v2 = read_only(row + x + 2),
              v3 = read_only(row + x + 3);
      sum = sum + v0;
      sum = sum + v1;
      sum = sum + v2;
      sum = sum + v3;
    }
    for (; x < width; ++x) sum = sum + read_only(row + x);
  }
  return static_cast<float>(sum / (static_cast<T>(width) * static_cast<T>(height)));
}

/// Differences: the one of largest magnitude, with its sign; NaN where any is NaN.
template <class T>
__device__ __forceinline__ float strongest(const ViewLayout& v, Metric metric, Span ys, Span xs, In<T> a,
                                           In<T> b, In<float> bound) {
  const int width = static_cast<int>(xs.last - xs.first), height = static_cast<int>(ys.last - ys.first);
  int64_t first = ys.first * v.plane_w + xs.first;
  float found = 0;
  for (int y = 0; y < height; ++y, first += v.plane_w) {
    CONVSCOPE_UNROLL_BY(4)
    for (int x = 0; x < width; ++x) {
      const int64_t i = first + x;
      const float share = metric == Metric::bound_fraction ? read_only(bound + i) : 0.0f;
      const float e = evaluate<T>(metric, read_only(a + i), read_only(b + i), share);
      // a NaN, once found, stays: no comparison with it is true
      if (!(fabsf(e) <= fabsf(found)) && found == found) found = e;
    }
  }
  return found;
}

template <class T, bool kDifference>
__global__ void view_kernel(ViewLayout v, Metric metric, In<T> a, In<T> b, In<float> bound, Out<float> out) {
  const int px = static_cast<int>(blockIdx.x * kThreadsX + threadIdx.x);
  const int py = static_cast<int>(blockIdx.y * kThreadsY + threadIdx.y);
  if (px >= v.view_w || py >= v.view_h) return;
  float result = float_of_bits(kViewEmptyBits);
  const int dx = px - v.origin_x, dy = py - v.origin_y;
  if (dx >= 0 && dy >= 0) {
    const int column = dx / v.pitch_x, row = dy / v.pitch_y;
    const int cx = dx - column * v.pitch_x, cy = dy - row * v.pitch_y;
    const int cell = row * v.columns + column;
    if (column < v.columns && cell < v.cells && cx < v.cell_w && cy < v.cell_h) {
      const Span whole_x = span_of(cx, v.region_x, v.step), whole_y = span_of(cy, v.region_y, v.step);
      const Span xs{whole_x.first < 0 ? 0 : whole_x.first,
                    whole_x.last > v.plane_w ? v.plane_w : whole_x.last};
      const Span ys{whole_y.first < 0 ? 0 : whole_y.first,
                    whole_y.last > v.plane_h ? v.plane_h : whole_y.last};
      if (xs.first < xs.last && ys.first < ys.last) {
        const int64_t plane = (int64_t{v.first_plane} + cell) * v.plane_w * v.plane_h;
        if constexpr (kDifference) {
          result =
              strongest<T>(v, metric, ys, xs, a + plane, b + plane, bound == nullptr ? bound : bound + plane);
        } else {
          result = mean<T>(v, ys, xs, a + plane);
        }
      }
    }
  }
  out[int64_t{py} * v.view_w + px] = result;
}

template <class T>
void view_planes(const ViewLayout& v, const ViewPlanes& p, Metric metric, float* out) {
  const dim3 grid(static_cast<unsigned>(ceil_div(v.view_w, kThreadsX)),
                  static_cast<unsigned>(ceil_div(v.view_h, kThreadsY)));
  const auto kernel = metric == Metric::value ? view_kernel<T, false> : view_kernel<T, true>;
  launch("view", kernel, grid, dim3(kThreadsX, kThreadsY), 0, v, metric, static_cast<const T*>(p.a),
         static_cast<const T*>(p.b), p.bound, out);
}

}  // namespace

void view(const ViewLayout& layout, const ViewPlanes& planes, Precision precision, Metric metric,
          float* out) {
  if (precision == Precision::fp64) {
    view_planes<double>(layout, planes, metric, out);
  } else {
    view_planes<float>(layout, planes, metric, out);
  }
}

}  // namespace convscope::TARGET
