#include <fmt/format.h>
#include <imgui.h>

#include <cmath>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"
#include "kernels/compare.h"

namespace convscope {
namespace {

void row(const Ui& ui, const char* name, const std::string& value, const char* about) {
  row_name(name, about);
  mono_right(ui, value);
}

std::string ulp_text(double a, double b, Precision precision) {
  const uint64_t ulp = precision == Precision::fp64
                           ? ulp_distance(a, b)
                           : ulp_distance(static_cast<float>(a), static_cast<float>(b));
  return ulp == UINT64_MAX ? "NaN" : std::to_string(ulp);
}

void difference_rows(const Results& results, const Ui& ui) {
  const PixelReadout& p = results.pixel;
  const Precision precision = results.shown->info.precision;
  const double a = *p.a, b = *p.b, d = a - b;
  row(ui, "B", exact_text(b, precision), "Side B, with the digits that name the value exactly");
  row(ui, "A - B", fmt::format("{:.9g}", d), "Signed difference, in double");
  row(ui, "relative", b != 0 ? fmt::format("{:.4g}", std::abs(d) / std::abs(b)) : "-", "|A - B| / |B|");
  row(ui, "ULP", ulp_text(a, b, precision), "Representable values between A and B");
  if (p.bound) {
    row(ui, "bound", fmt::format("{:.4g}", *p.bound),
        "n eps (sum |w||x| + |bias|): no order of summation can be further off");
    const double part = *p.bound > 0 ? std::abs(d) / *p.bound : (d == 0 ? 0 : INFINITY);
    row(ui, "of bound", fmt::format("{:.4g}", part), "|A - B| / bound");
  }
}

}  // namespace

void pixel_panel(const Settings&, const Results& results, Ui& ui) {
  const PanelScope panel(ui, "Pixel");
  if (!panel) return;
  const PixelReadout& p = results.pixel;
  if (!results.shown || !p.valid) {
    dim_text("point at a map");
    return;
  }
  const std::vector<std::string>& labels = results.shown->prepared->labels;
  const int64_t c_out = results.shown->shape().c_out;
  const auto map = static_cast<std::size_t>(p.plane % c_out);
  const std::string label = fmt::format("{}: {}", p.plane, map < labels.size() ? labels[map] : "");
  ImGui::TextUnformatted(fitted_text(label, ImGui::GetContentRegionAvail().x).c_str());
  tooltip(label);
  if (!ImGui::BeginTable("pixel", 2, ImGuiTableFlags_RowBg)) return;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, 70 * ui.scale);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
  row(ui, "y, x", fmt::format("{}, {}", p.y, p.x),
      p.at_pointer ? "Of the value under the pointer, from the left top"
                   : "Of the value in the middle of the view");
  row(ui, "A", p.a ? exact_text(*p.a, results.shown->info.precision) : "reading back…",
      "The shown strategy, with the digits that name the value exactly");
  if (p.a && p.b) difference_rows(results, ui);
  ImGui::EndTable();
}

}  // namespace convscope
