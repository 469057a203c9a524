#pragma once

#include <string>
#include <vector>

#include "app/frame.h"
#include "app/settings.h"
#include "kernels/chain.h"
#include "kernels/compare.h"

namespace convscope {

/// The operation that the settings ask for on this frame, and a label for each map.
struct PreparedOperation {
  Operation operation;
  std::vector<std::string> labels;
};

/// Throws Error with a sentence that names the setting at fault.
PreparedOperation make_operation(const Settings&, const Frame&);

/// The row that the settings choose, and the one compared against (same precision). Throws Error naming what
/// is unknown; an unavailable row is returned, not refused.
const RegistryRow& chosen_row(const Settings&);
const RegistryRow& against_row(const Settings&);

/// How far a result may be off: the convolution by its error bound; sigmoid and tanh do not enlarge that, and
/// round a few times more.
Tolerance tolerance_of(const ConvProblem&, Precision);

}  // namespace convscope
