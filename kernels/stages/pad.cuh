// Pad: makes every border but the zeros that strategies pad with themselves. One thread makes one pixel.
//
// A border wider than the image goes on with the same rule (reflect and wrap are periodic), so that no size
// is refused.

#include "kernels/stages/stages.h"

namespace convscope::TARGET {
namespace {

constexpr unsigned kThreads = 256;

struct PadShape {
  int64_t h, w, out_h, out_w;
  int64_t top, left;
  Border border;
};

__device__ __forceinline__ int64_t modulo(int64_t a, int64_t n) {
  const int64_t r = a % n;
  return r < 0 ? r + n : r;
}

/// Where position i of an axis of n pixels takes its value from; -1: it is zero.
__device__ __forceinline__ int64_t border_index(int64_t i, int64_t n, Border border) {
  if (i >= 0 && i < n) return i;
  switch (border) {
    case Border::replicate:
      return i < 0 ? 0 : n - 1;
    case Border::wrap:
      return modulo(i, n);
    case Border::reflect: {
      const int64_t r = modulo(i, 2 * n);
      return r < n ? r : 2 * n - 1 - r;
    }
    case Border::reflect_101: {
      if (n == 1) return 0;
      const int64_t r = modulo(i, 2 * n - 2);
      return r < n ? r : 2 * n - 2 - r;
    }
    case Border::zero:
      break;
  }
  return -1;
}

template <class T>
__global__ void pad_kernel(PadShape s, In<T> in, Out<T> out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= s.out_h * s.out_w) return;
  const int64_t plane = blockIdx.y;
  const int64_t y = border_index(i / s.out_w - s.top, s.h, s.border);
  const int64_t x = border_index(i % s.out_w - s.left, s.w, s.border);
  out[plane * s.out_h * s.out_w + i] = y < 0 || x < 0 ? T(0) : in[(plane * s.h + y) * s.w + x];
}

template <class T>
void pad_planes(const PadShape& s, int64_t planes, const void* in, void* out) {
  const auto blocks = static_cast<unsigned>(ceil_div(s.out_h * s.out_w, kThreads));
  // the y axis of a grid ends at 65535
  for (int64_t first = 0; first < planes; first += 65535) {
    const auto count = static_cast<unsigned>(planes - first < 65535 ? planes - first : 65535);
    launch("pad", pad_kernel<T>, dim3(blocks, count), dim3(kThreads), 0, s,
           static_cast<const T*>(in) + first * s.h * s.w, static_cast<T*>(out) + first * s.out_h * s.out_w);
  }
}

}  // namespace

void pad(const PadAmounts& a, int64_t planes, int64_t h, int64_t w, Precision precision, const void* in,
         void* out) {
  const PadShape s{h, w, a.top + h + a.bottom, a.left + w + a.right, a.top, a.left, a.border};
  if (precision == Precision::fp64) {
    pad_planes<double>(s, planes, in, out);
  } else {
    pad_planes<float>(s, planes, in, out);
  }
}

}  // namespace convscope::TARGET
