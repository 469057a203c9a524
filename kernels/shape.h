#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace convscope {

/// Element type of planes and of the arithmetic. Pixels of either type are planar NCHW.
enum class Precision { fp32, fp64 };

/// How `acc += w * x` rounds: once (fused multiply-add), or after the product and again after the sum.
enum class Rounding { fused, separate };

/// Applied to each output after the bias. ReLU propagates NaN.
enum class Activation { none, relu, sigmoid, tanh };

/// Pixels beyond the edge, as OpenCV names them: zero 000|abc|000, replicate aaa|abc|ccc, reflect
/// cba|abc|cba, reflect_101 dcb|abcd|cba, wrap abc|abc|abc.
enum class Border { zero, replicate, reflect, reflect_101, wrap };

const char* to_string(Precision);
const char* to_string(Rounding);
const char* to_string(Activation);
const char* to_string(Border);
/// Inverse of to_string; nullopt where the text is none of the names.
std::optional<Precision> parse_precision(const std::string&);
std::optional<Rounding> parse_rounding(const std::string&);
std::optional<Activation> parse_activation(const std::string&);
std::optional<Border> parse_border(const std::string&);

constexpr std::size_t bytes_of(Precision p) { return p == Precision::fp64 ? 8 : 4; }

/// A value for each image axis.
struct Axes {
  int64_t y = 0, x = 0;
  bool operator==(const Axes&) const = default;
};

/// One 2-D cross-correlation, NCHW input, OIHW weights, zero padding of `pad` on both sides of an axis.
///   out[b][o][y][x] = sum over c, i, j of w[o][c][i][j] * in[b][c][y*stride.y - pad.y + i*dilation.y][...]
/// A 1-D convolution has k_h = 1 or h = 1.
struct ConvShape {
  int64_t n = 1, c_in = 1, h = 1, w = 1;
  int64_t c_out = 1, k_h = 1, k_w = 1;
  Axes stride{1, 1}, pad{0, 0}, dilation{1, 1};

  bool operator==(const ConvShape&) const = default;

  /// floor((in + 2 pad - dilation (k - 1) - 1) / stride) + 1, or 0 where the numerator is negative.
  int64_t out_h() const;
  int64_t out_w() const;
  /// Values, not bytes.
  int64_t input_size() const { return n * c_in * h * w; }
  int64_t output_size() const { return n * c_out * out_h() * out_w(); }
  int64_t weight_size() const { return c_out * c_in * k_h * k_w; }
  int64_t taps() const { return c_in * k_h * k_w; }
  int64_t multiply_adds() const { return output_size() * taps(); }
};

/// Largest kernel side that strategies must take.
inline constexpr int64_t kMaxKernelSide = 31;

/// The output size along one axis, or 0 where the kernel does not fit.
int64_t conv_output_size(int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation);

/// What is wrong with the shape, in a sentence for the user; nullopt where it is valid.
std::optional<std::string> fault(const ConvShape&);

/// "1x3x1080x1920 -> 16, 3x3, stride 2,2, pad 0,0": for logs and messages.
std::string describe(const ConvShape&);

/// OIHW weights and one bias per output channel (or none). Held in double, exact for both precisions.
struct ConvWeights {
  int64_t c_out = 0, c_in = 0, k_h = 0, k_w = 0;
  std::vector<double> values;  // [o][c][i][j]
  std::vector<double> bias;    // [o], or empty

  double& at(int64_t o, int64_t c, int64_t i, int64_t j) {
    return values[static_cast<std::size_t>(((o * c_in + c) * k_h + i) * k_w + j)];
  }
  double at(int64_t o, int64_t c, int64_t i, int64_t j) const {
    return const_cast<ConvWeights*>(this)->at(o, c, i, j);
  }
  /// By the values' bits: weights with a NaN are equal to themselves.
  bool operator==(const ConvWeights&) const;
};

/// What is wrong with the weights for this shape, in a sentence; nullopt where they fit.
std::optional<std::string> fault(const ConvWeights&, const ConvShape&);

/// The kernel turned by 180 degrees, which makes cross-correlation a true convolution.
ConvWeights flipped(ConvWeights);

/// Everything that a strategy needs to know besides the weights.
struct ConvProblem {
  ConvShape shape;
  Activation activation = Activation::none;
  Rounding rounding = Rounding::fused;
  /// Up to which rank `separable` approximates each kernel; 0: it refuses what it would have to approximate.
  /// All others compute the kernels as they are.
  int64_t separable_rank = 0;
  bool operator==(const ConvProblem&) const = default;
};

}  // namespace convscope
