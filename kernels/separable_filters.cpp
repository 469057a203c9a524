#include "kernels/separable_filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "kernels/svd.h"

namespace convscope {
namespace {

/// One kernel in the precision's values, row-major.
struct Kernel {
  int64_t h = 0, w = 0;
  std::vector<double> values;
  double at(int64_t i, int64_t j) const { return values[static_cast<std::size_t>(i * w + j)]; }
};

struct Factors {
  std::vector<double> column, row;
  double worst = 0;  // largest |column row - w| / |w|; infinite where w is 0 and the product is not
};

double worst_error(const Kernel& k, const Factors& f) {
  double worst = 0;
  for (int64_t i = 0; i < k.h; ++i) {
    for (int64_t j = 0; j < k.w; ++j) {
      const double w = k.at(i, j);
      // fused: exact but for one rounding, also where both factors are doubles
      const double off =
          std::abs(std::fma(f.column[static_cast<std::size_t>(i)], f.row[static_cast<std::size_t>(j)], -w));
      if (off == 0) continue;
      const double relative = off / std::abs(w);
      worst = relative <= worst ? worst : relative;  // NaN stays
    }
  }
  return worst;
}

/// The row and column of the largest weight. Exact for kernels of small whole numbers.
Factors cross(const Kernel& k, Precision precision) {
  const auto largest = std::max_element(k.values.begin(), k.values.end(),
                                        [](double a, double b) { return std::abs(a) < std::abs(b); });
  const int64_t at = largest - k.values.begin(), pivot_i = at / k.w, pivot_j = at % k.w;
  Factors f;
  for (int64_t i = 0; i < k.h; ++i) f.column.push_back(k.at(i, pivot_j));
  for (int64_t j = 0; j < k.w; ++j)
    f.row.push_back(*largest == 0 ? 0 : rounded(k.at(pivot_i, j) / *largest, precision));
  f.worst = worst_error(k, f);
  return f;
}

/// Factors that lie in the middle of all weights rather than on one row and column: the rounding errors of
/// the weights average out. Means of ratios, since what counts is the error relative to each weight.
Factors averaged(const Kernel& k, Factors f, Precision precision) {
  const auto mean_ratio = [](int64_t count, auto weight, const std::vector<double>& factor) {
    double sum = 0;
    int64_t used = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double by = factor[static_cast<std::size_t>(i)];
      if (by == 0 || weight(i) == 0) continue;
      sum += weight(i) / by;
      ++used;
    }
    return used == 0 ? 0.0 : sum / static_cast<double>(used);
  };
  for (int64_t i = 0; i < k.h; ++i) {
    f.column[static_cast<std::size_t>(i)] = rounded(mean_ratio(
                                                        k.w, [&](int64_t j) { return k.at(i, j); }, f.row),
                                                    precision);
  }
  for (int64_t j = 0; j < k.w; ++j) {
    f.row[static_cast<std::size_t>(j)] = rounded(mean_ratio(
                                                     k.h, [&](int64_t i) { return k.at(i, j); }, f.column),
                                                 precision);
  }
  f.worst = worst_error(k, f);
  return f;
}

/// Energy that the factors miss, as a fraction of the whole.
double missed_energy(const Kernel& k, const Factors& f) {
  double missed = 0, whole = 0;
  const double scale = std::abs(*std::max_element(
      k.values.begin(), k.values.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  if (scale == 0) return 0;
  for (int64_t i = 0; i < k.h; ++i) {
    for (int64_t j = 0; j < k.w; ++j) {
      const double w = k.at(i, j) / scale;
      const double off =
          f.column[static_cast<std::size_t>(i)] / scale * f.row[static_cast<std::size_t>(j)] - w;
      missed += off * off;
      whole += w * w;
    }
  }
  return missed / whole;
}

Factors factor(const Kernel& k, Precision precision) {
  if (k.h == 1) return {{1.0}, k.values, 0};  // 1-D kernels are rank 1 as they stand
  if (k.w == 1) return {k.values, {1.0}, 0};
  Factors best = cross(k, precision);
  if (best.worst == 0) return best;
  Factors next = best;
  for (int turn = 0; turn < 2; ++turn) {
    next = averaged(k, std::move(next), precision);
    if (next.worst < best.worst) best = next;
  }
  return best;
}

/// What a refused kernel lacks.
struct Shortfall {
  int64_t rank = 1;
  double kept = 1;  // energy of rank 1, as a fraction of the whole
};

Shortfall shortfall(const Kernel& k) {
  const Svd d = svd(k.values, k.h, k.w);
  Shortfall result{d.k, d.energy(1) / d.energy()};
  for (int64_t r = 1; r < d.k; ++r) {
    if (d.energy() - d.energy(r) <= kSeparableEnergy * d.energy()) {
      result.rank = r;
      break;
    }
  }
  return result;
}

std::string refusal(int64_t o, int64_t c, const Shortfall& lack, double worst, Precision precision,
                    double allowed) {
  const std::string which = fmt::format("filter {}, channel {}", o, c);
  if (lack.rank > 1)
    return fmt::format("{} has rank {}; rank 1 keeps {} of its energy", which, lack.rank,
                       energy_share(lack.kept));
  if (!std::isfinite(worst))
    return fmt::format("{} has rank 1 only where its zeros may be small numbers", which);
  return fmt::format("{} has rank 1 only to {:.1e} of a weight; {} needs {:.1e}", which, worst,
                     to_string(precision), allowed);
}

ConvShape shape_of(const ConvWeights& w) {
  ConvShape s;
  s.c_out = w.c_out, s.c_in = w.c_in, s.k_h = w.k_h, s.k_w = w.k_w;
  return s;
}

double roundings_of_passes(const ConvShape& s) { return static_cast<double>(s.k_h + s.c_in * s.k_w); }

}  // namespace

double rounded(double value, Precision precision) {
  return precision == Precision::fp32 ? static_cast<double>(static_cast<float>(value)) : value;
}

std::string energy_share(double kept) {
  if (kept < 0.9995) return fmt::format("{:.1f} %", 100 * kept);
  return fmt::format("all but {:.1e}", 1 - kept);
}

double separable_roundoffs(const ConvShape& s) {
  return std::max(4.0, static_cast<double>(s.taps()) - roundings_of_passes(s));
}

double separable_error_bounds(const ConvShape& s) {
  if (s.k_h == 1 || s.k_w == 1) return 1;
  const double bias = 1;
  return std::max(
      1.0, (roundings_of_passes(s) + separable_roundoffs(s) + bias) / (static_cast<double>(s.taps()) + bias));
}

SeparableFilters separate_filters(const ConvWeights& weights, Precision precision) {
  const double eps = precision == Precision::fp32 ? 0x1p-24 : 0x1p-53;
  const double allowed = separable_roundoffs(shape_of(weights)) * eps;
  const std::size_t taps = static_cast<std::size_t>(weights.k_h * weights.k_w);
  SeparableFilters result;
  double least_kept = 2;
  for (int64_t o = 0; o < weights.c_out; ++o) {
    for (int64_t c = 0; c < weights.c_in; ++c) {
      const auto first = weights.values.begin() + static_cast<std::ptrdiff_t>(taps) * (o * weights.c_in + c);
      Kernel k{weights.k_h, weights.k_w, {first, first + static_cast<std::ptrdiff_t>(taps)}};
      for (double& value : k.values) value = rounded(value, precision);
      const bool finite =
          std::all_of(k.values.begin(), k.values.end(), [](double v) { return std::isfinite(v); });
      if (!finite && k.h > 1 && k.w > 1) {
        result.refused = fmt::format("filter {}, channel {} has a weight that is not finite", o, c);
        return {{}, {}, result.refused};
      }
      const Factors f = factor(k, precision);
      // Rank 1 is the best approximation there is (Eckart and Young): where these factors miss little, it
      // does, and only kernels that are refused need to be decomposed.
      if (f.worst <= allowed && (k.h == 1 || k.w == 1 || missed_energy(k, f) <= kSeparableEnergy)) {
        result.columns.insert(result.columns.end(), f.column.begin(), f.column.end());
        result.rows.insert(result.rows.end(), f.row.begin(), f.row.end());
        continue;
      }
      const Shortfall lack = shortfall(k);
      if (lack.kept >= least_kept) continue;
      least_kept = lack.kept;
      result.refused = refusal(o, c, lack, f.worst, precision, allowed);
    }
  }
  if (result.refused) return {{}, {}, result.refused};
  return result;
}

}  // namespace convscope
