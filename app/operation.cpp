#include "app/operation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "app/bank.h"
#include "app/npy.h"
#include "app/setting_values.h"
#include "kernels/error.h"
#include "kernels/separable_ranks.h"

namespace convscope {
namespace {

ConvWeights read_weights(const std::string& path) {
  const NpyArray array = read_npy(path);
  std::vector<int64_t> shape = array.shape;
  if (shape.size() < 2 || shape.size() > 4)
    throw Error(fmt::format("{}: weights of shape ({}), expected O x I x H x W, I x H x W or H x W", path,
                            shape_text(shape)));
  if (array.size() == 0)
    throw Error(fmt::format("{}: weights of shape ({}) have no values", path, shape_text(shape)));
  while (shape.size() < 4) shape.insert(shape.begin(), 1);
  return {shape[0], shape[1], shape[2], shape[3], array.values(), {}};
}

std::vector<double> read_bias(const std::string& path, int64_t c_out) {
  const NpyArray array = read_npy(path);
  if (array.shape.size() != 1 || array.shape[0] != c_out)
    throw Error(fmt::format("{}: a bias of shape ({}), expected ({}): one value a map", path,
                            shape_text(array.shape), c_out));
  return array.values();
}

void number_labels(std::vector<std::string>& labels, int64_t count) {
  labels.clear();
  for (int64_t i = 0; i < count; ++i) labels.push_back(fmt::format("map {}", i));
}

/// The weights that the settings name, the session's edited ones first, and their labels.
ConvWeights choose_weights(const Settings& s, int64_t c_in, std::vector<std::string>& labels) {
  ConvWeights weights;
  std::string name = "bank";
  if (s.edited_weights) {
    weights = *s.edited_weights;
    name = "edited_weights";
  } else if (!s.weights_file.empty()) {
    weights = read_weights(s.weights_file);
    name = s.weights_file;
  } else {
    BankWeights bank = make_weights(load_bank(s.bank), c_in, s.kernel);
    weights = std::move(bank.weights);
    labels = std::move(bank.labels);
  }
  if (labels.empty()) number_labels(labels, weights.c_out);
  if (weights.c_in != c_in)
    throw Error(
        fmt::format("{}: weights for {} input channels, the source has {}", name, weights.c_in, c_in));
  if (weights.k_h > kMaxKernelSide || weights.k_w > kMaxKernelSide)
    throw Error(fmt::format("{}: a kernel of {}x{}, expected sides of at most {}", name, weights.k_h,
                            weights.k_w, kMaxKernelSide));
  if (!s.edited_weights && !s.bias_file.empty()) weights.bias = read_bias(s.bias_file, weights.c_out);
  return weights;
}

struct AxisPad {
  int64_t before = 0, after = 0;
};

/// Padding that keeps ceil(in / stride) outputs, the anchor's tap on each. A turned kernel has its anchor
/// turned too.
AxisPad same_pad(int64_t k, int64_t dilation, std::optional<int64_t> anchor, bool turned, const char* axis) {
  int64_t at = anchor.value_or(k / 2);
  if (at >= k)
    throw Error(
        fmt::format("anchor={} along {}: beyond the kernel's {} taps, expected 0 to {}", at, axis, k, k - 1));
  if (turned) at = k - 1 - at;
  return {dilation * at, dilation * (k - 1 - at)};
}

PadAmounts pad_amounts(const Settings& s, const ConvWeights& w) {
  if (s.anchor && s.pad.mode != Padding::Mode::same && s.anchor != Axes{w.k_h / 2, w.k_w / 2})
    throw Error(fmt::format("anchor={}: has a meaning with pad=same only, pad is {}", text_of(*s.anchor),
                            text_of(s.pad)));
  switch (s.pad.mode) {
    case Padding::Mode::valid:
      return {0, 0, 0, 0, s.border};
    case Padding::Mode::amounts:
      return {s.pad.amounts[0], s.pad.amounts[1], s.pad.amounts[2], s.pad.amounts[3], s.border};
    case Padding::Mode::same:
      break;
  }
  const auto anchor = [&](int64_t Axes::*axis) {
    return s.anchor ? std::optional<int64_t>((*s.anchor).*axis) : std::nullopt;
  };
  const AxisPad y = same_pad(w.k_h, s.dilation.y, anchor(&Axes::y), s.convolution, "y");
  const AxisPad x = same_pad(w.k_w, s.dilation.x, anchor(&Axes::x), s.convolution, "x");
  return {y.before, y.after, x.before, x.after, s.border};
}

/// The kernel must fit the padded image: said in the words of the settings, before the library says it in its
/// own.
void check_fit(const Settings& s, const ConvWeights& w, const PadAmounts& pad, const PixelLayout& image) {
  const int64_t h = image.h + pad.top + pad.bottom, wide = image.w + pad.left + pad.right;
  const int64_t covered_h = s.dilation.y * (w.k_h - 1) + 1, covered_w = s.dilation.x * (w.k_w - 1) + 1;
  if (covered_h <= h && covered_w <= wide) return;
  throw Error(fmt::format("kernel={}x{} with dilation={} covers {}x{} pixels, the image with pad={} is {}x{}",
                          w.k_h, w.k_w, text_of(s.dilation), covered_h, covered_w, text_of(s.pad), h, wide));
}

std::string rows_of(const std::string& name) {
  std::vector<std::string> found;
  for (const RegistryRow& row : registry()) {
    if (row.info.name == name)
      found.push_back(fmt::format("{}/{}", to_string(row.info.target), to_string(row.info.precision)));
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

const RegistryRow& choose_row(const char* key, const std::string& name, std::optional<Target> target,
                              Precision precision) {
  const std::vector<std::string> names = strategy_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error(
        fmt::format("{}={}: no such strategy, expected one of {}", key, name, fmt::join(names, ", ")));
  const RegistryRow* first = nullptr;
  for (const Target candidate : {Target::cuda, Target::emulated, Target::cpu}) {
    if (target && candidate != *target) continue;
    const RegistryRow* row = find_strategy(name, candidate, precision);
    if (row && (target || !unavailable(row->info))) return *row;
    if (row && !first) first = row;
  }
  if (first) return *first;
  throw Error(fmt::format("{}={}: not to be had with {}precision={}, there is {}", key, name,
                          target ? fmt::format("target={} and ", to_string(*target)) : "",
                          to_string(precision), rows_of(name)));
}

}  // namespace

PreparedOperation make_operation(const Settings& s, const Frame& frame) {
  PreparedOperation out;
  Operation& operation = out.operation;
  operation.pixels = frame.layout;
  operation.pixels.unit_scale = s.unit_scale;
  operation.weights = choose_weights(s, frame.layout.planes, out.labels);
  const PadAmounts pad = pad_amounts(s, operation.weights);
  check_fit(s, operation.weights, pad, frame.layout);
  if (s.convolution) operation.weights = flipped(std::move(operation.weights));

  ConvShape& shape = operation.problem.shape;
  const ConvWeights& w = operation.weights;
  shape = {.n = frame.images,
           .c_in = w.c_in,
           .h = frame.layout.h,
           .w = frame.layout.w,
           .c_out = w.c_out,
           .k_h = w.k_h,
           .k_w = w.k_w,
           .stride = s.stride,
           .dilation = s.dilation};
  if (s.border == Border::zero && pad.top == pad.bottom && pad.left == pad.right) {
    shape.pad = {pad.top, pad.left};
  } else if (!pad.none()) {
    operation.border = pad;
    shape.h += pad.top + pad.bottom;
    shape.w += pad.left + pad.right;
  }
  operation.problem.activation = s.activation;
  operation.problem.rounding = s.rounding;
  operation.problem.separable_rank = s.separable_rank;
  if (auto reason = fault(shape)) throw Error(*reason);
  if (auto reason = fault(w, shape)) throw Error(*reason);
  if (s.separable_rank > 0) out.approximation = separable_approximation(w, s.separable_rank).value_or("");
  return out;
}

const RegistryRow& chosen_row(const Settings& s) {
  return choose_row("strategy", s.strategy, s.target, s.precision);
}

const RegistryRow& against_row(const Settings& s) {
  return choose_row("against", s.against, s.against_target, s.precision);
}

ChosenStrategy chosen_strategy(const Settings& s, const Operation& operation) {
  const RegistryRow& row = chosen_row(s);
  const bool is_default = s.strategy == Settings{}.strategy;
  if (!is_default || unavailable(row.info)) return {&row, {}};
  const std::optional<std::string> why = row.make()->refuses(operation.problem, operation.weights);
  if (!why) return {&row, {}};
  const RegistryRow& instead = choose_row("strategy", "direct", s.target, s.precision);
  return {&instead, fmt::format("{} refuses: {}; {} in its place", row.info.name, *why, instead.info.name)};
}

std::string approximation_of(const PreparedOperation& prepared, const StrategyInfo& info) {
  return info.name == "separable" ? prepared.approximation : std::string();
}

PermittedDifference permitted_difference(const ConvProblem& problem, const StrategyInfo& a,
                                         const StrategyInfo& b) {
  PermittedDifference permitted{{activation_slack(problem.activation, a.precision), 0}, 0};
  for (const StrategyInfo* side : {&a, &b}) {
    const RegistryRow* const row = find_strategy(side->name, side->target, side->precision);
    if (row == nullptr || !row->make || side->name == "reference") continue;
    const std::unique_ptr<Strategy> strategy = row->make();
    permitted.tolerance.bound_fraction += strategy->error_bounds(problem);
    permitted.reach = std::max(permitted.reach, strategy->error_reach(problem));
  }
  // the reference against itself
  if (permitted.tolerance.bound_fraction == 0) permitted.tolerance.bound_fraction = 1;
  return permitted;
}

std::string bounds_text(const Comparison& c, const Tolerance& permitted) {
  return fmt::format("{:.3g} of {:.3g} permitted error bound{}", c.max_bound_fraction,
                     permitted.bound_fraction, permitted.bound_fraction == 1 ? "" : "s");
}

}  // namespace convscope
