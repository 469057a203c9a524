#pragma once

#include <vector>

#include "bench/race.h"

namespace convscope::bench {

/// The p-th part (0 to 1) of the sorted values, between two of them by straight interpolation. Not of none.
double percentile(std::vector<double> values, double p);

/// Median and spread of microseconds; all 0 where there are none.
Timing timing_of(const std::vector<double>& us);

}  // namespace convscope::bench
