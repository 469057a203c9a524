#pragma once

#include <string>

#include "kernels/chain.h"

namespace convscope::bench {

/// What a strategy computes of an operation, where that is another convolution by its own words.
struct Approximation {
  std::string words;    // separable_approximation(); empty where the operation itself is computed
  ConvWeights weights;  // of the other convolution: the kernels that its factors make; empty likewise
};

/// Whether the operation's separable_rank concerns this strategy.
bool heeds_rank(const StrategyInfo&);

/// Of whoever heeds the operation's separable_rank, in this precision.
Approximation approximation_of(const Operation&, Precision);

}  // namespace convscope::bench
