#pragma once

#include <imgui.h>

#include "app/window/ui.h"

namespace convscope {

/// Colours that say something, beside those of the style.
struct Palette {
  ImVec4 text{0.90F, 0.91F, 0.93F, 1}, dim{0.60F, 0.63F, 0.68F, 1}, accent{0.36F, 0.66F, 0.96F, 1};
  ImVec4 warning{0.98F, 0.72F, 0.35F, 1}, good{0.45F, 0.82F, 0.56F, 1}, heading{0.78F, 0.82F, 0.88F, 1};
};
inline const Palette kPalette{};

/// Loads the fonts at this content scale and sets the dark style.
void apply_theme(Ui&);

}  // namespace convscope
