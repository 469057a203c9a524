#include "app/window/roofline_plot.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

constexpr std::size_t kMostLabels = 24;  // more would hide the points; the pointer tells the others

ImU32 target_color(Target target) {
  return target == Target::cuda       ? IM_COL32(115, 209, 143, 255)
         : target == Target::emulated ? IM_COL32(200, 150, 225, 255)
                                      : IM_COL32(240, 170, 90, 255);
}

/// The ceilings that are drawn: one set a machine, the emulated kernels run on the host.
struct Roof {
  const bench::Ceilings* ceilings;
  const char* machine;
  ImU32 color;
};

std::vector<Roof> roofs_of(const bench::RaceState& state) {
  const auto& all = state.ceilings;
  const auto known = [&](Target t) { return all[static_cast<int>(t)].fma_gflop_s > 0; };
  std::vector<Roof> roofs;
  if (known(Target::cuda))
    roofs.push_back({&all[static_cast<int>(Target::cuda)], "GPU", target_color(Target::cuda)});
  const Target host = known(Target::cpu) ? Target::cpu : Target::emulated;
  if (known(host)) roofs.push_back({&all[static_cast<int>(host)], "CPU", target_color(Target::cpu)});
  return roofs;
}

/// Values to pixels, and what stands where.
class Plot {
 public:
  Plot(const std::vector<RooflinePoint>& points, const std::vector<Roof>& roofs, const Box& area)
      : area_(area) {
    double x[2] = {INFINITY, 0}, y[2] = {INFINITY, 0};
    const auto hold = [](double* range, double v) {
      range[0] = std::min(range[0], v), range[1] = std::max(range[1], v);
    };
    for (const RooflinePoint& p : points) hold(x, p.flop_per_byte), hold(y, p.gflop_s);
    for (const Roof& r : roofs) {
      // the ridge is part of the picture, as long as it does not squeeze the points
      const double ridge = r.ceilings->fma_gflop_s / r.ceilings->copy_gb_s;
      hold(x, std::clamp(ridge * 1.6, x[0] / 30, x[1] * 30));
      hold(y, r.ceilings->fma_gflop_s);
    }
    x_ = log_axis(x[0] / 1.5, x[1] * 1.5);
    y_ = log_axis(y[0] / 1.5, y[1] * 1.5);
  }
  ImVec2 at(double x, double y) const {
    return {area_.x + static_cast<float>(x_.part(x)) * area_.w,
            area_.y + area_.h - static_cast<float>(y_.part(y)) * area_.h};
  }
  const LogAxis& x() const { return x_; }
  const LogAxis& y() const { return y_; }
  const Box& area() const { return area_; }

 private:
  Box area_;
  LogAxis x_, y_;
};

std::string tick_text(double v) {
  if (v >= 1e6) return fmt::format("{:g} M", v / 1e6);
  if (v >= 1e4) return fmt::format("{:g} k", v / 1e3);
  return fmt::format("{:g}", v);
}

void draw_axes(ImDrawList& list, const Plot& plot, const Ui& ui) {
  const Box& a = plot.area();
  const ImU32 grid = IM_COL32(255, 255, 255, 22), line = IM_COL32(255, 255, 255, 70);
  const ImU32 text = ImGui::GetColorU32(kPalette.dim);
  const float height = ImGui::GetTextLineHeight();
  const char* title = "FLOP per byte";
  const float title_x = a.x + a.w - ImGui::CalcTextSize(title).x;
  list.AddText({title_x, a.y + a.h + 2}, text, title);
  for (const double v : log_ticks(plot.x(), static_cast<int>(a.w / (44 * ui.scale)))) {
    const float x = plot.at(v, plot.y().low).x;
    list.AddLine({x, a.y}, {x, a.y + a.h}, grid);
    const std::string label = tick_text(v);
    const float w = ImGui::CalcTextSize(label.c_str()).x;
    if (x + w / 2 > title_x - 8) continue;
    list.AddText({std::max(x - w / 2, a.x - 8), a.y + a.h + 2}, text, label.c_str());
  }
  for (const double v : log_ticks(plot.y(), static_cast<int>(a.h / (height * 1.25F)))) {
    const float y = plot.at(plot.x().low, v).y;
    list.AddLine({a.x, y}, {a.x + a.w, y}, grid);
    const std::string label = tick_text(v);
    const float top = std::clamp(y - height / 2, a.y - height / 2, a.y + a.h - height);
    list.AddText({a.x - ImGui::CalcTextSize(label.c_str()).x - 5 * ui.scale, top}, text, label.c_str());
  }
  list.AddLine({a.x, a.y}, {a.x, a.y + a.h}, line);
  list.AddLine({a.x, a.y + a.h}, {a.x + a.w, a.y + a.h}, line);
}

void draw_roof(ImDrawList& list, const Plot& plot, const Roof& roof) {
  const bench::Ceilings& c = *roof.ceilings;
  const double ridge = c.fma_gflop_s / c.copy_gb_s;
  const ImU32 color = (roof.color & ~IM_COL32_A_MASK) | (150U << IM_COL32_A_SHIFT);
  const ImVec2 corner = plot.at(ridge, c.fma_gflop_s);
  list.AddLine(plot.at(plot.x().low, c.copy_gb_s * plot.x().low), corner, color, 1.5F);
  list.AddLine(corner, plot.at(std::max(plot.x().high, ridge), c.fma_gflop_s), color, 1.5F);
}

struct Text {
  std::string words;
  ImU32 color;
};

/// Figures of the ceilings beside their lines, then the names of the points.
void add_labels(const Plot& plot, const std::vector<Roof>& roofs, const std::vector<RooflinePoint>& points,
                const Results& results, std::vector<Label>& labels, std::vector<Text>& texts) {
  const auto add = [&](ImVec2 at, Text text) {
    const ImVec2 size = ImGui::CalcTextSize(text.words.c_str());
    labels.push_back({at.x, at.y, size.x + 4, size.y});
    texts.push_back(std::move(text));
  };
  const Box& a = plot.area();
  for (const Roof& r : roofs) {
    const bench::Ceilings& c = *r.ceilings;
    add({a.x + a.w, plot.at(plot.x().high, c.fma_gflop_s).y - 10},
        {fmt::format("{}: FMA {:.4g} GFLOP/s", r.machine, c.fma_gflop_s), r.color});
    // in the middle of the slope that is in sight
    const double low = std::max(plot.x().low, plot.y().low / c.copy_gb_s);
    const double high = std::min(plot.x().high, c.fma_gflop_s / c.copy_gb_s);
    const double middle = std::sqrt(low * std::max(low, high));
    add(plot.at(middle, roof_at(c, middle)),
        {fmt::format("{}: copy {:.4g} GB/s", r.machine, c.copy_gb_s), r.color});
  }
  // the shown one has its name beside it, whatever else is there
  const auto is_shown = [&](const RooflinePoint& p) {
    return results.shown && results.shown->info.id() == p.entry->info.id();
  };
  std::vector<RooflinePoint> named = points;
  std::stable_partition(named.begin(), named.end(), is_shown);
  for (std::size_t i = 0; i < named.size() && i < kMostLabels; ++i) {
    const StrategyInfo& info = named[i].entry->info;
    add(plot.at(named[i].flop_per_byte, named[i].gflop_s),
        {info.name, is_shown(named[i]) ? ImGui::GetColorU32(kPalette.accent) : target_color(info.target)});
  }
}

void draw_labels(ImDrawList& list, const Plot& plot, const std::vector<Roof>& roofs,
                 const std::vector<RooflinePoint>& points, const Results& results) {
  std::vector<Label> labels;
  std::vector<Text> texts;
  add_labels(plot, roofs, points, results, labels, texts);
  std::vector<Box> taken;
  for (const RooflinePoint& p : points) {
    const ImVec2 at = plot.at(p.flop_per_byte, p.gflop_s);
    taken.push_back({at.x - 6, at.y - 6, 12, 12});
  }
  const std::vector<std::optional<Box>> places = place_labels(labels, plot.area(), taken);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!places[i]) continue;
    const Box& b = *places[i];
    const ImVec2 from{labels[i].x, labels[i].y};
    const ImVec2 to{from.x < b.x ? b.x : std::min(from.x, b.x + b.w), b.y + b.h / 2};
    const bool of_point = i >= 2 * roofs.size();
    if (of_point && std::hypot(to.x - from.x, to.y - from.y) > 16)
      list.AddLine(from, to, (texts[i].color & ~IM_COL32_A_MASK) | (90U << IM_COL32_A_SHIFT));
    list.AddRectFilled({b.x, b.y}, {b.x + b.w, b.y + b.h}, IM_COL32(24, 26, 31, 200));
    list.AddText({b.x + 2, b.y}, texts[i].color, texts[i].words.c_str());
  }
}

void draw_points(ImDrawList& list, const Plot& plot, const std::vector<RooflinePoint>& points,
                 const Results& results, const RooflinePoint* hovered, const Ui& ui) {
  for (const RooflinePoint& p : points) {
    const StrategyInfo& info = p.entry->info;
    const ImVec2 at = plot.at(p.flop_per_byte, p.gflop_s);
    const bool shown = results.shown && results.shown->info.id() == info.id();
    const ImU32 color = target_color(info.target);
    if (info.target == Target::emulated) {
      list.AddCircle(at, 4 * ui.scale, color, 0, 1.6F);  // hollow: no GPU's time
    } else {
      list.AddCircleFilled(at, 4 * ui.scale, color);
    }
    if (shown) list.AddCircle(at, 7.5F * ui.scale, ImGui::GetColorU32(kPalette.accent), 0, 2);
    if (&p == hovered) list.AddCircle(at, 7.5F * ui.scale, IM_COL32_WHITE, 0, 1.5F);
  }
}

const RooflinePoint* point_under_pointer(const Plot& plot, const std::vector<RooflinePoint>& points,
                                         const Ui& ui) {
  if (!ImGui::IsItemHovered()) return nullptr;
  const RooflinePoint* nearest = nullptr;
  float best = 9 * ui.scale;
  for (const RooflinePoint& p : points) {
    const ImVec2 at = plot.at(p.flop_per_byte, p.gflop_s), pointer = ImGui::GetIO().MousePos;
    const float distance = std::hypot(at.x - pointer.x, at.y - pointer.y);
    if (distance < best) best = distance, nearest = &p;
  }
  return nearest;
}

void point_tooltip(const RooflinePoint& p) {
  const bench::Entry& e = *p.entry;
  std::string text = fmt::format("{} on {}{}\n{:.4g} µs: {:.4g} GFLOP/s at {:.3g} FLOP a byte", e.info.name,
                                 to_string(e.info.target),
                                 e.info.target == Target::emulated ? " (on the CPU: not a GPU time)" : "",
                                 e.time.median_us, p.gflop_s, p.flop_per_byte);
  if (p.of_roof) text += fmt::format("\n{:.1f} % of the ceiling there", 100 * *p.of_roof);
  if (!e.limit.empty()) text += "\nlimited by " + e.limit;
  tooltip(text + "\nA click shows it.");
}

/// What the colours mean, at the right end of the line.
void legend(const bench::RaceState& state, const Ui& ui) {
  float width = 0;
  std::vector<std::pair<const char*, ImU32>> items;
  for (const Target t : {Target::cuda, Target::emulated, Target::cpu}) {
    if (std::none_of(state.entries.begin(), state.entries.end(),
                     [&](const bench::Entry& e) { return e.info.target == t && e.time.runs > 0; }))
      continue;
    items.emplace_back(t == Target::emulated ? "emulated (on CPU)" : to_string(t), target_color(t));
    width += ImGui::CalcTextSize(items.back().first).x + 22 * ui.scale;
  }
  ImGui::SameLine(std::max(ImGui::GetContentRegionMax().x - width, ImGui::GetCursorPosX()));
  for (const auto& [name, color] : items) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float radius = 4 * ui.scale;
    const ImVec2 middle{at.x + radius, at.y + ImGui::GetTextLineHeight() / 2};
    if (color == target_color(Target::emulated)) {
      ImGui::GetWindowDrawList()->AddCircle(middle, radius, color, 0, 1.6F);
    } else {
      ImGui::GetWindowDrawList()->AddCircleFilled(middle, radius, color);
    }
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + 3 * radius);
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(color), "%s", name);
    ImGui::SameLine(0, 10 * ui.scale);
  }
  ImGui::NewLine();
}

}  // namespace

void roofline_panel(Settings& settings, const Results& results, Ui& ui) {
  const std::vector<RooflinePoint> points = roofline_points(results.race.state);
  const std::vector<Roof> roofs = roofs_of(results.race.state);
  if (points.empty()) {
    wrapped_text(kPalette.dim, "The roofline is drawn of a race's results: F7 races the ticked strategies.");
    return;
  }
  ImGui::TextColored(kPalette.dim, "GFLOP/s");
  tooltip(
      "Each strategy where its own algorithm puts it: multiply-adds that it does (2 FLOP each) for each byte "
      "that it moves, and how many a second. The slope is the measured rate of a copy over more than the "
      "caches hold, the level the measured rate of independent FMAs. The race has its inputs in the caches: "
      "a "
      "point may lie above the slope.");
  ImGui::SameLine(0, 16 * ui.scale);
  race_age_note(results, ui);
  legend(results.race.state, ui);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float left = 46 * ui.scale, below = ImGui::GetTextLineHeight() + 4 * ui.scale;
  const Box area{at.x + left, at.y + 4, room.x - left - 8 * ui.scale, room.y - below - 6};
  if (area.w < 50 || area.h < 30) return;
  ImGui::InvisibleButton("plot", room);
  const Plot plot(points, roofs, area);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  draw_axes(list, plot, ui);
  list.PushClipRect({area.x, area.y}, {area.x + area.w, area.y + area.h}, true);
  for (const Roof& r : roofs) draw_roof(list, plot, r);
  const RooflinePoint* hovered = point_under_pointer(plot, points, ui);
  draw_labels(list, plot, roofs, points, results);
  list.PopClipRect();
  draw_points(list, plot, points, results, hovered, ui);
  if (!hovered) return;
  point_tooltip(*hovered);
  if (ImGui::IsItemClicked()) {
    settings.strategy = hovered->entry->info.name;
    settings.target = hovered->entry->info.target;
    settings.precision = hovered->entry->info.precision;
  }
}

}  // namespace convscope
