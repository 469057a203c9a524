#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace convscope {

/// The value of the sorted ones that is nearest to their q-th part (0 to 1). Not of none.
inline double nearest_quantile(std::vector<double> values, double q) {
  const auto at = static_cast<std::size_t>(std::lround(q * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace convscope
