#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/shape.h"

namespace convscope {

/// Each kernel as a sum of `ranks` products of a column and a row: its best approximation of that rank
/// (Eckart and Young), by its singular value decomposition. What has a lower rank is exact but for rounding,
/// and zeros follow.
struct RankFilters {
  int64_t ranks = 1;            // what the bank takes, at most as many as were asked for
  std::vector<double> columns;  // [o][c][rank][k_h], in the precision asked for
  std::vector<double> rows;     // [o][c][rank][k_w]
  /// Energy (sum of squares) kept of all kernels together, and of the one that loses most, as fractions.
  double kept = 1, least_kept = 1;
  int64_t worst_filter = 0, worst_channel = 0;
  /// Why there are no factors; with a rank, only of kernels whose weights are not finite.
  std::optional<std::string> refused;
};

/// `rank`: 1 or more; 0 for the factors of separate_filters(), which refuses what they would not be exact
/// for.
RankFilters separable_factors(const ConvWeights&, Precision, int64_t rank);

/// What the approximation is, for wherever its result is shown: "rank-2 approximation, keeps 97.3 % of the
/// filters' energy (filter 3, channel 0: 91.0 %)". nullopt where every kernel has that rank, or is refused.
std::optional<std::string> separable_approximation(const ConvWeights&, int64_t rank);

/// How many error bounds, within a reach of 1 (error_bound_within, which takes the largest weight of a
/// kernel), the sum of the passes may be off the kernel of that rank: the magnitudes of the products of
/// factors are together at most the kernel's norm, sqrt(k_h k_w) of its largest weight.
double separable_rank_error_bounds(const ConvShape&, int64_t rank);

}  // namespace convscope
