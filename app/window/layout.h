#pragma once

#include <cstdint>
#include <optional>

#include "app/settings.h"
#include "kernels/view.h"

namespace convscope {

/// Where maps lie on the view, and what is asked of the view stage for them.
struct ViewRequest {
  int width = 0, height = 0;  // of the view, in its pixels
  int label_height = 0;       // strip above each map of a grid
  int gap = 0;                // between maps
  bool single = false;        // one map instead of all
  int64_t planes = 0, plane_w = 0, plane_h = 0;
};

/// At most so many maps stand in a grid; a bank of more is paged by the map chosen.
inline constexpr int64_t kGridMaps = 64;
/// View pixels for each value, when magnified most.
inline constexpr double kMaxZoom = 512;

/// Empty (no cells) where there is no room or nothing to show.
ViewLayout make_layout(const ViewRequest&, const Settings&);

/// A value of a map, under a pixel of the view.
struct PlanePosition {
  int cell = 0;
  int64_t plane = 0;
  double y = 0, x = 0;  // continuous: value i covers [i, i + 1)
  bool inside = false;  // of the plane; a cell's margin is not
};
/// nullopt where the pixel shows no cell.
std::optional<PlanePosition> position_at(const ViewLayout&, double view_x, double view_y);
/// Left top of a cell in view pixels.
struct CellPosition {
  int x = 0, y = 0;
};
CellPosition cell_position(const ViewLayout&, int cell);

/// Zooms by a factor about a pixel of the view, which keeps its value; to fit where that would be smaller.
void zoom_at(Settings&, const ViewLayout&, double factor, double view_x, double view_y);
/// Zooms by a factor about the middle.
void zoom_centre(Settings&, const ViewLayout&, double factor);
/// Moves the picture by view pixels.
void pan(Settings&, const ViewLayout&, double dx, double dy);
void fit(Settings&);
/// One view pixel a value, also where that is smaller than fit.
void one_to_one(Settings&);
/// View pixels for each value at which a whole map fits its cell.
double fit_zoom(const ViewLayout&);

}  // namespace convscope
