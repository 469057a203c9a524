#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "app/source.h"
#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

const char* type_name(PixelType t) {
  switch (t) {
    case PixelType::u8:
      return "8-bit";
    case PixelType::u16:
      return "16-bit";
    case PixelType::f32:
      return "float";
    case PixelType::f64:
      return "double";
  }
  return "";
}

void path_field(Settings& settings, const Results&, Ui& ui) {
  if (ui.source_text_of != settings.source) {
    ui.source_text = ui.source_text_of = settings.source;
  }
  const float button = ImGui::CalcTextSize("Browse").x + 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::SetNextItemWidth(-(button + ImGui::GetStyle().ItemInnerSpacing.x));
  if (ui.focus_source) {
    ImGui::SetKeyboardFocusHere();
    ui.focus_source = false;
  }
  if (ImGui::InputTextWithHint("##path", "path or pattern:NAME", &ui.source_text,
                               ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll)) {
    settings.source = ui.source_text_of = ui.source_text;
  }
  tooltip(
      "A picture, an .npy array, or pattern:NAME:WxH. Enter opens it (Ctrl+L). Files may also be dropped on "
      "the window.");
  ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
  if (ImGui::Button("Browse")) ui.actions.push_back(Action::open_file);
  tooltip("Ctrl+O");
}

void pattern_choice(Settings& settings) {
  ImGui::SetNextItemWidth(-1);
  if (!ImGui::BeginCombo("##pattern", "Sample picture or a pattern…")) return;
  if (ImGui::Selectable("sample picture", settings.source.empty())) settings.source.clear();
  for (const PatternInfo& p : patterns()) {
    const std::string source = "pattern:" + p.name;
    if (ImGui::Selectable(p.name.c_str(), settings.source == source)) settings.source = source;
    tooltip(p.about);
  }
  ImGui::EndCombo();
}

void facts(const Results& results, const Ui& ui) {
  const Frame& f = *results.source;
  const PixelLayout& l = f.layout;
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::BeginGroup();
  mono_text(ui, fmt::format("{} x {} x {}", l.w, l.h, l.planes));
  tooltip("Width x height x planes");
  const std::string format = fitted_text(f.format.empty() ? type_name(l.type) : f.format, width);
  dim_text(format);
  tooltip(f.format);
  dim_text(bytes_text(static_cast<double>(f.pixels.size())) +
           (f.images > 1 ? fmt::format(", {} images", f.images) : ""));
  mono_text(ui, fitted_text(f.hash, width * 0.98F), kPalette.dim);
  tooltip("FNV-1a of the pixels: " + f.hash);
  ImGui::EndGroup();
}

}  // namespace

void source_panel(Settings& settings, const Results& results, Ui& ui) {
  const PanelScope panel(ui, "Source");
  if (!panel) return;
  path_field(settings, results, ui);
  pattern_choice(settings);
  fault_note(results, {"source", "chw"});
  if (!results.source) {
    dim_text(results.opening ? "opening…" : "no picture is open");
    return;
  }
  if (ui.thumbnail_texture && ui.thumbnail_height > 0) {
    // at most so much of the area, whatever the picture's form
    const float height = 84 * ui.scale, widest = ImGui::GetContentRegionAvail().x * 0.52F;
    const float scale = std::min(height / ui.thumbnail_height, widest / ui.thumbnail_width);
    ImGui::Image(ui.thumbnail_texture, {ui.thumbnail_width * scale, ui.thumbnail_height * scale});
    tooltip(results.source->name);
    ImGui::SameLine();
  }
  facts(results, ui);
  if (!results.source->note.empty()) wrapped_text(kPalette.dim, results.source->note);
}

}  // namespace convscope
