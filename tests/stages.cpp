// Unpack, pad and view against plain loops written here, on the emulated target.

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/view.h"
#include "tests/conv_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

template <class T, class Pixel>
std::vector<T> unpacked(const PixelLayout& layout, const std::vector<Pixel>& pixels, int64_t images = 1) {
  const auto runtime = make_runtime(Target::emulated);
  std::vector<T> planes(static_cast<std::size_t>(images * layout.planes * layout.h * layout.w),
                        std::numeric_limits<T>::quiet_NaN());
  runtime->unpack(layout, images, pixels.data(), precision_of<T>(), planes.data());
  return planes;
}

TEST(Unpack, BgrBecomesPlanesOfRgbCorrectlyRounded) {
  const PixelLayout layout{PixelType::u8, 2, 1, 3, 3, true, false, true};
  const std::vector<uint8_t> bgr = {1, 2, 3, 254, 255, 0};
  const std::vector<float> expected = {3 / 255.0f, 0, 2 / 255.0f, 1, 1 / 255.0f, 254 / 255.0f};
  EXPECT_EQ(unpacked<float>(layout, bgr), expected);
  const std::vector<double> expected64 = {3 / 255.0, 0, 2 / 255.0, 1, 1 / 255.0, 254 / 255.0};
  EXPECT_EQ(unpacked<double>(layout, bgr), expected64);
}

TEST(Unpack, AlphaIsLeftOutOfThreePlanes) {
  const PixelLayout layout{PixelType::u8, 1, 2, 4, 3, true, false, false};
  EXPECT_EQ(unpacked<float>(layout, std::vector<uint8_t>{1, 2, 3, 9, 4, 5, 6, 9}),
            (std::vector<float>{3, 6, 2, 5, 1, 4}));
}

TEST(Unpack, EveryTypeAndScale) {
  const PixelLayout base{PixelType::u16, 3, 1, 1, 1, false, false, true};
  EXPECT_EQ(unpacked<float>(base, std::vector<uint16_t>{0, 65535, 4097}),
            (std::vector<float>{0, 1, static_cast<float>(4097 / 65535.0)}));
  PixelLayout raw = base;
  raw.unit_scale = false;
  EXPECT_EQ(unpacked<float>(raw, std::vector<uint16_t>{0, 65535, 4097}),
            (std::vector<float>{0, 65535, 4097}));
  PixelLayout f = base;
  f.type = PixelType::f32;
  EXPECT_EQ(unpacked<float>(f, std::vector<float>{-1.5f, 300, 1e30f}),
            (std::vector<float>{-1.5f, 300, 1e30f}));
  f.type = PixelType::f64;
  EXPECT_EQ(unpacked<double>(f, std::vector<double>{0.1, 1e-300, -7}),
            (std::vector<double>{0.1, 1e-300, -7}));
  EXPECT_EQ(unpacked<float>(f, std::vector<double>{0.1, 1e-300, -7}), (std::vector<float>{0.1f, 0, -7}));
}

TEST(Unpack, OddWidthsAndBatchesLoseNoByte) {  // C27
  for (const int64_t w : {1, 2, 3, 4, 5, 6, 7, 8, 410}) {
    PixelLayout layout{PixelType::u8, w, 3, 3, 3, false, false, false};
    std::vector<uint8_t> pixels(layout.bytes() * 2);
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 7 + 1);
    const auto planes = unpacked<float>(layout, pixels, 2);
    for (int64_t n = 0; n < 2; ++n) {
      for (int64_t c = 0; c < 3; ++c) {
        for (int64_t i = 0; i < 3 * w; ++i) {
          EXPECT_EQ(planes[static_cast<std::size_t>((n * 3 + c) * 3 * w + i)],
                    pixels[static_cast<std::size_t>((n * 3 * w + i) * 3 + c)]);
        }
      }
    }
    layout.planar = true;
    const auto copied = unpacked<float>(layout, pixels, 2);
    EXPECT_TRUE(std::equal(pixels.begin(), pixels.end(), copied.begin()));
  }
}

std::vector<float> padded(const std::vector<float>& row, const PadAmounts& amounts) {
  const auto runtime = make_runtime(Target::emulated);
  const auto w = static_cast<int64_t>(row.size());
  std::vector<float> out(
      static_cast<std::size_t>((amounts.top + 1 + amounts.bottom) * (amounts.left + w + amounts.right)), -1);
  runtime->pad(amounts, 1, 1, w, Precision::fp32, row.data(), out.data());
  return out;
}

TEST(Pad, BordersOfARow) {  // C14, before the sum
  const std::vector<float> row = {1, 2, 3};
  const auto by_two = [&](Border b) { return padded(row, {0, 0, 2, 2, b}); };
  EXPECT_EQ(by_two(Border::zero), (std::vector<float>{0, 0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(by_two(Border::replicate), (std::vector<float>{1, 1, 1, 2, 3, 3, 3}));
  EXPECT_EQ(by_two(Border::reflect), (std::vector<float>{2, 1, 1, 2, 3, 3, 2}));
  EXPECT_EQ(by_two(Border::reflect_101), (std::vector<float>{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(by_two(Border::wrap), (std::vector<float>{2, 3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(padded(row, {0, 0, 1, 0, Border::zero}), (std::vector<float>{0, 1, 2, 3}));
}

TEST(Pad, BordersWiderThanTheImageGoOn) {
  const std::vector<float> row = {1, 2, 3};
  EXPECT_EQ(padded(row, {0, 0, 0, 7, Border::reflect_101}),
            (std::vector<float>{1, 2, 3, 2, 1, 2, 3, 2, 1, 2}));
  EXPECT_EQ(padded(row, {0, 0, 7, 0, Border::reflect}), (std::vector<float>{1, 1, 2, 3, 3, 2, 1, 1, 2, 3}));
  EXPECT_EQ(padded(row, {0, 0, 4, 0, Border::wrap}), (std::vector<float>{3, 1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(padded({5}, {1, 1, 2, 3, Border::reflect_101}), std::vector<float>(18, 5));
}

TEST(Pad, PlanesAreApart) {
  const auto runtime = make_runtime(Target::emulated);
  const std::vector<double> in = {1, 2, 3, 4, 5, 6, 7, 8};  // two planes of 2 x 2
  std::vector<double> out(2 * 3 * 3, -1);
  runtime->pad({1, 0, 0, 1, Border::replicate}, 2, 2, 2, Precision::fp64, in.data(), out.data());
  EXPECT_EQ(out, (std::vector<double>{1, 2, 2, 1, 2, 2, 3, 4, 4, 5, 6, 6, 5, 6, 6, 7, 8, 8}));
}

ViewLayout one_cell(int w, int h, int64_t plane_w, int64_t plane_h, double x, double y, double step) {
  ViewLayout v;
  v.view_w = v.cell_w = v.pitch_x = w;
  v.view_h = v.cell_h = v.pitch_y = h;
  v.plane_w = plane_w, v.plane_h = plane_h;
  v.region_x = x, v.region_y = y, v.step = step;
  return v;
}

std::vector<float> viewed(const ViewLayout& v, const ViewPlanes& planes, Metric metric) {
  const auto runtime = make_runtime(Target::emulated);
  std::vector<float> out(static_cast<std::size_t>(v.view_w * v.view_h), -7);
  runtime->view(v, planes, Precision::fp32, metric, out.data());
  return out;
}

bool empty(float v) { return std::bit_cast<uint32_t>(v) == kViewEmptyBits; }

TEST(View, AveragesWhenMinifiedAndRepeatsWhenMagnified) {
  const std::vector<float> plane = {1, 2, 3, 4, 5, 6, 7, 8};  // 4 wide, 2 high
  EXPECT_EQ(viewed(one_cell(2, 1, 4, 2, 0, 0, 2), {plane.data()}, Metric::value),
            (std::vector<float>{3.5f, 5.5f}));
  EXPECT_EQ(viewed(one_cell(4, 2, 4, 2, 1, 0, 0.5), {plane.data()}, Metric::value),
            (std::vector<float>{2, 2, 3, 3, 2, 2, 3, 3}));
  EXPECT_EQ(viewed(one_cell(4, 2, 4, 2, 0, 0, 1), {plane.data()}, Metric::value), plane);
}

TEST(View, PixelsBeyondThePlaneAreEmpty) {
  const std::vector<float> plane = {1, 2};
  const auto out = viewed(one_cell(4, 1, 2, 1, -1, 0, 1), {plane.data()}, Metric::value);
  EXPECT_TRUE(empty(out[0]));
  EXPECT_EQ(out[1], 1);
  EXPECT_EQ(out[2], 2);
  EXPECT_TRUE(empty(out[3]));
}

TEST(View, CellsShowTheirPlanesAndGapsAreEmpty) {
  ViewLayout v = one_cell(5, 5, 2, 2, 0, 0, 1);
  v.cell_w = v.cell_h = 2, v.pitch_x = v.pitch_y = 3, v.columns = 2, v.cells = 3, v.first_plane = 1;
  std::vector<float> planes(4 * 4);
  for (std::size_t i = 0; i < planes.size(); ++i) planes[i] = static_cast<float>(i);
  const auto out = viewed(v, {planes.data()}, Metric::value);
  EXPECT_EQ(out[0], 4);                // plane 1
  EXPECT_TRUE(empty(out[2]));          // between the columns
  EXPECT_EQ(out[3], 8);                // plane 2
  EXPECT_EQ(out[3 * 5 + 0], 12);       // plane 3
  EXPECT_TRUE(empty(out[3 * 5 + 3]));  // no fourth cell
}

TEST(View, NoWrongValueIsAveragedAway) {
  // one wrong value among two million, at every zoom that shows the whole plane
  const int64_t w = 1920, h = 1080;
  const std::vector<float> b(static_cast<std::size_t>(w * h), 1.0f);
  for (const std::size_t wrong : {std::size_t{0}, std::size_t{777777}, b.size() - 1}) {
    std::vector<float> a = b;
    a[wrong] = 0.75f;
    for (const int width : {1, 7, 100, 333, 1279, 1919, 1920}) {
      const double step = static_cast<double>(w) / width;
      const int height = static_cast<int>(std::ceil(static_cast<double>(h) / step));
      const ViewLayout v = one_cell(width, height, w, h, 0, 0, step);
      const auto signed_out = viewed(v, {a.data(), b.data()}, Metric::signed_difference);
      EXPECT_EQ(std::count(signed_out.begin(), signed_out.end(), -0.25f), 1) << width << " " << wrong;
      const auto relative = viewed(v, {a.data(), b.data()}, Metric::relative);
      EXPECT_EQ(*std::max_element(relative.begin(), relative.end()), 0.25f);
    }
  }
}

TEST(View, MetricsOfOneValue) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const float next = std::nextafter(1.0f, 2.0f);
  struct Row {
    Metric metric;
    float a, b, bound, expected;
  };
  const Row table[] = {{Metric::signed_difference, 1, 3, 0, -2},
                       {Metric::absolute, 1, 3, 0, 2},
                       {Metric::relative, 3, -2, 0, 2.5f},
                       {Metric::relative, 0, 0, 0, 0},
                       {Metric::relative, 1, 0, 0, inf},
                       {Metric::ulp, next, 1, 0, 1},
                       {Metric::ulp, 0.0f, -0.0f, 0, 0},
                       {Metric::ulp, 1e-45f, -1e-45f, 0, 2},
                       {Metric::ulp, nan, 1, 0, nan},
                       {Metric::absolute, 1, nan, 0, nan},
                       {Metric::bound_fraction, 3, 1, 4, 0.5f},
                       {Metric::bound_fraction, 1, 1, 0, 0},
                       {Metric::bound_fraction, 2, 1, 0, inf}};
  for (const Row& r : table) {
    const float out = viewed(one_cell(1, 1, 1, 1, 0, 0, 1), {&r.a, &r.b, &r.bound}, r.metric)[0];
    EXPECT_TRUE(std::isnan(r.expected) ? std::isnan(out) && !empty(out) : out == r.expected)
        << static_cast<int>(r.metric) << ": " << r.a << ", " << r.b << " gave " << out;
  }
}

TEST(View, NanWins) {
  const std::vector<float> a = {1, std::numeric_limits<float>::quiet_NaN(), 100, 1}, b = {1, 1, 1, 1};
  EXPECT_TRUE(std::isnan(viewed(one_cell(1, 1, 4, 1, 0, 0, 4), {a.data(), b.data()}, Metric::absolute)[0]));
  EXPECT_TRUE(std::isnan(viewed(one_cell(1, 1, 4, 1, 0, 0, 4), {a.data()}, Metric::value)[0]));
}

}  // namespace
}  // namespace convscope
