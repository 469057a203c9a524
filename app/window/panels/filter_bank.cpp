#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

void bank_choice(Settings& settings, const Results& results, const Ui& ui) {
  control_label(ui, "Bank");
  const auto current = std::find_if(results.banks.begin(), results.banks.end(),
                                    [&](const Bank& b) { return b.name == settings.bank; });
  std::string shown = current == results.banks.end() ? settings.bank : current->title;
  if (settings.edited_weights) shown += " (edited)";
  ImGui::SetNextItemWidth(-1);
  if (ImGui::BeginCombo("##bank", shown.c_str())) {
    for (const Bank& b : results.banks) {
      if (ImGui::Selectable(fmt::format("{}##{}", b.title, b.name).c_str(), b.name == settings.bank)) {
        settings.bank = b.name;
        settings.edited_weights.reset();
        settings.weights_file.clear();
        settings.kernel.reset();
      }
      tooltip(b.about);
    }
    ImGui::EndCombo();
  }
  fault_note(results, {"bank", "weights", "bias"});
  for (const std::string& fault : results.bank_faults) wrapped_text(kPalette.warning, fault);
}

void kernel_size(Settings& settings, const Results& results, const Ui& ui) {
  const ConvWeights& w = results.weights;
  control_label(ui, "Kernel y, x",
                "Generated filters are made at this size, given ones are cropped or extended by zeros");
  Axes size = settings.kernel.value_or(Axes{w.k_h, w.k_w});
  if (axes_input(ui, "kernel", size)) {
    settings.kernel = size;
    settings.edited_weights.reset();
  }
  fault_note(results, {"kernel"});
}

/// The selector of the filter and of its input channel.
void selectors(const Results& results, Ui& ui) {
  const ConvWeights& w = results.weights;
  ui.filter = std::clamp(ui.filter, 0, static_cast<int>(w.c_out) - 1);
  ui.channel = std::clamp(ui.channel, 0, static_cast<int>(w.c_in) - 1);
  const std::vector<std::string>& labels = results.shown->prepared->labels;
  const auto label = [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    return at < labels.size() ? labels[at] : fmt::format("map {}", i);
  };
  control_label(ui, "Filter");
  const float channel_width = 58 * ui.scale;
  ImGui::SetNextItemWidth(-(channel_width + ImGui::GetStyle().ItemInnerSpacing.x));
  if (ImGui::BeginCombo("##filter", label(ui.filter).c_str())) {
    for (int i = 0; i < w.c_out; ++i) {
      if (ImGui::Selectable(fmt::format("{}##{}", label(i), i).c_str(), i == ui.filter)) ui.filter = i;
    }
    ImGui::EndCombo();
  }
  ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
  const auto channel = [&](int c) { return w.c_in == 3 ? std::string(1, "RGB"[c]) : std::to_string(c); };
  ImGui::SetNextItemWidth(channel_width);
  if (ImGui::BeginCombo("##channel", channel(ui.channel).c_str())) {
    for (int c = 0; c < w.c_in; ++c) {
      if (ImGui::Selectable(channel(c).c_str(), c == ui.channel)) ui.channel = c;
    }
    ImGui::EndCombo();
  }
  tooltip("Input channel");
}

/// A number that is dragged or, after a double click or Enter, typed.
bool number(const char* id, double& value, float speed) {
  return ImGui::DragScalar(id, ImGuiDataType_Double, &value, speed, nullptr, nullptr, "%.4g",
                           ImGuiSliderFlags_NoRoundToFormat);
}

void weight_grid(Settings& settings, const Results& results, const Ui& ui) {
  ConvWeights w = settings.edited_weights.value_or(results.weights);
  double most = 0;
  for (const double v : w.values) most = std::max(most, std::abs(v));
  const float gap = 2 * ui.scale;
  const float line = ImGui::GetFrameHeight() + gap;
  const float room = ImGui::GetContentRegionAvail().x;
  ImGui::PushFont(ui.fonts.mono);
  const float widest = ImGui::CalcTextSize("-0.0001234").x + 4 * ui.scale;  // of what "%.4g" mostly makes
  ImGui::PopFont();
  const float cell =
      std::max(widest, (room - gap * static_cast<float>(w.k_w - 1)) / static_cast<float>(w.k_w));
  const bool scrolls_x = cell * static_cast<float>(w.k_w) > room + 1;
  const float height = line * static_cast<float>(std::min<int64_t>(w.k_h, 7)) +
                       (scrolls_x ? ImGui::GetStyle().ScrollbarSize : 0);
  bool changed = false;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {gap, gap});
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {2 * ui.scale, ImGui::GetStyle().FramePadding.y});
  ImGui::BeginChild("weights", {0, height}, false, ImGuiWindowFlags_HorizontalScrollbar);
  ImGui::PushFont(ui.fonts.mono);
  for (int64_t i = 0; i < w.k_h; ++i) {
    for (int64_t j = 0; j < w.k_w; ++j) {
      if (j > 0) ImGui::SameLine();
      double& v = w.at(ui.filter, ui.channel, i, j);
      const auto part = static_cast<float>(most > 0 ? std::abs(v) / most : 0);
      ImGui::PushStyleColor(ImGuiCol_FrameBg,
                            v >= 0 ? ImVec4(0.16F + 0.30F * part, 0.18F + 0.06F * part, 0.21F, 1)
                                   : ImVec4(0.16F, 0.18F + 0.10F * part, 0.21F + 0.32F * part, 1));
      ImGui::SetNextItemWidth(cell);
      const std::string id = fmt::format("##{}_{}", i, j);
      changed |= number(id.c_str(), v, static_cast<float>(std::max(most, 0.1) / 200));
      ImGui::PopStyleColor();
    }
  }
  ImGui::PopFont();
  ImGui::EndChild();
  ImGui::PopStyleVar(3);
  if (changed) settings.edited_weights = w;
}

void bias_and_reset(Settings& settings, const Results& results, const Ui& ui) {
  ConvWeights w = settings.edited_weights.value_or(results.weights);
  control_label(ui, "Bias", "Added to this filter's map before the activation");
  double bias = w.bias.empty() ? 0 : w.bias[static_cast<std::size_t>(ui.filter)];
  const float reset_width = ImGui::CalcTextSize("Reset").x + 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::SetNextItemWidth(-(reset_width + ImGui::GetStyle().ItemInnerSpacing.x));
  ImGui::PushFont(ui.fonts.mono);
  if (number("##bias", bias, 0.005F)) {
    if (w.bias.empty()) w.bias.assign(static_cast<std::size_t>(w.c_out), 0.0);
    w.bias[static_cast<std::size_t>(ui.filter)] = bias;
    settings.edited_weights = w;
  }
  ImGui::PopFont();
  ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
  ImGui::BeginDisabled(!settings.edited_weights);
  if (ImGui::Button("Reset")) settings.edited_weights.reset();
  ImGui::EndDisabled();
  tooltip("Back to the bank's weights");
  fault_note(results, {"edited_weights"});
}

}  // namespace

void filter_bank_panel(Settings& settings, const Results& results, Ui& ui) {
  const PanelScope panel(ui, "Filter bank");
  if (!panel) return;
  bank_choice(settings, results, ui);
  if (!results.shown || results.weights.values.empty()) return;
  kernel_size(settings, results, ui);
  selectors(results, ui);
  weight_grid(settings, results, ui);
  bias_and_reset(settings, results, ui);
  ImGui::Checkbox("True convolution (kernel turned)", &settings.convolution);
  tooltip("Otherwise cross-correlation, as deep-learning libraries do (V)");
  fault_note(results, {"convolution"});
}

}  // namespace convscope
