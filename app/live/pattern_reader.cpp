// The built-in patterns in motion, drawn fast enough to be no limit: a 1080p frame costs at most a copy.
#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "app/display.h"
#include "app/live/barcode.h"
#include "app/live/readers.h"
#include "app/patterns.h"
#include "kernels/error.h"

namespace convscope {
namespace {

constexpr double kLeastFps = 0.1, kMostFps = 1e6;

/// The source without its fps=R, and R.
struct Parts {
  std::string still, name;
  double fps = 0;
};

double parse_fps(const std::string& source, const std::string& text) {
  double fps = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), fps);
  if (fault != std::errc() || end != text.data() + text.size() || !(fps >= kLeastFps && fps <= kMostFps))
    throw Error(
        fmt::format("{}: fps={} is not a number within {} to {:.0f}", source, text, kLeastFps, kMostFps));
  return fps;
}

Parts take_apart(const std::string& source) {
  Parts parts;
  for (std::size_t start = 0, n = 0; start <= source.size(); ++n) {
    const std::size_t end = std::min(source.find(':', start), source.size());
    const std::string part = source.substr(start, end - start);
    if (n == 1) parts.name = part;
    if (part.starts_with("fps=")) {
      parts.fps = parse_fps(source, part.substr(4));
    } else {
      if (n > 0) parts.still += ':';
      parts.still += part;
    }
    start = end + 1;
  }
  if (parts.fps == 0) throw Error(fmt::format("{}: a moving pattern needs fps=RATE", source));
  return parts;
}

/// cos(pi r^2 / L - phase) for every pixel, by cos(a + b) = cos a cos b - sin a sin b: two tables in place of
/// a cosine a pixel.
void draw_zone_plate(const PixelLayout& layout, double phase, uint8_t* out) {
  const double length = static_cast<double>(std::max(layout.w, layout.h));
  const auto angle = [&](int64_t at, int64_t size) {
    const double d = static_cast<double>(at) - static_cast<double>(size - 1) / 2;
    return std::numbers::pi * d * d / length;
  };
  std::vector<double> cosine(static_cast<std::size_t>(layout.w)), sine(cosine.size());
  for (int64_t x = 0; x < layout.w; ++x) {
    cosine[static_cast<std::size_t>(x)] = std::cos(angle(x, layout.w));
    sine[static_cast<std::size_t>(x)] = std::sin(angle(x, layout.w));
  }
  for (int64_t y = 0; y < layout.h; ++y) {
    const double c = 127.5 * std::cos(angle(y, layout.h) - phase),
                 s = 127.5 * std::sin(angle(y, layout.h) - phase);
    for (std::size_t x = 0; x < cosine.size(); ++x) {
      const uint8_t value = to_u8(127.5 + (cosine[x] * c - sine[x] * s));
      for (int k = 0; k < layout.channels; ++k) *out++ = value;
    }
  }
}

/// Each row moved to the left by so many pixels, what leaves comes back at the right.
void scroll(const PixelLayout& layout, const std::byte* from, std::byte* to, int64_t pixels) {
  const auto row = layout.bytes() / static_cast<std::size_t>(layout.h);
  const auto shift = row / static_cast<std::size_t>(layout.w) * static_cast<std::size_t>(pixels % layout.w);
  for (int64_t y = 0; y < layout.h; ++y, from += row, to += row) {
    std::memcpy(to, from + shift, row - shift);
    std::memcpy(to + row - shift, from, shift);
  }
}

class PatternReader : public FrameReader {
 public:
  explicit PatternReader(const std::string& source) : parts_(take_apart(source)), name_(source) {
    still_ = make_pattern(parts_.still);
    info_.kind = "pattern";
    info_.device = parts_.name;
    info_.format = still_->format;
    info_.w = still_->layout.w;
    info_.h = still_->layout.h;
    info_.fps = parts_.fps;
    info_.seekable = true;
    // its width in about eight seconds; odd, so that what repeats every few pixels is seen to move
    step_ = std::llround(static_cast<double>(info_.w) / (8 * parts_.fps)) | 1;
    static std::atomic<uint64_t> last_content{0};
    content_ = ++last_content;
  }

  const ReaderInfo& info() const override { return info_; }
  void seek(int64_t index) override { index_ = index; }

 protected:
  std::shared_ptr<Frame> next(FramePool& pool) override {
    bool kept = false;
    std::shared_ptr<Frame> frame = pool.take(still_->layout.bytes(), content_, &kept);
    frame->layout = still_->layout;
    frame->name = name_;
    frame->format = still_->format;
    frame->index = index_++;
    frame->seconds = static_cast<double>(frame->index) / parts_.fps;
    draw(*frame, kept);
    return frame;
  }

 private:
  void draw(Frame& frame, bool kept) const {
    const PixelLayout& layout = frame.layout;
    auto* const bytes = reinterpret_cast<uint8_t*>(frame.pixels.data());
    if (parts_.name == "barcode") {
      // around the bands nothing moves, so that memory used before needs those only
      if (!kept) std::memcpy(frame.pixels.data(), still_->pixels.data(), frame.pixels.size());
      barcode::draw(static_cast<uint32_t>(frame.index), layout.w, layout.h, layout.channels, bytes);
    } else if (parts_.name == "zone_plate") {
      draw_zone_plate(layout, 2 * std::numbers::pi * std::fmod(frame.seconds, 1.0), bytes);
    } else if (parts_.name == "noise") {
      // another place of the same noise, so far away that no two frames resemble one another
      constexpr int64_t kPixels = 1'000'003;
      const int64_t pixels = layout.w * layout.h;
      const auto shift = static_cast<std::size_t>(frame.index % pixels * kPixels % pixels * layout.channels);
      std::memcpy(frame.pixels.data(), still_->pixels.data() + shift, frame.pixels.size() - shift);
      std::memcpy(frame.pixels.data() + frame.pixels.size() - shift, still_->pixels.data(), shift);
    } else {
      scroll(layout, still_->pixels.data(), frame.pixels.data(), frame.index % layout.w * step_ % layout.w);
    }
  }

  const Parts parts_;
  const std::string name_;
  std::unique_ptr<Frame> still_;
  ReaderInfo info_;
  int64_t index_ = 0;
  int64_t step_ = 1;  // pixels a frame, where it scrolls
  uint64_t content_ = 0;
};

}  // namespace

std::unique_ptr<FrameReader> open_pattern(const std::string& source) {
  return std::make_unique<PatternReader>(source);
}

}  // namespace convscope
