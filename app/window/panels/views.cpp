#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"
#include "app/window/view_colors.h"

namespace convscope {
namespace {

void tabs(Settings& settings, const Ui& ui) {
  const std::pair<ViewTab, const char*> all[] = {
      {ViewTab::maps, "Maps"}, {ViewTab::one, "One map"}, {ViewTab::difference, "Difference"}};
  for (const auto& [tab, name] : all) {
    const bool current = settings.tab == tab;
    ImGui::PushStyleColor(ImGuiCol_Button,
                          ImGui::GetStyleColorVec4(current ? ImGuiCol_TabActive : ImGuiCol_Tab));
    ImGui::PushStyleColor(ImGuiCol_Text, current ? kPalette.text : kPalette.dim);
    if (ImGui::Button(name)) settings.tab = tab;
    ImGui::PopStyleColor(2);
    ImGui::SameLine(0, 2 * ui.scale);
  }
}

void metric_choice(Settings& settings, const Ui& ui) {
  ImGui::SetNextItemWidth(118 * ui.scale);
  if (!ImGui::BeginCombo("##metric", metric_name(settings.metric))) return;
  for (const Metric m :
       {Metric::signed_difference, Metric::absolute, Metric::relative, Metric::ulp, Metric::bound_fraction}) {
    if (ImGui::Selectable(metric_name(m), settings.metric == m)) settings.metric = m;
  }
  ImGui::EndCombo();
}

void zoom_controls(Settings& settings, const Ui& ui) {
  const ViewLayout& l = ui.drawn;
  if (ImGui::Button("Fit")) fit(settings);
  tooltip("0");
  ImGui::SameLine(0, 2 * ui.scale);
  if (ImGui::Button("1:1")) one_to_one(settings);
  tooltip("Z");
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  mono_text(ui, l.cells > 0 ? fmt::format("{:.4g}%", 100 / l.step) : "", kPalette.dim);
  tooltip("View pixels for each value of a map");
}

void toolbar(Settings& settings, const Results&, const Ui& ui) {
  tabs(settings, ui);
  ImGui::SameLine(0, 10 * ui.scale);
  // a narrow view has the zoom on a line of its own
  if (ImGui::GetContentRegionAvail().x < 130 * ui.scale) ImGui::NewLine();
  zoom_controls(settings, ui);
  if (settings.tab == ViewTab::difference) {
    ImGui::SameLine();
    metric_choice(settings, ui);
  }
}

void pointer_input(Settings& settings, const Results& results, Ui& ui, ImVec2 at) {
  const ImGuiIO& io = ImGui::GetIO();
  ui.pointer.reset();
  if (ImGui::IsItemHovered()) {
    ui.pointer = ImVec2(io.MousePos.x - at.x, io.MousePos.y - at.y);
    if (io.MouseWheel != 0) {
      zoom_at(settings, ui.drawn, std::pow(1.25, static_cast<double>(io.MouseWheel)), ui.pointer->x,
              ui.pointer->y);
    }
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3)) {
    pan(settings, ui.drawn, io.MouseDelta.x, io.MouseDelta.y);
  }
  const ImVec2 moved = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
  const bool clicked = ImGui::IsItemDeactivated() && std::abs(moved.x) + std::abs(moved.y) < 4;
  if (!clicked || !ui.pointer || !results.shown) return;
  const std::optional<PlanePosition> p = position_at(ui.drawn, ui.pointer->x, ui.pointer->y);
  if (!p) return;
  settings.map = p->plane;
  if (settings.tab == ViewTab::maps) {
    settings.tab = ViewTab::one;
  } else if (settings.tab == ViewTab::difference) {
    ui.difference_single = true;
  }
}

void double_click_back(Settings& settings, Ui& ui) {
  if (!ImGui::IsItemHovered() || !ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) return;
  // the first click of two may just have enlarged a map: only one that was large already goes back
  if (settings.tab == ViewTab::one) settings.tab = ViewTab::maps;
  if (settings.tab == ViewTab::difference) ui.difference_single = false;
}

/// What the next picture is asked to be.
ViewRequest request_for(const Settings& settings, const Results& results, const Ui& ui, ImVec2 size) {
  ViewRequest r;
  r.width = static_cast<int>(size.x);
  r.height = static_cast<int>(size.y);
  r.label_height = static_cast<int>(std::ceil(18 * ui.scale));
  r.gap = static_cast<int>(std::ceil(6 * ui.scale));
  r.single = settings.tab == ViewTab::one || (settings.tab == ViewTab::difference && ui.difference_single);
  if (!results.shown) return r;
  const ConvShape& s = results.shown->shape();
  r.planes = results.shown->planes();
  r.plane_w = s.out_w();
  r.plane_h = s.out_h();
  return r;
}

void range_fields(Settings& settings, const Results& results, const Ui& ui) {
  if (ImGui::Checkbox("auto", &settings.auto_range) && !settings.auto_range &&
      results.range.high > results.range.low) {
    settings.range_low = results.range.low;
    settings.range_high = results.range.high;
  }
  tooltip(
      "Automatic: from the least to the largest finite value in sight; a minified map shows averages (A)");
  if (settings.auto_range) return;
  ImGui::PushFont(ui.fonts.mono);
  for (double* v : {&settings.range_low, &settings.range_high}) {
    ImGui::SameLine();
    ImGui::SetNextItemWidth(72 * ui.scale);
    ImGui::InputDouble(v == &settings.range_low ? "##low" : "##high", v, 0, 0, "%.5g");
  }
  ImGui::PopFont();
}

/// The colours with their numbers and unit.
void color_bar(Settings& settings, const Results& results, const Ui& ui) {
  const bool difference = ui.drawn_difference;
  const bool narrow = ImGui::GetContentRegionAvail().x < 300 * ui.scale;
  const auto number = [&](double v) { return fmt::format("{:.{}g}", v, narrow ? 3 : 5); };
  ImGui::SetNextItemWidth((narrow ? 66 : 92) * ui.scale);
  const bool fixed = difference && settings.metric == Metric::signed_difference;
  ImGui::BeginDisabled(fixed);
  ColorMap map = view_color_map(settings, difference);
  if (ImGui::BeginCombo("##colors", color_map_name(map))) {
    for (const ColorMap m : {ColorMap::grey, ColorMap::viridis, ColorMap::turbo, ColorMap::diverging}) {
      if (ImGui::Selectable(color_map_name(m), m == map)) settings.color_map = map = m;
    }
    ImGui::EndCombo();
  }
  ImGui::EndDisabled();
  tooltip(fixed ? "Signed differences are always diverging about zero" : "Colour map (C)");
  ImGui::SameLine();
  if (!difference) {
    range_fields(settings, results, ui);
    ImGui::SameLine();
  }
  ImGui::AlignTextToFramePadding();
  mono_text(ui, number(results.range.low));
  ImGui::SameLine();
  const std::string high = number(results.range.high);
  const std::string unit = range_unit(settings, difference);
  ImGui::PushFont(ui.fonts.mono);
  const float high_width = ImGui::CalcTextSize(high.c_str()).x;
  ImGui::PopFont();
  const float unit_width = ImGui::CalcTextSize(unit.c_str()).x;
  const float spacing = ImGui::GetStyle().ItemSpacing.x;
  float width = ImGui::GetContentRegionAvail().x - high_width - unit_width - 2 * spacing;
  const bool unit_fits = width >= 60 * ui.scale;
  if (!unit_fits) width += unit_width + spacing;
  if (width >= 8 * ui.scale) {
    const float height = ImGui::GetFrameHeight();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy({width, height});
    ImGui::GetWindowDrawList()->AddImage(ui.table_texture, {at.x, at.y + height * 0.2F},
                                         {at.x + width, at.y + height * 0.8F});
    tooltip(unit + ". NaN is magenta.");
    ImGui::SameLine();
  }
  mono_text(ui, high);
  if (unit_fits) {
    ImGui::SameLine();
    dim_text(unit);
  }
}

}  // namespace

void views_panel(Settings& settings, const Results& results, Ui& ui) {
  toolbar(settings, results, ui);
  ImVec2 size = ImGui::GetContentRegionAvail();
  size.y -= ImGui::GetFrameHeightWithSpacing();
  size = {std::floor(size.x), std::floor(size.y)};
  ui.request = request_for(settings, results, ui, size);
  ui.view_list = nullptr;
  if (size.x < 1 || size.y < 1) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ui.view_position = at;
  ImGui::InvisibleButton("view", size);
  pointer_input(settings, results, ui, at);
  double_click_back(settings, ui);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + size.x, at.y + size.y},
                     IM_COL32(kEmptyColor.r, kEmptyColor.g, kEmptyColor.b, 255));
  if (ui.view_texture && ui.drawn.cells > 0) {
    // a picture of another size, while the window is dragged, keeps its own pixels
    const ImVec2 end{at.x + static_cast<float>(ui.drawn.view_w), at.y + static_cast<float>(ui.drawn.view_h)};
    list.PushClipRect(at, {at.x + size.x, at.y + size.y}, true);
    list.AddImage(ui.view_texture, at, end);
    list.PopClipRect();
    ui.view_list = &list;
  }
  color_bar(settings, results, ui);
}

}  // namespace convscope
