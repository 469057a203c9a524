// reference: the specification. Plain loops over the formula of ConvShape, accumulated in double, rounded to
// the precision of the planes once, after bias and activation. Weights are rounded to that precision first,
// since that is what every other strategy multiplies with.
#include <memory>
#include <vector>

#include "kernels/strategies/host_activation.h"
#include "kernels/strategies/padded_planes.h"
#include "kernels/strategies/validate.h"

namespace convscope::cpu {
namespace {

template <class T>
class Reference final : public Strategy {
 public:
  explicit Reference(StrategyInfo info) : Strategy(std::move(info)) {}

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    validate(*this, problem, weights);
    planes_.allocate(problem.shape);
    problem_ = problem;
    weights_ = weights;
    for (double& value : weights_.values) value = static_cast<T>(value);
    for (double& value : weights_.bias) value = static_cast<T>(value);
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const StageTimer timer(stages, "reference");
    planes_.fill(static_cast<const T*>(in));
    for_each_row_tile(problem_.shape, [&](const RowTile& tile) {
      for (int64_t o = 0; o < problem_.shape.c_out; ++o) convolve(tile, o, static_cast<T*>(out));
    });
  }

 private:
  void convolve(const RowTile& tile, int64_t o, T* out) const {
    const ConvShape& s = problem_.shape;
    double sum[kTileWidth];
    std::fill_n(sum, tile.count, 0.0);
    for (int64_t c = 0; c < s.c_in; ++c)
      for (int64_t i = 0; i < s.k_h; ++i)
        for (int64_t j = 0; j < s.k_w; ++j) {
          const double w = weights_.at(o, c, i, j);
          const double* x = planes_.row(tile.b * s.c_in + c, tile.y * s.stride.y + i * s.dilation.y) +
                            tile.x * s.stride.x + j * s.dilation.x;
          for_each_strided(x, s.stride.x, tile.count, [&](int64_t k, double value) { sum[k] += w * value; });
        }
    if (!weights_.bias.empty())
      for (int64_t k = 0; k < tile.count; ++k) sum[k] += weights_.bias[static_cast<std::size_t>(o)];
    activate(problem_.activation, sum, tile.count);
    std::transform(sum, sum + tile.count, out + output_index(s, tile, o),
                   [](double value) { return static_cast<T>(value); });
  }

  ConvProblem problem_;
  ConvWeights weights_;
  PaddedPlanes<double> planes_;
};

}  // namespace

std::unique_ptr<Strategy> make_reference(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<Reference<double>>(std::move(info));
  return std::make_unique<Reference<float>>(std::move(info));
}

}  // namespace convscope::cpu
