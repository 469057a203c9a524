// Image files and arrays become frames: values, orientation, channel order, and one line for each fault.
#include "app/source.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "kernels/chain.h"
#include "tests/app_testing.h"
#include "tests/image_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;
namespace fs = std::filesystem;

/// Different values in every pixel and channel, in the range of the depth.
cv::Mat test_image(int width, int height, int type) {
  cv::Mat image(height, width, CV_MAKETYPE(CV_64F, CV_MAT_CN(type)));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width * image.channels(); ++x) image.ptr<double>(y)[x] = (x * 37 + y * 91 + 5) % 251;
  cv::Mat out;
  const int depth = CV_MAT_DEPTH(type);
  image.convertTo(out, depth, depth == CV_16U ? 257 : depth == CV_8U ? 1 : 1 / 16.0);
  return out;
}

bool same_pixels(const Frame& frame, const cv::Mat& image) {
  const cv::Mat whole = image.isContinuous() ? image : image.clone();
  return frame.pixels.size() == whole.total() * whole.elemSize() &&
         std::memcmp(frame.pixels.data(), whole.data, frame.pixels.size()) == 0;
}

TEST(Source, LosslessFormatsKeepEveryValue) {
  const TemporaryFolder folder;
  struct Row {
    const char* ending;
    int type;
    PixelType pixel;
    std::vector<int> parameters;
  };
  const Row table[] = {
      {".png", CV_8UC1, PixelType::u8, {}},
      {".png", CV_8UC3, PixelType::u8, {}},
      {".png", CV_8UC4, PixelType::u8, {}},
      {".png", CV_16UC1, PixelType::u16, {}},
      {".png", CV_16UC3, PixelType::u16, {}},
      {".bmp", CV_8UC3, PixelType::u8, {}},
      {".tiff", CV_8UC1, PixelType::u8, {}},
      {".tiff", CV_8UC3, PixelType::u8, {}},
      {".tiff", CV_16UC3, PixelType::u16, {}},
      {".tiff", CV_32FC1, PixelType::f32, {}},
      {".tiff", CV_32FC3, PixelType::f32, {cv::IMWRITE_TIFF_COMPRESSION, 1}},
      {".tiff", CV_64FC1, PixelType::f64, {}},
      {".exr", CV_32FC3, PixelType::f32, {}},
      {".exr", CV_32FC1, PixelType::f32, {}},
      {".webp", CV_8UC3, PixelType::u8, {cv::IMWRITE_WEBP_QUALITY, 101}},
      {".ppm", CV_8UC3, PixelType::u8, {}},
      {".pgm", CV_8UC1, PixelType::u8, {}},
      {".pfm", CV_32FC3, PixelType::f32, {}},
  };
  for (const Row& row : table) {
    SCOPED_TRACE(std::string(row.ending) + " " + cv::typeToString(row.type));
    const cv::Mat image = test_image(23, 17, row.type);
    const std::string path = folder / (std::string("x") + row.ending);
    write_string(path, encoded(row.ending, image, row.parameters));
    const FramePtr frame = open_source(path);
    EXPECT_EQ(frame->layout.type, row.pixel);
    EXPECT_EQ(frame->layout.w, 23);
    EXPECT_EQ(frame->layout.h, 17);
    EXPECT_EQ(frame->layout.channels, image.channels());
    EXPECT_EQ(frame->layout.planes, image.channels() == 1 ? 1 : 3);
    EXPECT_EQ(frame->layout.reverse, image.channels() > 1);
    EXPECT_EQ(frame->note, image.channels() == 4 ? "alpha left out" : "");
    EXPECT_TRUE(same_pixels(*frame, image));
  }
}

TEST(Source, RadianceHdrIsCloseAndFloat) {
  const TemporaryFolder folder;
  const cv::Mat image = test_image(23, 17, CV_32FC3);
  write_string(folder / "x.hdr", encoded(".hdr", image));
  const FramePtr frame = open_source(folder / "x.hdr");
  ASSERT_EQ(frame->layout.type, PixelType::f32);
  const auto* found = reinterpret_cast<const float*>(frame->pixels.data());
  for (int i = 0; i < 23 * 17 * 3; ++i)  // eight bits of mantissa, shared by the three
    EXPECT_NEAR(found[i], image.ptr<float>()[i], 16.0 / 128) << i;
}

TEST(Source, FaultsOfFilesAreOneLine) {  // C23
  const TemporaryFolder folder;
  const cv::Mat image = test_image(64, 48, CV_8UC3);
  const std::string png = encoded(".png", image), jpeg = encoded(".jpg", image);
  write_string(folder / "half.png", png.substr(0, png.size() / 2));
  write_string(folder / "half.jpg", jpeg.substr(0, jpeg.size() / 2));
  write_string(folder / "empty.png", "");
  write_string(folder / "text.png", "this is\nno picture");
  write_string(folder / "none.npy", "this is no array");
  fs::create_directory(folder / "folder.png");
  std::string damaged = png;
  damaged[damaged.size() / 2] ^= 0x55;
  write_string(folder / "damaged.png", damaged);
  struct Row {
    std::string name;
    std::vector<std::string> parts;
  };
  const Row table[] = {
      {"half.png", {"truncated PNG", "IEND"}},
      {"half.jpg", {"truncated JPEG"}},
      {"empty.png", {"empty", "0 bytes"}},
      {"text.png", {"is not an image", "this is\\x0a", "PNG, JPEG"}},
      {"folder.png", {"is a folder without images", "expected a file"}},
      {"missing.png", {"No such file"}},
      {"damaged.png", {"cannot be decoded as PNG"}},
      {"none.npy", {"not an .npy array"}},
  };
  for (const Row& row : table) {
    const std::string path = folder / row.name;
    ::testing::internal::CaptureStderr();
    const std::string message = error_of([&] { open_source(path); });
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << row.name << ": a codec spoke for itself";
    EXPECT_TRUE(one_line_with(message, {path}));
    EXPECT_TRUE(one_line_with(message, row.parts)) << row.name;
  }
  write_string(folder / "secret.png", png);
  ::chmod((folder / "secret.png").c_str(), 0);
  if (::access((folder / "secret.png").c_str(), R_OK) != 0) {  // root may read anything
    EXPECT_TRUE(one_line_with(error_of([&] { open_source(folder / "secret.png"); }), {"Permission denied"}));
  }
}

TEST(Source, NoCutOfAFileGivesAPicture) {
  const TemporaryFolder folder;
  struct Row {
    const char* ending;
    int type;
    std::vector<int> parameters;
  };
  const Row table[] = {
      {".png", CV_8UC3, {}},
      {".jpg", CV_8UC3, {}},
      {".jpg", CV_8UC3, {cv::IMWRITE_JPEG_PROGRESSIVE, 1}},
      {".jpg", CV_8UC3, {cv::IMWRITE_JPEG_RST_INTERVAL, 2}},
      {".bmp", CV_8UC3, {}},
      {".tiff", CV_16UC3, {}},
      {".webp", CV_8UC3, {}},
      {".exr", CV_32FC3, {}},
      {".hdr", CV_32FC3, {}},
      {".ppm", CV_8UC3, {}},
      {".pfm", CV_32FC3, {}},
  };
  for (const Row& row : table) {
    const std::string whole = encoded(row.ending, test_image(41, 29, row.type), row.parameters);
    const std::string path = folder / (std::string("cut") + row.ending);
    write_string(path, whole);
    EXPECT_EQ(error_of([&] { open_source(path); }), "(no error)") << row.ending;
    for (std::size_t n = whole.size() - 1; n > 0;
         n -= std::min(n, std::max<std::size_t>(1, whole.size() / 40))) {
      write_string(path, whole.substr(0, n));
      EXPECT_TRUE(one_line_with(error_of([&] { open_source(path); }), {path}))
          << n << " of " << whole.size() << " bytes";
    }
  }
}

TEST(Source, WhatFollowsTheEndOfAJpegIsTolerated) {
  const TemporaryFolder folder;
  const std::string jpeg = encoded(".jpg", test_image(32, 16, CV_8UC3));
  write_string(folder / "a.jpg", jpeg);
  write_string(folder / "b.jpg", jpeg + std::string("\xff\xd8 a preview, as cameras append", 30));
  EXPECT_EQ(open_source(folder / "a.jpg")->hash, open_source(folder / "b.jpg")->hash);
}

/// The quadrants (0 to 3) seen at left top, right top, left bottom, right bottom for an orientation, from the
/// EXIF standard's own words: where the stored row 0 and column 0 lie in the upright picture.
std::array<int, 4> expected_quadrants(int orientation) {
  switch (orientation) {
    case 2:
      return {1, 0, 3, 2};  // row 0 top, column 0 right
    case 3:
      return {3, 2, 1, 0};  // bottom, right
    case 4:
      return {2, 3, 0, 1};  // bottom, left
    case 5:
      return {0, 2, 1, 3};  // left, top
    case 6:
      return {2, 0, 3, 1};  // right, top
    case 7:
      return {3, 1, 2, 0};  // right, bottom
    case 8:
      return {1, 3, 0, 2};  // left, bottom
    default:
      return {0, 1, 2, 3};
  }
}

std::array<int, 4> found_quadrants(const Frame& frame) {
  std::array<int, 4> found{};
  for (std::size_t q = 0; q < 4; ++q) {
    const int64_t y = frame.layout.h / 4 + (q >= 2 ? frame.layout.h / 2 : 0);
    const int64_t x = frame.layout.w / 4 + (q % 2 == 1 ? frame.layout.w / 2 : 0);
    const auto value = static_cast<int>(frame.pixels[static_cast<std::size_t>(y * frame.layout.w + x)]);
    found[q] = (value + 40) / 80;
  }
  return found;
}

TEST(Source, ExifOrientationOnce) {  // C24
  const TemporaryFolder folder;
  write_string(folder / "small.jpg", with_exif(encoded(".jpg", quadrants(4, 2)), 6, true));
  const FramePtr small = open_source(folder / "small.jpg");
  EXPECT_EQ(small->layout.w, 2);
  EXPECT_EQ(small->layout.h, 4);
  EXPECT_EQ(small->note, "EXIF orientation 6 applied");
  const std::string jpeg = encoded(".jpg", quadrants(64, 32));
  for (int orientation = 0; orientation <= 9; ++orientation) {
    for (const bool big : {false, true}) {
      SCOPED_TRACE(std::to_string(orientation) + (big ? " big" : " little"));
      write_string(folder / "x.jpg", with_exif(jpeg, orientation, big));
      const FramePtr frame = open_source(folder / "x.jpg");
      const bool turned = orientation >= 5 && orientation <= 8;
      EXPECT_EQ(frame->layout.w, turned ? 32 : 64);
      EXPECT_EQ(frame->layout.h, turned ? 64 : 32);
      EXPECT_EQ(found_quadrants(*frame), expected_quadrants(orientation));
    }
  }
}

/// An uncompressed grey TIFF with an orientation tag.
std::string tiff_with_orientation(const cv::Mat& grey, int orientation) {
  const auto number = [](uint32_t value, int width) {
    std::string out;
    for (int i = 0; i < width; ++i) out += static_cast<char>(value >> 8 * i & 0xff);
    return out;
  };
  const auto w = static_cast<uint32_t>(grey.cols), h = static_cast<uint32_t>(grey.rows);
  const std::pair<uint32_t, uint32_t> entries[] = {{256, w},
                                                   {257, h},
                                                   {258, 8},
                                                   {259, 1},
                                                   {262, 1},
                                                   {273, 8},
                                                   {274, static_cast<uint32_t>(orientation)},
                                                   {277, 1},
                                                   {278, h},
                                                   {279, w * h}};
  std::string out = "II" + number(42, 2) + number(8 + w * h, 4);
  out.append(reinterpret_cast<const char*>(grey.data), w * h);
  out += number(std::size(entries), 2);
  for (const auto& [tag, value] : entries)
    out += number(tag, 2) + number(4, 2) + number(1, 4) + number(value, 4);
  // the tag's type is SHORT; a LONG of the same small value reads alike in little-endian order
  return out + number(0, 4);
}

TEST(Source, TiffOrientationOnce) {
  const TemporaryFolder folder;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    write_string(folder / "x.tiff", tiff_with_orientation(quadrants(64, 32), orientation));
    const FramePtr frame = open_source(folder / "x.tiff");
    EXPECT_EQ(frame->layout.w, orientation >= 5 ? 32 : 64);
    EXPECT_EQ(found_quadrants(*frame), expected_quadrants(orientation));
  }
}

TEST(Source, ColourRowsOfEveryWidthArriveIdentical) {  // C27
  const TemporaryFolder folder;
  const auto runtime = make_runtime(Target::cpu);
  for (const int width : {1, 2, 3, 4, 5, 6, 7, 8, 410}) {
    SCOPED_TRACE(width);
    const cv::Mat image = test_image(width, 5, CV_8UC3);
    write_string(folder / "x.png", encoded(".png", image));
    const FramePtr frame = open_source(folder / "x.png");
    ASSERT_TRUE(same_pixels(*frame, image));
    PixelLayout layout = frame->layout;
    layout.unit_scale = false;
    std::vector<float> planes(static_cast<std::size_t>(width) * 5 * 3);
    runtime->unpack(layout, 1, frame->pixels.data(), Precision::fp32, planes.data());
    for (int plane = 0; plane < 3; ++plane)
      for (int y = 0; y < 5; ++y)
        for (int x = 0; x < width; ++x)
          ASSERT_EQ(planes[static_cast<std::size_t>((plane * 5 + y) * width + x)],
                    image.at<cv::Vec3b>(y, x)[2 - plane])  // B, G, R in the file; R, G, B in planes
              << plane << " " << y << " " << x;
  }
}

TEST(Source, ArraysByTheirShape) {
  const TemporaryFolder folder;
  const std::vector<float> values(24, 1.0f);
  struct Row {
    const char* shape;
    bool chw;
    int64_t images, h, w;
    int channels;
    bool planar;
  };
  const Row table[] = {
      {"4, 6", false, 1, 4, 6, 1, false},      {"4, 6", true, 1, 4, 6, 1, false},
      {"2, 4, 3", false, 1, 2, 4, 3, false},   {"2, 4, 3", true, 1, 4, 3, 2, true},
      {"2, 2, 3, 2", false, 2, 3, 2, 2, true}, {"24, 1", false, 1, 24, 1, 1, false},
  };
  for (const Row& row : table) {
    SCOPED_TRACE(row.shape);
    write_string(folder / "x.npy", npy_text("<f4", false, row.shape, bytes_of_values(values)));
    const FramePtr frame = open_source(folder / "x.npy", {.chw = row.chw});
    EXPECT_EQ(frame->images, row.images);
    EXPECT_EQ(frame->layout.h, row.h);
    EXPECT_EQ(frame->layout.w, row.w);
    EXPECT_EQ(frame->layout.channels, row.channels);
    EXPECT_EQ(frame->layout.planes, row.channels);
    EXPECT_EQ(frame->layout.planar, row.planar);
    EXPECT_FALSE(frame->layout.reverse);
    EXPECT_EQ(frame->pixels.size(), 96u);
  }
  for (const char* shape : {"24,", "1, 1, 1, 24, 1", ""}) {
    const std::string path = folder / "bad.npy";
    write_string(path, npy_text("<f4", false, shape, bytes_of_values(std::vector<float>(*shape ? 24 : 1))));
    EXPECT_TRUE(one_line_with(error_of([&] { open_source(path); }), {path, "H x W"})) << shape;
  }
  write_string(folder / "zero.npy", npy_text("<f4", false, "0, 5", ""));
  EXPECT_TRUE(one_line_with(error_of([&] { open_source(folder / "zero.npy"); }), {"0 x 5", "no values"}));
}

TEST(Source, FramesDifferInIdAndHashTheirPixels) {
  const FramePtr a = open_source("pattern:constant:3x2"), b = open_source("pattern:constant:3x2");
  EXPECT_NE(a->id, b->id);
  EXPECT_EQ(a->hash, b->hash);
  EXPECT_NE(a->hash, open_source("pattern:constant:3x2:value=2")->hash);
  EXPECT_EQ(a->hash.size(), 16u);
}

TEST(Source, OfAStreamOneFrameIsTaken) {
  for (const int64_t index : {0, 7}) {
    const FramePtr frame = open_source("pattern:barcode:88x18:fps=25", {.frame = index});
    EXPECT_EQ(frame->index, index);
    EXPECT_EQ(frame->seconds, static_cast<double>(index) / 25);
    EXPECT_EQ(frame->hash, open_source("pattern:barcode:88x18:number=" + std::to_string(index))->hash);
  }
  EXPECT_TRUE(one_line_with(error_of([&] { open_source("pattern:checker:8x8", {.frame = 3}); }),
                            {"frame=3", "pattern:checker:8x8", "not a stream"}));
}

TEST(Source, SampleIsTheDefault) {
  const FramePtr frame = open_source("");
  EXPECT_EQ(frame->layout.w, 1920);
  EXPECT_EQ(frame->layout.h, 1080);
  EXPECT_EQ(frame->layout.planes, 3);
}

}  // namespace
}  // namespace convscope
