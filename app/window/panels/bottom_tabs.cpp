#include <imgui.h>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

void tab_buttons(Settings& settings, const Ui& ui) {
  const std::pair<BottomTab, const char*> all[] = {{BottomTab::timings, "Timings"},
                                                   {BottomTab::race, "Race"},
                                                   {BottomTab::roofline, "Roofline"},
                                                   {BottomTab::strategy, "Strategy"}};
  for (const auto& [tab, name] : all) {
    const bool current = settings.bottom_tab == tab;
    ImGui::PushStyleColor(ImGuiCol_Button,
                          ImGui::GetStyleColorVec4(current ? ImGuiCol_TabActive : ImGuiCol_Tab));
    ImGui::PushStyleColor(ImGuiCol_Text, current ? kPalette.text : kPalette.dim);
    if (ImGui::Button(name)) settings.bottom_tab = tab;
    ImGui::PopStyleColor(2);
    tooltip("F8: the next of these");
    ImGui::SameLine(0, 2 * ui.scale);
  }
}

/// More room for tables and plots, and back.
void height_button(Ui& ui) {
  constexpr float kLow = 0.29F, kHigh = 0.55F;
  const bool high = ui.bottom > (kLow + kHigh) / 2;
  const float side = ImGui::GetFrameHeight();
  ImGui::SameLine(ImGui::GetContentRegionMax().x - side);
  if (ImGui::Button(high ? "▼##height" : "▲##height", {side, 0})) ui.bottom = high ? kLow : kHigh;
  tooltip(high ? "Less room for this, more for the maps" : "More room for this");
}

}  // namespace

void bottom_panels(Settings& settings, const Results& results, Ui& ui) {
  tab_buttons(settings, ui);
  if (const std::string note = race_note(results.race); !note.empty()) {
    ImGui::SameLine(0, 12 * ui.scale);
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(kPalette.warning, "%s", note.c_str());
  }
  height_button(ui);
  // a scroll bar of its own, so that the tabs stay in sight
  ImGui::BeginChild("panel", {0, 0});
  ui.race_rows.clear();
  switch (settings.bottom_tab) {
    case BottomTab::timings:
      timings_panel(settings, results, ui);
      break;
    case BottomTab::race:
      race_panel(settings, results, ui);
      break;
    case BottomTab::roofline:
      roofline_panel(settings, results, ui);
      break;
    case BottomTab::strategy:
      strategy_details_panel(results, ui);
      break;
  }
  ImGui::EndChild();
}

}  // namespace convscope
