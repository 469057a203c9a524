#pragma once

#include "kernels/error.h"
#include "kernels/strategy.h"

namespace convscope::cpu {

/// Throws Error for a fault of shape or weights, or "NAME refuses: why".
inline void validate(const Strategy& strategy, const ConvProblem& problem, const ConvWeights& weights) {
  if (const auto reason = fault(problem.shape)) throw Error(*reason);
  if (const auto reason = fault(weights, problem.shape)) throw Error(*reason);
  if (const auto reason = strategy.refuses(problem))
    throw Error(strategy.info().name + " refuses: " + *reason);
}

}  // namespace convscope::cpu
