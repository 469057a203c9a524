#include "kernels/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace convscope {
namespace {

template <class E>
using Name = std::pair<E, const char*>;

constexpr std::array<Name<Precision>, 2> kPrecisions{{{Precision::fp32, "fp32"}, {Precision::fp64, "fp64"}}};
constexpr std::array<Name<Rounding>, 2> kRoundings{
    {{Rounding::fused, "fused"}, {Rounding::separate, "separate"}}};
constexpr std::array<Name<Activation>, 4> kActivations{{{Activation::none, "none"},
                                                        {Activation::relu, "relu"},
                                                        {Activation::sigmoid, "sigmoid"},
                                                        {Activation::tanh, "tanh"}}};
constexpr std::array<Name<Border>, 5> kBorders{{{Border::zero, "zero"},
                                                {Border::replicate, "replicate"},
                                                {Border::reflect, "reflect"},
                                                {Border::reflect_101, "reflect_101"},
                                                {Border::wrap, "wrap"}}};

template <class E, std::size_t N>
const char* name_of(E value, const std::array<Name<E>, N>& names) {
  for (const auto& [candidate, name] : names)
    if (candidate == value) return name;
  return "?";
}

template <class E, std::size_t N>
std::optional<E> value_of(const std::string& text, const std::array<Name<E>, N>& names) {
  for (const auto& [value, name] : names)
    if (text == name) return value;
  return std::nullopt;
}

/// A size, stride, pad or dilation beyond this is a mistake; below it, every sum that a shape needs fits 64
/// bits.
constexpr int64_t kMaxExtent = int64_t{1} << 40;

struct Extent {
  const char* name;
  int64_t value;
  int64_t least;
};

std::optional<std::string> extent_fault(const Extent& e) {
  if (e.value < e.least) return fmt::format("{} is {}, expected at least {}", e.name, e.value, e.least);
  if (e.value > kMaxExtent) return fmt::format("{} is {}, expected at most 2^40", e.name, e.value);
  return std::nullopt;
}

/// Whether values of 8 bytes would need more bytes than 64-bit sizes can say.
bool overflows(std::span<const int64_t> factors) {
  int64_t product = sizeof(double);
  return std::any_of(factors.begin(), factors.end(),
                     [&](int64_t factor) { return __builtin_mul_overflow(product, factor, &product); });
}

std::optional<std::string> size_fault(const ConvShape& s) {
  const int64_t out_h = s.out_h(), out_w = s.out_w();
  const std::pair<const char*, std::vector<int64_t>> products[] = {
      {"the input", {s.n, s.c_in, s.h, s.w}},
      {"the weights", {s.c_out, s.c_in, s.k_h, s.k_w}},
      {"the padded input", {s.n, s.c_in, s.h + 2 * s.pad.y, s.w + 2 * s.pad.x}},
      {"the output", {s.n, s.c_out, out_h, out_w}},
      {"the count of multiply-adds", {s.n, s.c_out, out_h, out_w, s.c_in, s.k_h, s.k_w}},
  };
  for (const auto& [what, factors] : products)
    if (overflows(factors))
      return fmt::format("{} ({}) would be 2^60 values or more, expected fewer", what,
                         fmt::join(factors, "x"));
  return std::nullopt;
}

}  // namespace

const char* to_string(Precision v) { return name_of(v, kPrecisions); }
const char* to_string(Rounding v) { return name_of(v, kRoundings); }
const char* to_string(Activation v) { return name_of(v, kActivations); }
const char* to_string(Border v) { return name_of(v, kBorders); }
std::optional<Precision> parse_precision(const std::string& text) { return value_of(text, kPrecisions); }
std::optional<Rounding> parse_rounding(const std::string& text) { return value_of(text, kRoundings); }
std::optional<Activation> parse_activation(const std::string& text) { return value_of(text, kActivations); }
std::optional<Border> parse_border(const std::string& text) { return value_of(text, kBorders); }

int64_t conv_output_size(int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
  if (in < 1 || kernel < 1 || stride < 1 || pad < 0 || dilation < 1) return 0;
  // 128 bits: the product of two 64-bit sizes that nobody has checked yet
  const __int128 numerator = __int128{in} + 2 * __int128{pad} - __int128{dilation} * (kernel - 1) - 1;
  if (numerator < 0) return 0;  // tested before the division, which would truncate -1/2 to 0
  const __int128 size = numerator / stride + 1;
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  return size > kLargest ? kLargest : static_cast<int64_t>(size);
}

int64_t ConvShape::out_h() const { return conv_output_size(h, k_h, stride.y, pad.y, dilation.y); }
int64_t ConvShape::out_w() const { return conv_output_size(w, k_w, stride.x, pad.x, dilation.x); }

std::optional<std::string> fault(const ConvShape& s) {
  const Extent extents[] = {
      {"the batch size", s.n, 1},
      {"the number of input channels", s.c_in, 1},
      {"the input height", s.h, 1},
      {"the input width", s.w, 1},
      {"the number of maps", s.c_out, 1},
      {"the kernel height", s.k_h, 1},
      {"the kernel width", s.k_w, 1},
      {"the vertical stride", s.stride.y, 1},
      {"the horizontal stride", s.stride.x, 1},
      {"the vertical pad", s.pad.y, 0},
      {"the horizontal pad", s.pad.x, 0},
      {"the vertical dilation", s.dilation.y, 1},
      {"the horizontal dilation", s.dilation.x, 1},
  };
  for (const Extent& e : extents)
    if (auto reason = extent_fault(e)) return reason;
  if (s.k_h > kMaxKernelSide || s.k_w > kMaxKernelSide)
    return fmt::format("the kernel is {}x{}, expected sides of at most {}", s.k_h, s.k_w, kMaxKernelSide);
  if (s.out_h() == 0 || s.out_w() == 0) {
    const bool dilated = s.dilation != Axes{1, 1};
    const std::string dilation = s.dilation.y == s.dilation.x
                                     ? fmt::format("{}", s.dilation.y)
                                     : fmt::format("{},{}", s.dilation.y, s.dilation.x);
    return fmt::format("a {}x{} kernel{} covers {}x{} pixels, the padded input is {}x{}", s.k_h, s.k_w,
                       dilated ? " with dilation " + dilation : "", s.dilation.y * (s.k_h - 1) + 1,
                       s.dilation.x * (s.k_w - 1) + 1, s.h + 2 * s.pad.y, s.w + 2 * s.pad.x);
  }
  return size_fault(s);
}

std::string describe(const ConvShape& s) {
  std::string text = fmt::format("{}x{}x{}x{} -> {}, {}x{}, stride {},{}, pad {},{}", s.n, s.c_in, s.h, s.w,
                                 s.c_out, s.k_h, s.k_w, s.stride.y, s.stride.x, s.pad.y, s.pad.x);
  if (s.dilation != Axes{1, 1}) text += fmt::format(", dilation {},{}", s.dilation.y, s.dilation.x);
  return text;
}

bool ConvWeights::operator==(const ConvWeights& other) const {
  const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
  };
  return c_out == other.c_out && c_in == other.c_in && k_h == other.k_h && k_w == other.k_w &&
         same(values, other.values) && same(bias, other.bias);
}

std::optional<std::string> fault(const ConvWeights& w, const ConvShape& s) {
  if (w.c_out != s.c_out || w.c_in != s.c_in || w.k_h != s.k_h || w.k_w != s.k_w)
    return fmt::format("the weights are {}x{}x{}x{} (maps x channels x height x width), expected {}x{}x{}x{}",
                       w.c_out, w.c_in, w.k_h, w.k_w, s.c_out, s.c_in, s.k_h, s.k_w);
  if (static_cast<int64_t>(w.values.size()) != s.weight_size())
    return fmt::format("there are {} weights, expected {} ({}x{}x{}x{})", w.values.size(), s.weight_size(),
                       s.c_out, s.c_in, s.k_h, s.k_w);
  if (!w.bias.empty() && static_cast<int64_t>(w.bias.size()) != s.c_out)
    return fmt::format("there are {} bias values, expected {} (one a map) or none", w.bias.size(), s.c_out);
  return std::nullopt;
}

ConvWeights flipped(ConvWeights weights) {
  const std::ptrdiff_t side = weights.k_h * weights.k_w;
  if (side <= 0) return weights;
  for (auto first = weights.values.begin(); weights.values.end() - first >= side; first += side)
    std::reverse(first, first + side);
  return weights;
}

}  // namespace convscope
