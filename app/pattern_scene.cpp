#include "app/pattern_scene.h"

#include "app/pattern_scene_objects.h"
#include "kernels/parallel.h"

namespace convscope {
namespace {

using namespace scene;

constexpr int kSamples = 2;  // each way in a pixel

/// Everything above the water line.
Color land_and_sky(const Ridges& ridges, double x, double y) {
  Color color{};
  for (const Balloon& balloon : kBalloons) {
    if (paint_balloon(balloon, x, y, color)) return color;
  }
  for (std::size_t i = kRidges.size(); i-- > 0;) {
    if (i == 3 && is_tree(ridges, x, y))
      return mix(rgb(0x0c1c22), rgb(0x1d3a3a), noise(x * 400, y * 400, 84));
    if (y >= ridges.top(i, x)) return mountain(kRidges[i], ridges, i, x, y);
    if (i == 3 && is_mast(x, y)) return rgb(0x2a1620);
  }
  return sky(x, y);
}

Color lake(const Ridges& ridges, double x, double y) {
  // a plane seen from above it: far waves are small and flat
  const double below = y - kHorizon;
  const double depth = 0.06 / (below + 0.012);
  const double swell = fractal(x * depth * 24, depth * 70, 4, 91) - 0.5;
  const double ripple = wave(depth * 46 + 2.5 * noise(x * depth * 12, depth * 17, 95)) * 0.5;
  const double tilt = (0.7 * swell + 0.22 * ripple) * below;
  const double mirrored = kHorizon - below * 0.93 - 0.42 * tilt;
  Color color = land_and_sky(ridges, x + 0.16 * tilt, std::min(mirrored, kHorizon - 0.0005));
  // water swallows part of the light, less of the sun's
  const double sunlit = ramp(1.75, 2.0, color.r + color.g);
  const Color deep =
      mix(color * Color{0.74, 0.77, 0.90}, rgb(0x101a3a), 0.16 + 0.35 * ramp(0.0, 0.40, below));
  color = mix(deep, color * Color{0.98, 0.86, 0.66}, 0.8 * sunlit);
  // glitter under the sun
  const double path = 1 - ramp(0.015, 0.05 + 0.25 * below, std::fabs(x - kSunX + 0.35 * tilt));
  return mix(color, rgb(0xffdf9c), 0.9 * path * ramp(0.10, 0.17, swell + 0.25 * ripple));
}

Color paint(const Ridges& ridges, double x, double y) {
  Color color{};
  if (paint_bank(x, y, color) || paint_sign(x, y, color) || paint_jetty(x, y, color)) return color;
  return y < kHorizon ? land_and_sky(ridges, x, y) : lake(ridges, x, y);
}

uint8_t to_byte(double value, double grain) {
  return static_cast<uint8_t>(std::clamp(std::floor(value * 255 + grain + 0.5), 0.0, 255.0));
}

}  // namespace

void draw_scene(int width, int height, uint8_t* bgr) {
  const double half_width = 0.5 * width / height;
  const Ridges ridges(half_width, kSamples * width);
  parallel_for(height, 8, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t column = 0; column < width; ++column) {
        Color sum{};
        for (int s = 0; s < kSamples * kSamples; ++s) {
          const double px = static_cast<double>(column) + (s % kSamples + 0.5) / kSamples;
          const double py = static_cast<double>(row) + (s / kSamples + 0.5) / kSamples;
          sum = sum + paint(ridges, px / height - half_width, py / height);
        }
        const Color mean = sum * (1.0 / (kSamples * kSamples));
        uint8_t* pixel = bgr + 3 * (row * width + column);
        // a camera's grain, about one level
        const double grain = 2.4 * (random01(column, row, 131) + random01(column, row, 132) - 1);
        pixel[0] = to_byte(mean.b, grain);
        pixel[1] = to_byte(mean.g, grain);
        pixel[2] = to_byte(mean.r, grain);
      }
    }
  });
}

}  // namespace convscope
