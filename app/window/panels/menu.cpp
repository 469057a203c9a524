#include <fmt/format.h>
#include <imgui.h>

#include <cstring>

#include "app/operation.h"
#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

/// Entries of one menu: the key bindings of its group.
void entries(const char* group, Ui& ui) {
  for (const KeyBinding& b : key_bindings()) {
    if (std::strcmp(b.group, group) != 0) continue;
    const bool numbered = b.action >= Action::strategy_1 && b.action <= Action::strategy_9;
    std::string text = b.text;
    if (numbered) {
      // the list of names is the registry's; keys beyond it do nothing
      const std::vector<std::string> names = strategy_names();
      const auto index = static_cast<std::size_t>(b.action) - static_cast<std::size_t>(Action::strategy_1);
      if (index >= names.size()) continue;
      text = names[index];
    }
    if (b.action == Action::next_target || b.action == Action::quit || b.action == Action::next_map ||
        b.action == Action::zoom_in || b.action == Action::toggle_interop || b.action == Action::reopen) {
      ImGui::Separator();
    }
    if (ImGui::MenuItem(text.c_str(), b.shown)) ui.actions.push_back(b.action);
  }
}

/// The machine's cameras, looked for when the list is opened.
void cameras(Settings& settings, const Results& results, Ui& ui) {
  ImGui::Separator();
  if (!ImGui::BeginMenu("Camera")) return;
  if (ImGui::IsWindowAppearing()) ui.ask_for_cameras = true;
  for (const CameraNode& camera : results.cameras) {
    const std::string source = fmt::format("camera:{}", camera.number);
    if (ImGui::MenuItem(fmt::format("{}  {}", source, camera.name).c_str(), nullptr,
                        settings.source == source))
      settings.source = source;
    tooltip(camera.fault);
  }
  if (results.cameras.empty()) ImGui::MenuItem("no camera was found", nullptr, false, false);
  ImGui::EndMenu();
}

}  // namespace

void menu_panel(Settings& settings, const Results& results, Ui& ui) {
  if (!ImGui::BeginMenuBar()) return;
  ImGui::SetCursorPosX(6 * ui.scale);  // in line with the areas below
  for (const char* group : {"File", "Source", "Strategy", "View", "Window"}) {
    if (!ImGui::BeginMenu(group)) continue;
    entries(group, ui);
    if (std::strcmp(group, "Source") == 0) cameras(settings, results, ui);
    ImGui::EndMenu();
  }
  ImGui::EndMenuBar();
}

}  // namespace convscope
