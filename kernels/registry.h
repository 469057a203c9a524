#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/strategy.h"

namespace convscope {

/// One row of the registry: a strategy on one target in one precision.
struct RegistryRow {
  StrategyInfo info;
  /// Makes the strategy; empty where this build lacks the target.
  std::function<std::unique_ptr<Strategy>()> make;
  /// Why a library that the row needs is not there, in words; null where it needs none.
  std::optional<std::string> (*missing)() = nullptr;
};

/// Every strategy that this source knows, in the order in which it is taught; the same rows in every build.
/// Interface, tests, bench and `convscope list` all iterate it.
const std::vector<RegistryRow>& registry();

/// Appends a row of a program that has strategies of its own (a library that this one does not know), before
/// the registry is read for the first time; rows keep the order of these calls. Throws Error later than that,
/// and where the row is there already.
void register_strategy(RegistryRow);

/// Why the row cannot run on this machine now (no toolkit in the build, no driver, no device, a lost device,
/// a missing library); nullopt where it can.
std::optional<std::string> unavailable(const StrategyInfo&);

/// The row, or nullptr.
const RegistryRow* find_strategy(const std::string& name, Target, Precision);

/// The names, each once, in order.
std::vector<std::string> strategy_names();

}  // namespace convscope
