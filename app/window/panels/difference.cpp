#include <fmt/format.h>
#include <imgui.h>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

void side_b(Settings& settings, const Results& results, const Ui& ui) {
  control_label(ui, "A", nullptr, 24);
  const std::string a =
      results.shown ? results.shown->info.name + ", " + to_string(results.shown->info.target) : "-";
  ImGui::TextUnformatted(fitted_text(a, ImGui::GetContentRegionAvail().x).c_str());
  control_label(ui, "B", "What the chosen strategy is compared with, on the same frame and input (B)", 24);
  std::string current = settings.against;
  if (settings.against_target) current += std::string(", ") + to_string(*settings.against_target);
  ImGui::SetNextItemWidth(-1);
  if (ImGui::BeginCombo("##against", current.c_str())) {
    for (const StrategyRow& r : results.rows) {
      const StrategyInfo& info = r.row->info;
      const bool selected = info.name == settings.against &&
                            (!settings.against_target || *settings.against_target == info.target);
      const ImGuiSelectableFlags flags = r.reason ? ImGuiSelectableFlags_Disabled : 0;
      if (ImGui::Selectable(fmt::format("{}, {}", info.name, to_string(info.target)).c_str(), selected,
                            flags)) {
        settings.against = info.name;
        settings.against_target = info.target;
      }
      tooltip(r.reason.value_or(info.idea));
    }
    ImGui::EndCombo();
  }
  fault_note(results, {"against", "against_target"});
  const auto approximation = [](const char* side, const auto& of) {
    const std::string text = approximation_of(*of.prepared, of.info);
    if (!text.empty()) wrapped_text(kPalette.warning, fmt::format("{}: {}", side, text));
  };
  if (results.shown) approximation("A", *results.shown);
  if (results.difference) approximation("B", *results.difference->b);
}

class Numbers {
 public:
  Numbers(const Ui& ui, const Results& results, bool current)
      : ui_(ui), precision_(results.shown->info.precision), color_(current ? kPalette.text : kPalette.dim) {}

  void row(const char* name, const std::string& value, const char* about, bool alarming = false) {
    row_name(name, about);
    mono_right(ui_, value, alarming ? kPalette.warning : color_);
    tooltip(about);
  }
  void row(const char* name, double value, const char* about) {
    row(name, fmt::format("{:.6g}", value), about);
  }
  void count(const char* name, int64_t value, const char* about) {
    row(name, std::to_string(value), about, value > 0);
  }
  std::string exact(double v) const { return exact_text(v, precision_); }

 private:
  const Ui& ui_;
  Precision precision_;
  ImVec4 color_;
};

std::string position_text(const Comparison& c, const ConvShape& s) {
  if (c.worst_index < 0) return "none";
  const int64_t w = s.out_w(), h = s.out_h();
  return fmt::format("{}: {}, {}", c.worst_index / (w * h), c.worst_index / w % h, c.worst_index % w);
}

void numbers(const DifferenceResult& d, Numbers n) {
  const Comparison& c = d.comparison;
  n.row("result", c.pass ? "pass" : "differs",
        "Pass: all values finite and none further off than the permitted error bounds", !c.pass);
  n.row("values", std::to_string(c.count), "Values compared: all maps at full size");
  n.row("max |A-B|", c.max_abs, "Largest absolute difference, in double");
  n.row("mean |A-B|", c.mean_abs, "Mean absolute difference");
  n.row("RMSE", c.rmse, "Root of the mean squared difference");
  n.row("max relative", c.max_rel, "Largest |A - B| / |B| where B is not 0");
  n.row("max ULP", std::to_string(c.max_ulp),
        "Most representable values between A and B; large near 0 without harm");
  n.row("PSNR, dB", c.psnr_db, "20 log10(largest |B| / RMSE); infinite where both are equal");
  n.row(
      "error bounds", fmt::format("{:.4g} of {:.4g}", c.max_bound_fraction, d.tolerance.bound_fraction),
      "Largest |A - B| in error bounds n eps (sum |w||x| + |bias|), and how many A and B are permitted: one "
      "for each that only adds products, more for one that transforms or rounds to TF32. Where one "
      "transforms, the largest |w| and |x| within its reach count");
  n.count("over bounds", c.over_tolerance,
          "Values further off than the permitted bounds, and all values that are not finite");
  n.count("not finite, A", c.nonfinite_a, "NaN or infinite values of A");
  n.count("not finite, B", c.nonfinite_b, "NaN or infinite values of B");
  n.count("mismatched", c.nonfinite_mismatch,
          "Positions where only one side is NaN or infinite, or they differ in kind");
  n.row("worst at", position_text(c, d.a->prepared->operation.problem.shape), "Map: y, x of the worst value");
  if (c.worst_index >= 0) {
    n.row("worst A", n.exact(c.worst_a), "A there");
    n.row("worst B", n.exact(c.worst_b), "B there");
  }
}

}  // namespace

void difference_panel(Settings& settings, const Results& results, Ui& ui) {
  const PanelScope panel(ui, "Difference");
  ui.difference_panel = static_cast<bool>(panel);
  if (!panel) return;
  side_b(settings, results, ui);
  if (!results.difference_fault.empty()) {
    wrapped_text(kPalette.warning, results.difference_fault);
    return;
  }
  if (!results.shown || !results.difference) {
    dim_text("computing…");
    return;
  }
  const bool current = results.difference->number == results.shown->number;
  if (results.flow.live) {
    dim_text(fmt::format("of frame {}", results.difference->a->frame->sequence));
  } else if (!current) {
    dim_text("comparing… (below: before)");
  }
  if (!ImGui::BeginTable("numbers", 2, ImGuiTableFlags_RowBg)) return;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, 92 * ui.scale);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
  numbers(*results.difference, Numbers(ui, results, current));
  ImGui::EndTable();
}

}  // namespace convscope
