#include "app/patterns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <opencv2/imgproc.hpp>
#include <optional>

#include "app/display.h"
#include "app/image_file.h"
#include "app/live/barcode.h"
#include "app/pattern_chart.h"
#include "app/random.h"
#include "app/source.h"
#include "kernels/error.h"
#ifdef CONVSCOPE_WITH_SCENE
#include "app/pattern_scene.h"
#endif

namespace convscope {
namespace {

constexpr int64_t kMaxSide = 16384;
constexpr int kMaxChannels = 1024;

struct Request {
  int w = 1920, h = 1080;
  int channels = 0;  // 0: the pattern's own
  std::map<std::string, double> options;
  double option(const std::string& key, double otherwise) const {
    const auto found = options.find(key);
    return found == options.end() ? otherwise : found->second;
  }
};

/// Fills the frame's pixels, which have their size.
using Draw = std::function<void(const Request&, Frame&)>;
struct Pattern {
  PatternInfo info;
  PixelType type;
  int channels;                      // where none are asked for
  bool picture;                      // drawn as BGR: 1 or 3 channels only
  std::vector<std::string> options;  // keys it takes
  Draw draw;
};

/// Fills each pixel's channels with value(x, y).
template <class T, class F>
void fill(const Request& request, Frame& frame, F value) {
  auto* out = reinterpret_cast<T*>(frame.pixels.data());
  for (int y = 0; y < request.h; ++y) {
    for (int x = 0; x < request.w; ++x) {
      out = std::fill_n(out, request.channels, static_cast<T>(value(x, y)));
    }
  }
}

void draw_zone_plate(const Request& r, Frame& frame) {
  // phase pi r^2 / L has the frequency r / L cycles a pixel: Nyquist's half where the longer side ends
  const double length = std::max(r.w, r.h), center_x = (r.w - 1) / 2.0, center_y = (r.h - 1) / 2.0;
  fill<uint8_t>(r, frame, [=](int x, int y) {
    const double dx = x - center_x, dy = y - center_y;
    return to_u8(127.5 * (1 + std::cos(std::numbers::pi * (dx * dx + dy * dy) / length)));
  });
}

void draw_impulse(const Request& r, Frame& frame) {
  const auto value = static_cast<float>(r.option("value", 1));
  fill<float>(r, frame, [&](int x, int y) { return x == r.w / 2 && y == r.h / 2 ? value : 0.0f; });
}

void draw_ramp(const Request& r, Frame& frame) {
  const auto period = static_cast<int>(r.option("period", r.w));
  fill<uint8_t>(r, frame,
                [=](int x, int) { return period < 2 ? 0 : to_u8(255.0 * (x % period) / (period - 1)); });
}

void draw_checker(const Request& r, Frame& frame) {
  const auto period = static_cast<int>(r.option("period", 8));
  fill<uint8_t>(r, frame, [=](int x, int y) { return (x / period + y / period) % 2 == 0 ? 255 : 0; });
}

void draw_noise(const Request& r, Frame& frame) {
  SplitMix64 random(static_cast<uint64_t>(r.option("seed", 1)));
  for (std::size_t i = 0; i < frame.pixels.size(); i += 8) {
    const uint64_t bits = random.next();
    for (std::size_t k = 0; k < 8 && i + k < frame.pixels.size(); ++k)
      frame.pixels[i + k] = static_cast<std::byte>(bits >> (8 * k));
  }
}

void draw_constant(const Request& r, Frame& frame) {
  const auto value = static_cast<float>(r.option("value", 1));
  fill<float>(r, frame, [=](int, int) { return value; });
}

/// A BGR drawing, as it is or in grey.
Draw picture(void (*draw)(int, int, uint8_t*)) {
  return [draw](const Request& r, Frame& frame) {
    auto* out = reinterpret_cast<uint8_t*>(frame.pixels.data());
    if (r.channels == 3) {
      draw(r.w, r.h, out);
    } else {
      cv::Mat bgr(r.h, r.w, CV_8UC3), grey(r.h, r.w, CV_8U, out);
      draw(r.w, r.h, bgr.data);
      cv::cvtColor(bgr, grey, cv::COLOR_BGR2GRAY);
    }
  };
}

/// The number over a chart: the chart is there to be seen, the number to be read back.
void draw_barcode(const Request& r, Frame& frame) {
  picture(draw_chart)(r, frame);
  barcode::draw(static_cast<uint32_t>(r.option("number", 0)), r.w, r.h, r.channels,
                reinterpret_cast<uint8_t*>(frame.pixels.data()));
}

const std::vector<Pattern>& pattern_table() {
  static const std::vector<Pattern> table = {
#ifdef CONVSCOPE_WITH_SCENE
      {{"scene", "a drawn scene with edges, textures, gradients and colours"},
       PixelType::u8,
       3,
       true,
       {},
       picture(draw_scene)},
#endif
      {{"chart", "test chart: colour bars, grey steps, line pairs, a star, slanted edges"},
       PixelType::u8,
       3,
       true,
       {},
       picture(draw_chart)},
      {{"zone_plate", "rings whose frequency grows from 0 at the centre to Nyquist's at the edge"},
       PixelType::u8,
       1,
       false,
       {},
       draw_zone_plate},
      {{"impulse", "one value (value=1) in the middle of zeros, float32: shows the kernel itself"},
       PixelType::f32,
       1,
       false,
       {"value"},
       draw_impulse},
      {{"ramp", "black to white from left to right, every period=WIDTH pixels"},
       PixelType::u8,
       1,
       false,
       {"period"},
       draw_ramp},
      {{"checker", "squares of period=8 pixels, black and white"},
       PixelType::u8,
       1,
       false,
       {"period"},
       draw_checker},
      {{"noise", "uniform noise, the same on every machine for the same seed=1"},
       PixelType::u8,
       3,
       false,
       {"seed"},
       draw_noise},
      {{"constant", "one value (value=1) everywhere, float32"},
       PixelType::f32,
       1,
       false,
       {"value"},
       draw_constant},
      {{"barcode", "a chart with number=0 in black and white blocks; moving, the frame's number"},
       PixelType::u8,
       3,
       true,
       {"number"},
       draw_barcode},
  };
  return table;
}

std::optional<double> parse_double(const std::string& text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

[[noreturn]] void fail(const std::string& source, const std::string& what) {
  throw Error(fmt::format("{}: {}", source, what));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// "WxH" or "WxHxC", or false where the text is neither.
bool parse_size(const std::string& source, const std::string& text, Request& request) {
  std::vector<int64_t> sizes;
  for (const std::string& part : split(text, 'x')) {
    int64_t value = 0;
    const auto [end, fault] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (fault != std::errc() || end != part.data() + part.size() || part.empty()) return false;
    sizes.push_back(value);
  }
  if (sizes.size() != 2 && sizes.size() != 3) return false;
  for (int i = 0; i < 2; ++i) {
    const int64_t side = sizes[static_cast<std::size_t>(i)];
    if (side < 1 || side > kMaxSide)
      fail(source,
           fmt::format("the {} {} is not within 1 to {}", i == 0 ? "width" : "height", side, kMaxSide));
  }
  request.w = static_cast<int>(sizes[0]);
  request.h = static_cast<int>(sizes[1]);
  if (sizes.size() == 3) {
    if (sizes[2] < 1 || sizes[2] > kMaxChannels)
      fail(source, fmt::format("{} channels are not within 1 to {}", sizes[2], kMaxChannels));
    request.channels = static_cast<int>(sizes[2]);
  }
  return true;
}

void check_option(const std::string& source, const std::string& key, const std::string& text, double value) {
  const double most = key == "seed"     ? 0x1p53
                      : key == "number" ? 0xffffffffp0
                      : key == "period" ? kMaxSide
                                        : std::numeric_limits<double>::infinity();
  const double least = key == "seed" || key == "number" ? 0 : 1;
  if (key == "value") return;
  if (!(value >= least && value <= most) || value != std::floor(value))
    fail(source, fmt::format("{}={} is not a whole number within {} to {}", key, text, least, most));
}

Request parse_request(const std::string& source, const Pattern& pattern,
                      const std::vector<std::string>& parts) {
  Request request;
  bool sized = false;
  for (std::size_t i = 2; i < parts.size(); ++i) {
    const std::string& part = parts[i];
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      if (sized || !parse_size(source, part, request))
        fail(source, fmt::format("\"{}\" is neither WxH, WxHxC nor key=value", part));
      sized = true;
      continue;
    }
    const std::string key = part.substr(0, equals), text = part.substr(equals + 1);
    if (std::find(pattern.options.begin(), pattern.options.end(), key) == pattern.options.end())
      fail(source, fmt::format("pattern {} has no option \"{}\", {}", pattern.info.name, key,
                               pattern.options.empty()
                                   ? std::string("it takes none")
                                   : fmt::format("it takes {}", fmt::join(pattern.options, ", "))));
    const std::optional<double> value = parse_double(text);
    if (!value) fail(source, fmt::format("{}=\"{}\" is not a number", key, text));
    check_option(source, key, text, *value);
    request.options[key] = *value;
  }
  if (request.channels == 0) request.channels = pattern.channels;
  if (pattern.picture && request.channels != 1 && request.channels != 3)
    fail(source, fmt::format("pattern {} has 1 or 3 channels, not {}", pattern.info.name, request.channels));
  if (pattern.info.name == "barcode" &&
      (request.w < barcode::kLeastWidth || request.h < barcode::kLeastHeight))
    fail(source, fmt::format("{}x{} pixels are too few for pattern barcode, expected at least {}x{}",
                             request.w, request.h, barcode::kLeastWidth, barcode::kLeastHeight));
  if (int64_t{request.w} * request.h * request.channels > kMaxValues)
    fail(source, fmt::format("{} x {} x {} values, expected at most {}", request.w, request.h,
                             request.channels, kMaxValues));
  return request;
}

}  // namespace

const std::vector<PatternInfo>& patterns() {
  static const std::vector<PatternInfo> infos = [] {
    std::vector<PatternInfo> out;
    for (const Pattern& pattern : pattern_table()) out.push_back(pattern.info);
    return out;
  }();
  return infos;
}

std::unique_ptr<Frame> make_pattern(const std::string& source) {
  const std::vector<std::string> parts = split(source, ':');
  const std::string name = parts.size() > 1 ? parts[1] : "";
  const auto& table = pattern_table();
  const auto pattern =
      std::find_if(table.begin(), table.end(), [&](const Pattern& p) { return p.info.name == name; });
  if (pattern == table.end()) {
    std::vector<std::string> names;
    for (const Pattern& p : table) names.push_back(p.info.name);
    fail(source,
         fmt::format("no pattern \"{}\", expected pattern:NAME[:WxH[xC]][:key=value...] with NAME one of {}",
                     name, fmt::join(names, ", ")));
  }
  const Request request = parse_request(source, *pattern, parts);
  auto frame = std::make_unique<Frame>();
  frame->layout = {.type = pattern->type,
                   .w = request.w,
                   .h = request.h,
                   .channels = request.channels,
                   .planes = request.channels,
                   .reverse = pattern->picture && request.channels == 3};
  frame->pixels.resize(frame->layout.bytes());
  pattern->draw(request, *frame);
  frame->name = source;
  frame->format = fmt::format("pattern {} {}", type_name(pattern->type), request.channels);
  return frame;
}

}  // namespace convscope
