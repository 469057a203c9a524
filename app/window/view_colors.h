#pragma once

#include <string>

#include "app/display.h"
#include "app/settings.h"
#include "app/window/results.h"

namespace convscope {

/// The colour map of what is shown: the chosen one, but signed differences are always diverging.
ColorMap view_color_map(const Settings&, bool difference);
/// The range of the colours: of all maps or of the one shown, at full resolution; of differences from compare().
/// `before` where it is not known yet. Diverging maps are symmetric about zero.
Range view_range(const Settings&, const Results&, bool difference, bool single, Range before);
/// What the range is of, with its unit.
std::string range_unit(const Settings&, bool difference, bool single);

const char* metric_name(Metric);
const char* color_map_name(ColorMap);

}  // namespace convscope
