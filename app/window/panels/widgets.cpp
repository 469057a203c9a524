#include "app/window/panels/widgets.h"

#include <algorithm>
#include <cmath>

namespace convscope {

PanelScope::PanelScope(const Ui& ui, const char* title, bool open_at_first) {
  ImGui::PushID(title);
  ImGui::PushFont(ui.fonts.bold);
  ImGui::PushStyleColor(ImGuiCol_Text, kPalette.heading);
  open_ = ImGui::CollapsingHeader(title, open_at_first ? ImGuiTreeNodeFlags_DefaultOpen : 0);
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

PanelScope::~PanelScope() {
  if (open_) ImGui::Dummy({0, 2});
  ImGui::PopID();
}

void control_label(const Ui& ui, const char* text, const char* about, float width) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(kPalette.dim, "%s", text);
  if (about) tooltip(about);
  ImGui::SameLine(width * ui.scale);
}

void fault_note(const Results& results, std::initializer_list<const char*> keys) {
  if (!results.fault) return;
  for (const char* key : keys) {
    if (results.fault->key == key) wrapped_text(kPalette.warning, results.fault->text);
  }
}

void tooltip(const std::string& text) {
  if (text.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * 28);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void row_name(const char* name, const std::string& about) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextColored(kPalette.dim, "%s", name);
  tooltip(about);
  ImGui::TableNextColumn();
}

void dim_text(const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, kPalette.dim);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
}

void wrapped_text(const ImVec4& color, const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

void mono_text(const Ui& ui, const std::string& text, const ImVec4& color) {
  ImGui::PushFont(ui.fonts.mono);
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

void mono_right(const Ui& ui, const std::string& text, const ImVec4& color) {
  ImGui::PushFont(ui.fonts.mono);
  const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
  ImGui::PopFont();
  if (room > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
  mono_text(ui, text, color);
}

std::string fitted_text(const std::string& text, float width) {
  if (ImGui::CalcTextSize(text.c_str()).x <= width) return text;
  const std::string dots = "…";
  std::size_t keep = text.size();
  while (keep > 0) {
    --keep;
    // never in the middle of a UTF-8 sequence
    while (keep > 0 && (static_cast<unsigned char>(text[keep]) & 0xC0) == 0x80) --keep;
    const std::string cut = text.substr(0, keep) + dots;
    if (ImGui::CalcTextSize(cut.c_str()).x <= width) return cut;
  }
  return dots;
}

bool axes_input(const Ui& ui, const char* id, Axes& axes) {
  const float gap = ImGui::GetStyle().ItemInnerSpacing.x;
  const float width = (ImGui::GetContentRegionAvail().x - gap) / 2;
  const int64_t step = 1;
  ImGui::PushID(id);
  ImGui::PushFont(ui.fonts.mono);
  ImGui::SetNextItemWidth(width);
  bool changed = ImGui::InputScalar("##y", ImGuiDataType_S64, &axes.y, &step);
  ImGui::SameLine(0, gap);
  ImGui::SetNextItemWidth(width);
  changed |= ImGui::InputScalar("##x", ImGuiDataType_S64, &axes.x, &step);
  ImGui::PopFont();
  ImGui::PopID();
  return changed;
}

std::string count_text(double n) {
  if (n >= 1e12) return fmt::format("{:.2f} T", n / 1e12);
  if (n >= 1e9) return fmt::format("{:.2f} G", n / 1e9);
  if (n >= 1e6) return fmt::format("{:.2f} M", n / 1e6);
  return fmt::format("{:.0f}", n);
}

std::string bytes_text(double n) {
  if (n >= 1e9) return fmt::format("{:.2f} GB", n / 1e9);
  if (n >= 1e6) return fmt::format("{:.2f} MB", n / 1e6);
  if (n >= 1e3) return fmt::format("{:.1f} kB", n / 1e3);
  return fmt::format("{:.0f} B", n);
}

std::string fps_text(double fps) {
  if (fps >= 100) return fmt::format("{:.0f}", fps);
  return fps > 0 && fps < 1 ? fmt::format("{:.2g}", fps) : fmt::format("{:.1f}", fps);
}

std::string ms_text(double ms) {
  if (ms >= 1000) return fmt::format("{:.0f}", ms);
  if (ms >= 100) return fmt::format("{:.1f}", ms);
  if (ms >= 10) return fmt::format("{:.2f}", ms);
  return fmt::format("{:.3f}", ms);
}

std::string exact_text(double v, Precision precision) {
  return precision == Precision::fp64 ? fmt::format("{:.17g}", v) : fmt::format("{:.9g}", v);
}

}  // namespace convscope
