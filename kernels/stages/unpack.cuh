// Unpack: interleaved pixels as files hold them become planar values, on the target.
//
// 8-bit BGR goes up as 3 bytes a pixel instead of 12; the division by 255 (65535) is correctly rounded, so
// that every target makes the same value. One thread makes one pixel of all planes.

#include "kernels/stages/stages.h"

namespace convscope::TARGET {
namespace {

constexpr unsigned kThreads = 256;

struct UnpackShape {
  int64_t pixels;            // of one image
  int64_t channels, planes;  // of one image
  bool reverse, planar;
};

template <class Pixel, class T>
__global__ void unpack_kernel(UnpackShape s, In<Pixel> in, T divisor, Out<T> out) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= s.pixels) return;
  const int64_t image = blockIdx.y;
  const int64_t first_in = image * s.pixels * s.channels;
  for (int64_t p = 0; p < s.planes; ++p) {
    const int64_t channel = s.reverse ? s.planes - 1 - p : p;
    const int64_t at = s.planar ? channel * s.pixels + i : i * s.channels + channel;
    const T value = static_cast<T>(in[first_in + at]);
    out[(image * s.planes + p) * s.pixels + i] = divisor == T(1) ? value : value / divisor;
  }
}

template <class Pixel, class T>
void unpack_as(const PixelLayout& layout, int64_t images, const void* pixels, T divisor, void* planes) {
  const UnpackShape s{layout.w * layout.h, layout.channels, layout.planes, layout.reverse, layout.planar};
  // the y axis of a grid ends at 65535
  for (int64_t first = 0; first < images; first += 65535) {
    const auto count = static_cast<unsigned>(images - first < 65535 ? images - first : 65535);
    launch("unpack", unpack_kernel<Pixel, T>,
           dim3(static_cast<unsigned>(ceil_div(s.pixels, kThreads)), count), dim3(kThreads), 0, s,
           static_cast<const Pixel*>(pixels) + first * s.pixels * s.channels, divisor,
           static_cast<T*>(planes) + first * s.pixels * s.planes);
  }
}

template <class T>
void unpack_to(const PixelLayout& layout, int64_t images, const void* pixels, void* planes) {
  switch (layout.type) {
    case PixelType::u8:
      return unpack_as<uint8_t, T>(layout, images, pixels, layout.unit_scale ? T(255) : T(1), planes);
    case PixelType::u16:
      return unpack_as<uint16_t, T>(layout, images, pixels, layout.unit_scale ? T(65535) : T(1), planes);
    case PixelType::f32:
      return unpack_as<float, T>(layout, images, pixels, T(1), planes);
    case PixelType::f64:
      return unpack_as<double, T>(layout, images, pixels, T(1), planes);
  }
}

}  // namespace

void unpack(const PixelLayout& layout, int64_t images, const void* pixels, Precision precision,
            void* planes) {
  if (precision == Precision::fp64) {
    unpack_to<double>(layout, images, pixels, planes);
  } else {
    unpack_to<float>(layout, images, pixels, planes);
  }
}

}  // namespace convscope::TARGET
