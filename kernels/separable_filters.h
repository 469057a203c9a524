#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/shape.h"

namespace convscope {

/// Each kernel as the product of a column and a row: w[o][c][i][j] = columns[o][c][i] * rows[o][c][j], the
/// factors exact in the precision asked for.
struct SeparableFilters {
  std::vector<double> columns;  // [o][c][k_h]
  std::vector<double> rows;     // [o][c][k_w], the largest magnitude 1; of 1-D kernels one factor is 1
  /// Why the bank is not separable, in words for the user, naming its worst kernel; then there are no
  /// factors.
  std::optional<std::string> refused;
};

/// Energy outside rank 1, as a fraction of the whole, up to which a kernel counts as rank 1. Weights rounded
/// to float lie 4e-15 off at most; 1e-14 is 1.7 unit roundoffs of fp32 in the root mean square.
inline constexpr double kSeparableEnergy = 1e-14;

/// How far a product of factors may lie from its weight, in unit roundoffs of the precision, relative to the
/// weight. One pass down and one along make k_h + c_in k_w roundings where error_bound() allows for
/// c_in k_h k_w; what is left may go to the weights. Small kernels leave little; 4 are allowed then, which
/// rounding the weights and the factors takes.
double separable_roundoffs(const ConvShape&);

/// How many error bounds a result may be off for that: 1.8 for 2x2 taps of one channel, 1.1 for 3x3, 1 from
/// there on and for 1-D kernels.
double separable_error_bounds(const ConvShape&);

/// The value as the precision holds it.
double rounded(double value, Precision);

/// A share of a filter's energy, for the user: "97.3 %", "all but 1.2e-05".
std::string energy_share(double kept);

/// Factors every kernel, or says which cannot be.
SeparableFilters separate_filters(const ConvWeights&, Precision);

}  // namespace convscope
