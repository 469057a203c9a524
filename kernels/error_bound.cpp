#include <cmath>
#include <limits>

#include "kernels/compare.h"
#include "kernels/error.h"
#include "kernels/strategies/padded_planes.h"

namespace convscope {
namespace {

/// |w| |x|, never rounded to zero where neither is: only a product of doubles can underflow here, floats
/// cannot.
template <class T>
double magnitude(double w, double x) {
  if constexpr (std::numeric_limits<T>::digits == std::numeric_limits<double>::digits) {
    constexpr double kTiny = std::numeric_limits<double>::denorm_min();
    return std::max(w * x, w > 0 && x > 0 ? kTiny : 0.0);
  }
  return w * x;
}

/// The bound of a sum of magnitudes. An exact zero stays zero: all terms are zero and nothing rounds. NaN
/// (0 * Inf) becomes infinity: a strategy that spreads the Inf may have anything there.
template <class T>
class BoundOfSum {
 public:
  explicit BoundOfSum(int64_t terms) {
    constexpr double kUnitRoundoff = std::numeric_limits<T>::epsilon() / 2;
    const double n = static_cast<double>(terms);
    // Higham's gamma_n = n eps / (1 - n eps), with a hair for the roundings of the sum, which is in double,
    // and another for the rounding to float: nothing makes a bound smaller
    const double hair = (1 + (n + 4) * std::numeric_limits<double>::epsilon()) * (1 + 0x1p-22);
    factor_ = n * kUnitRoundoff < 1 ? hair * n * kUnitRoundoff / (1 - n * kUnitRoundoff)
                                    : std::numeric_limits<double>::infinity();
    // below the normal range each product, and the float of the bound, loses up to half the smallest value
    underflow_ = n * static_cast<double>(std::numeric_limits<T>::denorm_min()) + 0x1p-149;
  }
  float operator()(double sum) const {
    if (std::isnan(sum)) return std::numeric_limits<float>::infinity();
    return static_cast<float>(sum == 0 ? 0.0 : sum * factor_ + underflow_);
  }

 private:
  double factor_, underflow_;
};

template <class T>
void bound_of(const ConvShape& s, const ConvWeights& weights, const T* in, float* bound) {
  cpu::PaddedPlanes<double> planes;
  planes.allocate(s);
  planes.fill(in, [](T value) { return std::abs(static_cast<double>(value)); });
  const BoundOfSum<T> bound_of_sum(s.taps() + 1);

  cpu::for_each_row_tile(s, [&](const cpu::RowTile& tile) {
    for (int64_t o = 0; o < s.c_out; ++o) {
      const T bias = weights.bias.empty() ? T(0) : static_cast<T>(weights.bias[static_cast<std::size_t>(o)]);
      double sum[cpu::kTileWidth];
      std::fill_n(sum, tile.count, std::abs(static_cast<double>(bias)));
      for (int64_t c = 0; c < s.c_in; ++c)
        for (int64_t i = 0; i < s.k_h; ++i)
          for (int64_t j = 0; j < s.k_w; ++j) {
            const double w = std::abs(static_cast<T>(weights.at(o, c, i, j)));
            const double* x = planes.row(tile.b * s.c_in + c, tile.y * s.stride.y + i * s.dilation.y) +
                              tile.x * s.stride.x + j * s.dilation.x;
            cpu::for_each_strided(x, s.stride.x, tile.count,
                                  [&](int64_t k, double value) { sum[k] += magnitude<T>(w, value); });
          }
      std::transform(sum, sum + tile.count, bound + cpu::output_index(s, tile, o), bound_of_sum);
    }
  });
}

}  // namespace

void error_bound(const ConvShape& shape, const ConvWeights& weights, Precision precision, const void* in,
                 float* bound) {
  if (const auto reason = fault(shape)) throw Error(*reason);
  if (const auto reason = fault(weights, shape)) throw Error(*reason);
  if (precision == Precision::fp64)
    bound_of(shape, weights, static_cast<const double*>(in), bound);
  else
    bound_of(shape, weights, static_cast<const float*>(in), bound);
}

}  // namespace convscope
