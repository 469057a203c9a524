#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/race.h"

namespace convscope {

/// A row of the race in the roofline plot: what its algorithm does for each byte that it moves, and how fast.
struct RooflinePoint {
  const bench::Entry* entry = nullptr;
  double flop_per_byte = 0, gflop_s = 0;
  /// Of what the ceilings of its target allow at its intensity; may be above 1 where its data stay in a
  /// cache.
  std::optional<double> of_roof;
};
/// Rows that have a time and a cost; the fastest first.
std::vector<RooflinePoint> roofline_points(const bench::RaceState&);
/// What the ceilings allow at an intensity, GFLOP/s.
double roof_at(const bench::Ceilings&, double flop_per_byte);

/// A logarithmic axis.
struct LogAxis {
  double low = 1, high = 10;
  /// 0 at the low end, 1 at the high end.
  double part(double value) const;
};
/// Holds these values (above 0), from a 1, 2 or 5 of a decade to another, at least a decade long.
LogAxis log_axis(double least, double most);
/// Values at which there is a tick with a number: 1, 2 and 5 of each decade where so many find room, else 1
/// alone, else every few decades.
std::vector<double> log_ticks(const LogAxis&, int most);

/// A rectangle in pixels.
struct Box {
  float x = 0, y = 0, w = 0, h = 0;
  bool overlaps(const Box& b) const { return x < b.x + b.w && b.x < x + w && y < b.y + b.h && b.y < y + h; }
  bool inside(const Box& b) const { return x >= b.x && y >= b.y && x + w <= b.x + b.w && y + h <= b.y + b.h; }
};
/// A text and what it belongs to.
struct Label {
  float x = 0, y = 0;  // of the point
  float w = 0, h = 0;  // of the text
};
/// A place near its point for each label, the first ones first: inside the area, apart from one another and
/// from what is taken. nullopt where there is no room left.
std::vector<std::optional<Box>> place_labels(const std::vector<Label>&, const Box& area,
                                             std::vector<Box> taken);

}  // namespace convscope
