#pragma once

#include <optional>
#include <string>

#include "app/settings.h"

namespace convscope {

/// Text to values and back, without the locale. nullopt where the text is not such a value.
std::optional<int64_t> parse_integer(const std::string& text);
/// Finite only.
std::optional<double> parse_number(const std::string& text);
std::optional<bool> parse_switch(const std::string& text);  // on, off, true, false, yes, no, 1, 0
std::optional<std::vector<int64_t>> parse_integers(const std::string& text);
/// "Y,X" or one value for both, each at least `least`.
std::optional<Axes> parse_axes(const std::string& text, int64_t least);
/// same | valid | P | Y,X | TOP,BOTTOM,LEFT,RIGHT, each at least 0.
std::optional<Padding> parse_padding(const std::string& text);
std::optional<std::array<double, 2>> parse_pair(const std::string& text);  // "0.5,0.25"

/// auto | none | some of cuda, emulated, cpu, plain, joined by commas.
std::optional<RaceRows> parse_race_rows(const std::string& text);

std::string text_of(const Axes&);
std::string text_of(const Padding&);
std::string text_of(const RaceRows&);
std::string text_of(double);  // shortest that reads back as the same value

/// Weights edited in the window as a JSON object: shape [o,c,h,w], values, bias; NaN and infinities as "nan",
/// "inf" and "-inf". Throws Error.
ConvWeights weights_from_json(const std::string& text);
std::string weights_to_json(const ConvWeights&);

}  // namespace convscope
