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

/// A value in two parts, as bits of which the tensor cores read TF32: rounded as to_tf32() does, and the rest
/// to 2^-22 of the value. Of what is rounded to infinity nothing is left, of NaN NaN is.
__device__ __forceinline__ void split_tf32(float v, uint32_t& big, uint32_t& small) {
  // a rest has up to 12 bits, of which the last is cut off: half of its worth more, and it goes up instead
  constexpr float kRound = 0x1.002p0f;
  big = (float_bits(v) + 0x1000u) & ~0x1fffu;
  small = fabsf(v) >= 0x1.ffep127f ? 0 : float_bits((v - float_of_bits(big)) * kRound);
}

/// Apart, since a thread has up to 128 sums: a copy of exp and tanh for each would fill the instruction
/// cache.
__device__ CONVSCOPE_APART float activate_apart(float v, Activation activation) {
  return activate(v, activation);
}

}  // namespace
}  // namespace convscope::TARGET
