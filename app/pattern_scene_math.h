#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

/// What the sample scene is painted with. Only + - * / sqrt floor, in a stated order, so that every machine
/// draws the same bits: sines and arcs are polynomials, noise is an integer hash.
namespace convscope::scene {

struct Color {
  double r = 0, g = 0, b = 0;
};
inline Color operator+(Color a, Color b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
inline Color operator*(Color a, double s) { return {a.r * s, a.g * s, a.b * s}; }
inline Color operator*(Color a, Color b) { return {a.r * b.r, a.g * b.g, a.b * b.b}; }
inline Color mix(Color a, Color b, double t) { return a * (1 - t) + b * t; }
/// 0xRRGGBB
constexpr Color rgb(uint32_t hex) {
  return {(hex >> 16 & 255) / 255.0, (hex >> 8 & 255) / 255.0, (hex & 255) / 255.0};
}

inline double clamp01(double t) { return std::clamp(t, 0.0, 1.0); }
inline double smooth(double t) {
  t = clamp01(t);
  return t * t * (3 - 2 * t);
}
/// 0 below `low`, 1 above `high`, smooth between.
inline double ramp(double low, double high, double t) { return smooth((t - low) / (high - low)); }
inline double fraction(double t) { return t - std::floor(t); }

/// Close to sin(2 pi t), by two parabolas and a correction.
inline double wave(double t) {
  const double s = 2 * fraction(t) - 1;  // -1..1 over the period
  const double parabola = -4 * s * (1 - std::fabs(s));
  return parabola * (0.775 + 0.225 * std::fabs(parabola));
}

/// asin(t) / pi for t in [-1, 1] (Abramowitz and Stegun 4.4.45, error below 3e-5).
inline double half_turns(double t) {
  const double a = std::fabs(t);
  const double polynomial = 1.5707288 + a * (-0.2121144 + a * (0.0742610 - a * 0.0187293));
  const double angle = 1.5707963267948966 - std::sqrt(std::max(0.0, 1 - a)) * polynomial;
  return (t < 0 ? -angle : angle) / 3.141592653589793;
}

/// 32 well-mixed bits of a lattice point (the finaliser of MurmurHash3 over three products).
inline uint32_t hash(int64_t x, int64_t y, uint32_t seed) {
  uint32_t h =
      static_cast<uint32_t>(x) * 0x8da6b343u ^ static_cast<uint32_t>(y) * 0xd8163841u ^ seed * 0xcb1ab31fu;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}
inline double random01(int64_t x, int64_t y, uint32_t seed) { return hash(x, y, seed) / 4294967296.0; }

/// Value noise in 0..1 on the integer lattice.
inline double noise(double x, double y, uint32_t seed) {
  const double fx = std::floor(x), fy = std::floor(y);
  const auto ix = static_cast<int64_t>(fx), iy = static_cast<int64_t>(fy);
  const double u = smooth(x - fx), v = smooth(y - fy);
  const double top = random01(ix, iy, seed) * (1 - u) + random01(ix + 1, iy, seed) * u;
  const double bottom = random01(ix, iy + 1, seed) * (1 - u) + random01(ix + 1, iy + 1, seed) * u;
  return top * (1 - v) + bottom * v;
}

/// Noise of octaves at 1, 2, 4... times the frequency, each half as strong; 0..1, mean 1/2.
inline double fractal(double x, double y, int octaves, uint32_t seed) {
  double sum = 0, strength = 0.5, total = 0;
  for (int i = 0; i < octaves; ++i) {
    sum += strength * noise(x, y, seed + static_cast<uint32_t>(i));
    total += strength;
    // turned and scaled by 2, so that the lattices do not line up
    const double turned = 1.6 * x + 1.2 * y;
    y = -1.2 * x + 1.6 * y;
    x = turned;
    strength *= 0.5;
  }
  return sum / total;
}

/// Distance from (x, y) to the segment from (ax, ay) to (bx, by).
inline double segment_distance(double x, double y, double ax, double ay, double bx, double by) {
  const double dx = bx - ax, dy = by - ay;
  const double t = clamp01(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy));
  const double px = x - (ax + t * dx), py = y - (ay + t * dy);
  return std::sqrt(px * px + py * py);
}

}  // namespace convscope::scene
