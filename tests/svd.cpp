// The decomposition and the factoring of separable kernels, against values computed by other means.

#include "kernels/svd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/separable_filters.h"

namespace convscope {
namespace {

struct Matrix {
  const char* name;
  int64_t rows, cols;
  std::vector<double> values;
  std::vector<double> singular;  // where known
};

std::vector<double> random(int64_t count, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& v : values) v = static_cast<double>(bits() >> 11) * 0x1p-52 - 1.0;
  return values;
}

/// sum over r of scale[r] a_r b_r^T, of random a and b.
std::vector<double> of_rank(int64_t rows, int64_t cols, const std::vector<double>& scale, uint64_t seed) {
  std::vector<double> m(static_cast<std::size_t>(rows * cols), 0.0);
  for (std::size_t r = 0; r < scale.size(); ++r) {
    const auto a = random(rows, seed + 2 * r), b = random(cols, seed + 2 * r + 1);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        m[static_cast<std::size_t>(i * cols + j)] +=
            scale[r] * a[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(j)];
  }
  return m;
}

std::vector<Matrix> matrices() {
  return {{"one", 1, 1, {-3}, {3}},
          {"zero", 3, 2, std::vector<double>(6, 0.0), {0, 0}},
          {"diagonal", 2, 2, {3, 0, 0, -5}, {5, 3}},
          {"triangle", 2, 2, {1, 1, 0, 1}, {(std::sqrt(5.0) + 1) / 2, (std::sqrt(5.0) - 1) / 2}},
          {"row", 1, 4, {2, 2, 2, 2}, {4}},
          {"column", 4, 1, {1, 1, 1, -1}, {2}},
          {"Sobel", 3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}, {std::sqrt(12.0), 0, 0}},
          {"Laplacian", 3, 3, {0, 1, 0, 1, -4, 1, 0, 1, 0}, {std::sqrt(6.0) + 2, std::sqrt(6.0) - 2, 0}},
          {"Hilbert 4",
           4,
           4,
           {1, 1. / 2, 1. / 3, 1. / 4, 1. / 2, 1. / 3, 1. / 4, 1. / 5, 1. / 3, 1. / 4, 1. / 5, 1. / 6, 1. / 4,
            1. / 5, 1. / 6, 1. / 7},
           // by arithmetic of 50 digits
           {1.5002142800592427, 0.16914122022144998, 0.0067382736057607455, 9.670230402258689e-05}},
          {"huge", 2, 2, {3e200, 0, 0, 4e200}, {4e200, 3e200}},
          {"tiny", 2, 2, {3e-200, 0, 0, 4e-200}, {4e-200, 3e-200}},
          {"full 31x31", 31, 31, random(961, 1), {}},
          {"full 5x31", 5, 31, random(155, 2), {}},
          {"full 31x7", 31, 7, random(217, 3), {}},
          {"rank 1, 31x31", 31, 31, of_rank(31, 31, {1}, 4), {}},
          {"rank 2, 31x31", 31, 31, of_rank(31, 31, {1, 1e-3}, 8), {}},
          {"rank 2, 3x9", 3, 9, of_rank(3, 9, {1, 0.5}, 12), {}}};
}

/// Largest |m^T m - 1| of the first `used` columns.
double off_orthogonal(const std::vector<double>& m, int64_t rows, int64_t k, int64_t used) {
  double worst = 0;
  for (int64_t a = 0; a < used; ++a) {
    for (int64_t b = 0; b < used; ++b) {
      double sum = 0;
      for (int64_t i = 0; i < rows; ++i)
        sum += m[static_cast<std::size_t>(i * k + a)] * m[static_cast<std::size_t>(i * k + b)];
      worst = std::max(worst, std::abs(sum - (a == b ? 1 : 0)));
    }
  }
  return worst;
}

TEST(Svd, ProductsAndKnownValues) {
  for (const Matrix& m : matrices()) {
    SCOPED_TRACE(m.name);
    const Svd d = svd(m.values, m.rows, m.cols);
    ASSERT_EQ(d.k, std::min(m.rows, m.cols));
    ASSERT_EQ(d.u.size(), static_cast<std::size_t>(m.rows * d.k));
    ASSERT_EQ(d.v.size(), static_cast<std::size_t>(m.cols * d.k));
    const double scale = d.s[0] > 0 ? d.s[0] : 1;
    EXPECT_TRUE(std::is_sorted(d.s.rbegin(), d.s.rend()));
    for (std::size_t r = 0; r < m.singular.size(); ++r)
      EXPECT_NEAR(d.s[r] / scale, m.singular[r] / scale, 2e-15) << r;
    for (int64_t i = 0; i < m.rows; ++i) {
      for (int64_t j = 0; j < m.cols; ++j) {
        double sum = 0;
        for (int64_t r = 0; r < d.k; ++r)
          sum += d.u[static_cast<std::size_t>(i * d.k + r)] * (d.s[static_cast<std::size_t>(r)] / scale) *
                 d.v[static_cast<std::size_t>(j * d.k + r)];
        EXPECT_NEAR(sum, m.values[static_cast<std::size_t>(i * m.cols + j)] / scale, 2e-14);
      }
    }
    int64_t used = 0;
    while (used < d.k && d.s[static_cast<std::size_t>(used)] > 1e-12 * scale) ++used;
    if (d.s[0] == 0) used = 0;
    EXPECT_LT(off_orthogonal(d.u, m.rows, d.k, used), 1e-12);
    EXPECT_LT(off_orthogonal(d.v, m.cols, d.k, used), 1e-13);
    const std::string name = m.name;
    if (name.starts_with("rank 1")) {
      EXPECT_LT(d.s[1], 1e-15 * scale);
    }
    if (name.starts_with("rank 2")) {
      EXPECT_GT(d.s[1], 1e-5 * scale);
      EXPECT_LT(d.s[2], 1e-15 * scale);
    }
    if (name.starts_with("full")) {
      EXPECT_GT(d.s.back(), 1e-5 * scale);
    }
  }
}

struct Bank {
  const char* name;
  int64_t h, w;
  std::vector<double> values;
  const char* fp32;  // part of the refusal; null where it is taken
  const char* fp64;
};

std::vector<double> gaussian(int64_t side, double sigma, bool as_float) {
  std::vector<double> m;
  double total = 0;
  for (int64_t i = 0; i < side; ++i) {
    for (int64_t j = 0; j < side; ++j) {
      const double y = static_cast<double>(i - side / 2) / sigma,
                   x = static_cast<double>(j - side / 2) / sigma;
      m.push_back(std::exp(-(x * x + y * y) / 2));
      total += m.back();
    }
  }
  for (double& v : m) v = as_float ? static_cast<double>(static_cast<float>(v / total)) : v / total;
  return m;
}

std::vector<Bank> banks() {
  const auto ninth = static_cast<double>(1.0f / 9.0f);
  std::vector<double> nearly = gaussian(5, 1, false);
  nearly[7] *= 1 + 1e-5;
  std::vector<double> hole(25, 1.0);
  hole[0] = 0;
  return {{"box", 3, 3, std::vector<double>(9, 1.0 / 9), nullptr, nullptr},
          {"box of floats", 3, 3, std::vector<double>(9, ninth), nullptr, nullptr},
          {"zero", 3, 3, std::vector<double>(9, 0.0), nullptr, nullptr},
          {"one tap", 3, 3, {0, 0, 0, 0, 0, 0, 0, 7, 0}, nullptr, nullptr},
          {"Sobel", 3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}, nullptr, nullptr},
          {"Sobel / 8", 3, 3, {-.125, -.25, -.125, 0, 0, 0, .125, .25, .125}, nullptr, nullptr},
          {"Gaussian 3", 3, 3, gaussian(3, 0.8, false), nullptr, nullptr},
          {"Gaussian 5", 5, 5, gaussian(5, 1.1, false), nullptr, nullptr},
          {"Gaussian 17", 17, 17, gaussian(17, 3, false), nullptr, nullptr},
          {"Gaussian 31", 31, 31, gaussian(31, 5, false), nullptr, nullptr},
          {"Gaussian 3 of floats", 3, 3, gaussian(3, 0.8, true), nullptr, "rank 1 only to"},
          {"Gaussian 5 of floats", 5, 5, gaussian(5, 1.1, true), nullptr, "rank 1 only to"},
          {"Gaussian 31 of floats", 31, 31, gaussian(31, 5, true), nullptr, "rank 1 only to"},
          {"random row", 1, 7, random(7, 1), nullptr, nullptr},
          {"random column", 7, 1, random(7, 1), nullptr, nullptr},
          // energy 20: rank 1 keeps (sqrt 6 + 2)^2 / 20 = 0.98990
          {"Laplacian",
           3,
           3,
           {0, 1, 0, 1, -4, 1, 0, 1, 0},
           "has rank 2; rank 1 keeps 99.0 %",
           "has rank 2; rank 1 keeps 99.0 %"},
          {"identity matrix",
           3,
           3,
           {1, 0, 0, 0, 1, 0, 0, 0, 1},
           "has rank 3; rank 1 keeps 33.3 %",
           "has rank 3; rank 1 keeps 33.3 %"},
          {"nearly", 5, 5, nearly, "has rank 2; rank 1 keeps all but", "has rank 2; rank 1 keeps all but"},
          {"a hole", 5, 5, hole, "has rank 2", "has rank 2"},
          {"NaN", 2, 2, {1, 1, 1, std::nan("")}, "not finite", "not finite"}};
}

TEST(SeparableFilters, TakesRankOneAndSaysWhatOthersLack) {
  for (const Bank& b : banks()) {
    for (const Precision precision : {Precision::fp32, Precision::fp64}) {
      SCOPED_TRACE(std::string(b.name) + " " + to_string(precision));
      const ConvWeights weights{1, 1, b.h, b.w, b.values, {}};
      const SeparableFilters f = separate_filters(weights, precision);
      const char* expected = precision == Precision::fp32 ? b.fp32 : b.fp64;
      if (expected != nullptr) {
        EXPECT_NE(f.refused.value_or("(taken)").find(std::string("filter 0, channel 0 has ")),
                  std::string::npos)
            << f.refused.value_or("(taken)");
        EXPECT_NE(f.refused.value_or("(taken)").find(expected), std::string::npos)
            << f.refused.value_or("(taken)");
        continue;
      }
      ASSERT_FALSE(f.refused) << *f.refused;
      const double eps = precision == Precision::fp32 ? 0x1p-24 : 0x1p-53;
      for (int64_t i = 0; i < b.h; ++i) {
        for (int64_t j = 0; j < b.w; ++j) {
          const double given = b.values[static_cast<std::size_t>(i * b.w + j)];
          const double w =
              precision == Precision::fp32 ? static_cast<double>(static_cast<float>(given)) : given;
          const long double product = static_cast<long double>(f.columns[static_cast<std::size_t>(i)]) *
                                      f.rows[static_cast<std::size_t>(j)];
          EXPECT_LE(static_cast<double>(std::abs(product - w)),
                    separable_roundoffs({1, 1, 1, 1, 1, b.h, b.w}) * eps * std::abs(w) * 1.001)
              << i << "," << j;
        }
      }
    }
  }
}

TEST(SeparableFilters, NamesTheWorstKernel) {
  ConvWeights w{3, 2, 3, 3, {}, {}};
  const std::vector<double> sobel = {-1, 0, 1, -2, 0, 2, -1, 0, 1}, laplacian = {0, 1, 0, 1, -4, 1, 0, 1, 0},
                            diagonal = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (const auto* kernel : {&sobel, &sobel, &laplacian, &sobel, &sobel, &diagonal})
    w.values.insert(w.values.end(), kernel->begin(), kernel->end());
  EXPECT_EQ(separate_filters(w, Precision::fp32).refused.value_or("(taken)"),
            "filter 2, channel 1 has rank 3; rank 1 keeps 33.3 % of its energy");
}

}  // namespace
}  // namespace convscope
