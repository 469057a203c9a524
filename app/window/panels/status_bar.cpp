#include <fmt/format.h>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"
#include "app/window/status_line.h"

namespace convscope {
namespace {

std::string source_words(const Results& results) {
  if (!results.source) return results.opening ? "opening…" : "no picture";
  const PixelLayout& l = results.source->layout;
  const std::string& name = results.source->name;
  const std::string base = name.starts_with("pattern:") ? name : name.substr(name.rfind('/') + 1);
  return fmt::format("{}  {} x {} x {}", base, l.w, l.h, l.planes);
}

std::string device_words(const Results& results, const StrategyInfo& info) {
  if (info.target == Target::cuda) return results.cuda_device;
  if (info.target == Target::emulated) return "emulated on " + results.host_device;
  return results.host_device;
}

/// A stream in a few words: what is computed and shown a second, how old it is, what was left out.
std::string flow_words(const Flow& flow) {
  const FlowRates& r = flow.rates;
  std::string text = flow.frozen ? fmt::format("frozen at frame {}", flow.shown)
                                 : fmt::format("frame {}, {} behind", flow.shown, flow.behind());
  const auto fps = [](double v) { return v >= 10 ? fmt::format("{:.0f}", v) : fps_text(v); };
  text += fmt::format("  {}/{}/{} fps", fps(r.source_fps), fps(r.processed_fps), fps(r.displayed_fps));
  if (r.age_median_ms) text += fmt::format("  age {:.0f} ms", *r.age_median_ms);
  return text + fmt::format("  {} dropped", flow.ledger.counts().dropped);
}

/// One item of the bar; items are parted by a space, the last one takes what is left.
void item(const std::string& text, const ImVec4& color, float most) {
  const std::string fitted = fitted_text(text, most);
  ImGui::TextColored(color, "%s", fitted.c_str());
  tooltip(text);
  ImGui::SameLine(0, ImGui::GetFontSize());
}

const ImVec4& color_of(StatusLine::Kind kind) {
  return kind == StatusLine::Kind::said      ? kPalette.text
         : kind == StatusLine::Kind::warning ? kPalette.warning
                                             : kPalette.dim;
}

}  // namespace

void status_bar(const Settings& settings, const Results& results, Ui& ui) {
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::AlignTextToFramePadding();
  const bool live = results.flow.live;
  item(source_words(results), kPalette.text, width * (live ? 0.16F : 0.22F));
  if (live) {
    item(flow_words(results.flow), results.flow.frozen ? kPalette.warning : kPalette.good, width * 0.34F);
    tooltip("source / processed / displayed frames a second; more in the timings");
  }
  if (results.shown) {
    const StrategyInfo& info = results.shown->info;
    item(fmt::format("{} on {}, {}", info.name, to_string(info.target), to_string(info.precision)),
         kPalette.accent, width * (live ? 0.18F : 0.22F));
    if (!live) item(device_words(results, info), kPalette.dim, width * 0.24F);
  }
  const std::string interop =
      results.interop ? "interop on" : fmt::format("interop off: {}", results.interop_reason);
  item(interop, results.interop ? kPalette.good : kPalette.dim, width * (live ? 0.12F : 0.2F));
  if (results.recording) {
    const RecordingProgress& r = *results.recording;
    std::string words = fmt::format("{} {} pictures, {:.1f} s, {}", r.ending ? "finishing" : "recording",
                                    r.pictures, r.seconds, bytes_text(static_cast<double>(r.bytes)));
    if (r.left_out > 0) words += fmt::format(", {} left out", r.left_out);
    item(words, kPalette.warning, width * 0.2F);
  }
  const StatusLine line = status_line(settings, results, ui);
  ui.status = line.text;
  item(line.text, color_of(line.kind), ImGui::GetContentRegionAvail().x);
}

}  // namespace convscope
