#include "app/window/view_colors.h"

#include <algorithm>
#include <cmath>

namespace convscope {
namespace {

Range symmetric(Range r) {
  const double most = std::max(std::abs(r.low), std::abs(r.high));
  return {-most, most};
}

Range difference_range(const Comparison& c, Metric metric) {
  switch (metric) {
    case Metric::absolute:
      return {0, c.max_abs};
    case Metric::relative:
      return {0, c.max_rel};
    case Metric::ulp:
      return {0, static_cast<double>(c.max_ulp)};
    case Metric::bound_fraction:
      return {0, c.max_bound_fraction};
    default:
      return {-c.max_abs, c.max_abs};
  }
}

}  // namespace

ColorMap view_color_map(const Settings& s, bool difference) {
  if (!difference) return s.color_map;
  if (s.metric == Metric::signed_difference) return ColorMap::diverging;
  return s.color_map;
}

Range view_range(const Settings& s, const Results& results, bool difference, Range visible) {
  if (difference) {
    const Range r = results.difference ? difference_range(results.difference->comparison, s.metric) : visible;
    return std::isfinite(r.high) ? r : visible;
  }
  if (!s.auto_range) return {s.range_low, s.range_high};
  return s.color_map == ColorMap::diverging ? symmetric(visible) : visible;
}

std::string range_unit(const Settings& s, bool difference) {
  if (difference) {
    switch (s.metric) {
      case Metric::absolute:
        return "|A-B|, all maps";
      case Metric::relative:
        return "|A-B|/|B|, all maps";
      case Metric::ulp:
        return "ULP, all maps";
      case Metric::bound_fraction:
        return "of the error bound";
      default:
        return "A-B, all maps";
    }
  }
  return s.auto_range ? "value, in sight" : "value, fixed";
}

const char* metric_name(Metric m) {
  switch (m) {
    case Metric::absolute:
      return "absolute";
    case Metric::relative:
      return "relative";
    case Metric::ulp:
      return "ULP";
    case Metric::bound_fraction:
      return "error bound";
    default:
      return "signed";
  }
}

const char* color_map_name(ColorMap m) {
  switch (m) {
    case ColorMap::grey:
      return "grey";
    case ColorMap::viridis:
      return "viridis";
    case ColorMap::turbo:
      return "turbo";
    case ColorMap::diverging:
      return "diverging";
  }
  return "";
}

}  // namespace convscope
