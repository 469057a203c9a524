// The session file: the keys of set() with values of JSON's own types.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "app/files.h"
#include "app/json_text.h"
#include "app/printable.h"
#include "app/setting_values.h"
#include "app/settings.h"
#include "kernels/error.h"

namespace convscope {
namespace {

using Json = nlohmann::ordered_json;

/// Keys whose value is text whatever it looks like.
bool is_text(const std::string& key) {
  static const std::set<std::string> keys{"source", "bank", "weights", "bias", "strategy", "against"};
  return keys.contains(key);
}

Json number_json(const std::string& text) {
  if (const auto integer = parse_integer(text)) return *integer;
  if (const auto number = parse_number(text)) return *number;
  return nullptr;
}

/// Numbers, lists of numbers, switches and objects as such; all else as text.
Json json_of(const std::string& key, const std::string& text) {
  if (is_text(key)) return text;
  if (key == "edited_weights") return text.empty() ? Json(nullptr) : parse_json<Json>(text);
  if (text == "on" || text == "off") return text == "on";
  Json list = Json::array();
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    list.push_back(number_json(text.substr(start, comma - start)));
    if (list.back().is_null()) return text;
    start = comma + 1;
  }
  return list.size() == 1 ? list.front() : list;
}

std::string text_of_json(const std::string& key, const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_null()) return "";
  if (is_text(key)) throw Error(fmt::format("{}={}: expected a text", key, shortened(json.dump())));
  if (json.is_boolean()) return json.get<bool>() ? "on" : "off";
  if (!json.is_array()) return json.dump();
  std::vector<std::string> parts;
  for (const Json& element : json) {
    if (!element.is_number() && !element.is_string())
      throw Error(fmt::format("{}={}: expected numbers in the list", key, shortened(json.dump())));
    parts.push_back(text_of_json(key, element));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace

void save_session(const Settings& settings, const std::string& path) {
  Json json = Json::object();
  for (const SettingInfo& info : setting_infos()) json[info.key] = json_of(info.key, get(settings, info.key));
  try {
    write_text(path, json.dump(2) + "\n");
  } catch (const Json::type_error&) {
    // JSON is UTF-8, and a file's name need not be; with another name in its place the session would be
    // another
    throw Error(fmt::format(
        "{}: cannot be written: a name in it (source, bank, weights or bias) is not UTF-8", path));
  }
}

Settings load_session(const std::string& path) {
  const std::string text = read_text(path);
  try {
    const Json json = parse_json<Json>(text);
    if (!json.is_object())
      throw Error(fmt::format("holds a JSON {}, expected an object of settings", json.type_name()));
    Settings settings;
    for (const auto& [key, value] : json.items()) set(settings, key, text_of_json(key, value));
    return settings;
  } catch (const Error& e) {
    throw Error(fmt::format("{}: {}", path, e.what()));
  }
}

}  // namespace convscope
