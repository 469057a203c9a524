#pragma once

#include <imgui.h>

#include <array>
#include <string>

namespace convscope {

/// Colours of the stages of a frame, in their order.
inline ImU32 stage_color(std::size_t i) {
  constexpr std::array<ImU32, 8> kColors{IM_COL32(86, 156, 214, 255),  IM_COL32(120, 190, 130, 255),
                                         IM_COL32(226, 160, 80, 255),  IM_COL32(190, 120, 200, 255),
                                         IM_COL32(90, 190, 190, 255),  IM_COL32(220, 110, 110, 255),
                                         IM_COL32(200, 200, 110, 255), IM_COL32(150, 150, 170, 255)};
  return kColors[i % kColors.size()];
}

/// Of a frame's cost: waiting and what is unaccounted for are grey, kernels share a colour.
inline ImU32 segment_color(const std::string& name) {
  if (name == "wait") return IM_COL32(110, 116, 128, 255);
  if (name == "other") return IM_COL32(170, 170, 178, 255);
  if (name == "upload") return stage_color(0);
  if (name == "unpack" || name == "pad") return stage_color(1);
  if (name == "view") return stage_color(4);
  if (name == "difference") return stage_color(5);
  if (name == "interop") return stage_color(6);
  if (name == "draw") return stage_color(3);
  return stage_color(2);
}

}  // namespace convscope
