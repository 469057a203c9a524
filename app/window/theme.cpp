#include "app/window/theme.h"

#include <cmath>

#include "fonts_embedded.h"
#include "kernels/error.h"

namespace convscope {
namespace {

// Latin-1, Greek capitals and small letters for sums and errors, dashes, dots, arrows and the few operators
// in use.
constexpr ImWchar kGlyphs[] = {0x0020, 0x00ff, 0x0391, 0x03c9, 0x2010, 0x2026, 0x2190, 0x2193,
                               0x2208, 0x2212, 0x2260, 0x2265, 0x25b2, 0x25bc, 0};

ImFont* load(std::string_view bytes, float size, const char* name) {
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  config.OversampleH = 2;
  config.PixelSnapH = true;
  // the atlas only reads the bytes, though it takes them as non-const
  ImFont* font = ImGui::GetIO().Fonts->AddFontFromMemoryTTF(
      const_cast<char*>(bytes.data()), static_cast<int>(bytes.size()), size, &config, kGlyphs);
  if (!font) throw Error(std::string("font ") + name + " cannot be read");
  return font;
}

void set_colors(ImGuiStyle& style) {
  ImVec4* c = style.Colors;
  const ImVec4 ground{0.094F, 0.102F, 0.122F, 1}, raised{0.125F, 0.137F, 0.161F, 1},
      field{0.165F, 0.180F, 0.212F, 1};
  const ImVec4 hover{0.22F, 0.25F, 0.30F, 1}, line{0.20F, 0.22F, 0.26F, 1}, blue{0.18F, 0.38F, 0.62F, 1};
  c[ImGuiCol_Text] = kPalette.text;
  c[ImGuiCol_TextDisabled] = kPalette.dim;
  c[ImGuiCol_WindowBg] = c[ImGuiCol_ChildBg] = ground;
  c[ImGuiCol_MenuBarBg] = c[ImGuiCol_TitleBg] = c[ImGuiCol_TitleBgActive] = raised;
  c[ImGuiCol_PopupBg] = {0.115F, 0.125F, 0.150F, 0.985F};
  c[ImGuiCol_Border] = c[ImGuiCol_Separator] = line;
  c[ImGuiCol_FrameBg] = field;
  c[ImGuiCol_FrameBgHovered] = c[ImGuiCol_ButtonHovered] = c[ImGuiCol_HeaderHovered] = hover;
  c[ImGuiCol_FrameBgActive] = {0.25F, 0.29F, 0.36F, 1};
  c[ImGuiCol_Button] = {0.19F, 0.21F, 0.25F, 1};
  c[ImGuiCol_ButtonActive] = c[ImGuiCol_HeaderActive] = blue;
  c[ImGuiCol_Header] = raised;
  c[ImGuiCol_CheckMark] = c[ImGuiCol_SliderGrab] = c[ImGuiCol_NavHighlight] = kPalette.accent;
  c[ImGuiCol_Tab] = raised;
  c[ImGuiCol_TabHovered] = hover;
  c[ImGuiCol_TabActive] = blue;
  c[ImGuiCol_TableHeaderBg] = raised;
  c[ImGuiCol_TableBorderStrong] = c[ImGuiCol_TableBorderLight] = line;
  c[ImGuiCol_TableRowBgAlt] = {1, 1, 1, 0.02F};
  c[ImGuiCol_ScrollbarBg] = ground;
  c[ImGuiCol_ScrollbarGrab] = field;
  c[ImGuiCol_ModalWindowDimBg] = {0, 0, 0, 0.45F};
}

}  // namespace

void apply_theme(Ui& ui) {
  const float size = std::round(15.0F * ui.scale);
  ui.fonts.text = load(fonts::inter, size, "Inter");
  ui.fonts.bold = load(fonts::inter_bold, size, "Inter SemiBold");
  ui.fonts.mono = load(fonts::mono, std::round(14.0F * ui.scale), "JetBrains Mono");
  ImGuiStyle style;
  ImGui::StyleColorsDark(&style);
  set_colors(style);
  style.WindowRounding = style.ChildRounding = 0;
  style.FrameRounding = style.PopupRounding = style.GrabRounding = style.TabRounding = 3;
  style.ScrollbarRounding = 3;
  style.WindowBorderSize = style.ChildBorderSize = 0;
  style.WindowPadding = {8, 6};
  style.FramePadding = {6, 3};
  style.ItemSpacing = {6, 4};
  style.ItemInnerSpacing = {4, 4};
  style.CellPadding = {5, 2};
  style.IndentSpacing = 12;
  style.ScrollbarSize = 11;
  style.ScaleAllSizes(ui.scale);
  ImGui::GetStyle() = style;
}

}  // namespace convscope
