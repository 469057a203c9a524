#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <set>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

/// The key that chooses a name, or empty.
std::string key_of(const std::string& name) {
  const std::vector<std::string> names = strategy_names();
  const auto at = std::find(names.begin(), names.end(), name) - names.begin();
  return at < 9 ? std::to_string(at + 1) : "";
}

void time_cell(const StrategyRow& r, const Ui& ui) {
  if (r.reason) {
    dim_text(r.missing ? "no device" : "refuses");
    return;
  }
  if (!r.kernel_ms) {
    mono_right(ui, "-", kPalette.dim);
    tooltip("Not run yet");
    return;
  }
  mono_right(ui, ms_text(*r.kernel_ms), r.stale ? kPalette.dim : kPalette.text);
  const char* target = r.row->info.target == Target::emulated ? " Emulated on the CPU: not a GPU time." : "";
  tooltip(fmt::format("Median of its own stages, without transfers, unpack and pad.{}{}", target,
                      r.stale ? " Measured on another size or setting." : ""));
}

void strategy_row(Settings& settings, const Results& results, const Ui& ui, const StrategyRow& r) {
  const StrategyInfo& info = r.row->info;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const bool chosen = results.shown && results.shown->info.id() == info.id();
  const std::string label = fmt::format("{}##{}", key_of(info.name), info.id());
  ImGui::PushFont(ui.fonts.mono);
  if (ImGui::Selectable(label.c_str(), chosen, ImGuiSelectableFlags_SpanAllColumns)) {
    settings.strategy = info.name;
    settings.target = info.target;
    settings.precision = info.precision;
  }
  ImGui::PopFont();
  tooltip(r.reason ? info.idea + "\n" + *r.reason : info.idea);
  const ImVec4 color = r.reason ? kPalette.dim : chosen ? kPalette.accent : kPalette.text;
  ImGui::TableNextColumn();
  ImGui::TextColored(color, "%s", info.name.c_str());
  ImGui::TableNextColumn();
  ImGui::TextColored(color, "%s", to_string(info.target));
  ImGui::TableNextColumn();
  time_cell(r, ui);
}

/// Each reason once, with whom it concerns.
void reasons(const Results& results) {
  std::set<std::string> said;
  for (const StrategyRow& r : results.rows) {
    if (!r.reason) continue;
    const std::string who = r.missing ? to_string(r.row->info.target) : r.row->info.name;
    if (!said.insert(who + *r.reason).second) continue;
    wrapped_text(kPalette.dim, fmt::format("{}: {}", who, *r.reason));
  }
}

}  // namespace

void strategies_panel(Settings& settings, const Results& results, Ui& ui) {
  const PanelScope panel(ui, "Strategies");
  if (!panel) return;
  constexpr ImGuiTableFlags kFlags =
      ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY;
  constexpr float kMostRows = 14;  // then the table scrolls, so that the other panels stay near
  const float rows = std::min(static_cast<float>(results.rows.size()), kMostRows) + 1;
  if (ImGui::BeginTable("rows", 4, kFlags, ImVec2(0, rows * ImGui::GetTextLineHeightWithSpacing()))) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, 12 * ui.scale);
    ImGui::TableSetupColumn("strategy", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("target", ImGuiTableColumnFlags_WidthFixed, 56 * ui.scale);
    ImGui::TableSetupColumn("time, ms", ImGuiTableColumnFlags_WidthFixed, 58 * ui.scale);
    ImGui::TableHeadersRow();
    // what this machine can run comes first
    for (const bool missing : {false, true}) {
      for (const StrategyRow& r : results.rows) {
        if (r.missing == missing) strategy_row(settings, results, ui, r);
      }
    }
    ImGui::EndTable();
  }
  fault_note(results, {"strategy", "target"});
  if (!results.note.empty()) wrapped_text(kPalette.warning, results.note);
  reasons(results);
  control_label(ui, "Precision", "Of the planes and of the arithmetic (P)");
  choice<Precision>("##precision", settings.precision,
                    {{Precision::fp32, "fp32"}, {Precision::fp64, "fp64"}});
  fault_note(results, {"precision"});
  control_label(ui, "Rounding",
                "Fused multiply-add rounds once, separate rounds after the product and after the sum (R)");
  choice<Rounding>(
      "##rounding", settings.rounding,
      {{Rounding::fused, "fused multiply-add"}, {Rounding::separate, "separate product and sum"}});
  fault_note(results, {"rounding"});
  if (settings.strategy != "separable" && settings.against != "separable") return;
  control_label(
      ui, "Kernel rank",
      "Up to which rank the strategy separable approximates each kernel: the result is then that of other "
      "kernels. Exact: it refuses kernels of higher rank than 1");
  const auto name = [](int64_t rank) {
    return rank == 0 ? std::string("exact") : fmt::format("rank {}", rank);
  };
  ImGui::SetNextItemWidth(-1);
  if (ImGui::BeginCombo("##rank", name(settings.separable_rank).c_str())) {
    for (int64_t rank = 0; rank <= kMaxKernelSide; ++rank) {
      if (ImGui::Selectable(name(rank).c_str(), rank == settings.separable_rank))
        settings.separable_rank = rank;
    }
    ImGui::EndCombo();
  }
  fault_note(results, {"separable_rank"});
}

}  // namespace convscope
