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

/// The parts of a weight whose small part is multiplied by values that may be infinite: it has the weight's
/// sign and is 0 only where the weight is, so that Inf stays Inf. What is left out is below 2^-21 of w or
/// 2^-135. Not split: the weight in TF32.
inline Tf32Parts tf32_parts_of_weight(float w, bool split) {
  if (!split || !std::isfinite(w) || w == 0) return {rounded_to_tf32(w), 0.0f};
  uint32_t bits;
  std::memcpy(&bits, &w, sizeof bits);
  bits &= ~0x1fffu;
  Tf32Parts parts{};
  std::memcpy(&parts.big, &bits, sizeof bits);
  parts.small = rounded_to_tf32(w - parts.big);
  if (parts.small == 0) parts.small = std::copysign(0x1p-135f, w);  // its half is the smallest of TF32
  return parts;
}

/// How many fp32 error bounds (n eps sum |w||x|, n = taps + 1, eps = 2^-24) a result of tensor cores may be
/// off.
/// Operands: TF32 rounds each by at most 2^-11, a product by 2^-10 = 2^14 eps. Split in two parts, a value
/// keeps an error of 2^-22, a weight one of 2^-21, and the product of the small parts, 2^-21, is left out:
/// 5 * 2^-22 = 20 eps.
/// Sums: an instruction of 8 taps aligns its products and the sum so far to the largest and cuts off below
/// 2^-23 of it (Fasi et al., Numerical behavior of NVIDIA tensor cores, 2021): at most 9 cuts and one more
/// for the result, 20 eps of the sum of magnitudes; three instructions where operands are split.
inline double tf32_error_bounds(const ConvShape& s, bool split) {
  const double instructions = static_cast<double>((s.taps() + 7) / 8) * (split ? 3 : 1);
  const double eps = (split ? 20 : 16384 + 4) + 20 * instructions;
  return std::fmax(1, eps / static_cast<double>(s.taps() + 1));
}

}  // namespace convscope
