#include <imgui.h>

#include <cstring>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

void group(const char* name, const Ui& ui) {
  ImGui::PushFont(ui.fonts.bold);
  ImGui::TextColored(kPalette.heading, "%s", name);
  ImGui::PopFont();
  if (!ImGui::BeginTable(name, 2, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, 84 * ui.scale);
  ImGui::TableSetupColumn("text", ImGuiTableColumnFlags_WidthStretch);
  for (const KeyBinding& b : key_bindings()) {
    if (std::strcmp(b.group, name) != 0) continue;
    // 2 to 9 go without saying
    if (b.action > Action::strategy_1 && b.action <= Action::strategy_9) continue;
    const bool numbered = b.action == Action::strategy_1;
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    mono_text(ui, numbered ? "1 to 9" : b.shown, kPalette.accent);
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(numbered ? "Strategy by its number in the list" : b.text);
  }
  ImGui::EndTable();
}

}  // namespace

void help_window(const Results&, Ui& ui) {
  if (!ui.help) return;
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
  const ImVec2 most{viewport.Size.x * 0.94F, viewport.Size.y * 0.92F};
  ImGui::SetNextWindowSize({std::min(1180 * ui.scale, most.x), std::min(520 * ui.scale, most.y)});
  constexpr ImGuiWindowFlags kFlags = ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoResize |
                                      ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings;
  if (ImGui::Begin("Keys and help", &ui.help, kFlags)) {
    if (ImGui::BeginTable("columns", 3, ImGuiTableFlags_SizingStretchSame)) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      group("File", ui);
      group("Strategy", ui);
      ImGui::TableNextColumn();
      group("Source", ui);
      group("Window", ui);
      ImGui::TableNextColumn();
      group("View", ui);
      ImGui::EndTable();
    }
    wrapped_text(kPalette.dim,
                 "Wheel: zoom at the pointer. Drag: move. Click a map: enlarge it. Double click or Esc: "
                 "back. Numbers are "
                 "dragged, or typed after a double click. In an area: arrows and Tab move the focus, Space "
                 "or Enter uses it.");
    wrapped_text(kPalette.dim,
                 "Emulated strategies run the GPU's kernel source on CPU threads; their times are never GPU "
                 "times. The "
                 "difference compares two strategies on the same frame and input; NaN is magenta.");
  }
  ImGui::End();
}

}  // namespace convscope
