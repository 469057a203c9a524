// Values to bytes and colours, and the pictures that `run` writes.
#include "app/display.h"

#include <cmath>
#include <limits>
#include <opencv2/imgcodecs.hpp>

#include "app/export.h"
#include "tests/app_testing.h"

namespace convscope {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInf = std::numeric_limits<double>::infinity();

TEST(Display, BytesAreRoundedHalfToEvenAndClamped) {  // C7
  const std::pair<double, int> table[] = {{0.5, 0},   {1.5, 2},     {2.5, 2},     {-3.7, 0}, {254.5, 254},
                                          {300, 255}, {255.5, 255}, {253.5, 254}, {kNan, 0}, {kInf, 255},
                                          {-kInf, 0}, {0.49999, 0}, {0.50001, 1}, {-0.0, 0}, {254.51, 255}};
  for (const auto& [value, byte] : table) EXPECT_EQ(to_u8(value), byte) << value;
}

TEST(Display, TablesHaveTheirPublishedColours) {
  struct Row {
    ColorMap map;
    std::size_t index;
    Rgb expected;
  };
  const Row table[] = {{ColorMap::grey, 0, {0, 0, 0}},           {ColorMap::grey, 100, {100, 100, 100}},
                       {ColorMap::viridis, 0, {68, 1, 84}},      {ColorMap::viridis, 255, {253, 231, 37}},
                       {ColorMap::turbo, 0, {48, 18, 59}},       {ColorMap::turbo, 255, {122, 4, 3}},
                       {ColorMap::diverging, 0, {5, 48, 97}},    {ColorMap::diverging, 255, {103, 0, 31}},
                       {ColorMap::diverging, 51, {67, 147, 195}}};
  for (const Row& row : table) {
    const Rgb found = color_table(row.map)[row.index];
    EXPECT_NEAR(found.r, row.expected.r, 1) << static_cast<int>(row.map) << " " << row.index;
    EXPECT_NEAR(found.g, row.expected.g, 1) << static_cast<int>(row.map) << " " << row.index;
    EXPECT_NEAR(found.b, row.expected.b, 1) << static_cast<int>(row.map) << " " << row.index;
  }
}

TEST(Display, ColoursOfValues) {
  const auto& grey = color_table(ColorMap::grey);
  struct Row {
    double value;
    Range range;
    Rgb expected;
  };
  const Row table[] = {
      {0, {0, 1}, grey[0]},   {1, {0, 1}, grey[255]},    {0.2, {0, 1}, grey[51]},  {-5, {0, 1}, grey[0]},
      {5, {0, 1}, grey[255]}, {kInf, {0, 1}, grey[255]}, {-kInf, {0, 1}, grey[0]}, {kNan, {0, 1}, kNanColor},
      {3, {3, 3}, grey[128]}, {4, {3, 3}, grey[255]},    {2, {3, 3}, grey[0]},     {kNan, {3, 3}, kNanColor},
  };
  for (const Row& row : table)
    EXPECT_EQ(color_of(row.value, row.range, ColorMap::grey), row.expected) << row.value;
}

TEST(Display, RangeLeavesOutWhatIsNotFinite) {
  const std::vector<double> values{kNan, 3, -kInf, -2, kInf, 1}, none{kNan, kInf};
  const Range range = finite_range(std::span<const double>(values)),
              empty = finite_range(std::span<const double>(none));
  EXPECT_EQ(range.low, -2);
  EXPECT_EQ(range.high, 3);
  EXPECT_EQ(empty.low, 0);
  EXPECT_EQ(empty.high, 0);
}

cv::Mat decoded(const std::vector<std::byte>& png) {
  const std::vector<uint8_t> bytes(reinterpret_cast<const uint8_t*>(png.data()),
                                   reinterpret_cast<const uint8_t*>(png.data()) + png.size());
  return cv::imdecode(bytes, cv::IMREAD_COLOR);
}

int count_color(const cv::Mat& image, Rgb color) {
  int count = 0;
  for (int y = 0; y < image.rows; ++y)
    for (int x = 0; x < image.cols; ++x)
      count += image.at<cv::Vec3b>(y, x) == cv::Vec3b(color.b, color.g, color.r);
  return count;
}

TEST(Export, SmallMapsAreMagnifiedByWholeFactors) {
  // two maps of 3 x 2, values 0 and 1 only: equal squares of the two ends of the table
  const std::vector<float> values{0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0};
  const PlaneSet planes{values.data(), Precision::fp32, 2, 2, 3};
  const Coloring coloring = map_coloring(planes, Settings{});
  EXPECT_EQ(coloring.map, ColorMap::viridis);
  const cv::Mat image = decoded(maps_png(planes, {"a", "b"}, coloring, "test"));
  ASSERT_FALSE(image.empty());
  const int zeros = count_color(image, color_table(ColorMap::viridis)[0]);
  const int ones = count_color(image, color_table(ColorMap::viridis)[255]);
  const int square = zeros / 4;
  const int side = static_cast<int>(std::lround(std::sqrt(square)));
  EXPECT_EQ(zeros, 4 * square);
  EXPECT_EQ(ones, 8 * square);
  EXPECT_EQ(side * side, square);
  EXPECT_GT(side, 8);
}

TEST(Export, SignedMapsAreCentredOnZero) {
  const std::vector<double> values{-1, 0.25, 0.5, kNan};
  const PlaneSet planes{values.data(), Precision::fp64, 1, 2, 2};
  const Coloring coloring = map_coloring(planes, Settings{});
  EXPECT_EQ(coloring.map, ColorMap::diverging);
  EXPECT_EQ(coloring.range.low, -1);
  EXPECT_EQ(coloring.range.high, 1);
  Settings fixed;
  set(fixed, "range", "-3,4");
  set(fixed, "color_map", "turbo");
  EXPECT_EQ(map_coloring(planes, fixed).map, ColorMap::turbo);
  EXPECT_EQ(map_coloring(planes, fixed).range.high, 4);
  EXPECT_GT(count_color(decoded(maps_png(planes, {}, coloring, "t")), kNanColor), 100);
}

TEST(Export, OneWrongValueOfMillionsIsSeen) {
  constexpr int64_t kH = 1080, kW = 1920, kMaps = 16;
  std::vector<float> a(kH * kW * kMaps, 1.0f), b = a;
  const std::size_t places[] = {0, kW - 1, kH * kW - 1, 7 * kH * kW + 500 * kW + 777, kMaps * kH * kW - 1};
  for (const std::size_t place : places) {
    SCOPED_TRACE(place);
    a[place] = 1.5f;
    const PlaneSet left{a.data(), Precision::fp32, kMaps, kH, kW},
        right{b.data(), Precision::fp32, kMaps, kH, kW};
    const cv::Mat image = decoded(difference_png(left, right, {}, 0.5, "t"));
    EXPECT_LE(image.cols, 4096);
    EXPECT_LE(image.rows, 4096);
    EXPECT_EQ(count_color(image, color_table(ColorMap::diverging)[255]), 1);
    a[place] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(count_color(decoded(difference_png(left, right, {}, 0.5, "t")), kNanColor), 1);
    a[place] = 1.0f;
  }
}

/// Columns of a text row that hold anything but background.
int last_bright_column(const cv::Mat& image, int top, int bottom) {
  int last = -1;
  for (int y = top; y < std::min(bottom, image.rows); ++y)
    for (int x = 0; x < image.cols; ++x)
      if (image.at<cv::Vec3b>(y, x)[1] > 120) last = std::max(last, x);
  return last;
}

TEST(Export, TitlesAndLabelsAreNotCutOff) {
  const std::vector<float> values(4 * 3000, 0.0f);
  const PlaneSet narrow{values.data(), Precision::fp32, 4, 3000, 1};
  const Coloring coloring{ColorMap::viridis, {0, 1}};
  const auto sheet = [&](const std::string& last, const std::string& title) {
    return decoded(maps_png(narrow, {"a", "b", "c", last}, coloring, title));
  };
  const cv::Mat plain = sheet("diagonal down", "t"),
                longer = sheet("diagonal downwards", std::string(150, 't'));
  // the longer texts end further right, and before the picture does
  for (const cv::Mat& image : {plain, longer}) {
    EXPECT_LT(last_bright_column(image, 4, 26), image.cols - 2);
    EXPECT_GT(last_bright_column(image, 4, 26), 100);
  }
  EXPECT_GT(last_bright_column(longer, 4, 26), last_bright_column(plain, 4, 26) + 500);
  EXPECT_GT(last_bright_column(longer, 32, 46), last_bright_column(plain, 32, 46) + 20);
}

TEST(Export, LongThinAndManyMaps) {
  struct Row {
    int64_t count, h, w;
  };
  for (const Row& row :
       {Row{1, 1, 1}, Row{3, 524281, 1}, Row{2, 1, 70001}, Row{1500, 3, 2}, Row{1, 1, 70001}}) {
    SCOPED_TRACE(std::to_string(row.count) + " of " + std::to_string(row.h) + " x " + std::to_string(row.w));
    const std::vector<float> values(static_cast<std::size_t>(row.count * row.h * row.w), 1.0f);
    const PlaneSet planes{values.data(), Precision::fp32, row.count, row.h, row.w};
    const cv::Mat image = decoded(maps_png(planes, {}, {ColorMap::viridis, {0, 1}}, "test"));
    EXPECT_GE(image.cols, 1);
    EXPECT_LE(image.cols, 4096);
    EXPECT_LE(image.rows, 4096);
    EXPECT_GT(count_color(image, color_table(ColorMap::viridis)[255]), 0);
  }
}

}  // namespace
}  // namespace convscope
