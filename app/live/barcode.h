#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace convscope {

/// A frame's number as black and white blocks, in three bands over the full width: at the top, in the middle
/// and at the bottom, so that a frame put together of two is found out. Each band: white, black, 32 bits from
/// the highest, 8 bits of check sum, black, white. It survives conversion to planes, scaling by any positive
/// factor, lossy video and filters that are small against a block (from 176 pixels wide on: 4 a block).
namespace barcode {

inline constexpr int kBlocks = 44, kBands = 3;
inline constexpr int64_t kLeastWidth = kBlocks, kLeastHeight = 3 * kBands;

/// CRC-8 with the polynomial x^8 + x^2 + x + 1 (ITU-T I.432.1).
constexpr uint8_t check_sum(uint32_t number) {
  uint32_t crc = 0;
  for (int bit = 31; bit >= -8; --bit) {
    crc = crc << 1 | (bit >= 0 ? number >> bit & 1 : 0);
    if (crc & 0x100) crc ^= 0x107;
  }
  return static_cast<uint8_t>(crc);
}

/// The blocks of a band: true is white.
constexpr std::array<bool, kBlocks> blocks_of(uint32_t number) {
  std::array<bool, kBlocks> blocks{};
  blocks[0] = blocks[kBlocks - 1] = true;
  const uint64_t bits = static_cast<uint64_t>(number) << 8 | check_sum(number);
  for (int i = 0; i < 40; ++i) blocks[static_cast<std::size_t>(2 + i)] = bits >> (39 - i) & 1;
  return blocks;
}

/// Rows [first, last) of a band in an image of h rows.
struct Rows {
  int64_t first = 0, last = 0;
};
constexpr Rows rows_of(int band, int64_t h) {
  const int64_t height = std::max<int64_t>(1, h / 12);
  const int64_t first = band * (h - height) / (kBands - 1);
  return {first, first + height};
}

/// Writes the bands into interleaved 8-bit pixels; the image is at least kLeastWidth x kLeastHeight.
inline void draw(uint32_t number, int64_t w, int64_t h, int channels, uint8_t* pixels) {
  const auto blocks = blocks_of(number);
  const int64_t row_bytes = w * channels;
  for (int band = 0; band < kBands; ++band) {
    const Rows rows = rows_of(band, h);
    uint8_t* const first = pixels + rows.first * row_bytes;
    for (int i = 0; i < kBlocks; ++i)
      std::fill(first + i * w / kBlocks * channels, first + (i + 1) * w / kBlocks * channels,
                blocks[static_cast<std::size_t>(i)] ? 255 : 0);
    for (int64_t y = rows.first + 1; y < rows.last; ++y)
      std::copy_n(first, row_bytes, pixels + y * row_bytes);
  }
}

/// The number in one band; nullopt where there is none: no contrast, or a wrong check sum. `value(y, x)` is
/// the brightness at a pixel, in any unit.
template <class Value>
std::optional<uint32_t> read_band(int band, int64_t w, int64_t h, Value value) {
  if (w < kLeastWidth || h < kLeastHeight) return std::nullopt;
  const Rows rows = rows_of(band, h);
  std::array<double, kBlocks> mean{};
  // the middle of each block: its edges may have been blurred
  const int64_t margin_y = (rows.last - rows.first) / 4;
  for (int i = 0; i < kBlocks; ++i) {
    const int64_t left = i * w / kBlocks, right = (i + 1) * w / kBlocks, margin_x = (right - left) / 4;
    double sum = 0;
    int64_t count = 0;
    for (int64_t y = rows.first + margin_y; y < rows.last - margin_y; ++y)
      for (int64_t x = left + margin_x; x < right - margin_x; ++x, ++count)
        sum += static_cast<double>(value(y, x));
    mean[static_cast<std::size_t>(i)] = sum / static_cast<double>(count);
  }
  const double white = (mean[0] + mean[kBlocks - 1]) / 2, black = (mean[1] + mean[kBlocks - 2]) / 2;
  if (!(white > black)) return std::nullopt;
  const double threshold = (white + black) / 2;
  uint64_t bits = 0;
  for (int i = 0; i < 40; ++i) bits = bits << 1 | (mean[static_cast<std::size_t>(2 + i)] > threshold);
  const auto number = static_cast<uint32_t>(bits >> 8);
  if (check_sum(number) != (bits & 0xff)) return std::nullopt;
  return number;
}

/// What the three bands say.
struct Reading {
  std::array<std::optional<uint32_t>, kBands> bands;
  /// The number, where all bands have it; otherwise the frame is torn, damaged or has no barcode.
  std::optional<uint32_t> number() const {
    for (const auto& band : bands)
      if (!band || band != bands[0]) return std::nullopt;
    return bands[0];
  }
  /// Two bands with different numbers.
  bool torn() const {
    for (int a = 0; a < kBands; ++a)
      for (int b = 0; b < a; ++b)
        if (bands[static_cast<std::size_t>(a)] && bands[static_cast<std::size_t>(b)] &&
            bands[static_cast<std::size_t>(a)] != bands[static_cast<std::size_t>(b)])
          return true;
    return false;
  }
};

template <class Value>
Reading read(int64_t w, int64_t h, Value value) {
  Reading reading;
  for (int band = 0; band < kBands; ++band)
    reading.bands[static_cast<std::size_t>(band)] = read_band(band, w, h, value);
  return reading;
}

/// From a plane of float or double, as the unpack stage makes it or a strategy's map has it. The map may be
/// smaller than the image by a few pixels of border.
template <class T>
Reading read_plane(const T* plane, int64_t w, int64_t h) {
  return read(w, h, [=](int64_t y, int64_t x) { return plane[y * w + x]; });
}

}  // namespace barcode
}  // namespace convscope
