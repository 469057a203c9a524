#include "app/display.h"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

namespace convscope {
namespace {

using Table = std::array<Rgb, 256>;

Table opencv_table(int map) {
  cv::Mat ramp(1, 256, CV_8U), colors;
  for (int i = 0; i < 256; ++i) ramp.at<uint8_t>(0, i) = static_cast<uint8_t>(i);
  cv::applyColorMap(ramp, colors, map);
  Table table;
  for (int i = 0; i < 256; ++i) {
    const auto& bgr = colors.at<cv::Vec3b>(0, i);
    table[static_cast<std::size_t>(i)] = {bgr[2], bgr[1], bgr[0]};
  }
  return table;
}

Table grey_table() {
  Table table;
  for (std::size_t i = 0; i < 256; ++i) {
    const auto v = static_cast<uint8_t>(i);
    table[i] = {v, v, v};
  }
  return table;
}

/// ColorBrewer's RdBu with 11 colours, blue for negative values (https://colorbrewer2.org), interpolated
/// linearly.
Table diverging_table() {
  constexpr std::array<Rgb, 11> stops{{{0x05, 0x30, 0x61},
                                       {0x21, 0x66, 0xac},
                                       {0x43, 0x93, 0xc3},
                                       {0x92, 0xc5, 0xde},
                                       {0xd1, 0xe5, 0xf0},
                                       {0xf7, 0xf7, 0xf7},
                                       {0xfd, 0xdb, 0xc7},
                                       {0xf4, 0xa5, 0x82},
                                       {0xd6, 0x60, 0x4d},
                                       {0xb2, 0x18, 0x2b},
                                       {0x67, 0x00, 0x1f}}};
  Table table;
  for (std::size_t i = 0; i < 256; ++i) {
    const double at = static_cast<double>(i) / 255 * 10;
    const auto low = std::min<std::size_t>(static_cast<std::size_t>(at), 9);
    const double part = at - static_cast<double>(low);
    const auto mix = [&](uint8_t Rgb::*c) {
      return to_u8(stops[low].*c + part * (stops[low + 1].*c - stops[low].*c));
    };
    table[i] = {mix(&Rgb::r), mix(&Rgb::g), mix(&Rgb::b)};
  }
  return table;
}

}  // namespace

template <class T>
Range finite_range(std::span<const T> values) {
  bool any = false;
  Range range;
  for (const T value : values) {
    if (!std::isfinite(value)) continue;
    range.low = any ? std::min(range.low, static_cast<double>(value)) : value;
    range.high = any ? std::max(range.high, static_cast<double>(value)) : value;
    any = true;
  }
  return range;
}
template Range finite_range(std::span<const float>);
template Range finite_range(std::span<const double>);

uint8_t to_u8(double value) {
  // !(value > 0) is true of NaN too
  if (!(value > 0)) return 0;
  if (value >= 255) return 255;
  return static_cast<uint8_t>(std::nearbyint(value));
}

const std::array<Rgb, 256>& color_table(ColorMap map) {
  static const Table grey = grey_table(), viridis = opencv_table(cv::COLORMAP_VIRIDIS),
                     turbo = opencv_table(cv::COLORMAP_TURBO), diverging = diverging_table();
  switch (map) {
    case ColorMap::grey:
      return grey;
    case ColorMap::viridis:
      return viridis;
    case ColorMap::turbo:
      return turbo;
    case ColorMap::diverging:
      return diverging;
  }
  return grey;
}

Rgb color_of(double value, Range range, ColorMap map) {
  if (std::isnan(value)) return kNanColor;
  const double width = range.high - range.low;
  double position = width > 0 ? (value - range.low) / width : 0.5;
  // a range of one value: what lies beside it is at the ends; infinities too, where inf - inf would be NaN
  if (value > range.high) position = 1;
  if (value < range.low) position = 0;
  return color_table(map)[to_u8(255 * position)];
}

}  // namespace convscope
