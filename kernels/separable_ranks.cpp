#include "kernels/separable_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/separable_filters.h"
#include "kernels/svd.h"

namespace convscope {
namespace {

/// Terms of one kernel, the largest first.
struct Terms {
  std::vector<std::vector<double>> columns, rows;
  double energy = 0, kept = 0;
};

/// One kernel as weights of its own.
ConvWeights kernel_of(const ConvWeights& w, int64_t o, int64_t c, Precision precision) {
  const int64_t taps = w.k_h * w.k_w;
  const auto first = w.values.begin() + (o * w.c_in + c) * taps;
  ConvWeights kernel{1, 1, w.k_h, w.k_w, {first, first + taps}, {}};
  for (double& value : kernel.values) value = rounded(value, precision);
  return kernel;
}

Terms terms_of(const ConvWeights& kernel, Precision precision, int64_t rank) {
  // what has rank 1 as it stands keeps the factors that are exact
  const SeparableFilters exact = separate_filters(kernel, precision);
  if (!exact.refused) return {{exact.columns}, {exact.rows}, 1, 1};
  const Svd d = svd(kernel.values, kernel.k_h, kernel.k_w);
  Terms terms;
  terms.energy = d.energy();
  for (int64_t r = 0; r < std::min(rank, d.k); ++r) {
    if (terms.energy - d.energy(r) <= kSeparableEnergy * terms.energy) break;  // nothing is left
    std::vector<double> column, row;
    for (int64_t i = 0; i < d.rows; ++i)
      column.push_back(
          rounded(d.u[static_cast<std::size_t>(i * d.k + r)] * d.s[static_cast<std::size_t>(r)], precision));
    for (int64_t j = 0; j < d.cols; ++j)
      row.push_back(rounded(d.v[static_cast<std::size_t>(j * d.k + r)], precision));
    terms.columns.push_back(std::move(column));
    terms.rows.push_back(std::move(row));
    terms.kept = d.energy(r + 1);
  }
  return terms;
}

/// `factors` of a kernel, filled up with zeros to `ranks`.
void append(std::vector<double>& to, const std::vector<std::vector<double>>& factors, int64_t ranks,
            int64_t taps) {
  for (const std::vector<double>& factor : factors) to.insert(to.end(), factor.begin(), factor.end());
  to.resize(to.size() + static_cast<std::size_t>((ranks - static_cast<int64_t>(factors.size())) * taps));
}

}  // namespace

RankFilters separable_factors(const ConvWeights& weights, Precision precision, int64_t rank) {
  RankFilters result;
  if (rank == 0) {
    SeparableFilters exact = separate_filters(weights, precision);
    result.columns = std::move(exact.columns);
    result.rows = std::move(exact.rows);
    result.refused = std::move(exact.refused);
    return result;
  }
  std::vector<Terms> all;
  double energy = 0, kept = 0;
  for (int64_t o = 0; o < weights.c_out; ++o) {
    for (int64_t c = 0; c < weights.c_in; ++c) {
      const ConvWeights kernel = kernel_of(weights, o, c, precision);
      const bool finite =
          std::all_of(kernel.values.begin(), kernel.values.end(), [](double v) { return std::isfinite(v); });
      if (!finite && weights.k_h > 1 && weights.k_w > 1) {
        result.refused = fmt::format("filter {}, channel {} has a weight that is not finite", o, c);
        return result;
      }
      Terms terms = terms_of(kernel, precision, rank);
      double norm = 0;
      for (const double v : kernel.values) norm += v * v;
      const double share = terms.energy > 0 ? terms.kept / terms.energy : 1;
      energy += norm;
      kept += norm * share;
      if (share < result.least_kept) {
        result.least_kept = share;
        result.worst_filter = o;
        result.worst_channel = c;
      }
      result.ranks = std::max(result.ranks, static_cast<int64_t>(terms.columns.size()));
      all.push_back(std::move(terms));
    }
  }
  if (energy > 0 && std::isfinite(energy)) result.kept = kept / energy;
  for (const Terms& terms : all) {
    append(result.columns, terms.columns, result.ranks, weights.k_h);
    append(result.rows, terms.rows, result.ranks, weights.k_w);
  }
  return result;
}

std::optional<std::string> separable_approximation(const ConvWeights& weights, int64_t rank) {
  const RankFilters filters = separable_factors(weights, Precision::fp64, rank);
  if (filters.refused || 1 - filters.least_kept <= kSeparableEnergy) return std::nullopt;
  const std::string worst = weights.c_out * weights.c_in > 1
                                ? fmt::format(" (filter {}, channel {}: {})", filters.worst_filter,
                                              filters.worst_channel, energy_share(filters.least_kept))
                                : "";
  return fmt::format("rank-{} approximation, keeps {} of the filters' energy{}", rank,
                     energy_share(filters.kept), worst);
}

double separable_rank_error_bounds(const ConvShape& s, int64_t rank) {
  if (s.k_h == 1 || s.k_w == 1) return 1;
  const double ranks = static_cast<double>(std::min({rank, s.k_h, s.k_w}));
  // down, along over all channels and ranks, four more for rounding the weights and the factors, the bias
  const double roundings = static_cast<double>(s.k_h) + ranks * static_cast<double>(s.c_in * s.k_w) + 4 + 1;
  const double norm = std::sqrt(static_cast<double>(s.k_h * s.k_w));
  return std::max(1.0, norm * roundings / static_cast<double>(s.taps() + 1));
}

}  // namespace convscope
