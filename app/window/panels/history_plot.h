#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "app/window/ui.h"

namespace convscope {

/// A line of a plot; values that are not finite leave a gap.
struct PlotLine {
  std::string name;
  ImU32 color = 0;
  std::vector<double> values;
};

/// Lines over the last seconds, the newest at the right: axes with their units, the largest value and the
/// time shown at their ends, names of the lines in their colours. `ages`: seconds ago, of each value.
void history_plot(const Ui&, const char* id, const std::string& title, const std::string& unit,
                  const std::vector<double>& ages, const std::vector<PlotLine>&, ImVec2 size);

/// 1, 2 or 5 times a power of ten, not below the value: where an axis ends.
double round_end(double value);

}  // namespace convscope
