#pragma once

#include <cstdint>

namespace convscope {

/// What the view stage evaluates per value at full resolution, before it reduces to view pixels.
enum class Metric { value, signed_difference, absolute, relative, ulp, bound_fraction };

/// Bit pattern of a view pixel that shows no plane (gaps between cells, beyond the image). A quiet NaN whose
/// payload no arithmetic makes; a shader tells it from a computed NaN by its bits.
inline constexpr uint32_t kViewEmptyBits = 0x7fc0dead;

/// A grid of equal cells on a view of `view_w` x `view_h` pixels, each showing the same region of one plane.
/// Cell i shows plane first_plane + i, row by row; all coordinates in view pixels, origin top left.
struct ViewLayout {
  int view_w = 0, view_h = 0;
  int columns = 1, cells = 1, first_plane = 0;
  int cell_w = 0, cell_h = 0;        // image area of a cell
  int pitch_x = 0, pitch_y = 0;      // distance between the left (top) edges of neighbouring cells
  int origin_x = 0, origin_y = 0;    // left top of cell 0
  int64_t plane_w = 0, plane_h = 0;  // plane size in values
  /// Value coordinate (continuous, value i covers [i, i+1)) at a cell's left top, and values per view pixel.
  double region_x = 0, region_y = 0, step = 1;
};

/// Planes in the memory of the runtime that makes the view. `b` and `bound` only where the metric needs them.
struct ViewPlanes {
  const void* a = nullptr;
  const void* b = nullptr;
  const float* bound = nullptr;
};

}  // namespace convscope
