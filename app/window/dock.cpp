#include <imgui.h>

#include <algorithm>

#include "app/window/frame.h"
#include "app/window/panels/panels.h"

namespace convscope {
namespace {

constexpr int kViewArea = 0, kLeftArea = 1, kRightArea = 2, kBottomArea = 3;

/// Sizes of the areas in pixels, from the remembered parts and the least that panels need.
struct Sizes {
  float left, right, bottom, handle;
};

Sizes sizes_of(const Ui& ui, ImVec2 all) {
  const float s = ui.scale;
  Sizes z{};
  z.handle = 5 * s;
  z.left = std::clamp(ui.left * all.x, std::min(330 * s, all.x * 0.4F), std::max(330 * s, all.x * 0.45F));
  z.right = std::clamp(ui.right * all.x, std::min(214 * s, all.x * 0.35F), std::max(214 * s, all.x * 0.4F));
  z.bottom = std::clamp(ui.bottom * all.y, std::min(110 * s, all.y * 0.4F), std::max(110 * s, all.y * 0.6F));
  return z;
}

/// A bar between two areas; what the pointer moved it by.
float splitter(const char* id, bool vertical, ImVec2 size) {
  ImGui::InvisibleButton(id, size);
  const bool active = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
  if (active || hovered)
    ImGui::SetMouseCursor(vertical ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
  const ImU32 color = ImGui::GetColorU32(active    ? ImGuiCol_SliderGrab
                                         : hovered ? ImGuiCol_FrameBgHovered
                                                   : ImGuiCol_Border);
  const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
  if (vertical) {
    const float x = (a.x + b.x) / 2;
    ImGui::GetWindowDrawList()->AddLine({x, a.y}, {x, b.y}, color);
  } else {
    const float y = (a.y + b.y) / 2;
    ImGui::GetWindowDrawList()->AddLine({a.x, y}, {b.x, y}, color);
  }
  if (!active) return 0;
  return vertical ? ImGui::GetIO().MouseDelta.x : ImGui::GetIO().MouseDelta.y;
}

/// An area with a scroll bar of its own where its panels need more room.
class Area {
 public:
  Area(Ui& ui, const char* name, int index, ImVec2 size, ImGuiWindowFlags flags = 0) {
    if (ui.focus_area == index) {
      ImGui::SetNextWindowFocus();
      ui.focus_area = -1;
    }
    ImGui::BeginChild(name, size, false, flags | ImGuiWindowFlags_AlwaysUseWindowPadding);
    if (ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows)) ui.area = index;
  }
  ~Area() { ImGui::EndChild(); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;
};

void left_area(Program& p, ImVec2 size) {
  const Area area(p.ui, "left", kLeftArea, size);
  source_panel(p.settings, p.results, p.ui);
  strategies_panel(p.settings, p.results, p.ui);
  filter_bank_panel(p.settings, p.results, p.ui);
  convolution_panel(p.settings, p.results, p.ui);
}

void right_area(Program& p, ImVec2 size) {
  const Area area(p.ui, "right", kRightArea, size);
  pixel_panel(p.settings, p.results, p.ui);
  difference_panel(p.settings, p.results, p.ui);
}

/// Areas and the bars between them, each where it belongs; `at` and `all` are the rectangle they fill.
void areas(Program& p, ImVec2 at, ImVec2 all) {
  Ui& ui = p.ui;
  const Sizes z = sizes_of(ui, all);
  const float middle_x = at.x + z.left + z.handle, middle = all.x - z.left - z.handle;
  const float view = middle - z.right - z.handle, upper = all.y - z.bottom - z.handle;
  ImGui::SetCursorPos(at);
  left_area(p, {z.left, all.y});
  ImGui::SetCursorPos({at.x + z.left, at.y});
  ui.left += splitter("##left", true, {z.handle, all.y}) / all.x;
  ImGui::SetCursorPos({middle_x, at.y});
  {
    constexpr ImGuiWindowFlags kNoKeys =
        ImGuiWindowFlags_NoNavInputs | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
    const Area area(ui, "view", kViewArea, {view, upper}, kNoKeys);
    views_panel(p.settings, p.results, ui);
  }
  ImGui::SetCursorPos({middle_x + view, at.y});
  ui.right -= splitter("##right", true, {z.handle, upper}) / all.x;
  ImGui::SetCursorPos({middle_x + view + z.handle, at.y});
  right_area(p, {z.right, upper});
  ImGui::SetCursorPos({middle_x, at.y + upper});
  ui.bottom -= splitter("##bottom", false, {middle, z.handle}) / all.y;
  ImGui::SetCursorPos({middle_x, at.y + upper + z.handle});
  {
    const Area area(ui, "bottom", kBottomArea, {middle, z.bottom});
    bottom_panels(p.settings, p.results, ui);
  }
}

/// The ratios stay where the areas can be, so that dragging back answers at once.
void clamp_ratios(Ui& ui) {
  ui.left = std::clamp(ui.left, 0.1F, 0.45F);
  ui.right = std::clamp(ui.right, 0.1F, 0.4F);
  ui.bottom = std::clamp(ui.bottom, 0.1F, 0.6F);
}

}  // namespace

void draw_interface(Program& p) {
  Ui& ui = p.ui;
  ui.dialog.clear();
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.Pos);
  ImGui::SetNextWindowSize(viewport.Size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  constexpr ImGuiWindowFlags kFlags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_MenuBar |
                                      ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                      ImGuiWindowFlags_NoBringToFrontOnFocus |
                                      ImGuiWindowFlags_NoScrollWithMouse;
  ImGui::Begin("ConvScope", nullptr, kFlags);
  ImGui::PopStyleVar(2);
  menu_panel(p.settings, p.results, ui);
  const float status = ImGui::GetFrameHeight() + 4 * ui.scale;
  const ImVec2 at = ImGui::GetCursorPos();
  areas(p, at, {viewport.Size.x, viewport.Size.y - at.y - status});
  clamp_ratios(ui);
  ImGui::GetWindowDrawList()->AddRectFilled({0, viewport.Size.y - status}, viewport.Size,
                                            ImGui::GetColorU32(ImGuiCol_MenuBarBg));
  ImGui::SetCursorPos({ImGui::GetStyle().WindowPadding.x, viewport.Size.y - status + 2 * ui.scale});
  status_bar(p.settings, p.results, ui);
  ImGui::End();
  help_window(p.results, ui);
  file_browser(p.settings, p.results, ui);
  file_dialogs(ui);
}

}  // namespace convscope
