#include "app/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <limits>

#include "app/printable.h"
#include "app/setting_values.h"
#include "kernels/error.h"

namespace convscope {
namespace {

/// A key: what it takes, how it is set (false where the text is no such value) and how it reads.
struct Setting {
  SettingInfo info;
  std::function<bool(Settings&, const std::string&)> set;
  std::function<std::string(const Settings&)> get;
};

template <class E>
using Names = std::vector<std::pair<std::string, E>>;

template <class T, class V>
bool assign(T& target, const std::optional<V>& value) {
  if (value) target = *value;
  return value.has_value();
}

Setting text(SettingInfo info, std::string Settings::*member) {
  return {std::move(info),
          [=](Settings& s, const std::string& v) {
            s.*member = v;
            return true;
          },
          [=](const Settings& s) { return s.*member; }};
}

/// A name that must not be empty: bank, strategy.
Setting name(SettingInfo info, std::string Settings::*member) {
  Setting setting = text(std::move(info), member);
  setting.set = [=](Settings& s, const std::string& v) {
    if (!v.empty()) s.*member = v;
    return !v.empty();
  };
  return setting;
}

Setting flag(SettingInfo info, bool Settings::*member) {
  info.values = "on | off";
  return {std::move(info),
          [=](Settings& s, const std::string& v) { return assign(s.*member, parse_switch(v)); },
          [=](const Settings& s) { return std::string(s.*member ? "on" : "off"); }};
}

Setting axes(SettingInfo info, Axes Settings::*member) {
  return {std::move(info),
          [=](Settings& s, const std::string& v) { return assign(s.*member, parse_axes(v, 1)); },
          [=](const Settings& s) { return text_of(s.*member); }};
}

/// Axes or the word for none.
Setting optional_axes(SettingInfo info, std::optional<Axes> Settings::*member, int64_t least) {
  return {std::move(info),
          [=](Settings& s, const std::string& v) {
            if (v == "auto") {
              (s.*member).reset();
              return true;
            }
            return assign(s.*member, parse_axes(v, least));
          },
          [=](const Settings& s) { return s.*member ? text_of(*(s.*member)) : "auto"; }};
}

/// One of some names; the first is how a value reads, later names of the same value are synonyms.
template <class E>
Setting choice(SettingInfo info, E Settings::*member, Names<E> names, std::size_t shown) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < shown; ++i) words.push_back(names[i].first);
  info.values = fmt::format("{}", fmt::join(words, " | "));
  return {std::move(info),
          [=](Settings& s, const std::string& v) {
            for (const auto& [word, value] : names) {
              if (v == word) {
                s.*member = value;
                return true;
              }
            }
            return false;
          },
          [=](const Settings& s) {
            for (const auto& [word, value] : names) {
              if (s.*member == value) return word;
            }
            return std::string();
          }};
}

template <class E>
Setting choice(SettingInfo info, E Settings::*member, Names<E> names) {
  const std::size_t shown = names.size();
  return choice(std::move(info), member, std::move(names), shown);
}

Setting range(SettingInfo info, double Settings::*member, double least, double most) {
  return {std::move(info),
          [=](Settings& s, const std::string& v) {
            const std::optional<double> value = parse_number(v);
            return value && *value >= least && *value <= most && assign(s.*member, value);
          },
          [=](const Settings& s) { return text_of(s.*member); }};
}

Setting number(SettingInfo info, double Settings::*member, double least) {
  return range(std::move(info), member, least, std::numeric_limits<double>::infinity());
}

template <class E>
Names<E> names_of(std::initializer_list<E> values) {
  Names<E> names;
  for (const E value : values) names.emplace_back(to_string(value), value);
  return names;
}

Names<std::optional<Target>> target_names() {
  Names<std::optional<Target>> names{{"auto", std::nullopt}};
  for (const Target target : {Target::cuda, Target::emulated, Target::cpu})
    names.emplace_back(to_string(target), target);
  return names;
}

bool set_edited(Settings& s, const std::string& value) {
  if (value.empty()) {
    s.edited_weights.reset();
  } else {
    s.edited_weights = weights_from_json(value);
  }
  return true;
}

bool set_separable_rank(Settings& s, const std::string& value) {
  if (value == "exact") {
    s.separable_rank = 0;
    return true;
  }
  const std::optional<int64_t> rank = parse_integer(value);
  return rank && *rank >= 1 && *rank <= kMaxKernelSide && assign(s.separable_rank, rank);
}

bool set_map(Settings& s, const std::string& value) {
  const std::optional<int64_t> map = parse_integer(value);
  return map && *map >= 0 && assign(s.map, map);
}

bool set_center(Settings& s, const std::string& value) {
  const auto center = parse_pair(value);
  if (center) s.center_x = center->at(0), s.center_y = center->at(1);
  return center.has_value();
}

/// The fixed range stays while it is not used, so that it comes back: "auto,LOW,HIGH" is how an automatic
/// range reads where the fixed one is not the default.
bool set_range(Settings& s, const std::string& value) {
  const bool automatic = value == "auto" || value.starts_with("auto,");
  const auto range = value == "auto" ? std::array{s.range_low, s.range_high}
                                     : parse_pair(automatic ? value.substr(5) : value);
  if (!range || !(range->at(0) <= range->at(1))) return false;
  s.auto_range = automatic;
  s.range_low = range->at(0);
  s.range_high = range->at(1);
  return true;
}

std::string get_range(const Settings& s) {
  const std::string fixed = text_of(s.range_low) + "," + text_of(s.range_high);
  if (!s.auto_range) return fixed;
  const Settings defaults;
  return s.range_low == defaults.range_low && s.range_high == defaults.range_high ? "auto" : "auto," + fixed;
}

std::vector<Setting> source_settings() {
  using S = Settings;
  return {
      text({"source", "FILE | FOLDER | camera:N | pattern:NAME[:WxH[xC]][:key=value...] | gst:PIPELINE | URL",
            "the input; empty: the sample picture"},
           &S::source),
      flag({"chw", "", "a 3-D .npy source is C x H x W"}, &S::chw),
      range({"rate", "a number within 0.01 to 10000", "frames a second of a folder or pattern of images"},
            &S::rate, 0.01, 10000),
      flag({"play", "", "frames of a stream follow one another"}, &S::playing),
      flag({"loop", "", "a video begins again at its end"}, &S::loop),
      range({"speed", "a number within 0.05 to 100", "of a video; 1: as it was taken"}, &S::speed, 0.05, 100),
      name({"bank", "NAME | FILE.json", "the filter bank"}, &S::bank),
      text({"weights", "FILE.npy", "weights O x I x H x W; override the bank"}, &S::weights_file),
      text({"bias", "FILE.npy", "one bias a map; overrides the bank's"}, &S::bias_file),
      {{"edited_weights", "JSON object: shape, values, bias",
        "weights edited in the window; override all others"},
       set_edited,
       [](const S& s) { return s.edited_weights ? weights_to_json(*s.edited_weights) : std::string(); }},
      optional_axes({"kernel", "auto | Y,X or one value, from 1 up", "kernel size of a bank's filters"},
                    &S::kernel, 1),
      flag({"convolution", "", "true convolution: the kernel turned by 180 degrees"}, &S::convolution),
  };
}

std::vector<Setting> operation_settings() {
  using S = Settings;
  return {
      axes({"stride", "Y,X or one value, from 1 up", "pixels between neighbouring outputs"}, &S::stride),
      axes({"dilation", "Y,X or one value, from 1 up", "pixels between neighbouring taps"}, &S::dilation),
      {{"pad", "same | valid | P | Y,X | TOP,BOTTOM,LEFT,RIGHT, from 0 up", "pixels added around the image"},
       [](S& s, const std::string& v) { return assign(s.pad, parse_padding(v)); },
       [](const S& s) { return text_of(s.pad); }},
      optional_axes(
          {"anchor", "auto | Y,X or one value, from 0 up", "the tap on the output pixel, of pad=same"},
          &S::anchor, 0),
      choice<Border>(
          {"border", "", "pixels beyond the edge"}, &S::border,
          names_of({Border::zero, Border::replicate, Border::reflect, Border::reflect_101, Border::wrap})),
      choice<Activation>(
          {"activation", "", "applied to each output"}, &S::activation,
          names_of({Activation::none, Activation::relu, Activation::sigmoid, Activation::tanh})),
      choice<bool>({"scale", "", "8 and 16-bit pixels divided by 255 or 65535, or taken as they are"},
                   &S::unit_scale, {{"unit", true}, {"none", false}, {"1/255", true}, {"raw", false}}, 2),
      name({"strategy", "NAME", "how it is computed; convscope list shows the names"}, &S::strategy),
      choice<std::optional<Target>>({"target", "", "where it is computed"}, &S::target, target_names()),
      choice<Precision>({"precision", "", "of planes and arithmetic"}, &S::precision,
                        names_of({Precision::fp32, Precision::fp64})),
      choice<Rounding>({"rounding", "", "multiply-add rounded once or twice"}, &S::rounding,
                       names_of({Rounding::fused, Rounding::separate})),
      {{"separable_rank", "exact | a whole number from 1 to 31",
        "rank up to which the strategy separable approximates each kernel"},
       set_separable_rank,
       [](const S& s) { return s.separable_rank == 0 ? "exact" : fmt::format("{}", s.separable_rank); }},
      name({"against", "NAME", "the strategy compared with"}, &S::against),
      choice<std::optional<Target>>({"against_target", "", "where that one is computed"}, &S::against_target,
                                    target_names()),
  };
}

std::vector<Setting> view_settings() {
  using S = Settings;
  return {
      choice<ViewTab>({"tab", "", "what the window shows"}, &S::tab,
                      {{"maps", ViewTab::maps},
                       {"one", ViewTab::one},
                       {"difference", ViewTab::difference},
                       {"compare", ViewTab::difference}},
                      3),
      {{"map", "a whole number from 0 up", "the map shown alone"},
       set_map,
       [](const S& s) { return fmt::format("{}", s.map); }},
      {{"center", "X,Y", "middle of the view as fractions of the image"},
       set_center,
       [](const S& s) { return text_of(s.center_x) + "," + text_of(s.center_y); }},
      number({"zoom", "a number from 0 up", "view pixels a value; 0 fits"}, &S::zoom, 0),
      choice<ColorMap>({"color_map", "", "colours of the maps"}, &S::color_map,
                       {{"grey", ColorMap::grey},
                        {"viridis", ColorMap::viridis},
                        {"turbo", ColorMap::turbo},
                        {"diverging", ColorMap::diverging},
                        {"gray", ColorMap::grey}},
                       4),
      {{"range", "auto | LOW,HIGH", "values at the ends of the colour map"}, set_range, get_range},
      choice<Metric>({"metric", "", "what the difference view shows"}, &S::metric,
                     {{"signed", Metric::signed_difference},
                      {"absolute", Metric::absolute},
                      {"relative", Metric::relative},
                      {"ulp", Metric::ulp},
                      {"bound_fraction", Metric::bound_fraction},
                      {"value", Metric::value},
                      {"signed_difference", Metric::signed_difference}},
                     6),
      flag({"interop", "", "draw from CUDA's memory without a copy where the driver can"}, &S::interop),
      flag({"freeze", "", "the frame of a stream on screen stays"}, &S::freeze),
      number({"frame_limit", "a number from 0 up", "frames of a stream computed a second at most; 0: all"},
             &S::frame_limit, 0),
      flag({"vsync", "", "the window draws no more often than the monitor"}, &S::vsync),
  };
}

std::vector<Setting> race_settings() {
  using S = Settings;
  using C = RaceColumn;
  return {
      choice<BottomTab>({"bottom_tab", "", "what is shown below the maps"}, &S::bottom_tab,
                        {{"timings", BottomTab::timings},
                         {"race", BottomTab::race},
                         {"roofline", BottomTab::roofline},
                         {"strategy", BottomTab::strategy}}),
      {{"race_rows", "auto | none | cuda, emulated, cpu, plain, some of them joined by commas",
        "the strategies that race; auto: the shown one's target and the CPU's libraries"},
       [](S& s, const std::string& v) { return assign(s.race_rows, parse_race_rows(v)); },
       [](const S& s) { return text_of(s.race_rows); }},
      choice<RaceColumn>({"race_sort", "", "the race's table is sorted by it"}, &S::race_sort,
                         {{"strategy", C::strategy},
                          {"target", C::target},
                          {"time", C::time},
                          {"spread", C::spread},
                          {"bandwidth", C::bandwidth},
                          {"arithmetic", C::arithmetic},
                          {"floor", C::floor},
                          {"speed_up", C::speed_up},
                          {"error", C::error},
                          {"limit", C::limit}}),
      flag({"race_descending", "", "largest first in the race's table"}, &S::race_descending),
  };
}

const std::vector<Setting>& settings_table() {
  static const std::vector<Setting> table = [] {
    std::vector<Setting> all;
    for (const auto& group : {source_settings(), operation_settings(), view_settings(), race_settings()})
      all.insert(all.end(), group.begin(), group.end());
    return all;
  }();
  return table;
}

const Setting& find(const std::string& key, const std::string& value) {
  for (const Setting& setting : settings_table()) {
    if (setting.info.key == key) return setting;
  }
  std::vector<std::string> keys;
  for (const Setting& setting : settings_table()) keys.push_back(setting.info.key);
  throw Error(fmt::format("{}={}: no such setting, expected one of {}", key, shortened(value),
                          fmt::join(keys, ", ")));
}

}  // namespace

void set(Settings& settings, const std::string& key, const std::string& value) {
  const Setting& setting = find(key, value);
  bool good = false;
  std::string why;
  try {
    good = setting.set(settings, value);
  } catch (const Error& e) {
    why = fmt::format(" ({})", e.what());
  }
  if (!good)
    throw Error(fmt::format("{}={}: expected {}{}", key, shortened(value), setting.info.values, why));
}

void set(Settings& settings, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos)
    throw Error(fmt::format("{}: expected key=value, as in stride=2,3", assignment));
  set(settings, assignment.substr(0, equals), assignment.substr(equals + 1));
}

const std::vector<SettingInfo>& setting_infos() {
  static const std::vector<SettingInfo> infos = [] {
    std::vector<SettingInfo> out;
    for (const Setting& setting : settings_table()) out.push_back(setting.info);
    return out;
  }();
  return infos;
}

std::string get(const Settings& settings, const std::string& key) { return find(key, "").get(settings); }

}  // namespace convscope
