#pragma once

#include <vector>

#include "bench/race.h"

namespace convscope::bench {

/// The p-th part (0 to 1) of the sorted values, between two of them by straight interpolation. Not of none.
double percentile(std::vector<double> values, double p);

/// Median and spread of microseconds; all 0 where there are none.
Timing timing_of(const std::vector<double>& us);

/// What a strategy needs, as rates over its time: 10^9 bytes a second, and 10^9 operations, of which a
/// multiply-add is two.
double gb_s(const Cost&, double us);
double gflop_s(const Cost&, double us);

}  // namespace convscope::bench
