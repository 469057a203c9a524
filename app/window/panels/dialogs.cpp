#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "app/recording_files.h"
#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

/// Asks for a name; pushes `done` when it was given.
void name_dialog(const char* title, const char* about, FileNameState& state, FileAction done, Ui& ui) {
  if (state.opening) ImGui::OpenPopup(title);
  const bool just_opened = state.opening;
  state.opening = false;
  ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::SetNextWindowSize({std::min(520 * ui.scale, ImGui::GetMainViewport()->Size.x * 0.9F), 0});
  constexpr ImGuiWindowFlags kFlags =
      ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings;
  if (!ImGui::BeginPopupModal(title, nullptr, kFlags)) return;
  dim_text(about);
  ImGui::SetNextItemWidth(-1);
  if (just_opened || ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::InputText("##name", &state.name, ImGuiInputTextFlags_AutoSelectAll);
  if (ImGui::IsItemActive()) ui.dialog = title;
  const bool enter = pressed(ui, GLFW_KEY_ENTER) && !just_opened;
  const bool button = ImGui::Button("OK", {90 * ui.scale, 0});
  ImGui::SameLine();
  const bool cancel = ImGui::Button("Cancel", {90 * ui.scale, 0}) || pressed(ui, GLFW_KEY_ESCAPE);
  if ((enter || button) && !state.name.empty()) {
    ui.file_actions.push_back(done);
    ImGui::CloseCurrentPopup();
  } else if (cancel) {
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

}  // namespace

void file_dialogs(Ui& ui) {
  name_dialog("Save the session", "JSON file that --session and Ctrl+R restore", ui.save,
              FileAction::save_session, ui);
  name_dialog("Restore a session", "JSON file that was saved before", ui.load, FileAction::load_session, ui);
  name_dialog("Export maps and numbers", "Folder for maps.npy, maps.png, difference.png and window.json",
              ui.export_to, FileAction::export_maps, ui);
  name_dialog("Export the race", "Folder for race.csv and race.json", ui.export_race_to,
              FileAction::export_race, ui);
  name_dialog("Export the stream's account",
              "Folder for frames.csv, a line a frame, and history.csv, a line a second", ui.export_flow_to,
              FileAction::export_flow, ui);
  if (ui.record.opening) ui.record.name = free_recording_name(ui.record.name);
  name_dialog("Record the view",
              "NAME.avi for a video (Motion JPEG), any other name for a folder of PNG files", ui.record,
              FileAction::record, ui);
}

}  // namespace convscope
