// The built-in pictures: any size, known values, and a line for each fault.
#include <algorithm>
#include <set>

#include "app/source.h"
#include "tests/app_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

template <class T>
const T* values(const Frame& frame) {
  return reinterpret_cast<const T*>(frame.pixels.data());
}

TEST(Patterns, EverySizeAndChannelCount) {
  for (const PatternInfo& info : patterns()) {
    for (const char* size : {"1x1", "1x7", "7x1", "3x2", "33x17", "641x359"}) {
      for (const char* channels : {"", "x1", "x3"}) {
        const std::string source = "pattern:" + info.name + ":" + size + channels;
        SCOPED_TRACE(source);
        if (info.name == "barcode" && std::string(size) != "641x359") {
          EXPECT_TRUE(one_line_with(error_of([&] { open_source(source); }), {source, "at least 44x9"}));
          continue;
        }
        const FramePtr frame = open_source(source);
        EXPECT_EQ(std::to_string(frame->layout.w) + "x" + std::to_string(frame->layout.h), size);
        EXPECT_EQ(frame->pixels.size(), frame->layout.bytes());
        if (*channels) {
          EXPECT_EQ(frame->layout.channels, channels[1] - '0');
        }
        EXPECT_EQ(frame->hash, open_source(source)->hash);
      }
    }
  }
}

TEST(Patterns, NoiseIsSplitMix64OnEveryMachine) {
  // the first output for seed 1 is 10451216379200822465, the generator's published test value
  const uint64_t first = 10451216379200822465u;
  const FramePtr frame = open_source("pattern:noise:5x3x1");
  for (int i = 0; i < 8; ++i) EXPECT_EQ(values<uint8_t>(*frame)[i], (first >> 8 * i & 0xff)) << i;
  EXPECT_NE(frame->hash, open_source("pattern:noise:5x3x1:seed=2")->hash);
  const FramePtr large = open_source("pattern:noise:256x256x1:seed=9");
  std::array<int, 256> counts{};
  for (int i = 0; i < 65536; ++i) ++counts[values<uint8_t>(*large)[i]];
  EXPECT_GT(*std::min_element(counts.begin(), counts.end()),
            160);  // 256 expected, 6 standard deviations of 16
  EXPECT_LT(*std::max_element(counts.begin(), counts.end()), 352);
}

TEST(Patterns, KnownValues) {
  const FramePtr impulse = open_source("pattern:impulse:6x5");
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 6; ++x) EXPECT_EQ(values<float>(*impulse)[y * 6 + x], y == 2 && x == 3 ? 1 : 0);
  const FramePtr constant = open_source("pattern:constant:4x3x2:value=-0.1");
  for (int i = 0; i < 24; ++i) EXPECT_EQ(values<float>(*constant)[i], -0.1f);
  const FramePtr ramp = open_source("pattern:ramp:256x2");
  for (int x = 0; x < 256; ++x) EXPECT_EQ(values<uint8_t>(*ramp)[256 + x], x);
  const FramePtr checker = open_source("pattern:checker:8x4:period=2");
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 8; ++x)
      EXPECT_EQ(values<uint8_t>(*checker)[y * 8 + x], (x / 2) % 2 == (y / 2) % 2 ? 255 : 0) << x << " " << y;
  const FramePtr rings = open_source("pattern:zone_plate:101x101");
  EXPECT_EQ(values<uint8_t>(*rings)[50 * 101 + 50], 255);
  const FramePtr chart = open_source("pattern:chart:800x400");  // bars of 75 %: white, yellow, ... in BGR
  EXPECT_EQ(values<uint8_t>(*chart)[3 * 150 + 0], 0);
  EXPECT_EQ(values<uint8_t>(*chart)[3 * 150 + 1], 191);
  EXPECT_EQ(values<uint8_t>(*chart)[3 * 150 + 2], 191);
}

TEST(Patterns, DefaultIsAFullHdPicture) {
  const FramePtr frame = open_source("pattern:ramp");
  EXPECT_EQ(frame->layout.w, 1920);
  EXPECT_EQ(frame->layout.h, 1080);
}

TEST(Patterns, LargestSize) {
  const FramePtr frame = open_source("pattern:checker:16384x16384");
  EXPECT_EQ(frame->pixels.size(), std::size_t{1} << 28);
}

TEST(Patterns, FaultsAreOneLine) {
  const std::pair<const char*, std::vector<std::string>> table[] = {
      {"pattern:", {"no pattern \"\"", "zone_plate"}},
      {"pattern:nosuch", {"no pattern \"nosuch\"", "chart", "noise"}},
      {"pattern:noise:0x4", {"width 0", "16384"}},
      {"pattern:noise:4x16385", {"height 16385"}},
      {"pattern:noise:4x4x0", {"0 channels"}},
      {"pattern:noise:16384x16384x9", {"values, expected at most 2147483648"}},
      {"pattern:noise:4", {"\"4\" is neither"}},
      {"pattern:noise:4x", {"neither"}},
      {"pattern:noise:-4x4", {"width -4"}},
      {"pattern:noise:4x4:4x4", {"neither"}},
      {"pattern:noise:seed=x", {"\"x\" is not a number"}},
      {"pattern:noise:seed=1.5", {"seed=1.5"}},
      {"pattern:checker:period=0", {"period=0"}},
      {"pattern:noise:value=1", {"no option \"value\"", "seed"}},
      {"pattern:chart:8x8x2", {"1 or 3 channels", "not 2"}},
  };
  for (const auto& [source, parts] : table) {
    const std::string message = error_of([&, source = source] { open_source(source); });
    EXPECT_TRUE(one_line_with(message, {source}));
    EXPECT_TRUE(one_line_with(message, parts));
  }
}

}  // namespace
}  // namespace convscope
