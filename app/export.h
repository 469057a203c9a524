#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/display.h"
#include "app/settings.h"

namespace convscope {

/// Planes in host memory, one after the other.
struct PlaneSet {
  const void* data = nullptr;
  Precision precision = Precision::fp32;
  int64_t count = 0, h = 0, w = 0;
};

/// How values are coloured.
struct Coloring {
  ColorMap map = ColorMap::viridis;
  Range range;
};

/// The settings' colours; where neither map nor range was chosen, signed values go on the diverging map about
/// zero.
Coloring map_coloring(const PlaneSet&, const Settings&);

/// The feature maps as one labelled grid, box-averaged where they are too large; PNG.
std::vector<std::byte> maps_png(const PlaneSet&, const std::vector<std::string>& labels, const Coloring&,
                                const std::string& title);

/// a - b of every map on the diverging map about zero, reduced by largest magnitude; NaN in its own colour;
/// PNG. `max_abs`: the end of the range.
std::vector<std::byte> difference_png(const PlaneSet& a, const PlaneSet& b,
                                      const std::vector<std::string>& labels, double max_abs,
                                      const std::string& title);

}  // namespace convscope
