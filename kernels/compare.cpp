#include "kernels/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/error.h"
#include "kernels/parallel.h"

namespace convscope {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Representable values numbered in their order, so that -0 and +0 are both 0. As unsigned: differences may
/// wrap.
uint64_t ordinal(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint64_t magnitude = bits & 0x7fffffffu;
  return bits >> 31 ? 0 - magnitude : magnitude;
}
uint64_t ordinal(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint64_t magnitude = bits & 0x7fffffffffffffffull;
  return bits >> 63 ? 0 - magnitude : magnitude;
}

template <class T>
uint64_t ordinal_distance(T a, T b) {
  const uint64_t forward = ordinal(a) - ordinal(b);  // |distance| < 2^63 * 2, exact modulo 2^64
  return a < b ? 0 - forward : forward;
}

/// An error (never 0 here, so never 0/0) as a share of a limit; a limit that is NaN, or Inf beside Inf,
/// allows nothing.
double share(double error, double limit) {
  const double value = error / limit;
  return std::isnan(value) ? kInfinity : value;
}

/// How bad a position is; the worst is the largest rank, then the largest score, then the first.
struct Worst {
  enum Rank { equal, differs, nonfinite, nonfinite_mismatch };
  Rank rank = equal;
  double score = 0;
  int64_t index = -1;

  void take(const Worst& other) {
    if (other.rank > rank || (other.rank == rank && other.score > score)) *this = other;
  }
};

/// Sums over one part of the planes; parts are added in their order, so that the result does not depend on
/// threads.
struct Part {
  Comparison numbers;
  int64_t finite = 0;
  double sum_abs = 0, sum_squares = 0, max_b = 0;
  Worst worst;

  template <class T>
  void add_nonfinite(int64_t i, T a, T b) {
    const bool same = (std::isnan(a) && std::isnan(b)) || a == b;
    numbers.nonfinite_a += !std::isfinite(a);
    numbers.nonfinite_b += !std::isfinite(b);
    numbers.nonfinite_mismatch += !same;
    ++numbers.over_tolerance;
    worst.take({same ? Worst::nonfinite : Worst::nonfinite_mismatch, 0, i});
  }

  template <class T, bool kHasBound>
  void add_finite(int64_t i, T a, T b, double bound, const Tolerance& tolerance) {
    const double error = std::abs(static_cast<double>(a) - static_cast<double>(b));
    const double size = std::abs(static_cast<double>(b));
    ++finite;
    sum_abs += error;
    sum_squares += error * error;
    max_b = std::max(max_b, size);
    if (error == 0) return add_limit_of_equal<kHasBound>(bound, tolerance);
    numbers.max_abs = std::max(numbers.max_abs, error);
    if (size != 0) numbers.max_rel = std::max(numbers.max_rel, error / size);
    numbers.max_ulp = std::max(numbers.max_ulp, ordinal_distance(a, b));
    double limit = tolerance.absolute, score = error;
    if constexpr (kHasBound) {
      limit += tolerance.bound_fraction * bound;
      score = share(error, limit);
      numbers.max_bound_fraction = std::max(numbers.max_bound_fraction, share(error, bound));
    }
    numbers.over_tolerance += !(error <= limit);
    worst.take({Worst::differs, score, i});
  }

  /// Equal values pass any limit, but not one that is NaN or negative.
  template <bool kHasBound>
  void add_limit_of_equal(double bound, const Tolerance& tolerance) {
    const double limit =
        kHasBound ? tolerance.absolute + tolerance.bound_fraction * bound : tolerance.absolute;
    numbers.over_tolerance += !(0 <= limit);
  }

  void add(const Part& other) {
    const Comparison& o = other.numbers;
    numbers.nonfinite_a += o.nonfinite_a;
    numbers.nonfinite_b += o.nonfinite_b;
    numbers.nonfinite_mismatch += o.nonfinite_mismatch;
    numbers.over_tolerance += o.over_tolerance;
    numbers.max_abs = std::max(numbers.max_abs, o.max_abs);
    numbers.max_rel = std::max(numbers.max_rel, o.max_rel);
    numbers.max_ulp = std::max(numbers.max_ulp, o.max_ulp);
    numbers.max_bound_fraction = std::max(numbers.max_bound_fraction, o.max_bound_fraction);
    finite += other.finite;
    sum_abs += other.sum_abs;
    sum_squares += other.sum_squares;
    max_b = std::max(max_b, other.max_b);
    worst.take(other.worst);
  }
};

template <class T, bool kHasBound>
Part compare_part(const T* a, const T* b, const float* bound, int64_t begin, int64_t end,
                  const Tolerance& tolerance) {
  Part part;
  for (int64_t i = begin; i < end; ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i]))
      part.add_finite<T, kHasBound>(i, a[i], b[i], kHasBound ? static_cast<double>(bound[i]) : 0.0,
                                    tolerance);
    else
      part.add_nonfinite(i, a[i], b[i]);
  }
  return part;
}

}  // namespace

double activation_slack(Activation activation, Precision precision) {
  if (activation != Activation::sigmoid && activation != Activation::tanh) return 0;
  return 4 * (precision == Precision::fp64 ? std::numeric_limits<double>::epsilon()
                                           : static_cast<double>(std::numeric_limits<float>::epsilon()));
}

template <class T>
Comparison compare(std::span<const T> a, std::span<const T> b, std::span<const float> bound,
                   Tolerance tolerance) {
  if (a.size() != b.size()) throw Error(fmt::format("cannot compare {} values with {}", a.size(), b.size()));
  if (!bound.empty() && bound.size() != a.size())
    throw Error(fmt::format("the error bound has {} values, expected {}", bound.size(), a.size()));

  constexpr int64_t kGrain = 65536;
  const auto count = static_cast<int64_t>(a.size());
  std::vector<Part> parts(static_cast<std::size_t>((count + kGrain - 1) / kGrain));
  const auto compare_range = bound.empty() ? &compare_part<T, false> : &compare_part<T, true>;
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    parts[static_cast<std::size_t>(begin / kGrain)] =
        compare_range(a.data(), b.data(), bound.data(), begin, end, tolerance);
  });

  Part total;
  for (const Part& part : parts) total.add(part);
  Comparison result = total.numbers;
  result.count = count;
  if (total.finite > 0) {
    const auto finite = static_cast<double>(total.finite);
    result.mean_abs = total.sum_abs / finite;
    result.rmse = std::sqrt(total.sum_squares / finite);
    result.psnr_db = result.rmse == 0 ? kInfinity : 20 * std::log10(total.max_b / result.rmse);
  }
  result.worst_index = total.worst.index;
  if (result.worst_index >= 0) {
    result.worst_a = static_cast<double>(a[static_cast<std::size_t>(result.worst_index)]);
    result.worst_b = static_cast<double>(b[static_cast<std::size_t>(result.worst_index)]);
  }
  result.pass = count > 0 && result.over_tolerance == 0;
  return result;
}

template Comparison compare(std::span<const float>, std::span<const float>, std::span<const float>,
                            Tolerance);
template Comparison compare(std::span<const double>, std::span<const double>, std::span<const float>,
                            Tolerance);

uint64_t ulp_distance(float a, float b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<uint64_t>::max() : ordinal_distance(a, b);
}
uint64_t ulp_distance(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<uint64_t>::max() : ordinal_distance(a, b);
}

}  // namespace convscope
