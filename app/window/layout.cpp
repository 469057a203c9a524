#include "app/window/layout.h"

#include <algorithm>
#include <cmath>

namespace convscope {
namespace {

struct Grid {
  int columns = 1, rows = 1;
  double scale = 0;  // view pixels for each value
};

/// Room for one cell's image with so many columns; may be negative.
void cell_room(const ViewRequest& r, int columns, int rows, double* w, double* h) {
  *w = static_cast<double>(r.width - r.gap * (columns + 1)) / columns;
  *h = static_cast<double>(r.height - r.gap * (rows + 1)) / rows - r.label_height;
}

/// The number of columns that shows maps largest.
Grid best_grid(const ViewRequest& r, int cells) {
  Grid best;
  for (int columns = 1; columns <= cells; ++columns) {
    const int rows = (cells + columns - 1) / columns;
    double w = 0, h = 0;
    cell_room(r, columns, rows, &w, &h);
    const double scale = std::min(w / static_cast<double>(r.plane_w), h / static_cast<double>(r.plane_h));
    if (scale > best.scale) best = {columns, rows, scale};
  }
  return best;
}

int cell_side(int64_t values, double scale, double room) {
  return std::max(
      1, static_cast<int>(std::min(std::ceil(static_cast<double>(values) * scale), std::floor(room))));
}

void place_cells(ViewLayout& l, const ViewRequest& r, const Grid& grid) {
  double room_w = 0, room_h = 0;
  cell_room(r, grid.columns, grid.rows, &room_w, &room_h);
  // a long thin map gets a cell that can still be seen
  const double least = std::min(24.0, std::min(room_w, room_h));
  l.cell_w = std::max(cell_side(r.plane_w, grid.scale, room_w), static_cast<int>(least));
  l.cell_h = std::max(cell_side(r.plane_h, grid.scale, room_h), static_cast<int>(least));
  l.columns = grid.columns;
  l.pitch_x = l.cell_w + r.gap;
  l.pitch_y = l.cell_h + r.gap + r.label_height;
  l.origin_x = (r.width - (grid.columns * l.pitch_x - r.gap)) / 2;
  l.origin_y = (r.height - (grid.rows * l.pitch_y - r.gap)) / 2 + r.label_height;
}

}  // namespace

ViewLayout make_layout(const ViewRequest& r, const Settings& settings) {
  ViewLayout l;
  l.cells = 0;
  if (r.width < 1 || r.height < 1 || r.planes < 1 || r.plane_w < 1 || r.plane_h < 1) return l;
  l.view_w = r.width;
  l.view_h = r.height;
  l.plane_w = r.plane_w;
  l.plane_h = r.plane_h;
  const int64_t map = std::clamp<int64_t>(settings.map, 0, r.planes - 1);
  if (r.single) {
    l.cells = 1;
    l.first_plane = static_cast<int>(map);
    l.cell_w = l.pitch_x = r.width;
    l.cell_h = l.pitch_y = r.height;
  } else {
    l.first_plane = static_cast<int>(map / kGridMaps * kGridMaps);
    l.cells = static_cast<int>(std::min(kGridMaps, r.planes - l.first_plane));
    const Grid grid = best_grid(r, l.cells);
    if (grid.scale <= 0) {
      l.cells = 0;
      return l;
    }
    place_cells(l, r, grid);
  }
  l.step = settings.zoom > 0 ? 1 / settings.zoom : 1 / fit_zoom(l);
  const bool fitted = settings.zoom <= 0;
  const double centre_x = (fitted ? 0.5 : settings.center_x) * static_cast<double>(r.plane_w);
  const double centre_y = (fitted ? 0.5 : settings.center_y) * static_cast<double>(r.plane_h);
  l.region_x = centre_x - l.cell_w * l.step / 2;
  l.region_y = centre_y - l.cell_h * l.step / 2;
  return l;
}

double fit_zoom(const ViewLayout& l) {
  return std::min(l.cell_w / static_cast<double>(l.plane_w), l.cell_h / static_cast<double>(l.plane_h));
}

CellPosition cell_position(const ViewLayout& l, int cell) {
  return {l.origin_x + cell % l.columns * l.pitch_x, l.origin_y + cell / l.columns * l.pitch_y};
}

std::optional<PlanePosition> position_at(const ViewLayout& l, double view_x, double view_y) {
  for (int cell = 0; cell < l.cells; ++cell) {
    const CellPosition at = cell_position(l, cell);
    const double x = view_x - at.x, y = view_y - at.y;
    if (x < 0 || y < 0 || x >= l.cell_w || y >= l.cell_h) continue;
    PlanePosition p;
    p.cell = cell;
    p.plane = l.first_plane + cell;
    p.x = l.region_x + x * l.step;
    p.y = l.region_y + y * l.step;
    p.inside =
        p.x >= 0 && p.y >= 0 && p.x < static_cast<double>(l.plane_w) && p.y < static_cast<double>(l.plane_h);
    return p;
  }
  return std::nullopt;
}

void fit(Settings& s) {
  s.zoom = 0;
  s.center_x = s.center_y = 0.5;
}

void one_to_one(Settings& s) {
  if (s.zoom <= 0) s.center_x = s.center_y = 0.5;
  s.zoom = 1;
}

void zoom_at(Settings& s, const ViewLayout& l, double factor, double view_x, double view_y) {
  if (l.cells == 0) return;
  const double zoom = std::min(factor / l.step, kMaxZoom);
  if (zoom <= fit_zoom(l)) {
    fit(s);
    return;
  }
  const std::optional<PlanePosition> at = position_at(l, view_x, view_y);
  const CellPosition cell = cell_position(l, at ? at->cell : 0);
  const double from_centre_x = at ? view_x - cell.x - l.cell_w / 2.0 : 0;
  const double from_centre_y = at ? view_y - cell.y - l.cell_h / 2.0 : 0;
  // the value under the pixel, and where the middle must be for it to stay there
  const double x = l.region_x + (l.cell_w / 2.0 + from_centre_x) * l.step;
  const double y = l.region_y + (l.cell_h / 2.0 + from_centre_y) * l.step;
  s.zoom = zoom;
  s.center_x = std::clamp((x - from_centre_x / zoom) / static_cast<double>(l.plane_w), 0.0, 1.0);
  s.center_y = std::clamp((y - from_centre_y / zoom) / static_cast<double>(l.plane_h), 0.0, 1.0);
}

void zoom_centre(Settings& s, const ViewLayout& l, double factor) {
  if (l.cells == 0) return;
  const CellPosition at = cell_position(l, 0);
  zoom_at(s, l, factor, at.x + l.cell_w / 2.0, at.y + l.cell_h / 2.0);
}

void pan(Settings& s, const ViewLayout& l, double dx, double dy) {
  if (s.zoom <= 0 || l.cells == 0) return;  // all of it is in sight
  s.center_x = std::clamp(s.center_x - dx * l.step / static_cast<double>(l.plane_w), 0.0, 1.0);
  s.center_y = std::clamp(s.center_y - dy * l.step / static_cast<double>(l.plane_h), 0.0, 1.0);
}

}  // namespace convscope
