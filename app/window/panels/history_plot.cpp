#include "app/window/panels/history_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

/// The rectangle of the lines within the plot, and what its ends mean.
struct PlotArea {
  ImVec2 low, high;  // left top, right bottom
  double seconds = 1, most = 1;

  ImVec2 at(double age, double value) const {
    return {high.x - static_cast<float>(age / seconds) * (high.x - low.x),
            high.y - static_cast<float>(std::min(value / most, 1.0)) * (high.y - low.y)};
  }
};

void text(ImDrawList& list, ImVec2 at, const std::string& words, const ImVec4& color = kPalette.dim) {
  list.AddText(at, ImGui::GetColorU32(color), words.c_str());
}

/// Ends, middle and grid of both axes.
void draw_axes(ImDrawList& list, const PlotArea& f) {
  const ImU32 line = IM_COL32(70, 76, 88, 255), grid = IM_COL32(52, 57, 66, 255);
  const float height = ImGui::GetFontSize();
  for (const double part : {0.5, 1.0}) {
    const ImVec2 y = f.at(f.seconds, f.most * part);
    list.AddLine(y, {f.high.x, y.y}, grid);
    const std::string label = fmt::format("{:g}", f.most * part);
    text(list, {f.low.x - ImGui::CalcTextSize(label.c_str()).x - 4, y.y - height * (part == 1 ? 0.2F : 0.5F)},
         label);
  }
  list.AddLine(f.low, {f.low.x, f.high.y}, line);
  list.AddLine({f.low.x, f.high.y}, f.high, line);
  text(list, {f.low.x - ImGui::CalcTextSize("0").x - 4, f.high.y - height * 0.8F}, "0");
  text(list, {f.low.x, f.high.y + 1}, fmt::format("{:g} s ago", f.seconds));
  text(list, {f.high.x - ImGui::CalcTextSize("now").x, f.high.y + 1}, "now");
}

void draw_line(ImDrawList& list, const PlotArea& f, const std::vector<double>& ages, const PlotLine& line) {
  std::vector<ImVec2> points;
  const auto flush = [&] {
    if (points.size() == 1) list.AddCircleFilled(points[0], 1.5F, line.color);
    if (points.size() > 1)
      list.AddPolyline(points.data(), static_cast<int>(points.size()), line.color, ImDrawFlags_None, 1.5F);
    points.clear();
  };
  for (std::size_t i = 0; i < line.values.size(); ++i) {
    if (std::isfinite(line.values[i]) && ages[i] <= f.seconds) {
      points.push_back(f.at(ages[i], line.values[i]));
    } else {
      flush();
    }
  }
  flush();
}

}  // namespace

double round_end(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0, 10.0}) {
    if (step * power >= value * (1 - 1e-9)) return step * power;
  }
  return 10 * power;
}

void history_plot(const Ui& ui, const char* id, const std::string& title, const std::string& unit,
                  const std::vector<double>& ages, const std::vector<PlotLine>& lines, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float row = ImGui::GetTextLineHeight();
  PlotArea f;
  f.low = {at.x + 44 * ui.scale, at.y + row * 1.35F};
  f.high = {at.x + size.x - 6 * ui.scale, at.y + size.y - row * 1.1F};
  double most = 0;
  for (const PlotLine& line : lines) {
    for (const double v : line.values) most = std::isfinite(v) ? std::max(most, v) : most;
  }
  f.most = round_end(most);
  // a minute at first, so that the first points do not fill the plot
  for (const double seconds : {60.0, 120.0, 300.0}) {
    f.seconds = seconds;
    if (ages.empty() || ages.front() <= seconds) break;
  }
  float x = at.x;
  text(list, at, title + ", " + unit, kPalette.text);
  x += ImGui::CalcTextSize((title + ", " + unit).c_str()).x + 10 * ui.scale;
  for (const PlotLine& line : lines) {
    if (lines.size() < 2 || x + ImGui::CalcTextSize(line.name.c_str()).x > at.x + size.x) break;
    list.AddText({x, at.y}, line.color, line.name.c_str());
    x += ImGui::CalcTextSize(line.name.c_str()).x + 8 * ui.scale;
  }
  draw_axes(list, f);
  for (const PlotLine& line : lines) draw_line(list, f, ages, line);
  ImGui::InvisibleButton(id, size);
}

}  // namespace convscope
