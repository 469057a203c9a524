#pragma once

#include <imgui.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/settings.h"
#include "app/window/results.h"
#include "app/window/theme.h"
#include "app/window/ui.h"

namespace convscope {

/// A headed part of an area with names of its own: controls of two panels may have the same label.
class PanelScope {
 public:
  PanelScope(const Ui&, const char* title, bool open_at_first = true);
  ~PanelScope();
  PanelScope(const PanelScope&) = delete;
  PanelScope& operator=(const PanelScope&) = delete;
  explicit operator bool() const { return open_; }

 private:
  bool open_;
};

/// The name of a control, at the left of the area; the control follows and takes the rest of the line.
void control_label(const Ui&, const char* text, const char* about = nullptr, float width = 92);
/// What was refused when this key was last changed, under its control.
void fault_note(const Results&, std::initializer_list<const char*> keys);
/// Words over the last item when the pointer rests on it.
void tooltip(const std::string&);

/// Begins a row of a table with a name; the value's cell follows.
void row_name(const char* name, const std::string& about);

void dim_text(const std::string&);
void wrapped_text(const ImVec4& color, const std::string&);
/// In the font of numbers.
void mono_text(const Ui&, const std::string&, const ImVec4& color = kPalette.text);
/// Right-aligned in what is left of a table cell or area.
void mono_right(const Ui&, const std::string&, const ImVec4& color = kPalette.text);
/// Cut with an ellipsis where it is wider than `width`, in the current font.
std::string fitted_text(const std::string&, float width);

/// Two whole numbers (y, x) on a line; true when one was changed.
bool axes_input(const Ui&, const char* id, Axes&);
/// A list of named values.
template <class E>
bool choice(const char* id, E& value, const std::vector<std::pair<E, const char*>>& values) {
  const char* current = "";
  for (const auto& [v, name] : values) {
    if (v == value) current = name;
  }
  bool changed = false;
  ImGui::SetNextItemWidth(-1);
  if (ImGui::BeginCombo(id, current)) {
    for (const auto& [v, name] : values) {
      const bool selected = v == value;
      if (ImGui::Selectable(name, selected) && !selected) {
        value = v;
        changed = true;
      }
      if (selected) ImGui::SetItemDefaultFocus();
    }
    ImGui::EndCombo();
  }
  return changed;
}

/// "16.58 M", "6.22 MB", "0.126".
std::string count_text(double);
std::string bytes_text(double);
/// Frames a second: "120", "29.9", "0.42".
std::string fps_text(double);
std::string ms_text(double);
/// Nine digits for floats, seventeen for doubles: enough to name the value exactly.
std::string exact_text(double, Precision);

}  // namespace convscope
