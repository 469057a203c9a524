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
  std::string approximation;  // what `separable` makes of the filters; see approximation_of()
};

/// Throws Error with a sentence that names the setting at fault.
PreparedOperation make_operation(const Settings&, const Frame&);

/// The row that the settings choose, and the one compared against (same precision). Throws Error naming what
/// is unknown; an unavailable row is returned, not refused.
const RegistryRow& chosen_row(const Settings&);
const RegistryRow& against_row(const Settings&);

/// The row to compute with. Where the default strategy refuses the operation, `direct` takes its place, and
/// `note` says so and why.
struct ChosenStrategy {
  const RegistryRow* row = nullptr;
  std::string note;
};
ChosenStrategy chosen_strategy(const Settings&, const Operation&);

/// What else than the operation a strategy computes of it, for wherever its result is shown: "rank-2
/// approximation, keeps 97.3 % of the filters' energy". Empty where it computes what was asked for.
std::string approximation_of(const PreparedOperation&, const StrategyInfo&);

/// How far two results of one problem may lie apart.
struct PermittedDifference {
  /// Error bounds: what each side states of itself, together; the reference, by which others are judged, adds
  /// none. Sigmoid and tanh do not enlarge them, and round a few times more.
  Tolerance tolerance;
  int64_t reach = 0;  // of the bound, error_bound_within()
};
PermittedDifference permitted_difference(const ConvProblem&, const StrategyInfo& a, const StrategyInfo& b);

/// "0.31 of 8 permitted error bounds".
std::string bounds_text(const Comparison&, const Tolerance&);

}  // namespace convscope
