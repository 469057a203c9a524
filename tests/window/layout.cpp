// Where maps lie on the view.
#include "app/window/layout.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace convscope {
namespace {

struct Case {
  int width, height;
  int64_t planes, plane_w, plane_h;
};

ViewRequest request(const Case& c, bool single) {
  ViewRequest r;
  r.width = c.width, r.height = c.height;
  r.label_height = 18, r.gap = 6;
  r.single = single;
  r.planes = c.planes, r.plane_w = c.plane_w, r.plane_h = c.plane_h;
  return r;
}

const Case kCases[] = {{665, 426, 16, 1920, 1080}, {520, 380, 3, 640, 480}, {1200, 800, 1, 5, 5},
                       {700, 500, 64, 14, 14},     {700, 500, 512, 14, 14}, {640, 480, 7, 1, 524281},
                       {640, 480, 7, 100000, 1},   {300, 200, 16, 97, 61}};

TEST(Layout, CellsLieInTheViewApartFromEachOther) {
  for (const Case& c : kCases) {
    const ViewLayout l = make_layout(request(c, false), Settings{});
    ASSERT_EQ(l.cells, std::min<int64_t>(c.planes, kGridMaps)) << c.width << 'x' << c.height;
    for (int i = 0; i < l.cells; ++i) {
      const CellPosition a = cell_position(l, i);
      EXPECT_GE(a.x, 0);
      EXPECT_GE(a.y, 18) << "room for the label";
      EXPECT_LE(a.x + l.cell_w, c.width) << c.plane_w << 'x' << c.plane_h;
      EXPECT_LE(a.y + l.cell_h, c.height) << c.plane_w << 'x' << c.plane_h;
      for (int j = 0; j < i; ++j) {
        const CellPosition b = cell_position(l, j);
        EXPECT_TRUE(std::abs(a.x - b.x) >= l.cell_w || std::abs(a.y - b.y) >= l.cell_h + 18)
            << i << " and " << j;
      }
    }
  }
}

TEST(Layout, FitShowsAllOfAMapInTheMiddle) {
  for (const Case& c : kCases) {
    for (const bool single : {false, true}) {
      const ViewLayout l = make_layout(request(c, single), Settings{});
      const double slack = 1e-6 * static_cast<double>(std::max(c.plane_w, c.plane_h));
      EXPECT_LE(l.region_x, slack);
      EXPECT_LE(l.region_y, slack);
      EXPECT_GE(l.region_x + l.cell_w * l.step, static_cast<double>(c.plane_w) - slack);
      EXPECT_GE(l.region_y + l.cell_h * l.step, static_cast<double>(c.plane_h) - slack);
    }
  }
}

TEST(Layout, NothingToShowIsNoCell) {
  for (const Case& c : {Case{0, 0, 16, 8, 8},
                        {0, 100, 16, 8, 8},
                        {100, 100, 0, 8, 8},
                        {100, 100, 1, 0, 8},
                        {4, 4, 16, 8, 8}}) {
    EXPECT_EQ(make_layout(request(c, false), Settings{}).cells, 0) << c.width << 'x' << c.height;
  }
}

TEST(Layout, ManyMapsArePagedByTheChosenOne) {
  Settings s;
  s.map = 130;
  const ViewLayout l = make_layout(request({700, 500, 512, 14, 14}, false), s);
  EXPECT_LE(l.first_plane, 130);
  EXPECT_GT(l.first_plane + l.cells, 130);
}

TEST(Layout, ZoomKeepsTheValueUnderThePointer) {
  const ViewRequest r = request({665, 426, 16, 1920, 1080}, false);
  Settings s;
  for (const double factor : {2.0, 3.0, 1.25, 0.8}) {
    const ViewLayout before = make_layout(r, s);
    const CellPosition cell = cell_position(before, 5);
    const double x = cell.x + before.cell_w * 0.3, y = cell.y + before.cell_h * 0.7;
    const auto value = position_at(before, x, y);
    zoom_at(s, before, factor, x, y);
    const auto after = position_at(make_layout(r, s), x, y);
    ASSERT_TRUE(value && after);
    EXPECT_EQ(after->plane, 5);
    EXPECT_NEAR(after->x, value->x, 1e-6);
    EXPECT_NEAR(after->y, value->y, 1e-6);
  }
  zoom_at(s, make_layout(r, s), 1e-9, 10, 10);
  EXPECT_EQ(s.zoom, 0) << "smaller than fit is fit";
  for (int i = 0; i < 100; ++i) zoom_centre(s, make_layout(r, s), 2);
  EXPECT_EQ(s.zoom, kMaxZoom);
}

TEST(Layout, PanMovesByViewPixelsAndStopsAtTheEdge) {
  const ViewRequest r = request({600, 400, 1, 1000, 1000}, true);
  Settings s;
  pan(s, make_layout(r, s), 50, 0);
  EXPECT_EQ(s.center_x, 0.5) << "all is in sight";
  zoom_centre(s, make_layout(r, s), 5);
  const ViewLayout before = make_layout(r, s);
  pan(s, before, 30, -20);
  const ViewLayout after = make_layout(r, s);
  EXPECT_NEAR(after.region_x, before.region_x - 30 * before.step, 1e-9);
  EXPECT_NEAR(after.region_y, before.region_y + 20 * before.step, 1e-9);
  for (int i = 0; i < 1000; ++i) pan(s, make_layout(r, s), 100, 100);
  EXPECT_EQ(s.center_x, 0);
  EXPECT_EQ(s.center_y, 0);
}

}  // namespace
}  // namespace convscope
