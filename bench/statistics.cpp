#include "bench/statistics.h"

#include <algorithm>
#include <cmath>

namespace convscope::bench {

double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const double place = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

Timing timing_of(const std::vector<double>& us) {
  if (us.empty()) return {};
  return {percentile(us, 0.5), percentile(us, 0.1), percentile(us, 0.9), static_cast<int>(us.size())};
}

double gb_s(const Cost& cost, double us) { return cost.bytes / us * 1e-3; }
double gflop_s(const Cost& cost, double us) { return 2 * cost.multiply_adds / us * 1e-3; }

bool tied(const Timing& a, const Timing& b) {
  return a.runs > 0 && b.runs > 0 && a.p10_us <= b.p90_us && b.p10_us <= a.p90_us;
}

}  // namespace convscope::bench
