#include "app/window/view_colors.h"

#include <algorithm>
#include <cmath>

namespace convscope {
namespace {

Range symmetric(Range r) {
  const double most = std::max(std::abs(r.low), std::abs(r.high));
  return {-most, most};
}

/// Relative differences are shown over so many decades below the largest.
constexpr double kRelativeDecades = 1e-8;

Range difference_range(const Comparison& c, Metric metric) {
  switch (metric) {
    case Metric::absolute:
      return {0, c.max_abs};
    case Metric::relative:
      return {c.max_rel * kRelativeDecades, c.max_rel};
    case Metric::ulp:
      return c.max_ulp > 0 ? Range{0.5, static_cast<double>(c.max_ulp)} : Range{0, 0};  // 0.5: equal values
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

bool logarithmic_range(const Settings& s, bool difference) {
  return difference && (s.metric == Metric::relative || s.metric == Metric::ulp);
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
        return "|A-B|/|B|, log";
      case Metric::ulp:
        return "ULP, log";
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
