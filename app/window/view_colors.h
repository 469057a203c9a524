#pragma once

#include <string>

#include "app/display.h"
#include "app/settings.h"
#include "app/window/results.h"

namespace convscope {

/// The colour map of what is shown: the chosen one, but signed differences are always diverging.
ColorMap view_color_map(const Settings&, bool difference);
/// The range of the colours: of the view pixels in sight (`visible`), or as set; of differences the largest
/// that compare() found at full resolution. Diverging maps are symmetric about zero.
Range view_range(const Settings&, const Results&, bool difference, Range visible);
/// Whether the colours go by the logarithm: relative and ULP differences span many decades.
bool logarithmic_range(const Settings&, bool difference);
/// What the range is of, with its unit.
std::string range_unit(const Settings&, bool difference);

const char* metric_name(Metric);
const char* color_map_name(ColorMap);

}  // namespace convscope
