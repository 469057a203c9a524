#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "app/settings.h"

namespace convscope {

/// Finite minimum and maximum of the values; {0, 0} where none is finite.
struct Range {
  double low = 0, high = 0;
};
template <class T>
Range finite_range(std::span<const T> values);

/// A float in 0..255 to 8 bits: half to even, clamped; NaN to 0.
uint8_t to_u8(double value);

struct Rgb {
  uint8_t r = 0, g = 0, b = 0;
  bool operator==(const Rgb&) const = default;
};
/// 256 entries, from low to high. The window's shader uses the same table.
const std::array<Rgb, 256>& color_table(ColorMap);
/// Colours of values that no table holds: NaN, and the ground between maps.
inline constexpr Rgb kNanColor{255, 0, 255};
inline constexpr Rgb kEmptyColor{24, 26, 31};
/// The table's colour of a value in a range: entry to_u8(255 (value - low) / (high - low)), the middle where
/// the range is a single value; NaN in kNanColor; infinities at the ends.
Rgb color_of(double value, Range, ColorMap);

}  // namespace convscope
