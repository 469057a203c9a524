// A race as it may have gone, for the tests of its table, its files and its roofline.
#pragma once

#include <limits>
#include <string>

#include "bench/race.h"

namespace convscope::testing {

inline bench::Entry entry(const std::string& name, Target target, double median, double p10, double p90) {
  bench::Entry e;
  e.info = {
      name,
      target,
      Precision::fp32,
      "",
  };
  if (median > 0) e.time = {median, p10, p90, 15};
  e.cost.bytes = 1e6;
  e.cost.multiply_adds = 4e6;
  e.bound_fraction = 0.25;
  return e;
}

/// Four rows with times, one refused, one still waiting.
inline bench::RaceState some_race() {
  bench::RaceState state;
  state.entries = {entry("slow", Target::cpu, 400, 390, 420), entry("first", Target::cpu, 50, 49, 52),
                   entry("tied", Target::cpu, 51, 50, 53),    entry("waiting", Target::cpu, 0, 0, 0),
                   entry("refused", Target::cpu, 0, 0, 0),    entry("other", Target::emulated, 100, 99, 101)};
  state.entries[4].refused = "takes 3x3 kernels alone, \"5x5\" is asked for";
  state.entries[0].bound_fraction = 1.5;
  state.entries[1].approximation = "rank-1 approximation, keeps 90.0 %";
  state.entries[5].bound_fraction = std::numeric_limits<double>::quiet_NaN();
  state.copy[static_cast<int>(Target::cpu)] = {25, 24, 26, 15};
  state.ceilings[static_cast<int>(Target::cpu)] = {10, 60, 0, "measured"};
  return state;
}

}  // namespace convscope::testing
