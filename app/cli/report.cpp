#include "app/cli/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <opencv2/core/version.hpp>

#include "app/image_file.h"
#include "app/printable.h"
#include "app/setting_values.h"
#include "bench/json_number.h"

namespace convscope {
namespace {

using Json = nlohmann::ordered_json;

Json axes_json(const Axes& axes) { return {axes.y, axes.x}; }

Json input_json(const Frame& frame) {
  return {{"source", frame.name},
          {"format", frame.format},
          {"note", frame.note},
          {"width", frame.layout.w},
          {"height", frame.layout.h},
          {"channels", frame.layout.planes},
          {"images", frame.images},
          {"type", frame.layout.type == PixelType::u8    ? "u8"
                   : frame.layout.type == PixelType::u16 ? "u16"
                   : frame.layout.type == PixelType::f32 ? "f32"
                                                         : "f64"},
          {"bytes", frame.pixels.size()},
          {"hash", "fnv1a64:" + frame.hash}};
}

Json shape_json(const ConvShape& s) {
  return {{"n", s.n},
          {"c_in", s.c_in},
          {"h", s.h},
          {"w", s.w},
          {"c_out", s.c_out},
          {"k_h", s.k_h},
          {"k_w", s.k_w},
          {"stride", axes_json(s.stride)},
          {"pad", axes_json(s.pad)},
          {"dilation", axes_json(s.dilation)},
          {"out_h", s.out_h()},
          {"out_w", s.out_w()},
          {"multiply_adds", s.multiply_adds()}};
}

Json measured_json(const Measured& m) {
  Json stages = Json::array();
  for (const MeasuredStage& stage : m.stages)
    stages.push_back(
        {{"stage", stage.name}, {"first_ms", json_number(stage.first_ms)}, {"ms", json_number(stage.ms)}});
  return {{"strategy", m.info.name},
          {"target", to_string(m.info.target)},
          {"precision", to_string(m.info.precision)},
          {"device", m.device},
          {"emulated", m.info.target == Target::emulated},
          {"stages", std::move(stages)},
          {"first_total_ms", json_number(m.first_total_ms())},
          {"total_ms", json_number(m.total_ms())}};
}

Json comparison_json(const RunResult& r) {
  const Comparison& c = r.comparison;
  const ConvShape& shape = r.prepared.operation.problem.shape;
  Json worst = nullptr;
  if (c.worst_index >= 0) {
    const int64_t plane = c.worst_index / (shape.out_h() * shape.out_w());
    worst = {{"image", plane / shape.c_out},
             {"map", plane % shape.c_out},
             {"y", c.worst_index / shape.out_w() % shape.out_h()},
             {"x", c.worst_index % shape.out_w()},
             {"a", json_number(c.worst_a)},
             {"b", json_number(c.worst_b)}};
  }
  return {{"count", c.count},
          {"max_abs", json_number(c.max_abs)},
          {"mean_abs", json_number(c.mean_abs)},
          {"max_rel", json_number(c.max_rel)},
          {"max_ulp", c.max_ulp},
          {"rmse", json_number(c.rmse)},
          {"psnr_db", json_number(c.psnr_db)},
          {"max_bound_fraction", json_number(c.max_bound_fraction)},
          {"over_tolerance", c.over_tolerance},
          {"tolerance",
           {{"absolute", r.permitted.tolerance.absolute},
            {"bound_fraction", r.permitted.tolerance.bound_fraction},
            {"reach", r.permitted.reach}}},
          {"nonfinite_a", c.nonfinite_a},
          {"nonfinite_b", c.nonfinite_b},
          {"nonfinite_mismatch", c.nonfinite_mismatch},
          {"worst_index", c.worst_index},
          {"worst", std::move(worst)},
          {"pass", c.pass}};
}

Json versions_json() {
  const CudaVersions cuda = cuda_versions();
  const auto text = [](const std::string& version) {
    return version.empty() ? Json(nullptr) : Json(version);
  };
  return {{"convscope", CONVSCOPE_VERSION},
          {"opencv", CV_VERSION},
          {"compiler", __VERSION__},
          {"cuda_driver", text(cuda.driver)},
          {"cuda_runtime", text(cuda.runtime)},
          {"cuda_device", text(cuda.device)}};
}

std::string stage_line(const Measured& m) {
  std::string text;
  for (const MeasuredStage& stage : m.stages) text += fmt::format("{} {:.3f}, ", stage.name, stage.ms);
  return fmt::format("{}total {:.3f} ms (first run {:.3f}){}", text, m.total_ms(), m.first_total_ms(),
                     m.info.target == Target::emulated ? ", emulated: not a GPU's time" : "");
}

std::string difference_line(const Comparison& c, const Tolerance& permitted) {
  std::string text = fmt::format("max {:.3g}, mean {:.3g}, {} ulp, {}, {} of {} over", c.max_abs, c.mean_abs,
                                 c.max_ulp, bounds_text(c, permitted), c.over_tolerance, c.count);
  if (c.nonfinite_a + c.nonfinite_b > 0)
    text +=
        fmt::format("; not finite: {} and {}, {} unlike", c.nonfinite_a, c.nonfinite_b, c.nonfinite_mismatch);
  return text;
}

}  // namespace

std::string run_json(const RunResult& r) {
  const Operation& op = r.prepared.operation;
  Json json = {{"input", input_json(*r.frame)}, {"shape", shape_json(op.problem.shape)}};
  json.update(measured_json(r.strategy));
  json["note"] = r.note;
  json["approximation"] = approximation_of(r.prepared, r.strategy.info);
  json["rounding"] = to_string(op.problem.rounding);
  json["activation"] = to_string(op.problem.activation);
  json["scale"] = op.pixels.unit_scale ? "unit" : "none";
  json["convolution"] = r.settings.convolution;
  json["border"] = {{"kind", to_string(r.settings.border)},
                    {"stage",
                     {{"top", op.border.top},
                      {"bottom", op.border.bottom},
                      {"left", op.border.left},
                      {"right", op.border.right}}}};
  json["maps"] = r.prepared.labels;
  json["against"] = measured_json(r.against);
  json["against"]["approximation"] = approximation_of(r.prepared, r.against.info);
  json["comparison"] = comparison_json(r);
  Json settings = Json::object();
  for (const SettingInfo& info : setting_infos()) settings[info.key] = get(r.settings, info.key);
  json["settings"] = std::move(settings);
  json["versions"] = versions_json();
  // file names need not be UTF-8
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string run_summary(const RunResult& r, const std::string& folder) {
  const ConvShape& shape = r.prepared.operation.problem.shape;
  const PixelLayout& image = r.frame->layout;
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<11} {}\n", name, printable(value));
  };
  line("input", fmt::format("{}: {} x {}, {} channels, {}{}{}", r.frame->name, image.w, image.h, image.planes,
                            r.frame->format, r.frame->note.empty() ? "" : ", ", r.frame->note));
  line("shape", fmt::format("{}; output {} x {}", describe(shape), shape.out_w(), shape.out_h()));
  line("strategy", fmt::format("{} on {}", r.strategy.info.id(), r.strategy.device));
  if (!r.note.empty()) line("note", r.note);
  if (const auto text = approximation_of(r.prepared, r.strategy.info); !text.empty()) line("note", text);
  line("time", stage_line(r.strategy));
  line("against", fmt::format("{} on {}", r.against.info.id(), r.against.device));
  if (const auto text = approximation_of(r.prepared, r.against.info); !text.empty()) line("note", text);
  line("time", stage_line(r.against));
  line("difference", difference_line(r.comparison, r.permitted.tolerance));
  line("written", fmt::format("{}: maps.npy, maps.png, difference.png, run.json", folder));
  return text;
}

}  // namespace convscope
