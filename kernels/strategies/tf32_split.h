#pragma once
// TF32 on the host: rounding of weights, and how far a product of tensor cores may be off.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/shape.h"

namespace convscope {

/// The nearest value with 10 bits of fraction, ties away from zero, as cvt.rna.tf32.f32 has it.
inline float rounded_to_tf32(float v) {
  if (!std::isfinite(v)) return v;
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  bits = (bits + 0x1000u) & ~0x1fffu;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

/// v as big + small, both TF32: what is left out is below 2^-22 of v.
struct Tf32Parts {
  float big, small;
};
inline Tf32Parts tf32_parts(float v) {
  const float big = rounded_to_tf32(v);
  return {big, std::isfinite(big) ? rounded_to_tf32(v - big) : 0.0f};
}

/// How many fp32 error bounds (n eps sum |w||x|, n = taps + 1, eps = 2^-24) a result of tensor cores may be
/// off.
/// Operands: TF32 rounds each by at most 2^-11, a product by 2^-10 = 2^14 eps. Split in two parts, an operand
/// keeps an error of 2^-22 and the product of the small parts, 2^-22, is left out: 3 * 2^-22 = 12 eps.
/// Sums: an instruction of 8 taps aligns its products and the sum so far to the largest and cuts off below
/// 2^-23 of it (Fasi et al., Numerical behavior of NVIDIA tensor cores, 2021): at most 9 cuts and one more
/// for the result, 20 eps of the sum of magnitudes; three instructions where operands are split.
inline double tf32_error_bounds(const ConvShape& s, bool split) {
  const double instructions = static_cast<double>((s.taps() + 7) / 8) * (split ? 3 : 1);
  const double eps = (split ? 12 : 16384 + 4) + 20 * instructions;
  return std::fmax(1, eps / static_cast<double>(s.taps() + 1));
}

}  // namespace convscope
