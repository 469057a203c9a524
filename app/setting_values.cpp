#include "app/setting_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/json_text.h"
#include "app/printable.h"
#include "bench/json_number.h"
#include "kernels/error.h"

namespace convscope {
namespace {

constexpr std::pair<const char*, bool RaceRows::*> kRaceRows[] = {{"cuda", &RaceRows::cuda},
                                                                  {"emulated", &RaceRows::emulated},
                                                                  {"cpu", &RaceRows::cpu},
                                                                  {"plain", &RaceRows::plain}};

/// Larger pads, strides and dilations are mistakes, and sums of them must stay within 64 bits.
constexpr int64_t kMaxAmount = 1'000'000;

template <class T>
std::optional<T> parse(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  if (first == std::string::npos) return std::nullopt;
  T value{};
  const char* end = text.data() + last + 1;
  const auto [stop, fault] = std::from_chars(text.data() + first, end, value);
  if (fault != std::errc() || stop != end) return std::nullopt;
  return value;
}

template <class T>
std::optional<std::vector<T>> parse_list(const std::string& text) {
  std::vector<T> values;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::optional<T> value = parse<T>(text.substr(start, comma - start));
    if (!value) return std::nullopt;
    values.push_back(*value);
    start = comma + 1;
  }
  return values;
}

using Json = nlohmann::json;

/// Names of the values that JSON has no numbers for.
const std::array<std::pair<const char*, double>, 3> kNonFinite{
    {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}}};

Json json_of_numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(json_number<Json>(value));
  return list;
}

double number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  for (const auto& [name, value] : kNonFinite) {
    if (json == name) return value;
  }
  throw Error(fmt::format("{} is not a number", shortened(json.dump())));
}

std::vector<double> numbers_of(const Json& json, const char* key) {
  if (!json.contains(key) || !json.at(key).is_array())
    throw Error(fmt::format("\"{}\" is {}, not a list of numbers", key,
                            json.contains(key) ? shortened(json.at(key).dump()) : "missing"));
  std::vector<double> values;
  for (const Json& value : json.at(key)) values.push_back(number_of(value));
  return values;
}

/// Four sizes whose product is a number of weights that memory may hold.
std::vector<int64_t> weights_shape(const Json& json) {
  const Json shape = json.value("shape", Json());
  int64_t size = 1;
  const auto good = [&](const Json& n) {
    // compared as JSON: a number beyond 64 bits is none of int64_t
    return n.is_number_integer() && n >= 1 && n <= kMaxAmount &&
           (size *= n.get<int64_t>()) <= int64_t{1} << 31;
  };
  if (!shape.is_array() || shape.size() != 4 || !std::all_of(shape.begin(), shape.end(), good))
    throw Error(fmt::format("\"shape\" is {}, not [maps, channels, height, width]", shortened(shape.dump())));
  return shape.get<std::vector<int64_t>>();
}

}  // namespace

std::optional<int64_t> parse_integer(const std::string& text) { return parse<int64_t>(text); }

std::optional<double> parse_number(const std::string& text) {
  const std::optional<double> value = parse<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<bool> parse_switch(const std::string& text) {
  for (const char* yes : {"on", "true", "yes", "1"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"off", "false", "no", "0"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

std::optional<std::vector<int64_t>> parse_integers(const std::string& text) {
  return parse_list<int64_t>(text);
}

std::optional<Axes> parse_axes(const std::string& text, int64_t least) {
  const auto values = parse_integers(text);
  if (!values || values->empty() || values->size() > 2) return std::nullopt;
  const auto good = [&](int64_t v) { return v >= least && v <= kMaxAmount; };
  if (!std::all_of(values->begin(), values->end(), good)) return std::nullopt;
  return Axes{values->front(), values->back()};
}

std::optional<Padding> parse_padding(const std::string& text) {
  if (text == "same") return Padding{Padding::Mode::same, {}};
  if (text == "valid") return Padding{Padding::Mode::valid, {}};
  const auto v = parse_integers(text);
  const auto good = [](int64_t amount) { return amount >= 0 && amount <= kMaxAmount; };
  if (!v || !std::all_of(v->begin(), v->end(), good)) return std::nullopt;
  switch (v->size()) {
    case 1:
      return Padding{Padding::Mode::amounts, {v->at(0), v->at(0), v->at(0), v->at(0)}};
    case 2:
      return Padding{Padding::Mode::amounts, {v->at(0), v->at(0), v->at(1), v->at(1)}};
    case 4:
      return Padding{Padding::Mode::amounts, {v->at(0), v->at(1), v->at(2), v->at(3)}};
    default:
      return std::nullopt;
  }
}

std::optional<std::array<double, 2>> parse_pair(const std::string& text) {
  const auto values = parse_list<double>(text);
  if (!values || values->size() != 2) return std::nullopt;
  if (!std::isfinite(values->front()) || !std::isfinite(values->back())) return std::nullopt;
  return std::array{values->front(), values->back()};
}

std::optional<RaceRows> parse_race_rows(const std::string& text) {
  if (text == "auto") return RaceRows{};
  RaceRows rows{.automatic = false};
  for (std::size_t start = 0; text != "none" && start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::string word = text.substr(start, comma - start);
    const auto* found =
        std::find_if(std::begin(kRaceRows), std::end(kRaceRows), [&](auto& r) { return word == r.first; });
    if (found == std::end(kRaceRows)) return std::nullopt;
    rows.*(found->second) = true;
    start = comma + 1;
  }
  return rows;
}

std::string text_of(const RaceRows& rows) {
  if (rows.automatic) return "auto";
  std::string text;
  for (const auto& [word, member] : kRaceRows) {
    if (rows.*member) text.append(text.empty() ? "" : ",").append(word);
  }
  return text.empty() ? "none" : text;
}

std::string text_of(const Axes& axes) { return fmt::format("{},{}", axes.y, axes.x); }

std::string text_of(const Padding& padding) {
  if (padding.mode == Padding::Mode::same) return "same";
  if (padding.mode == Padding::Mode::valid) return "valid";
  const auto& a = padding.amounts;
  return fmt::format("{},{},{},{}", a[0], a[1], a[2], a[3]);
}

std::string text_of(double value) { return fmt::format("{}", value); }

ConvWeights weights_from_json(const std::string& text) {
  const Json json = parse_json<Json>(text);
  if (!json.is_object()) throw Error(fmt::format("is a JSON {}", json.type_name()));
  for (const auto& [key, value] : json.items()) {
    if (key != "shape" && key != "values" && key != "bias")
      throw Error(fmt::format("unknown key \"{}\"", shortened(key)));
  }
  const std::vector<int64_t> shape = weights_shape(json);
  ConvWeights weights{shape[0], shape[1], shape[2], shape[3], numbers_of(json, "values"), {}};
  if (json.contains("bias")) weights.bias = numbers_of(json, "bias");
  const int64_t size = shape[0] * shape[1] * shape[2] * shape[3];
  if (static_cast<int64_t>(weights.values.size()) != size)
    throw Error(fmt::format("{} values, expected {} of its shape", weights.values.size(), size));
  if (!weights.bias.empty() && static_cast<int64_t>(weights.bias.size()) != weights.c_out)
    throw Error(fmt::format("{} values of bias, expected {}", weights.bias.size(), weights.c_out));
  return weights;
}

std::string weights_to_json(const ConvWeights& w) {
  return Json{{"shape", {w.c_out, w.c_in, w.k_h, w.k_w}},
              {"values", json_of_numbers(w.values)},
              {"bias", json_of_numbers(w.bias)}}
      .dump();
}

}  // namespace convscope
