#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"
#include "app/window/view_colors.h"

namespace convscope {
namespace {

/// Values are written into their pixels from this magnification on.
constexpr double kWrittenFrom = 58;

std::string map_label(const Results& results, int64_t plane) {
  const std::vector<std::string>& labels = results.shown->prepared->labels;
  const int64_t c_out = results.shown->shape().c_out;
  const auto map = static_cast<std::size_t>(plane % c_out);
  const std::string name = map < labels.size() ? labels[map] : fmt::format("map {}", map);
  return results.shown->shape().n > 1 ? fmt::format("image {}: {}", plane / c_out, name) : name;
}

void labels(const Settings& settings, const Results& results, const Ui& ui, ImDrawList& list) {
  const ViewLayout& l = ui.drawn;
  const bool grid = l.origin_y > 0;
  for (int cell = 0; cell < l.cells; ++cell) {
    const CellPosition at = cell_position(l, cell);
    const ImVec2 corner{ui.view_position.x + static_cast<float>(at.x),
                        ui.view_position.y + static_cast<float>(at.y)};
    const int64_t plane = l.first_plane + cell;
    const std::string text = fitted_text(map_label(results, plane), static_cast<float>(l.cell_w) - 2);
    const bool chosen = plane == settings.map;
    const ImU32 color = ImGui::GetColorU32(chosen ? kPalette.accent : kPalette.dim);
    if (grid) {
      list.AddText({corner.x, corner.y - ImGui::GetTextLineHeight() - 1}, color, text.c_str());
      if (chosen) {
        list.AddRect(
            {corner.x - 1, corner.y - 1},
            {corner.x + static_cast<float>(l.cell_w) + 1, corner.y + static_cast<float>(l.cell_h) + 1},
            color);
      }
      continue;
    }
    // one large map: the label lies on the picture, on a ground of its own
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    list.AddRectFilled({corner.x + 6, corner.y + 6}, {corner.x + 14 + size.x, corner.y + 10 + size.y},
                       IM_COL32(18, 20, 24, 210), 3);
    list.AddText({corner.x + 10, corner.y + 8}, ImGui::GetColorU32(kPalette.text), text.c_str());
  }
}

/// A frame about the value that the read-out names, where values are large enough to be told apart.
void pixel_frame(const Results& results, const Ui& ui, ImDrawList& list) {
  const ViewLayout& l = ui.drawn;
  const PixelReadout& p = results.pixel;
  if (!p.valid || !p.at_pointer || 1 / l.step < 6) return;
  for (int cell = 0; cell < l.cells; ++cell) {
    const CellPosition at = cell_position(l, cell);
    const auto x = static_cast<float>(at.x + (static_cast<double>(p.x) - l.region_x) / l.step);
    const auto y = static_cast<float>(at.y + (static_cast<double>(p.y) - l.region_y) / l.step);
    const auto side = static_cast<float>(1 / l.step);
    const ImVec2 from{ui.view_position.x + x, ui.view_position.y + y};
    list.AddRect(from, {from.x + side, from.y + side}, IM_COL32(255, 255, 255, 200));
  }
}

/// Black or white, whichever stands out more (luma of ITU-R BT.601).
ImU32 readable_on(Rgb c) {
  const double luma = 0.299 * c.r + 0.587 * c.g + 0.114 * c.b;
  return luma > 140 ? IM_COL32(0, 0, 0, 255) : IM_COL32(255, 255, 255, 255);
}

/// The maps that the picture is of, and side B of a difference; null where there are newer ones already, or
/// none in host memory.
struct PictureMaps {
  const HostMaps* a = nullptr;
  const HostMaps* b = nullptr;

  double value(int64_t plane, int64_t y, int64_t x) const {
    return b ? a->value(plane, y, x) - b->value(plane, y, x) : a->value(plane, y, x);
  }
};

PictureMaps picture_maps(const Results& results, const Ui& ui) {
  PictureMaps maps;
  if (!ui.drawn_difference) {
    if (results.shown->number == ui.drawn_serial) maps.a = results.shown->host.get();
  } else if (results.difference && results.difference->serial == ui.drawn_serial) {
    maps = {results.difference->a.get(), results.difference->b.get()};
  }
  if (!maps.a) return maps;
  const ViewLayout& l = ui.drawn;
  const ConvShape& s = maps.a->prepared->operation.problem.shape;
  const bool inside =
      l.first_plane + l.cells <= s.n * s.c_out && l.plane_w == s.out_w() && l.plane_h == s.out_h();
  return inside ? maps : PictureMaps{};
}

void written_values(const Settings& settings, const Results& results, const Ui& ui, ImDrawList& list) {
  const ViewLayout& l = ui.drawn;
  if (1 / l.step < kWrittenFrom * ui.scale) return;
  if (ui.drawn_difference && settings.metric != Metric::signed_difference) return;
  const PictureMaps maps = picture_maps(results, ui);
  if (!maps.a) return;
  const ColorMap colors = view_color_map(settings, ui.drawn_difference);
  ImGui::PushFont(ui.fonts.mono);
  for (int cell = 0; cell < l.cells; ++cell) {
    const CellPosition at = cell_position(l, cell);
    const int64_t x0 = std::max<int64_t>(0, static_cast<int64_t>(l.region_x));
    const int64_t y0 = std::max<int64_t>(0, static_cast<int64_t>(l.region_y));
    const auto x1 = std::min(l.plane_w, static_cast<int64_t>(std::ceil(l.region_x + l.cell_w * l.step)));
    const auto y1 = std::min(l.plane_h, static_cast<int64_t>(std::ceil(l.region_y + l.cell_h * l.step)));
    for (int64_t y = y0; y < y1; ++y) {
      for (int64_t x = x0; x < x1; ++x) {
        const double value = maps.value(l.first_plane + cell, y, x);
        const std::string text = fmt::format("{:.3g}", value);
        const ImVec2 size = ImGui::CalcTextSize(text.c_str());
        const ImVec2 middle{
            ui.view_position.x +
                static_cast<float>(at.x + (static_cast<double>(x) + 0.5 - l.region_x) / l.step),
            ui.view_position.y +
                static_cast<float>(at.y + (static_cast<double>(y) + 0.5 - l.region_y) / l.step)};
        const ImVec2 from{middle.x - size.x / 2, middle.y - size.y / 2};
        list.AddText(from, readable_on(color_of(value, results.range, colors)), text.c_str());
      }
    }
  }
  ImGui::PopFont();
}

/// What else than the convolution asked for is on screen; empty where it is that.
std::string approximation(const Results& results, bool difference) {
  const auto of = [](const auto& side) {
    const std::string text = approximation_of(*side.prepared, side.info);
    return text.substr(0, text.find(" ("));  // the worst filter stands in the difference panel
  };
  const std::string a = of(*results.shown);
  if (!difference || !results.difference) return a;
  const std::string b = of(*results.difference->b);
  return (a.empty() ? "" : "A: " + a) + (a.empty() || b.empty() ? "" : "; ") + (b.empty() ? "" : "B: " + b);
}

/// At the top of the view, or at its bottom, where no label of a map is hidden.
void pill(const Ui& ui, ImDrawList& list, const std::string& whole, bool at_bottom = false) {
  const std::string text = fitted_text(whole, static_cast<float>(ui.request.width) - 40);
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  const float down = at_bottom ? static_cast<float>(ui.request.height) - size.y - 12 : 6;
  const ImVec2 from{ui.view_position.x + static_cast<float>(ui.request.width) - size.x - 22,
                    ui.view_position.y + down};
  list.AddRectFilled(from, {from.x + size.x + 16, from.y + size.y + 6}, IM_COL32(60, 44, 16, 235), 4);
  list.AddText({from.x + 8, from.y + 3}, ImGui::GetColorU32(kPalette.warning), text.c_str());
}

}  // namespace

void view_overlay(const Settings& settings, const Results& results, const Ui& ui) {
  if (!results.shown || !ui.view_list) return;
  ImDrawList& list = *ui.view_list;
  const ImVec2 &at = ui.view_position,
               size{static_cast<float>(ui.request.width), static_cast<float>(ui.request.height)};
  list.PushClipRect(at, {at.x + size.x, at.y + size.y}, true);
  labels(settings, results, ui, list);
  written_values(settings, results, ui, list);
  pixel_frame(results, ui, list);
  if (results.computing) {
    pill(ui, list, "computing…, showing the previous setting");
  } else if (!ui.picture_current && !(results.flow.live && !results.flow.frozen)) {
    // of a stream the next picture is always on its way
    pill(ui, list,
         settings.tab == ViewTab::difference ? "comparing…, showing the picture before" : "drawing…");
  } else if (const std::string text = approximation(results, ui.drawn_difference); !text.empty()) {
    pill(ui, list, text, true);
  }
  list.PopClipRect();
}

}  // namespace convscope
