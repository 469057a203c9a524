#include <algorithm>
#include <span>

#include "app/window/results.h"
#include "kernels/parallel.h"

namespace convscope {

double HostMaps::value(int64_t plane, int64_t y, int64_t x) const {
  const ConvShape& s = prepared->operation.problem.shape;
  const int64_t i = (plane * s.out_h() + y) * s.out_w() + x;
  return info.precision == Precision::fp64 ? static_cast<const double*>(values)[i]
                                           : static_cast<double>(static_cast<const float*>(values)[i]);
}

Range HostMaps::range() const { return united(ranges); }

Range united(const std::vector<Range>& ranges) {
  if (ranges.empty()) return {};
  Range all = ranges.front();
  for (const Range& r : ranges) all = {std::min(all.low, r.low), std::max(all.high, r.high)};
  return all;
}

std::vector<Range> plane_ranges(const void* values, Precision precision, int64_t planes, int64_t plane_size) {
  std::vector<Range> ranges(static_cast<std::size_t>(planes));
  const auto size = static_cast<std::size_t>(plane_size);
  parallel_for(planes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t at = p * plane_size;
      Range& r = ranges[static_cast<std::size_t>(p)];
      if (precision == Precision::fp64) {
        r = finite_range(std::span<const double>(static_cast<const double*>(values) + at, size));
      } else {
        r = finite_range(std::span<const float>(static_cast<const float*>(values) + at, size));
      }
    }
  });
  return ranges;
}

}  // namespace convscope
