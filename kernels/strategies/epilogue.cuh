#pragma once
// What follows the sum of products in every strategy: the bias, then the activation.

namespace convscope::TARGET {

template <class T>
__device__ __forceinline__ T activate(T v, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return v < T(0) ? T(0) : v;  // NaN stays NaN
    case Activation::sigmoid:
      return T(1) / (T(1) + exp(-v));
    case Activation::tanh:
      return tanh(v);
    case Activation::none:
      break;
  }
  return v;
}

/// `bias`: the output channel's, or nullptr.
template <class T>
__device__ __forceinline__ T finish(T sum, const T* bias, Activation activation) {
  return activate(bias == nullptr ? sum : sum + *bias, activation);
}

/// The weights in double as the precision's type.
template <class T>
std::vector<T> as(const std::vector<double>& values) {
  return std::vector<T>(values.begin(), values.end());
}

}  // namespace convscope::TARGET
