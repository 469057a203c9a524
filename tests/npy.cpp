// .npy files: every version, type and order that NumPy writes, and a line for each fault.
#include "app/npy.h"

#include <algorithm>

#include "tests/app_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

NpyArray parse(const std::string& text) { return parse_npy(std::as_bytes(std::span(text)), "x.npy"); }

std::string reversed_each(std::string bytes, std::size_t width) {
  for (std::size_t i = 0; i < bytes.size(); i += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + width));
  return bytes;
}

TEST(Npy, VersionsTypesAndByteOrders) {
  const std::vector<uint8_t> u8{1, 2, 250, 4, 5, 6};
  const std::vector<uint16_t> u16{1, 2, 65535, 256, 5, 6};
  const std::vector<float> f32{1.5f, -2, 3e30f, 4, 5, 1e-40f};
  const std::vector<double> f64{1.5, -2, 3e300, 4, 5, 1e-310};
  struct Row {
    std::string descr, data;
    PixelType type;
    std::vector<double> expected;
  };
  const auto as_double = [](const auto& v) { return std::vector<double>(v.begin(), v.end()); };
  const Row table[] = {
      {"|u1", bytes_of_values(u8), PixelType::u8, as_double(u8)},
      {"<u1", bytes_of_values(u8), PixelType::u8, as_double(u8)},
      {">u1", bytes_of_values(u8), PixelType::u8, as_double(u8)},
      {"<u2", bytes_of_values(u16), PixelType::u16, as_double(u16)},
      {">u2", reversed_each(bytes_of_values(u16), 2), PixelType::u16, as_double(u16)},
      {"<f4", bytes_of_values(f32), PixelType::f32, as_double(f32)},
      {">f4", reversed_each(bytes_of_values(f32), 4), PixelType::f32, as_double(f32)},
      {"<f8", bytes_of_values(f64), PixelType::f64, f64},
      {">f8", reversed_each(bytes_of_values(f64), 8), PixelType::f64, f64},
  };
  for (const Row& row : table) {
    for (const int version : {1, 2, 3}) {
      SCOPED_TRACE(row.descr + " version " + std::to_string(version));
      const NpyArray array = parse(npy_text(row.descr, false, "2, 3", row.data, version));
      EXPECT_EQ(array.type, row.type);
      EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
      EXPECT_EQ(array.values(), row.expected);
    }
  }
}

TEST(Npy, FortranOrderBecomesC) {
  // value 100 z + 10 y + x of a 2 x 3 x 4 array, first index fastest
  std::vector<float> fortran, c;
  for (int x = 0; x < 4; ++x)
    for (int y = 0; y < 3; ++y)
      for (int z = 0; z < 2; ++z) fortran.push_back(static_cast<float>(100 * z + 10 * y + x));
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) c.push_back(static_cast<float>(100 * z + 10 * y + x));
  const NpyArray array = parse(npy_text("<f4", true, "2, 3, 4", bytes_of_values(fortran)));
  EXPECT_EQ(array.values(), std::vector<double>(c.begin(), c.end()));
}

TEST(Npy, ShapesOfAnyRank) {
  const std::pair<std::string, std::vector<int64_t>> table[] = {
      {"", {}}, {"1,", {1}}, {"1, 1, 1, 1, 1", {1, 1, 1, 1, 1}}};
  for (const auto& [text, shape] : table) {
    EXPECT_EQ(parse(npy_text("<f4", false, text, bytes_of_values<float>({7}))).shape, shape) << text;
  }
  EXPECT_EQ(parse(npy_text("<f4", false, "3, 0", "")).size(), 0);
}

TEST(Npy, FaultsAreOneLine) {
  const std::string six = bytes_of_values<float>({1, 2, 3, 4, 5, 6});
  const std::string good = npy_text("<f4", false, "2, 3", six);
  struct Row {
    std::string bytes;
    std::vector<std::string> parts;
  };
  std::string version9 = good;
  version9[6] = 9;
  std::string no_shape = good;
  no_shape.replace(no_shape.find("'shape'"), 7, "'shade'");
  const Row table[] = {
      {"hello, this is text", {"not an .npy array"}},
      {"\x93NUM", {"not an .npy array"}},
      {version9, {"version 9.0", "1.0, 2.0 or 3.0"}},
      {good.substr(0, 30), {"truncated in its .npy header", "30 bytes"}},
      {good.substr(0, good.size() - 1), {"truncated", "23 bytes", "expected 24"}},
      {good + "!", {"trailing bytes", "25 bytes", "expected 24"}},
      {npy_text("|O", false, "2, 3", six), {"'|O'", "float32"}},
      {npy_text("<i8", false, "2, 3", six), {"'<i8'", "uint8"}},
      {npy_text("|b1", false, "2, 3", six), {"'|b1'"}},
      {npy_text("<f2", false, "2, 3", six), {"'<f2'"}},
      {npy_text("<c8", false, "2, 3", six), {"'<c8'"}},
      {no_shape, {"shade"}},
      {npy_text("<f4", false, "2, 3), 'shape': (3, 2", six), {"shape", "twice"}},
      {npy_text("<f4", false, "2, 3), } trailing (", six), {"nothing expected after", "trailing"}},
      {npy_text("<f4", false, "2, -3", six), {"a size expected"}},
      {npy_text("<f4", false, "99999999999, 99999999999", six), {"beyond any memory"}},
  };
  for (const Row& row : table) {
    const std::string message = error_of([&] { parse(row.bytes); });
    EXPECT_TRUE(one_line_with(message, {"x.npy"})) << row.parts.front();
    EXPECT_TRUE(one_line_with(message, row.parts));
  }
}

TEST(Npy, EveryCutOfAFileIsAFault) {
  const std::string good = npy_text("<f4", false, "2, 3", bytes_of_values<float>({1, 2, 3, 4, 5, 6}));
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_TRUE(one_line_with(error_of([&] { parse(good.substr(0, n)); }), {"x.npy"})) << n;
}

TEST(Npy, WritesWhatNumpyReads) {
  const std::vector<double> values{1.5, -2, 3e300, 4, 0.1, 6};
  const int64_t shape[] = {1, 2, 3, 1}, flat[] = {6};
  const auto bytes = npy_bytes(Precision::fp64, shape, values.data());
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string data = bytes_of_values(values);
  ASSERT_EQ(text.substr(text.size() - data.size()), data);
  const std::string header = text.substr(0, text.size() - data.size());
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.back(), '\n');
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(static_cast<uint8_t>(header[8]) + 256u * static_cast<uint8_t>(header[9]), header.size() - 10);
  EXPECT_NE(header.find("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3, 1), }"),
            std::string::npos);
  EXPECT_EQ(parse(text).values(), values);
  const auto one = npy_bytes(Precision::fp64, flat, values.data());
  const std::string one_text(reinterpret_cast<const char*>(one.data()), one.size());
  EXPECT_NE(one_text.find("'shape': (6,), }"), std::string::npos);
  EXPECT_EQ(parse(one_text).shape, (std::vector<int64_t>{6}));
}

}  // namespace
}  // namespace convscope
