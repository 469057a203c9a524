#pragma once

#include <string>
#include <vector>

#include "app/cli/measure.h"
#include "app/operation.h"
#include "kernels/compare.h"

namespace convscope {

/// Everything that `convscope run` found out.
struct RunResult {
  Settings settings;
  FramePtr frame;
  PreparedOperation prepared;
  Measured strategy, against;
  Comparison comparison;
  PermittedDifference permitted;
  std::string note;  // why another strategy than the default one was taken
};

/// run.json. NaN and infinities, which JSON has no numbers for, are the texts "nan", "inf" and "-inf".
std::string run_json(const RunResult&);

/// A few aligned lines for the terminal.
std::string run_summary(const RunResult&, const std::string& folder);

}  // namespace convscope
