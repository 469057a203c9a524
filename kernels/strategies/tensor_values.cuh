#pragma once
// What the kernels for tensor cores do to a value before the products and after the sum.

#include "kernels/strategies/epilogue.cuh"

namespace convscope::TARGET {
namespace {

/// The operands of a value: itself in TF32, what TF32 cannot hold of it, and what is multiplied by the small
/// part of a weight, which is mostly 0: no infinity, whose product with it would be NaN.
template <bool kSplit>
__device__ __forceinline__ void tf32_operands(float v, uint32_t& big, uint32_t& small, uint32_t& finite) {
  big = to_tf32(v);
  if constexpr (kSplit) {
    const bool is_finite = isfinite(float_of_bits(big));
    const float rest = v - float_of_bits(big);
    small = to_tf32(is_finite ? rest : 0.0f);
    finite = is_finite ? big : 0;
  }
}

/// Apart, since a thread has up to 128 sums: a copy of exp and tanh for each would fill the instruction
/// cache.
__device__ CONVSCOPE_APART float activate_apart(float v, Activation activation) {
  return activate(v, activation);
}

}  // namespace
}  // namespace convscope::TARGET
