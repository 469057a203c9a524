#include <GLFW/glfw3.h>
#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>

#include "app/files.h"
#include "app/source.h"
#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

namespace fs = std::filesystem;

bool readable_type(const std::string& name) {
  const std::string ending = lower_ending(name);
  const auto has = [&](const std::vector<std::string>& endings) {
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
  };
  return has(source_endings()) || has(video_endings());
}

/// Lists the folder, folders first; says why where it cannot and stays with what was listed.
void list_folder(BrowserState& b) {
  if (b.listed_folder == b.folder && b.listed_all == b.all_files) return;
  std::vector<BrowserState::Entry> found;
  std::error_code error;
  fs::directory_iterator at(b.folder, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && at != end; at.increment(error)) {
    std::error_code ignored;  // a dangling link is a file of no size
    BrowserState::Entry e{at->path().filename().string(), at->is_directory(ignored), 0};
    if (e.name.starts_with(".") && !b.all_files) continue;
    if (!e.folder && !b.all_files && !readable_type(e.name)) continue;
    if (!e.folder) {
      const auto size = at->file_size(ignored);
      e.bytes = ignored ? 0 : static_cast<int64_t>(size);
    }
    found.push_back(std::move(e));
  }
  if (error) {
    b.fault = fmt::format("{}: {}", b.folder, error.message());
    if (!b.listed_folder.empty()) b.folder = b.listed_folder;
    return;
  }
  std::sort(found.begin(), found.end(), [](const auto& x, const auto& y) {
    return x.folder != y.folder ? x.folder : lower(x.name) < lower(y.name);
  });
  b.fault.clear();
  b.entries = std::move(found);
  b.listed_folder = b.folder;
  b.listed_all = b.all_files;
  b.selected = 0;
}

std::vector<int> matching(const BrowserState& b) {
  std::vector<int> rows;
  for (std::size_t i = 0; i < b.entries.size(); ++i) {
    if (lower(b.entries[i].name).find(lower(b.filter)) != std::string::npos)
      rows.push_back(static_cast<int>(i));
  }
  return rows;
}

void go_to(BrowserState& b, const fs::path& folder, const std::string& select = "") {
  b.folder = folder.lexically_normal().string();
  b.filter.clear();
  b.select_name = select;
}

void go_up(BrowserState& b) {
  const fs::path here(b.folder);
  if (here.has_relative_path()) go_to(b, here.parent_path(), here.filename().string());
}

void begin(BrowserState& b, const Settings& settings) {
  std::error_code ignored;
  fs::path start = fs::absolute(settings.source.empty() ? "." : settings.source, ignored);
  if (!fs::is_directory(start, ignored)) {
    b.select_name = start.filename().string();
    start = start.parent_path();
  }
  if (!fs::is_directory(start, ignored)) start = fs::current_path(ignored);
  b.folder = start.lexically_normal().string();
  if (b.folder.size() > 1 && b.folder.back() == '/') b.folder.pop_back();
  b.filter.clear();
  b.listed_folder.clear();
  b.opening = false;
  b.open = true;
  ImGui::OpenPopup("Open a file");
}

/// Enter on an entry, or a double click.
void choose(BrowserState& b, const BrowserState::Entry& e, Settings& settings) {
  const fs::path path = fs::path(b.folder) / e.name;
  if (e.folder) {
    go_to(b, path);
    return;
  }
  settings.source = path.string();
  b.open = false;
}

void keyboard(BrowserState& b, const std::vector<int>& rows, Settings& settings, const Ui& ui) {
  const int last = std::max(0, static_cast<int>(rows.size()) - 1);
  if (pressed(ui, GLFW_KEY_DOWN)) ++b.selected;
  if (pressed(ui, GLFW_KEY_UP)) --b.selected;
  if (pressed(ui, GLFW_KEY_PAGE_DOWN)) b.selected += 10;
  if (pressed(ui, GLFW_KEY_PAGE_UP)) b.selected -= 10;
  b.selected = std::clamp(b.selected, 0, last);
  if (pressed(ui, GLFW_KEY_ENTER) && !rows.empty()) {
    choose(b, b.entries[static_cast<std::size_t>(rows[static_cast<std::size_t>(b.selected)])], settings);
  } else if ((pressed(ui, GLFW_KEY_BACKSPACE) && b.filter.empty()) ||
             pressed(ui, GLFW_KEY_UP, GLFW_MOD_ALT)) {
    go_up(b);
  } else if (pressed(ui, GLFW_KEY_ESCAPE)) {
    b.open = false;
  }
}

void entry_list(BrowserState& b, const std::vector<int>& rows, Settings& settings, const Ui& ui,
                float height) {
  // the keys go to the filter field and to keyboard(), not to the list
  if (!ImGui::BeginChild("list", {0, height}, true,
                         ImGuiWindowFlags_NoNavInputs | ImGuiWindowFlags_NoNavFocus)) {
    ImGui::EndChild();
    return;
  }
  bool moved = false;
  for (const int key : {GLFW_KEY_DOWN, GLFW_KEY_UP, GLFW_KEY_PAGE_DOWN, GLFW_KEY_PAGE_UP})
    moved |= pressed(ui, key);
  if (rows.empty()) dim_text(b.entries.empty() ? "nothing to open here" : "no name matches");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BrowserState::Entry e = b.entries[static_cast<std::size_t>(rows[i])];
    const bool selected = static_cast<int>(i) == b.selected;
    ImGui::PushStyleColor(ImGuiCol_Text, e.folder ? kPalette.accent : kPalette.text);
    const std::string label = fmt::format("{}{}##{}", e.name, e.folder ? "/" : "", i);
    if (ImGui::Selectable(label.c_str(), selected,
                          ImGuiSelectableFlags_AllowDoubleClick | ImGuiSelectableFlags_DontClosePopups)) {
      b.selected = static_cast<int>(i);
      if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) choose(b, e, settings);
    }
    ImGui::PopStyleColor();
    if (selected && moved) ImGui::SetScrollHereY(0.5F);
    if (!e.folder) {
      ImGui::SameLine(ImGui::GetWindowContentRegionMax().x - 90 * ui.scale);
      mono_right(ui, bytes_text(static_cast<double>(e.bytes)), kPalette.dim);
    }
  }
  ImGui::EndChild();
}

void contents(BrowserState& b, Settings& settings, const Ui& ui) {
  list_folder(b);
  std::vector<int> rows = matching(b);
  if (!b.select_name.empty()) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (b.entries[static_cast<std::size_t>(rows[i])].name == b.select_name)
        b.selected = static_cast<int>(i);
    }
    b.select_name.clear();
  }
  if (ImGui::Button("Up")) go_up(b);
  tooltip("Backspace");
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(fitted_text(b.folder, ImGui::GetContentRegionAvail().x).c_str());
  ImGui::SetNextItemWidth(-270 * ui.scale);
  ImGui::SetKeyboardFocusHere();  // typing always filters
  ImGui::InputTextWithHint("##filter", "type to filter", &b.filter);
  ImGui::SameLine();
  ImGui::Checkbox("all files", &b.all_files);
  ImGui::SameLine();
  if (ImGui::Button("Play the folder") || pressed(ui, GLFW_KEY_ENTER, GLFW_MOD_CONTROL)) {
    settings.source = b.folder;
    b.open = false;
  }
  tooltip("Its pictures one after the other, in the order of their numbers (Ctrl+Enter)");
  keyboard(b, rows, settings, ui);
  const float footer = ImGui::GetTextLineHeightWithSpacing() * (b.fault.empty() ? 1 : 2);
  entry_list(b, rows, settings, ui, ImGui::GetContentRegionAvail().y - footer);
  if (!b.fault.empty()) wrapped_text(kPalette.warning, b.fault);
  dim_text("Up and Down select, Enter opens, Backspace goes up, Esc closes");
}

}  // namespace

void file_browser(Settings& settings, const Results&, Ui& ui) {
  BrowserState& b = ui.browser;
  const bool just_opened = b.opening;
  if (b.opening) begin(b, settings);
  if (!b.open) return;
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::SetNextWindowSize(
      {std::min(640 * ui.scale, viewport.Size.x * 0.9F), std::min(520 * ui.scale, viewport.Size.y * 0.9F)});
  constexpr ImGuiWindowFlags kFlags =
      ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings;
  if (!ImGui::BeginPopupModal("Open a file", &b.open, kFlags)) return;
  if (just_opened) {
    list_folder(b);
  } else {
    contents(b, settings, ui);
  }
  if (!b.open) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace convscope
