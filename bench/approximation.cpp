#include "bench/approximation.h"

#include "kernels/separable_ranks.h"

namespace convscope::bench {
namespace {

/// The sums of the products of columns and rows. In the factors' own precision: where two singular values are
/// alike, other factors would make another kernel.
ConvWeights kernels_of(const RankFilters& factors, ConvWeights weights) {
  const int64_t h = weights.k_h, w = weights.k_w;
  const auto at = [](const std::vector<double>& all, int64_t factor, int64_t taps, int64_t tap) {
    return all[static_cast<std::size_t>(factor * taps + tap)];
  };
  for (int64_t kernel = 0; kernel < weights.c_out * weights.c_in; ++kernel) {
    for (int64_t tap = 0; tap < h * w; ++tap) {
      double sum = 0;
      for (int64_t r = 0; r < factors.ranks; ++r) {
        const int64_t factor = kernel * factors.ranks + r;
        sum += at(factors.columns, factor, h, tap / w) * at(factors.rows, factor, w, tap % w);
      }
      weights.values[static_cast<std::size_t>(kernel * h * w + tap)] = sum;
    }
  }
  return weights;
}

}  // namespace

bool heeds_rank(const StrategyInfo& info) { return info.name == "separable"; }

Approximation approximation_of(const Operation& operation, Precision precision) {
  const int64_t rank = operation.problem.separable_rank;
  if (rank == 0) return {};
  const auto words = separable_approximation(operation.weights, rank);
  if (!words) return {};
  return {*words, kernels_of(separable_factors(operation.weights, precision, rank), operation.weights)};
}

}  // namespace convscope::bench
