#include <fmt/format.h>
#include <imgui.h>

#include <cmath>
#include <limits>

#include "app/frame_cost.h"
#include "app/window/panels/history_plot.h"
#include "app/window/panels/panels.h"
#include "app/window/panels/stage_colors.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

constexpr ImU32 kSource = IM_COL32(150, 156, 170, 255), kProcessed = IM_COL32(86, 156, 214, 255),
                kDisplayed = IM_COL32(120, 200, 130, 255), kWarn = IM_COL32(226, 160, 80, 255);

std::string age_text(const FlowRates& r) {
  if (!r.age_median_ms) return "-";
  return fmt::format("{:.1f} / {:.1f}", *r.age_median_ms, *r.age_p95_ms);
}

void row(const Ui& ui, const char* name, const std::string& value, const char* unit,
         const std::string& about) {
  row_name(name, about);
  mono_right(ui, value);
  tooltip(about);
  ImGui::TableNextColumn();
  ImGui::TextColored(kPalette.dim, "%s", unit);
}

void numbers(const Flow& flow, double claimed_fps, const FlowRates& r, const Ui& ui) {
  if (!ImGui::BeginTable("flow numbers", 3, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthFixed, 88 * ui.scale);
  ImGui::TableSetupColumn("unit", ImGuiTableColumnFlags_WidthFixed, 76 * ui.scale);
  const FlowCounts& c = flow.ledger.counts();
  const std::string slower = "; where fewer than two came, from one to the next";
  row(ui, "source", fps_text(r.source_fps), "frames/s",
      "Frames that the source made in the last 2 s, also those that nobody took" + slower);
  if (claimed_fps > 0)
    row(ui, "source claims", fps_text(claimed_fps), "frames/s", "What the source says of itself");
  row(ui, "processed", fps_text(r.processed_fps), "frames/s",
      "Frames whose maps were computed in the last 2 s" + slower);
  row(ui, "displayed", fps_text(r.displayed_fps), "frames/s",
      "Different frames that came to the screen in the last 2 s" + slower);
  row(ui, "window", fps_text(r.window_fps), "swaps/s", "Times that the window was drawn in the last 2 s");
  row(ui, "dropped", std::to_string(c.dropped), "frames",
      "Made by the source and never computed, because a newer frame was there");
  row(ui, "repeated", std::to_string(c.repeated), "swaps",
      "Drawn once more with the frame of the swap before");
  row(ui, "age", age_text(r), "ms",
      "From capture to the swap that first showed the frame: median / 95th percentile of the last 2 s");
  row(ui, "uploaded", r.upload_bytes_per_s > 0 ? fmt::format("{:.1f}", r.upload_bytes_per_s / 1e6) : "-",
      "MB/s", "Sent to the device; nothing where the target computes in host memory");
  row(ui, "shown frame", std::to_string(flow.shown), fmt::format("{} behind", flow.behind()).c_str(),
      "The source's count of the frame on screen, and how many newer ones it has given");
  ImGui::EndTable();
}

std::vector<double> ages_of(const Ledger& ledger) {
  std::vector<double> ages;
  const double now = ledger.history().empty() ? 0 : ledger.history().back().at;
  for (const FlowPoint& p : ledger.history()) ages.push_back(now - p.at);
  return ages;
}

template <class Value>
PlotLine line(const Ledger& ledger, const char* name, ImU32 color, Value value) {
  PlotLine out{name, color, {}};
  for (const FlowPoint& p : ledger.history()) out.values.push_back(value(p));
  return out;
}

void plots(const Ledger& l, const Ui& ui) {
  const std::vector<double> ages = ages_of(l);
  const float width = ImGui::GetContentRegionAvail().x, height = 104 * ui.scale;
  const int columns = width > 520 * ui.scale ? 2 : 1;
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  const ImVec2 size{(width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns), height};
  const auto or_gap = [](const std::optional<double>& v) {
    return v.value_or(std::numeric_limits<double>::quiet_NaN());
  };
  history_plot(ui, "rates", "Rates", "frames/s", ages,
               {line(l, "source", kSource, [](const FlowPoint& p) { return p.rates.source_fps; }),
                line(l, "processed", kProcessed, [](const FlowPoint& p) { return p.rates.processed_fps; }),
                line(l, "displayed", kDisplayed, [](const FlowPoint& p) { return p.rates.displayed_fps; })},
               size);
  if (columns == 2) ImGui::SameLine();
  history_plot(
      ui, "age", "Age at the swap", "ms", ages,
      {line(l, "median", kProcessed, [&](const FlowPoint& p) { return or_gap(p.rates.age_median_ms); }),
       line(l, "p95", kWarn, [&](const FlowPoint& p) { return or_gap(p.rates.age_p95_ms); })},
      size);
  history_plot(ui, "dropped", "Dropped", "frames/s", ages,
               {line(l, "dropped", kWarn, [](const FlowPoint& p) { return p.dropped_fps(); })}, size);
  if (columns == 2) ImGui::SameLine();
  history_plot(
      ui, "uploaded", "Uploaded", "MB/s", ages,
      {line(l, "uploaded", kProcessed, [](const FlowPoint& p) { return p.rates.upload_bytes_per_s / 1e6; })},
      size);
}

}  // namespace

/// Where the time of one frame went, from capture to swap: segments to scale, with their times where they fit
/// and always under the pointer.
void cost_bar(const Flow& flow, const Ui& ui) {
  const std::optional<FrameRecord> frame = flow.ledger.last_shown();
  if (!frame) return;
  const std::vector<CostSegment> segments = cost_of(*frame, flow.interop_ms);
  const double total = age_ms(*frame);
  if (!(total > 0)) return;
  ImGui::TextColored(kPalette.heading, "Frame %llu, %s ms from capture to swap",
                     static_cast<unsigned long long>(frame->sequence), ms_text(total).c_str());
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = 20 * ui.scale;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  float x = at.x;
  for (const CostSegment& s : segments) {
    const auto part = static_cast<float>(s.ms / total) * width;
    list.AddRectFilled({x, at.y}, {x + part, at.y + height}, segment_color(s.name));
    const std::string label = fmt::format("{} {}", s.name, ms_text(s.ms));
    const ImVec2 room = ImGui::CalcTextSize(label.c_str());
    if (room.x + 6 < part)
      list.AddText({x + 3, at.y + (height - room.y) / 2}, IM_COL32(16, 18, 22, 255), label.c_str());
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsWindowHovered() && mouse.x >= x && mouse.x < x + part && mouse.y >= at.y &&
        mouse.y < at.y + height)
      ImGui::SetTooltip("%s: %s ms, %.1f %%", s.name.c_str(), ms_text(s.ms).c_str(), 100 * s.ms / total);
    x += part;
  }
  ImGui::Dummy({width, height});
}

void flow_panel(const Results& results, Ui& ui) {
  const Flow& flow = results.flow;
  cost_bar(flow, ui);
  if (!ImGui::BeginTable("flow", 2)) return;
  ImGui::TableSetupColumn("numbers", ImGuiTableColumnFlags_WidthFixed, 288 * ui.scale);
  ImGui::TableSetupColumn("plots", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  numbers(flow, results.live ? results.live->info.fps : 0, flow.rates, ui);
  ImGui::TableNextColumn();
  plots(flow.ledger, ui);
  ImGui::EndTable();
}

}  // namespace convscope
