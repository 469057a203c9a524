#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace convscope::test {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The upper one of two in the middle; of at least one value.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.at(values.size() / 2);
}

}  // namespace convscope::test
