// The roofline without its window: points, axes, labels.
#include <gtest/gtest.h>

#include <random>

#include "app/window/roofline_plot.h"
#include "tests/window/race_testing.h"

namespace convscope {
namespace {

using testing::some_race;

TEST(Roofline, PointsAndCeilings) {
  const bench::RaceState state = some_race();
  const auto points = roofline_points(state);
  ASSERT_EQ(points.size(), 4U) << "those with a time";
  EXPECT_EQ(points[0].entry->info.name, "first");
  EXPECT_DOUBLE_EQ(points[0].flop_per_byte, 8);
  EXPECT_DOUBLE_EQ(points[0].gflop_s, 160);
  ASSERT_TRUE(points[0].of_roof);
  EXPECT_DOUBLE_EQ(*points[0].of_roof, 160.0 / 60) << "8 FLOP a byte at 10 GB/s is beyond the 60 GFLOP/s";
  EXPECT_FALSE(points[2].of_roof) << "no ceilings of that target";
  const bench::Ceilings c{10, 60, 0, ""};
  EXPECT_DOUBLE_EQ(roof_at(c, 2), 20);
  EXPECT_DOUBLE_EQ(roof_at(c, 6), 60);
  EXPECT_DOUBLE_EQ(roof_at(c, 60), 60);
}

TEST(Roofline, AxesHoldTheirValuesAndTheirTicksFit) {
  struct Case {
    double least, most, low, high;
  };
  const Case cases[] = {{3, 30, 2, 50},         {0.7, 0.7, 0.2, 2},      {1, 10, 1, 10},
                        {150, 70000, 100, 1e5}, {0.011, 0.3, 0.01, 0.5}, {5, 5, 2, 20}};
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::Message() << c.least << " to " << c.most);
    const LogAxis axis = log_axis(c.least, c.most);
    EXPECT_LE(axis.low, c.least * (1 + 1e-9));
    EXPECT_GE(axis.high, c.most * (1 - 1e-9));
    EXPECT_GE(axis.high / axis.low, 10 * (1 - 1e-9));
    if (c.least != c.most) {
      EXPECT_NEAR(axis.low / c.low, 1, 1e-9);
      EXPECT_NEAR(axis.high / c.high, 1, 1e-9);
    }
    EXPECT_DOUBLE_EQ(axis.part(axis.low), 0);
    EXPECT_DOUBLE_EQ(axis.part(axis.high), 1);
    for (const int most : {3, 6, 40}) {
      const auto ticks = log_ticks(axis, most);
      EXPECT_LE(static_cast<int>(ticks.size()), most);
      for (const double t : ticks) {
        EXPECT_GE(axis.part(t), -1e-9);
        EXPECT_LE(axis.part(t), 1 + 1e-9);
      }
    }
    EXPECT_FALSE(log_ticks(axis, 40).empty());
  }
  EXPECT_EQ(log_ticks({1, 100}, 40).size(), 7U) << "1 2 5 10 20 50 100";
  EXPECT_EQ(log_ticks({1, 100}, 5).size(), 3U) << "1 10 100";
}

TEST(Roofline, SixteenLabelsLieApartHoweverThePointsLie) {
  std::mt19937 random(7);
  // all points at one place, on one line, and anywhere; the smallest plot of a window of 1280 x 720 and a
  // large one
  for (const Box& area : {Box{60, 20, 820, 112}, Box{60, 20, 1300, 420}}) {
    for (int kind = 0; kind < 12; ++kind) {
      std::vector<Label> labels;
      std::vector<Box> taken;
      for (int i = 0; i < 16; ++i) {
        const auto any = [&](float size) { return std::uniform_real_distribution<float>(0, size)(random); };
        const float x = area.x + (kind == 0 ? area.w / 2 : kind == 1 ? area.w - 3 : any(area.w));
        const float y = area.y + (kind == 0 ? area.h / 2 : any(area.h));
        labels.push_back({x, y, 60 + any(80), 15});
        taken.push_back({x - 6, y - 6, 12, 12});
      }
      const auto places = place_labels(labels, area, taken);
      ASSERT_EQ(places.size(), 16U);
      for (std::size_t i = 0; i < 16; ++i) {
        ASSERT_TRUE(places[i]) << "label " << i << " of kind " << kind << ", height " << area.h;
        EXPECT_TRUE(places[i]->inside(area));
        for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(places[i]->overlaps(*places[j])) << i << ' ' << j;
        for (const Box& point : taken) EXPECT_FALSE(places[i]->overlaps(point)) << i;
      }
    }
  }
}

TEST(Roofline, LabelsWithoutRoomAreLeftOut) {
  const auto places = place_labels({{5, 5, 20, 10}, {5, 5, 20, 10}}, {0, 0, 40, 12}, {});
  EXPECT_TRUE(places[0]);
  EXPECT_FALSE(places[1]);
}

}  // namespace
}  // namespace convscope
