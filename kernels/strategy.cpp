#include "kernels/strategy.h"

#include <fmt/format.h>

#include "kernels/strategies/costs.h"

namespace convscope {

const char* to_string(Target target) {
  switch (target) {
    case Target::cuda:
      return "cuda";
    case Target::emulated:
      return "emulated";
    case Target::cpu:
      return "cpu";
  }
  return "?";
}

std::optional<Target> parse_target(const std::string& text) {
  for (const Target target : {Target::cuda, Target::emulated, Target::cpu})
    if (text == to_string(target)) return target;
  return std::nullopt;
}

std::string StrategyInfo::id() const {
  return fmt::format("{}/{}/{}", name, to_string(target), to_string(precision));
}

Cost Strategy::cost(const ConvProblem& problem, const ConvWeights&) const {
  return direct_cost(problem.shape, info_.precision);
}

}  // namespace convscope
