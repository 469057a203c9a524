#pragma once

#include <array>
#include <string_view>

#include "app/pattern_scene_landscape.h"

/// What stands and flies in the sample scene. A paint_ function returns whether the point is on the object.
namespace convscope::scene {

/// A lattice mast: thin lines in many directions.
inline bool is_mast(double x, double y) {
  constexpr double center = -0.64, foot = 0.60, top = 0.235;
  constexpr int levels = 9;
  const double t = (foot - y) / (foot - top);
  if (t < 0 || t > 1.12 || std::fabs(x - center) > 0.06) return false;
  const double thin = 0.0011;
  if (t > 1) return std::fabs(x - center) < thin;  // aerial
  auto half_width = [](double u) { return 0.040 * (1 - u) * (1 - 0.35 * u) + 0.0035; };
  const double level = std::floor(t * levels);
  const double low = level / levels, high = (level + 1) / levels;
  const double y_low = foot - low * (foot - top), y_high = foot - high * (foot - top);
  const double w_low = half_width(low), w_high = half_width(high), dx = x - center;
  return segment_distance(std::fabs(dx), y, w_low, y_low, w_high, y_high) < 1.7 * thin ||
         segment_distance(dx, y, -w_low, y_low, w_high, y_high) < thin ||
         segment_distance(dx, y, w_low, y_low, -w_high, y_high) < thin ||
         (std::fabs(dx) < w_low && std::fabs(y - y_low) < thin);
}

enum class Gores { stripes, checks, bands };
struct Balloon {
  double x, y, radius;
  Gores gores;
  std::array<Color, 4> colors;
};
inline constexpr std::array<Balloon, 4> kBalloons{{
    {-0.235, 0.265, 0.150, Gores::stripes, {rgb(0xf2292f), rgb(0xffd21f), rgb(0x1463d9), rgb(0xf8f4e6)}},
    {0.585, 0.190, 0.078, Gores::checks, {rgb(0x101018), rgb(0xfafafa), rgb(0x101018), rgb(0xfafafa)}},
    {0.165, 0.135, 0.046, Gores::bands, {rgb(0x16b364), rgb(0xfff04a), rgb(0xff7a1a), rgb(0xd6249f)}},
    {-0.510, 0.130, 0.030, Gores::stripes, {rgb(0x00b5d8), rgb(0xffffff), rgb(0x00b5d8), rgb(0xff4d4d)}},
}};

inline constexpr double kMouth = 1.32;  // of the envelope, in radii below its widest line

inline double envelope_half_width(double q) {
  if (q < 0) return std::sqrt(1 - q * q);
  return 0.17 + 0.83 * std::sqrt(std::max(0.0, 1 - (q * q) / (kMouth * kMouth) * (0.6 + 0.4 * q / kMouth)));
}

inline Color envelope(const Balloon& balloon, double p, double q) {
  const double t = p / envelope_half_width(q);
  const double turn = half_turns(std::clamp(t, -1.0, 1.0)) + 0.5;  // 0..1 over the visible half
  const auto gore = static_cast<int64_t>(turn * 12);
  const auto row = static_cast<int64_t>(std::floor((q + 1) * 5));
  int64_t index = gore;
  if (balloon.gores == Gores::checks) index = gore + row;
  if (balloon.gores == Gores::bands) index = static_cast<int64_t>((q + 1) * 4 + 0.35 * wave(turn * 3));
  Color color = balloon.colors[static_cast<std::size_t>(index & 3)];
  if (balloon.gores == Gores::stripes && row == 5)
    color = balloon.colors[static_cast<std::size_t>((gore + 2) & 3)];
  // round, lit from the sun's side, with a seam along each gore
  const double seam = std::fabs(fraction(turn * 12) - 0.5);
  const double side = kSunX > balloon.x ? t : -t;
  const double light = 0.62 + 0.38 * side - 0.22 * q + 0.25 * std::sqrt(std::max(0.0, 1 - t * t));
  color = color * std::clamp(light, 0.28, 1.12) * (seam > 0.46 ? 0.78 : 1.0);
  return mix(color, rgb(0xffb27a), 0.22 * ramp(0.2, 1.0, side));
}

inline bool paint_balloon(const Balloon& balloon, double x, double y, Color& color) {
  const double p = (x - balloon.x) / balloon.radius, q = (y - balloon.y) / balloon.radius;
  if (p < -1 || p > 1 || q < -1 || q > 2.0) return false;
  if (q < kMouth) {
    if (std::fabs(p) >= envelope_half_width(q)) return false;
    color = envelope(balloon, p, q);
    return true;
  }
  constexpr double basket_top = 1.66, basket_bottom = 1.88, basket_half = 0.12;
  const double rope = 0.0009 / balloon.radius + 0.006;
  if (q >= basket_top && q < basket_bottom && std::fabs(p) < basket_half) {
    const bool weave =
        (static_cast<int64_t>(std::floor(p * 50)) + static_cast<int64_t>(std::floor(q * 50))) & 1;
    color = weave ? rgb(0x8a5a2b) : rgb(0x5b3717);
    return true;
  }
  if (q < basket_top && segment_distance(std::fabs(p), q, 0.17, kMouth, basket_half, basket_top) < rope) {
    color = rgb(0x2b1d18);
    return true;
  }
  return false;
}

/// A jetty in perspective: planks whose spacing shrinks with distance, on posts.
inline bool paint_jetty(double x, double y, Color& color) {
  constexpr double vanishing_x = 0.02, start = 0.745, left = -1.34, right = -0.72, edge = 0.06;
  // posts stand under both edges, at equal distances along it
  for (int i = 0; i < 6; ++i) {
    const double below = 1 / (2.2 + 1.08 * i), foot = kHorizon + 1.32 * below, thick = 0.034 * below;
    for (const double side : {left + 0.03, right - 0.03}) {
      const double dx = x - (vanishing_x + side * below), head = kHorizon + 0.80 * below;
      if (std::fabs(dx) < thick && y > head && y < foot) {
        color = mix(rgb(0x1c120f), rgb(0x7d5438), clamp01(0.5 + 0.4 * dx / thick)) *
                (y < head + 0.05 * below ? 1.3 : 1);
        if (y < kHorizon + below * 1.02 || side > left + 0.1) return true;
      }
    }
  }
  const double below = y - kHorizon;
  if (y < start) return false;
  const double across = (x - vanishing_x) / below, depth = 1 / below;
  if (across < left || across > right) {
    // the near side's beam, seen from above
    const double beam = (x - vanishing_x) / (below - 0.022 * below);
    if (across > right && beam * 0.955 < right && y > start + 0.004) {
      color = rgb(0x1d120e);
      return true;
    }
    return false;
  }
  const double plank = depth * 11;
  const auto index = static_cast<int64_t>(std::floor(plank));
  const double shift = 50 * random01(index, 2, 101);
  const double grain = fractal(across * 22 + shift, plank * 3 + shift, 5, 102);
  color =
      mix(rgb(0x4a2f22), rgb(0xb98a5e), clamp01(0.25 + 0.6 * grain + 0.3 * (random01(index, 0, 103) - 0.5)));
  if (fraction(plank) < 0.09) color = rgb(0x140c10);
  const double from_edge = std::min(across - left, right - across);
  if (from_edge < edge) color = mix(rgb(0x2d1c16), rgb(0x6e4a33), fractal(across * 60, depth * 20, 3, 104));
  if (std::fabs(from_edge - edge) < 0.006) color = rgb(0x140c10);
  // nails, two to a plank
  if (std::fabs(from_edge - 0.105) < 0.008 && std::fabs(fraction(plank) - 0.5) < 0.08) color = rgb(0x1b1413);
  return true;
}

struct Glyph {
  char letter;
  std::array<std::string_view, 7> rows;
};
inline constexpr std::array<Glyph, 11> kGlyphs{{
    {'C', {" ### ", "#   #", "#    ", "#    ", "#    ", "#   #", " ### "}},
    {'O', {" ### ", "#   #", "#   #", "#   #", "#   #", "#   #", " ### "}},
    {'N', {"#   #", "##  #", "# # #", "#  ##", "#   #", "#   #", "#   #"}},
    {'V', {"#   #", "#   #", "#   #", "#   #", " # # ", " # # ", "  #  "}},
    {'S', {" ####", "#    ", "#    ", " ### ", "    #", "    #", "#### "}},
    {'P', {"#### ", "#   #", "#   #", "#### ", "#    ", "#    ", "#    "}},
    {'E', {"#####", "#    ", "#    ", "#### ", "#    ", "#    ", "#####"}},
    {'1', {"  #  ", " ##  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### "}},
    {'2', {" ### ", "#   #", "    #", "  ## ", " #   ", "#    ", "#####"}},
    {'4', {"   # ", "  ## ", " # # ", "#  # ", "#####", "   # ", "   # "}},
    {'-', {"     ", "     ", "     ", "#####", "     ", "     ", "     "}},
}};

/// Whether the point lies on the text whose letters are 5 x 7 dots of size `dot`, the first letter's corner
/// at (0, 0).
inline bool is_text(std::string_view text, double x, double y, double dot) {
  const auto column = static_cast<int64_t>(std::floor(x / dot)),
             row = static_cast<int64_t>(std::floor(y / dot));
  if (column < 0 || row < 0 || row >= 7 || column / 6 >= static_cast<int64_t>(text.size()) ||
      column % 6 == 5) {
    return false;
  }
  for (const Glyph& glyph : kGlyphs) {
    if (glyph.letter == text[static_cast<std::size_t>(column / 6)]) {
      return glyph.rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column % 6)] == '#';
    }
  }
  return false;
}

/// A wooden board on two posts, with the program's name and the 3x3 Gaussian's weights.
inline bool paint_sign(double x, double y, Color& color) {
  constexpr double left = 0.435, top = 0.728, width = 0.30, height = 0.118;
  const double sx = x - left, sy = y - top;
  const double grain = fractal(x * 14, y * 190, 4, 111);
  if (sx >= 0 && sx < width && sy >= 0 && sy < height) {
    color = mix(rgb(0xcfa063), rgb(0xf2d9a2), grain);
    const double frame = std::min(std::min(sx, width - sx), std::min(sy, height - sy));
    if (frame < 0.006) color = mix(rgb(0x53301a), rgb(0x7a4c2a), grain);
    if (is_text("CONVSCOPE", sx - 0.018, sy - 0.018, 0.0050)) color = rgb(0x17203f);
    if (is_text("121-242-121", sx - 0.0195, sy - 0.074, 0.0040)) color = rgb(0xb3202a);
    return true;
  }
  const double post = std::min(std::fabs(sx - 0.04), std::fabs(sx - width + 0.04));
  if (sy >= height && post < 0.0085) {
    color = mix(rgb(0x3a2213), rgb(0x8a5a35), grain) * (1.1 - 40 * post);
    return true;
  }
  return false;
}

/// The bank in front, with blades of grass bending over it.
inline bool paint_bank(double x, double y, Color& color) {
  const double bank = 0.958 - 0.075 * ramp(0.15, 0.95, x) + 0.05 * (fractal(x * 3, 0.5, 5, 121) - 0.5);
  const double cell = 0.0042;
  const auto middle = static_cast<int64_t>(std::floor(x / cell));
  for (int64_t i = middle - 5; i <= middle + 5; ++i) {
    const double root_x = (i + random01(i, 0, 122)) * cell, lean = 0.030 * (random01(i, 0, 123) - 0.42);
    const double height = 0.025 + 0.085 * random01(i, 0, 124) * noise(root_x * 6, 0, 125);
    const double t = (bank + 0.02 - y) / height;
    if (t < 0 || t > 1) continue;
    if (std::fabs(x - root_x - lean * t * t) < 0.0019 * (1 - t) + 0.0002) {
      color = mix(rgb(0x0d2b1d), mix(rgb(0x3f8f3a), rgb(0xc9b44a), random01(i, 0, 126)), 0.25 + 0.75 * t);
      return true;
    }
  }
  if (y < bank) return false;
  color = mix(rgb(0x0b2018), rgb(0x2f6b35), fractal(x * 60, y * 60, 5, 127) * (0.6 + 4 * (y - bank)));
  return true;
}

}  // namespace convscope::scene
