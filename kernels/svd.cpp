#include "kernels/svd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace convscope {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr int kMostSweeps = 60;  // matrices of 31x31 need about eight

/// Columns of equal length, one after the other.
struct Columns {
  int64_t length = 0;
  std::vector<double> values;
  double* operator[](int64_t column) { return values.data() + column * length; }
};

double dot(const double* a, const double* b, int64_t n) { return std::inner_product(a, a + n, b, 0.0); }

void rotate(double* a, double* b, int64_t n, double c, double s) {
  for (int64_t i = 0; i < n; ++i) {
    const double x = a[i], y = b[i];
    a[i] = c * x - s * y;
    b[i] = s * x + c * y;
  }
}

/// Makes columns p and q of `a` orthogonal, and turns those of `v` with them; false where they were. Products
/// below `negligible` are rounding errors of the columns.
bool make_orthogonal(Columns& a, Columns& v, int64_t p, int64_t q, double negligible) {
  const double alpha = dot(a[p], a[p], a.length), beta = dot(a[q], a[q], a.length),
               gamma = dot(a[p], a[q], a.length);
  if (std::abs(gamma) <= std::max(kEps * std::sqrt(alpha) * std::sqrt(beta), negligible)) return false;
  const double zeta = (beta - alpha) / (2 * gamma);
  const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
  const double c = 1 / std::hypot(1.0, t);
  rotate(a[p], a[q], a.length, c, c * t);
  rotate(v[p], v[q], v.length, c, c * t);
  return true;
}

/// `a` becomes u diag(s), `v` the right singular vectors, neither sorted.
void diagonalise(Columns& a, Columns& v, int64_t count) {
  const double negligible = kEps * kEps * dot(a.values.data(), a.values.data(), a.length * count);
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool rotated = false;
    for (int64_t p = 0; p + 1 < count; ++p)
      for (int64_t q = p + 1; q < count; ++q) rotated |= make_orthogonal(a, v, p, q, negligible);
    if (!rotated) return;
  }
}

/// The decomposition of a matrix with rows >= cols, given as its columns.
Svd tall_svd(Columns a, int64_t cols) {
  Svd result{a.length, cols, cols, {}, {}, {}};
  Columns v{cols, std::vector<double>(static_cast<std::size_t>(cols * cols), 0.0)};
  for (int64_t i = 0; i < cols; ++i) v[i][i] = 1;
  diagonalise(a, v, cols);

  std::vector<std::pair<double, int64_t>> order;
  for (int64_t i = 0; i < cols; ++i) order.emplace_back(std::sqrt(dot(a[i], a[i], a.length)), i);
  std::sort(order.begin(), order.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  result.u.resize(static_cast<std::size_t>(a.length * cols));
  result.v.resize(static_cast<std::size_t>(cols * cols));
  for (int64_t r = 0; r < cols; ++r) {
    const auto [norm, from] = order[static_cast<std::size_t>(r)];
    result.s.push_back(norm);
    for (int64_t i = 0; i < a.length; ++i)
      result.u[static_cast<std::size_t>(i * cols + r)] = norm > 0 ? a[from][i] / norm : 0.0;
    for (int64_t i = 0; i < cols; ++i) result.v[static_cast<std::size_t>(i * cols + r)] = v[from][i];
  }
  return result;
}

}  // namespace

double Svd::energy(int64_t r) const { return std::inner_product(s.begin(), s.begin() + r, s.begin(), 0.0); }

Svd svd(std::span<const double> a, int64_t rows, int64_t cols) {
  // by the largest value, so that no square over- or underflows
  double largest = 0;
  for (const double value : a) largest = std::max(largest, std::abs(value));
  const double scale = largest > 0 ? largest : 1;
  const bool turned = rows < cols;  // its transpose then: u and v change places
  Columns columns{turned ? cols : rows, std::vector<double>(a.size())};
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      const double value = a[static_cast<std::size_t>(i * cols + j)] / scale;
      if (turned)
        columns[i][j] = value;
      else
        columns[j][i] = value;
    }
  }
  Svd result = tall_svd(std::move(columns), turned ? rows : cols);
  for (double& s : result.s) s *= scale;
  if (turned) {
    std::swap(result.u, result.v);
    std::swap(result.rows, result.cols);
  }
  return result;
}

}  // namespace convscope
