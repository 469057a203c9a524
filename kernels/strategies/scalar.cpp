// scalar: ordinary loops in the precision of the planes, in the order of the `direct` kernel. Per output
// value: acc = 0; for each channel, kernel row, kernel column: acc = mad(w, x, acc); then the bias, then the
// activation. With the same rounding it equals `direct` bit for bit, activations aside (exp and tanh are the
// library's). The compiler vectorises over neighbouring outputs, which leaves the order within each sum
// alone.
#include <memory>
#include <vector>

#include "kernels/strategies/host_activation.h"
#include "kernels/strategies/padded_planes.h"
#include "kernels/strategies/validate.h"

namespace convscope::cpu {
namespace {

template <Rounding kRounding, class T>
inline T mad(T w, T x, T acc) {
  if constexpr (kRounding == Rounding::fused) return std::fma(w, x, acc);
  return w * x + acc;  // two roundings: host code is compiled with -ffp-contract=off
}

template <class T>
class Scalar final : public Strategy {
 public:
  explicit Scalar(StrategyInfo info) : Strategy(std::move(info)) {}

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    validate(*this, problem, weights);
    planes_.allocate(problem.shape);
    problem_ = problem;
    weights_.assign(weights.values.begin(), weights.values.end());
    bias_.assign(weights.bias.begin(), weights.bias.end());
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const StageTimer timer(stages, "scalar");
    planes_.fill(static_cast<const T*>(in));
    if (problem_.rounding == Rounding::fused)
      run<Rounding::fused>(static_cast<T*>(out));
    else
      run<Rounding::separate>(static_cast<T*>(out));
  }

 private:
  template <Rounding kRounding>
  void run(T* out) const {
    for_each_row_tile(problem_.shape, [&](const RowTile& tile) {
      for (int64_t o = 0; o < problem_.shape.c_out; ++o) convolve<kRounding>(tile, o, out);
    });
  }

  template <Rounding kRounding>
  void convolve(const RowTile& tile, int64_t o, T* out) const {
    const ConvShape& s = problem_.shape;
    T acc[kTileWidth];
    std::fill_n(acc, tile.count, T(0));
    const T* next_weight = weights_.data() + o * s.taps();
    for (int64_t c = 0; c < s.c_in; ++c)
      for (int64_t i = 0; i < s.k_h; ++i)
        for (int64_t j = 0; j < s.k_w; ++j) {
          const T w = *next_weight++;
          const T* x = planes_.row(tile.b * s.c_in + c, tile.y * s.stride.y + i * s.dilation.y) +
                       tile.x * s.stride.x + j * s.dilation.x;
          for_each_strided(x, s.stride.x, tile.count,
                           [&](int64_t k, T value) { acc[k] = mad<kRounding>(w, value, acc[k]); });
        }
    if (!bias_.empty())
      for (int64_t k = 0; k < tile.count; ++k) acc[k] += bias_[static_cast<std::size_t>(o)];
    activate(problem_.activation, acc, tile.count);
    std::copy_n(acc, tile.count, out + output_index(s, tile, o));
  }

  ConvProblem problem_;
  std::vector<T> weights_, bias_;
  PaddedPlanes<T> planes_;
};

}  // namespace

std::unique_ptr<Strategy> make_scalar(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<Scalar<double>>(std::move(info));
  return std::make_unique<Scalar<float>>(std::move(info));
}

}  // namespace convscope::cpu
