#pragma once

#include <cstdint>
#include <span>

#include "kernels/shape.h"

namespace convscope {

/// The numbers of a difference between a result A and a reference B of the same shape and precision.
/// Errors are |a - b| in double over the values that are finite on both sides; NaN never passes.
struct Comparison {
  int64_t count = 0;        // values compared
  int64_t nonfinite_a = 0;  // NaN or Inf in A
  int64_t nonfinite_b = 0;  // NaN or Inf in B
  int64_t nonfinite_mismatch =
      0;  // positions where one side is NaN, +Inf or -Inf and the other is not the same
  double max_abs = 0, mean_abs = 0;
  double max_rel = 0;    // |a - b| / |b| where b != 0
  uint64_t max_ulp = 0;  // representable values between a and b, in the precision compared; +0 = -0
  double rmse = 0;
  double psnr_db = 0;             // 20 log10(max |b| / rmse); +Inf where rmse is 0
  double max_bound_fraction = 0;  // max of |a - b| / bound; 0 where no bound was given
  int64_t over_tolerance = 0;     // values whose |a - b| exceeds the tolerance, non-finite values included
  int64_t worst_index =
      -1;  // flat NCHW index of the worst value (a non-finite one first), -1 where all equal
  double worst_a = 0, worst_b = 0;
  /// At least one value, none over tolerance and none non-finite on either side.
  bool pass = false;
};

/// What counts as too far: |a - b| > absolute + bound_fraction * bound[i]. With no bound plane, absolute
/// alone.
struct Tolerance {
  double absolute = 0;
  double bound_fraction = 1;
};

/// What the last roundings of sigmoid and tanh may differ by from one library to the next, as an absolute
/// tolerance; 0 for the other activations.
double activation_slack(Activation, Precision);

/// `bound`: per value n * eps * (sum |w||x| + |bias|) as error_bound() makes it, or empty. T: float or
/// double.
template <class T>
Comparison compare(std::span<const T> a, std::span<const T> b, std::span<const float> bound = {},
                   Tolerance = {});

/// Distance in representable values; +0 and -0 are one value; UINT64_MAX where either is NaN.
uint64_t ulp_distance(float a, float b);
uint64_t ulp_distance(double a, double b);

/// Error bound of a sum of n = c_in*k_h*k_w + 1 terms (Higham, Accuracy and Stability, 2nd ed., section 3.1):
/// n * eps * (sum |w||x| + |bias|), eps the unit roundoff of the precision (2^-24 or 2^-53), one float per
/// output value. Holds for any order of summation, fused or not. `in`: planar, host memory, of `precision`.
/// Non-finite inputs give an infinite bound.
void error_bound(const ConvShape&, const ConvWeights&, Precision, const void* in, float* bound);

/// The bound of a strategy that mixes a value's window with pixels up to `reach` beyond it, and the taps of a
/// filter with one another (Strategy::error_reach): in each term the largest |w| of the filter's plane and
/// the largest |x| within reach. For no reach, error_bound() itself.
void error_bound_within(int64_t reach, const ConvShape&, const ConvWeights&, Precision, const void* in,
                        float* bound);

}  // namespace convscope
