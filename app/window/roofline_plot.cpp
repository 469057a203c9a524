#include "app/window/roofline_plot.h"

#include <algorithm>
#include <cmath>

namespace convscope {
namespace {

/// The next of 1, 2 and 5 times a power of ten below (or at) a value.
double step_below(double v) {
  const double decade = std::pow(10, std::floor(std::log10(v)));
  for (const double m : {5.0, 2.0}) {
    if (v >= m * decade * (1 - 1e-9)) return m * decade;
  }
  return decade;
}

double step_above(double v) {
  const double decade = std::pow(10, std::floor(std::log10(v)));
  for (const double m : {1.0, 2.0, 5.0}) {
    if (v <= m * decade * (1 + 1e-9)) return m * decade;
  }
  return 10 * decade;
}

std::vector<double> ticks_of(const LogAxis& axis, std::initializer_list<double> multiples, int each) {
  std::vector<double> ticks;
  const int first = static_cast<int>(std::floor(std::log10(axis.low) + 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(axis.high) + 1e-9));
  for (int decade = first; decade <= last; ++decade) {
    if (decade % each != 0) continue;
    for (const double m : multiples) {
      const double v = m * std::pow(10, decade);
      if (v >= axis.low * (1 - 1e-9) && v <= axis.high * (1 + 1e-9)) ticks.push_back(v);
    }
  }
  return ticks;
}

/// How a label may lie from its point: pixels of free space to the right (or left) of it, and down.
struct Offset {
  float x, y;
};

/// Nearest first, over an area of this size.
std::vector<Offset> offsets(const Box& area) {
  constexpr float kStepX = 14, kStepY = 6, kGap = 9;
  std::vector<Offset> all;
  for (float dy = 0; dy <= area.h; dy += kStepY) {
    for (float dx = 0; dx <= area.w; dx += kStepX) {
      all.push_back({kGap + dx, dy});
      if (dy > 0) all.push_back({kGap + dx, -dy});
    }
  }
  // a step aside is worse than a step up or down: the eye follows short level lines best
  const auto far = [](const Offset& o) { return o.x * o.x + o.y * o.y; };
  std::stable_sort(all.begin(), all.end(), [&](const Offset& a, const Offset& b) { return far(a) < far(b); });
  return all;
}

}  // namespace

double roof_at(const bench::Ceilings& c, double flop_per_byte) {
  return std::min(c.fma_gflop_s, c.copy_gb_s * flop_per_byte);
}

std::vector<RooflinePoint> roofline_points(const bench::RaceState& state) {
  std::vector<RooflinePoint> points;
  for (const bench::Entry& e : state.entries) {
    const double flop = 2 * e.cost.multiply_adds;
    if (e.time.runs == 0 || e.time.median_us <= 0 || flop <= 0 || e.cost.bytes <= 0) continue;
    RooflinePoint p{&e, flop / e.cost.bytes, flop / e.time.median_us * 1e-3, std::nullopt};
    const double roof = roof_at(state.ceilings[static_cast<int>(e.info.target)], p.flop_per_byte);
    if (roof > 0) p.of_roof = p.gflop_s / roof;
    points.push_back(p);
  }
  std::stable_sort(points.begin(), points.end(), [](const RooflinePoint& a, const RooflinePoint& b) {
    return a.entry->time.median_us < b.entry->time.median_us;
  });
  return points;
}

double LogAxis::part(double value) const { return std::log(value / low) / std::log(high / low); }

LogAxis log_axis(double least, double most) {
  LogAxis axis{step_below(least), step_above(most)};
  while (axis.high < axis.low * 10 * (1 - 1e-9)) {
    axis.high = step_above(axis.high * 1.01);
    if (axis.high < axis.low * 10 * (1 - 1e-9)) axis.low = step_below(axis.low * 0.99);
  }
  return axis;
}

std::vector<double> log_ticks(const LogAxis& axis, int most) {
  std::vector<double> ticks = ticks_of(axis, {1, 2, 5}, 1);
  for (int each = 1; static_cast<int>(ticks.size()) > most && each < 400; ++each)
    ticks = ticks_of(axis, {1}, each);
  return ticks;
}

std::vector<std::optional<Box>> place_labels(const std::vector<Label>& labels, const Box& area,
                                             std::vector<Box> taken) {
  const std::vector<Offset> tried = offsets(area);
  std::vector<std::optional<Box>> places;
  for (const Label& label : labels) {
    std::optional<Box> place;
    for (const Offset& o : tried) {
      const float y = label.y + o.y - label.h / 2;
      for (const float x : {label.x + o.x, label.x - o.x - label.w}) {
        const Box box{x, y, label.w, label.h};
        if (!box.inside(area)) continue;
        if (std::any_of(taken.begin(), taken.end(), [&](const Box& b) { return b.overlaps(box); })) continue;
        place = box;
        break;
      }
      if (place) break;
    }
    if (place) taken.push_back(*place);
    places.push_back(place);
  }
  return places;
}

}  // namespace convscope
