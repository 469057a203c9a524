#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/shape.h"

namespace convscope::cpu {

/// The activation over `count` values in place. ReLU propagates NaN: a comparison with NaN is false and keeps
/// it.
template <class T>
void activate(Activation activation, T* values, int64_t count) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      for (int64_t k = 0; k < count; ++k) values[k] = values[k] < T(0) ? T(0) : values[k];
      break;
    case Activation::sigmoid:
      for (int64_t k = 0; k < count; ++k) values[k] = T(1) / (T(1) + std::exp(-values[k]));
      break;
    case Activation::tanh:
      for (int64_t k = 0; k < count; ++k) values[k] = std::tanh(values[k]);
      break;
  }
}

}  // namespace convscope::cpu
