#pragma once

#include <array>
#include <vector>

#include "app/pattern_scene_math.h"

/// The sample scene's sky and mountains.
namespace convscope::scene {

// Places are in picture heights: x from the middle to the right, y from the top down.
inline constexpr double kHorizon = 0.615;
inline constexpr double kSunX = 0.215, kSunY = 0.415, kSunRadius = 0.056;

inline Color sky(double x, double y) {
  static constexpr std::array<Color, 6> stops{rgb(0x0d1238), rgb(0x2b2468), rgb(0x6d3a86),
                                              rgb(0xd6557a), rgb(0xff9a5c), rgb(0xffe2a0)};
  static constexpr std::array<double, 6> places{0.0, 0.17, 0.32, 0.45, 0.54, 0.625};
  Color color = stops[0];
  for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
    color = mix(color, stops[i + 1], ramp(places[i], places[i + 1], y));
  }
  const double dx = x - kSunX, dy = y - kSunY;
  const double distance = std::sqrt(dx * dx + dy * dy);
  color = mix(color, rgb(0xffd27a), 0.75 * (1 - ramp(0, 0.42, distance)));

  // a star in some cells of a grid, few of them bright, fading towards the horizon
  const double cell = 0.019;
  const double fx = std::floor(x / cell), fy = std::floor(y / cell);
  const auto cx = static_cast<int64_t>(fx), cy = static_cast<int64_t>(fy);
  const double sx = (fx + 0.1 + 0.8 * random01(cx, cy, 11)) * cell,
               sy = (fy + 0.1 + 0.8 * random01(cx, cy, 12)) * cell;
  double bright = random01(cx, cy, 13);
  bright = bright * bright * bright * bright;
  const double radius = 0.0006 + 0.0013 * bright;
  if (random01(cx, cy, 14) > 0.45 && (x - sx) * (x - sx) + (y - sy) * (y - sy) < radius * radius) {
    color = mix(color, rgb(0xfff6e0), (0.35 + 0.65 * bright) * (1 - ramp(0.10, 0.34, y)));
  }

  // long thin clouds, lit from below
  const double cloud = fractal(x * 2.3 + 7, y * 13 + 1.5 * noise(x * 3, 0, 21), 6, 22);
  const double cover = ramp(0.53, 0.74, cloud) * ramp(0.04, 0.3, y) * (1 - ramp(0.52, 0.61, y));
  color = mix(color, mix(rgb(0x7b4a86), rgb(0xffb487), ramp(0.15, 0.47, y)), 0.8 * cover);

  return distance < kSunRadius ? mix(rgb(0xfff7d8), rgb(0xffc25a), ramp(-kSunRadius, kSunRadius, dy)) : color;
}

struct RidgeStyle {
  double base, relief, scale;  // height of the mean line, of the peaks above it; features per picture height
  Color light, dark;
  double snow_line;  // snow above this y; 0: none
  uint32_t seed;
};
inline constexpr std::array<RidgeStyle, 4> kRidges{{
    {0.545, 0.25, 1.7, rgb(0xb0749a), rgb(0x6d4a85), 0.47, 31},
    {0.575, 0.19, 2.3, rgb(0x8a5486), rgb(0x46306b), 0.47, 47},
    {0.600, 0.10, 3.1, rgb(0x50407a), rgb(0x2a2352), 0, 59},
    {0.620, 0.055, 2.7, rgb(0x27304a), rgb(0x141a30), 0, 77},
}};

/// The mountains' outlines over the columns of the picture, made once: reflections look them up many times.
class Ridges {
 public:
  Ridges(double half_width, int columns) : left_(-half_width - kMargin) {
    step_ = 2 * (half_width + kMargin) / columns;
    for (const RidgeStyle& style : kRidges) {
      std::vector<double> line(static_cast<std::size_t>(columns) + 2);
      for (std::size_t i = 0; i < line.size(); ++i)
        line[i] = outline(style, left_ + step_ * static_cast<double>(i));
      lines_.push_back(std::move(line));
    }
  }

  double top(std::size_t ridge, double x) const {
    const std::vector<double>& line = lines_[ridge];
    const double place = std::clamp((x - left_) / step_, 0.0, static_cast<double>(line.size() - 2));
    const auto i = static_cast<std::size_t>(place);
    const double t = place - static_cast<double>(i);
    return line[i] * (1 - t) + line[i + 1] * t;
  }

 private:
  static constexpr double kMargin = 0.1;

  static double outline(const RidgeStyle& style, double x) {
    double sum = 0, strength = 1, frequency = style.scale;
    for (uint32_t octave = 0; octave < 8; ++octave) {
      const double n = noise(x * frequency + 13.7 * octave, 0.5, style.seed + octave);
      sum += strength * (octave < 3 ? 1 - std::fabs(2 * n - 1) : n);  // creases at the crests
      strength *= 0.47;
      frequency *= 2.05;
    }
    return style.base - style.relief * (sum - 0.75);
  }

  double left_ = 0, step_ = 1;
  std::vector<std::vector<double>> lines_;
};

/// Height of a mountain's face: sharp creases running down the slope.
inline double crags(double x, double y, uint32_t seed) {
  const double bend = 0.35 * noise(x * 6, y * 6, seed + 9);
  double sum = 0, strength = 0.5, fx = x * 11 + bend, fy = y * 7 - bend;
  for (uint32_t octave = 0; octave < 6; ++octave) {
    sum += strength * (1 - std::fabs(2 * noise(fx, fy, seed + octave) - 1));
    const double turned = 1.7 * fx + 0.9 * fy;
    fy = -0.9 * fx + 1.7 * fy;
    fx = turned;
    strength *= 0.55;
  }
  return sum;
}

inline Color mountain(const RidgeStyle& style, const Ridges& ridges, std::size_t index, double x, double y) {
  // the slope of a crumpled surface towards the sun
  const double depth = y - ridges.top(index, x);
  const double e = 0.0022, sunward = std::clamp((kSunX - x) / 0.25, -1.0, 1.0);
  const double here = crags(x, y, style.seed + 100);
  const double toward = crags(x + e * sunward, y - e, style.seed + 100);
  const double facing = ridges.top(index, x - 0.012) - ridges.top(index, x + 0.012);
  const double lit = clamp01(0.48 + 9 * (here - toward) + 9 * sunward * facing);
  Color color = mix(style.dark, style.light, lit);
  if (style.snow_line > 0) {
    const double edge = style.snow_line + 0.16 * (here - 0.62) - 0.35 * depth;
    color = mix(color, mix(rgb(0x8f7fb5), rgb(0xffe3d2), lit), 0.9 * ramp(edge + 0.012, edge - 0.012, y));
  }
  return mix(color, rgb(0xf09a86), (0.42 - 0.12 * static_cast<double>(index)) * ramp(0.40, kHorizon, y));
}

/// Conifers along the nearest ridge.
inline bool is_tree(const Ridges& ridges, double x, double y) {
  const double cell = 0.0115;
  const auto middle = static_cast<int64_t>(std::floor(x / cell));
  for (int64_t i = middle - 1; i <= middle + 1; ++i) {
    const double tree_x = (i + random01(i, 0, 81)) * cell;
    const double height = 0.018 + 0.034 * random01(i, 0, 82) * noise(tree_x * 5, 0, 83);
    const double base = ridges.top(3, tree_x) + 0.004;
    const double t = (base - y) / height;
    if (t < 0 || t > 1) continue;
    const double branches = 0.62 + 0.38 * (1 - fraction(t * 7));
    if (std::fabs(x - tree_x) < 0.23 * height * (1 - t) * branches + 0.0004) return true;
  }
  return false;
}

}  // namespace convscope::scene
