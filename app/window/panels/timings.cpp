#include <fmt/format.h>
#include <imgui.h>

#include "app/window/panels/panels.h"
#include "app/window/panels/stage_colors.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

double shown_ms(const TimingTable::Row& row) { return row.quantile(0.5).value_or(row.last().value_or(0)); }

/// The stages of the chain, one after the other, each as long as its share.
void stacked_bar(const TimingTable& t, const Ui& ui) {
  double total = 0;
  for (const TimingTable::Row& row : t.rows()) total += row.counted ? shown_ms(row) : 0;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = 9 * ui.scale;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + width, at.y + height}, IM_COL32(40, 44, 52, 255), 2);
  float x = at.x;
  for (std::size_t i = 0; i < t.rows().size() && total > 0; ++i) {
    const TimingTable::Row& row = t.rows()[i];
    if (!row.counted) continue;
    const auto part = static_cast<float>(shown_ms(row) / total) * width;
    list.AddRectFilled({x, at.y}, {x + part, at.y + height}, stage_color(i));
    x += part;
  }
  ImGui::Dummy({width, height});
}

void number_cell(const Ui& ui, const std::optional<double>& ms, const ImVec4& color = kPalette.text) {
  ImGui::TableNextColumn();
  mono_right(ui, ms ? ms_text(*ms) : "-", ms ? color : kPalette.dim);
}

void time_row(const TimingTable::Row& row, const Ui& ui, const ImU32* color, bool bold) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = ImGui::GetTextLineHeight() * 0.5F;
  if (color) {
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + side * 0.5F}, {at.x + side, at.y + side * 1.5F},
                                              *color, 2);
  }
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + side * 1.7F);
  if (bold) ImGui::PushFont(ui.fonts.bold);
  const std::string stage = fitted_text(row.stage, ImGui::GetContentRegionAvail().x);
  ImGui::TextColored(row.counted ? kPalette.text : kPalette.dim, "%s", stage.c_str());
  if (bold) ImGui::PopFont();
  if (stage != row.stage) tooltip(row.stage);
  number_cell(ui, row.last());
  number_cell(ui, row.quantile(0.5));
  number_cell(ui, row.quantile(0.95));
  number_cell(ui, row.first, kPalette.dim);
}

void table_header(const Ui& ui) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (const char* name : {"stage", "last", "median", "p95", "first"}) {
    ImGui::TableNextColumn();
    if (name[0] == 's') {
      ImGui::TextColored(kPalette.dim, "stage, ms");
      continue;
    }
    const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(name).x;
    if (room > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
    ImGui::TextColored(kPalette.dim, "%s", name);
    if (name[0] == 'm' || name[0] == 'p')
      tooltip(fmt::format("Of the last {} frames at most", TimingTable::kWindow));
    if (name[0] == 'f') tooltip("The first run after a switch, which pays for cold memory and caches");
  }
  (void)ui;
}

/// What the maps cost until they are back in host memory, where a CPU strategy has them at once: medians
/// added.
std::optional<TimingTable::Row> total_with_download(const TimingTable& t) {
  for (const TimingTable::Row& row : t.rows()) {
    if (row.stage != "download" || !row.last()) continue;
    TimingTable::Row sum{"total with download"};
    sum.ms.push_back(shown_ms(t.total()) + shown_ms(row));
    return sum;
  }
  return std::nullopt;
}

void time_table(const char* id, const TimingTable& t, const Ui& ui) {
  if (!ImGui::BeginTable(id, 5, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("stage", ImGuiTableColumnFlags_WidthStretch);
  for (const char* name : {"last", "median", "p95", "first"}) {
    ImGui::TableSetupColumn(name, ImGuiTableColumnFlags_WidthFixed, 46 * ui.scale);
  }
  table_header(ui);
  bool total_done = false;
  const auto totals = [&] {
    time_row(t.total(), ui, nullptr, true);
    if (const auto with = total_with_download(t)) time_row(*with, ui, nullptr, false);
    total_done = true;
  };
  for (std::size_t i = 0; i < t.rows().size(); ++i) {
    const TimingTable::Row& row = t.rows()[i];
    if (!row.counted && !total_done) totals();
    const ImU32 color = stage_color(i);
    time_row(row, ui, row.counted ? &color : nullptr, false);
  }
  if (!total_done && !t.rows().empty()) totals();
  ImGui::EndTable();
}

std::string heading(const char* side, const StrategyInfo& info) {
  const char* note = info.target == Target::emulated ? "emulated on CPU, not a GPU time"
                     : info.target == Target::cuda   ? "live, inputs in cache"
                                                     : "CPU";
  return fmt::format("{}: {} on {}, {} ({})", side, info.name, to_string(info.target),
                     to_string(info.precision), note);
}

}  // namespace

void timings_panel(const Settings& settings, const Results& results, Ui& ui) {
  if (!results.shown) return;
  if (results.flow.live) flow_panel(results, ui);
  const bool both = results.difference && wants_difference(settings, ui);
  // beside each other where both have room for their columns
  const bool beside = both && ImGui::GetContentRegionAvail().x >= 580 * ui.scale;
  if (!ImGui::BeginTable("sides", beside ? 2 : 1, ImGuiTableFlags_SizingStretchSame)) return;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const auto title = [](const std::string& text) {
    ImGui::TextColored(kPalette.heading, "%s", fitted_text(text, ImGui::GetContentRegionAvail().x).c_str());
    tooltip(text);
  };
  title(heading("A", results.shown->info));
  stacked_bar(results.timings, ui);
  time_table("a", results.timings, ui);
  if (both) {
    ImGui::TableNextColumn();
    title(heading("B", results.difference->b->info));
    stacked_bar(results.against_timings, ui);
    time_table("b", results.against_timings, ui);
  }
  ImGui::EndTable();
}

}  // namespace convscope
