#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/window/source_loader.h"

namespace convscope {
namespace {

double pixel(const PixelLayout& l, const std::byte* data, int64_t y, int64_t x, int channel) {
  const int64_t i = l.planar ? (channel * l.h + y) * l.w + x : (y * l.w + x) * l.channels + channel;
  const auto read = [&](auto type) {
    decltype(type) v;
    std::memcpy(&v, data + static_cast<std::size_t>(i) * sizeof v, sizeof v);
    return static_cast<double>(v);
  };
  switch (l.type) {
    case PixelType::u8:
      return read(uint8_t{});
    case PixelType::u16:
      return read(uint16_t{});
    case PixelType::f32:
      return read(float{});
    case PixelType::f64:
      return read(double{});
  }
  return 0;
}

}  // namespace

Thumbnail make_thumbnail(const Frame& frame, int max_side) {
  const PixelLayout& l = frame.layout;
  Thumbnail t;
  t.frame = frame.id;
  const double shrink = std::max(1.0, static_cast<double>(std::max(l.w, l.h)) / max_side);
  t.width = std::max(1, static_cast<int>(static_cast<double>(l.w) / shrink));
  t.height = std::max(1, static_cast<int>(static_cast<double>(l.h) / shrink));
  const bool colour = l.planes >= 3;
  std::vector<double> values(static_cast<std::size_t>(t.width) * static_cast<std::size_t>(t.height) * 3);
  double low = INFINITY, high = -INFINITY;
  for (int y = 0; y < t.height; ++y) {
    for (int x = 0; x < t.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        const int plane = colour ? c : 0;
        const int channel = l.reverse && colour ? 2 - plane : plane;
        const double v = pixel(l, frame.pixels.data(), y * l.h / t.height, x * l.w / t.width, channel);
        values[static_cast<std::size_t>((y * t.width + x) * 3 + c)] = v;
        if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
      }
    }
  }
  const bool integer = l.type == PixelType::u8 || l.type == PixelType::u16;
  // floats within [0, 1] are pictures already; others are stretched
  if (integer || (low >= 0 && high <= 1))
    low = 0, high = integer ? (l.type == PixelType::u8 ? 255 : 65535) : 1;
  const double scale = high > low ? 255.0 / (high - low) : 0;
  t.rgba.resize(values.size() / 3 * 4);
  for (std::size_t i = 0; i < values.size(); ++i)
    t.rgba[i / 3 * 4 + i % 3] = to_u8((values[i] - low) * scale);
  for (std::size_t i = 3; i < t.rgba.size(); i += 4) t.rgba[i] = 255;
  return t;
}

}  // namespace convscope
