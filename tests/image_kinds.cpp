// Kinds of image files that decoders treat in their own way: grey with alpha, animations, TIFF's alpha and
// depth. The files are put together by hand.
#include <cstring>

#include "app/image_stream.h"
#include "app/source.h"
#include "tests/app_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

std::string number(uint32_t value, int width, bool big) {
  std::string out;
  for (int i = 0; i < width; ++i) out += static_cast<char>(value >> 8 * (big ? width - 1 - i : i) & 0xff);
  return out;
}

/// CRC-32 as PNG has it (its specification, annex D), bit by bit.
uint32_t crc32(const std::string& text) {
  uint32_t crc = ~0u;
  for (const char c : text) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

std::string png_chunk(const std::string& type, const std::string& data) {
  return number(static_cast<uint32_t>(data.size()), 4, true) + type + data +
         number(crc32(type + data), 4, true);
}

/// A zlib stream (RFC 1950) of one stored block.
std::string stored(const std::string& data) {
  uint32_t a = 1, b = 0;
  for (const char c : data) {
    a = (a + static_cast<uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  const auto length = static_cast<uint32_t>(data.size());
  return "\x78\x01\x01" + number(length, 2, false) + number(~length & 0xffff, 2, false) + data +
         number(b << 16 | a, 4, true);
}

/// A PNG of 2 rows, each with its filter byte 0 in front.
std::string png(uint32_t width, char bits, char color_type, const std::string& rows) {
  const std::string header =
      number(width, 4, true) + number(2, 4, true) + bits + color_type + std::string(3, '\0');
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", stored(rows)) +
         png_chunk("IEND", "");
}

TEST(ImageKinds, GreyWithAlphaIsOnePlane) {
  const TemporaryFolder folder;
  // pairs of grey and alpha
  write_string(folder / "a.png",
               png(3, 8, 4, std::string("\0\x0a\x01\x14\x02\x1e\x03\0\x28\x04\x32\x05\x3c\x06", 14)));
  const FramePtr eight = open_source(folder / "a.png");
  EXPECT_EQ(eight->layout.planes, 1);
  EXPECT_EQ(eight->layout.channels, 1);
  EXPECT_EQ(eight->note, "alpha left out");
  const uint8_t expected[] = {10, 20, 30, 40, 50, 60};
  ASSERT_EQ(eight->pixels.size(), sizeof expected);
  EXPECT_EQ(std::memcmp(eight->pixels.data(), expected, sizeof expected), 0);

  write_string(folder / "b.png", png(1, 16, 4, std::string("\0\x12\x34\xff\xff\0\xab\xcd\x80\x00", 10)));
  const FramePtr sixteen = open_source(folder / "b.png");
  EXPECT_EQ(sixteen->layout.planes, 1);
  const uint16_t wide[] = {0x1234, 0xabcd};
  ASSERT_EQ(sixteen->pixels.size(), sizeof wide);
  EXPECT_EQ(std::memcmp(sixteen->pixels.data(), wide, sizeof wide), 0);
}

TEST(ImageKinds, AnAnimationIsRefusedInWords) {
  const TemporaryFolder folder;
  const std::string flags = number(0x02, 4, false) + std::string(6, '\0');  // 1 x 1, animated
  const std::string chunks =
      "WEBPVP8X" + number(10, 4, false) + flags + "ANIM" + number(6, 4, false) + std::string(6, '\0');
  write_string(folder / "a.webp", "RIFF" + number(static_cast<uint32_t>(chunks.size()), 4, false) + chunks);
  EXPECT_TRUE(one_line_with(error_of([&] { open_source(folder / "a.webp"); }),
                            {"a.webp", "animated WebP", "still picture"}));
}

/// An uncompressed TIFF of one pixel.
std::string tiff(uint32_t samples, uint32_t bits, uint32_t alpha, const std::string& pixel, bool big) {
  const auto data = static_cast<uint32_t>(pixel.size());
  const std::size_t entries = 10;
  const uint32_t directory = 8 + data, beyond = directory + 2 + 12 * static_cast<uint32_t>(entries) + 4;
  const auto entry = [&](uint32_t tag, uint32_t value, uint32_t count = 1) {
    const std::string text =
        count <= 2 ? number(value, 2, big) + number(count == 2 ? value : 0, 2, big) : number(beyond, 4, big);
    return number(tag, 2, big) + number(3, 2, big) + number(count, 4, big) + text;
  };
  std::string out =
      (big ? "MM" : "II") + number(42, 2, big) + number(directory, 4, big) + pixel + number(entries, 2, big);
  out += entry(256, 1) + entry(257, 1) + entry(258, bits, samples) + entry(259, 1) +
         entry(262, samples < 3 ? 1 : 2) + entry(273, 8) + entry(277, samples) + entry(278, 1) +
         entry(279, data) + entry(338, alpha) + number(0, 4, big);
  for (uint32_t i = 0; i < samples; ++i) out += number(bits, 2, big);
  return out;
}

TEST(ImageKinds, TiffTagsInEitherByteOrder) {
  for (const bool big : {false, true}) {
    for (const uint32_t bits : {8u, 16u}) {
      for (const uint32_t samples : {2u, 4u}) {
        for (const uint32_t alpha : {1u, 2u}) {
          const std::string text = tiff(samples, bits, alpha, std::string(samples * bits / 8, '\x40'), big);
          const TiffTags tags = read_tiff_tags(std::as_bytes(std::span(text)));
          EXPECT_EQ(tags.bits, static_cast<int>(bits)) << big << samples;
          EXPECT_EQ(tags.unassociated_alpha, alpha == 2) << big << samples;
          for (std::size_t n = 0; n < text.size(); ++n)  // cut anywhere, it reads nothing beyond
            read_tiff_tags(std::as_bytes(std::span(text)).first(n));
        }
      }
    }
  }
}

TEST(ImageKinds, TiffAlphaIsToldAndDepthIsNeverLost) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.tiff";
  write_string(path, tiff(4, 8, 1, "\x10\x20\x30\xff", false));
  EXPECT_EQ(open_source(path)->note, "alpha left out");
  write_string(path, tiff(4, 8, 2, "\x10\x20\x30\xff", false));
  EXPECT_EQ(open_source(path)->note, "alpha left out; colours come multiplied by alpha");
  write_string(path, tiff(4, 16, 2, std::string("\x01\x10\x02\x20\x03\x30\x80\x80", 8), false));
  const FramePtr frame = open_source(path);
  EXPECT_EQ(frame->note, "alpha left out");
  const uint16_t bgra[] = {0x3003, 0x2002, 0x1001, 0x8080};
  ASSERT_EQ(frame->pixels.size(), sizeof bgra);
  EXPECT_EQ(std::memcmp(frame->pixels.data(), bgra, sizeof bgra), 0);
  // OpenCV makes 8 bits of these 16
  write_string(path, tiff(2, 16, 2, std::string("\x01\x10\x80\x80", 4), false));
  EXPECT_TRUE(one_line_with(error_of([&] { open_source(path); }), {path, "16 bits"}));
}

}  // namespace
}  // namespace convscope
