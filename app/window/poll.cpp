#include <GLFW/glfw3.h>
#include <imgui.h>

#include "app/window/frame.h"

namespace convscope {
namespace {

bool modal_open(const Ui& ui) {
  return ui.browser.open ||
         ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

bool is_pan(Action a) { return a >= Action::pan_left && a <= Action::pan_down; }

/// A key that the interface itself is to have: typed into a field, or moving the focus in an area.
bool taken(const KeyBinding& binding, KeyPress press, const Ui& ui) {
  const bool plain = (press.mods & (GLFW_MOD_CONTROL | GLFW_MOD_ALT)) == 0;
  const bool function_key = press.key >= GLFW_KEY_F1 && press.key <= GLFW_KEY_F25;
  if (modal_open(ui)) return true;
  if (ImGui::GetIO().WantTextInput && plain && !function_key) return true;
  return (is_pan(binding.action) || binding.action == Action::play_pause) && ui.area != 0;
}

/// Starts a race, or ends the one that runs; while that comes to its end a new one may be asked for.
void toggle_race(Program& p) {
  if (p.results.race.running && !p.results.race.cancelled) {
    p.race.cancel(p.results);
    return;
  }
  p.settings.bottom_tab =
      p.settings.bottom_tab == BottomTab::timings ? BottomTab::race : p.settings.bottom_tab;
  p.race.start(p.settings, p.results);
}

}  // namespace

void poll(Program& p) {
  Ui& ui = p.ui;
  ui.keys.clear();
  std::swap(ui.keys, p.events.keys);
  for (const KeyPress press : ui.keys) {
    const KeyBinding* binding = find_binding(press);
    if (binding && !taken(*binding, press, ui)) ui.actions.push_back(binding->action);
  }
  for (const Action action : std::exchange(ui.actions, {})) {
    ui.message.clear();
    if (perform(action, p.settings, p.results, ui)) continue;
    if (action == Action::quit) p.quit = true;
    if (action == Action::record) p.view_recording.stop();
    if (action == Action::screenshot) p.take_screenshot = true;
    if (action == Action::measure) p.pipeline.measure(p.results);
    if (action == Action::race) toggle_race(p);
  }
  for (const SourceCommand& command : std::exchange(ui.source_commands, {}))
    p.pipeline.source().control(command);
  if (std::exchange(ui.ask_for_cameras, false)) p.pipeline.source().ask_for_cameras();
  // of several files the last is shown
  for (std::string& path : std::exchange(p.events.dropped, {})) p.settings.source = std::move(path);
}

}  // namespace convscope
