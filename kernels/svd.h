#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace convscope {

/// a = u diag(s) v^T. Row-major; k = min(rows, cols); s descends. Columns of u that belong to a singular
/// value of zero are zero.
struct Svd {
  int64_t rows = 0, cols = 0, k = 0;
  std::vector<double> u;  // rows x k
  std::vector<double> s;  // k
  std::vector<double> v;  // cols x k

  /// Energy (sum of squares) of the whole, and of the best approximation of rank r.
  double energy() const { return energy(k); }
  double energy(int64_t r) const;
};

/// Singular value decomposition of a small dense matrix, rows x cols, row-major, finite. One-sided Jacobi
/// (Golub and Van Loan, Matrix Computations, 4th ed., section 8.6.3): each singular value is right to about
/// 1e-15 of the largest.
Svd svd(std::span<const double> a, int64_t rows, int64_t cols);

}  // namespace convscope
