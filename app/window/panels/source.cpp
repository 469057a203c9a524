#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "app/image_file.h"
#include "app/source.h"
#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

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
  if (ImGui::InputTextWithHint("##path", "path, camera:N, pattern:NAME, URL", &ui.source_text,
                               ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll)) {
    settings.source = ui.source_text_of = ui.source_text;
  }
  if (ImGui::IsItemActive()) ui.dialog = "path";
  tooltip(
      "A picture, a video, a folder of pictures, an .npy array, camera:N, pattern:NAME:WxH, gst:PIPELINE or "
      "a "
      "URL. Enter opens it (Ctrl+L). Files may also be dropped on the window.");
  ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
  if (ImGui::Button("Browse")) ui.actions.push_back(Action::open_file);
  tooltip("Ctrl+O");
}

void cameras(Settings& settings, const Results& results, const Ui& ui) {
  for (const CameraNode& camera : results.cameras) {
    const std::string source = fmt::format("camera:{}", camera.number);
    const std::string label = fmt::format("{}  {}", source, camera.name);
    ImGui::PushStyleColor(ImGuiCol_Text, camera.fault.empty() ? kPalette.text : kPalette.dim);
    const bool chosen =
        ImGui::Selectable(fitted_text(label, 330 * ui.scale).c_str(), settings.source == source);
    ImGui::PopStyleColor();
    if (chosen) settings.source = source;
    tooltip(camera.fault.empty() ? label : camera.fault);
  }
  if (results.cameras.empty()) dim_text("no camera was found");
}

void moving_patterns(Settings& settings) {
  for (const char* name : {"scene", "chart", "zone_plate", "noise", "barcode"}) {
    const std::string source = fmt::format("pattern:{}:fps=30", name);
    if (ImGui::Selectable(fmt::format("{}, moving", name).c_str(), settings.source == source))
      settings.source = source;
  }
}

void source_choice(Settings& settings, const Results& results, Ui& ui) {
  ImGui::SetNextItemWidth(-1);
  if (!ImGui::BeginCombo("##choice", "Sample, camera or pattern…", ImGuiComboFlags_HeightLargest)) return;
  if (ImGui::IsWindowAppearing()) ui.ask_for_cameras = true;
  if (ImGui::Selectable("sample picture", settings.source.empty())) settings.source.clear();
  ImGui::Separator();
  cameras(settings, results, ui);
  ImGui::Separator();
  moving_patterns(settings);
  ImGui::Separator();
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
  if (results.live && f.live() && !results.live_beside) {
    stream_rates(*results.live, ui);
  } else {
    dim_text(bytes_text(static_cast<double>(f.pixels.size())) +
             (f.images > 1 ? fmt::format(", {} images", f.images) : ""));
    mono_text(ui, fitted_text(f.hash, width * 0.98F), kPalette.dim);
    tooltip("FNV-1a of the pixels: " + f.hash);
  }
  ImGui::EndGroup();
}

}  // namespace

void source_panel(Settings& settings, const Results& results, Ui& ui) {
  const PanelScope panel(ui, "Source");
  if (!panel) return;
  path_field(settings, results, ui);
  source_choice(settings, results, ui);
  fault_note(results, {"source", "chw", "rate"});
  if (!results.source) {
    dim_text(results.opening ? "opening…" : "no picture is open");
    if (results.live) stream_controls(settings, *results.live, ui);
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
  if (results.live) stream_controls(settings, *results.live, ui);
  if (!results.source->note.empty()) wrapped_text(kPalette.dim, results.source->note);
}

}  // namespace convscope
