#include "app/pattern_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <opencv2/core.hpp>

namespace convscope {
namespace {

using Pixel = cv::Vec3b;

Pixel grey(double value) {
  const auto v = static_cast<uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
  return {v, v, v};
}

/// The part of the chart between two fractions of its width and height.
cv::Mat part(cv::Mat chart, double x0, double y0, double x1, double y1) {
  const auto at = [](double fraction, int size) { return static_cast<int>(std::lround(fraction * size)); };
  const int left = at(x0, chart.cols), top = at(y0, chart.rows);
  return chart(cv::Rect(left, top, at(x1, chart.cols) - left, at(y1, chart.rows) - top));
}

template <class F>
void paint(cv::Mat area, F color) {
  for (int y = 0; y < area.rows; ++y) {
    for (int x = 0; x < area.cols; ++x) area.at<Pixel>(y, x) = color(x, y);
  }
}

/// 75 % colour bars in the order of SMPTE EG 1: white, yellow, cyan, green, magenta, red, blue.
void colour_bars(cv::Mat area) {
  static const std::array<Pixel, 8> bars{Pixel{191, 191, 191}, {0, 191, 191}, {191, 191, 0}, {0, 191, 0},
                                         {191, 0, 191},        {0, 0, 191},   {191, 0, 0},   {0, 0, 0}};
  paint(area, [&](int x, int) { return bars[static_cast<std::size_t>(int64_t{x} * 8 / area.cols)]; });
}

void grey_steps(cv::Mat area) {
  paint(area,
        [&](int x, int) { return grey(255.0 / 15 * static_cast<double>(int64_t{x} * 16 / area.cols)); });
}

/// Black and white lines of 1, 2, 3, 4, 6, 8 pixels: upright above, level below.
void line_pairs(cv::Mat area) {
  constexpr std::array<int, 6> widths{1, 2, 3, 4, 6, 8};
  paint(area, [&](int x, int y) {
    const int64_t group = int64_t{x} * 6 / area.cols;
    const int width = widths[static_cast<std::size_t>(group)];
    return grey((y < area.rows / 2 ? x : y) / width % 2 == 0 ? 255 : 0);
  });
}

/// Siemens star: every radius shows another frequency.
void star(cv::Mat area) {
  constexpr double kSpokes = 36;
  const double center_x = (area.cols - 1) / 2.0, center_y = (area.rows - 1) / 2.0;
  const double radius = 0.48 * std::min(area.cols, area.rows);
  paint(area, [&](int x, int y) {
    const double dx = x - center_x, dy = y - center_y;
    if (std::hypot(dx, dy) > radius) return grey(128);
    return grey(127.5 * (1 + std::sin(kSpokes * std::atan2(dy, dx))));
  });
}

/// A soft-edged square turned by 5 degrees (ISO 12233's slanted edge), on a horizontal ramp.
void slanted_edge(cv::Mat area) {
  const double angle = 5 * std::numbers::pi / 180, side = 0.3 * std::min(area.cols, area.rows);
  const double center_x = (area.cols - 1) / 2.0, center_y = (area.rows - 1) / 2.0;
  paint(area, [&](int x, int y) {
    const double dx = x - center_x, dy = y - center_y;
    const double u = dx * std::cos(angle) + dy * std::sin(angle),
                 v = dy * std::cos(angle) - dx * std::sin(angle);
    const double inside = std::clamp(side - std::max(std::abs(u), std::abs(v)) + 0.5, 0.0, 1.0);
    return grey(220 - inside * 180);
  });
}

/// Rings of all hues: saturation grows outwards.
void hue_disc(cv::Mat area) {
  const double center_x = (area.cols - 1) / 2.0, center_y = (area.rows - 1) / 2.0;
  const double radius = 0.48 * std::min(area.cols, area.rows);
  paint(area, [&](int x, int y) {
    const double dx = x - center_x, dy = y - center_y, distance = std::hypot(dx, dy);
    if (distance > radius) return grey(40);
    const double saturation = radius > 0 ? distance / radius : 0, hue = std::atan2(dy, dx);
    Pixel out;
    for (int c = 0; c < 3; ++c)
      out[c] = grey(255 * (1 - saturation * (0.5 - 0.5 * std::cos(hue + c * 2 * std::numbers::pi / 3))))[0];
    return out;
  });
}

}  // namespace

void draw_chart(int width, int height, uint8_t* bgr) {
  cv::Mat chart(height, width, CV_8UC3, bgr);
  colour_bars(part(chart, 0, 0, 1, 0.2));
  star(part(chart, 0, 0.2, 1.0 / 3, 0.7));
  slanted_edge(part(chart, 1.0 / 3, 0.2, 2.0 / 3, 0.7));
  hue_disc(part(chart, 2.0 / 3, 0.2, 1, 0.7));
  line_pairs(part(chart, 0, 0.7, 1, 0.88));
  grey_steps(part(chart, 0, 0.88, 1, 1));
}

}  // namespace convscope
