#pragma once
// Transforms of many planes by cuFFT, in memory that the caller gives.

#include <cstddef>
#include <cstdint>

#include "kernels/strategies/fft_plan.h"

namespace convscope::cuda {

enum class FftDirection { forward, inverse };  // real to complex, complex to real (unscaled)

/// A plan for `batch` planes, one after the other; move-only.
class FftPlan {
 public:
  FftPlan() = default;
  /// Throws Error with cuFFT's words. Allocates no work area: see work_bytes().
  FftPlan(const FftPlane&, int64_t batch, FftDirection, Precision);
  ~FftPlan();
  FftPlan(FftPlan&& other) noexcept { swap(other); }
  FftPlan& operator=(FftPlan&& other) noexcept {
    swap(other);
    return *this;
  }

  /// Device memory that execute() works in, to be given before it; plans may share it.
  std::size_t work_bytes() const { return work_bytes_; }
  void set_work_area(void* area);

  /// Enqueues the transform on stream(), `from` and `to` apart; the inverse destroys its input. Throws Error.
  void execute(void* from, void* to) const;

 private:
  void swap(FftPlan& other) noexcept;

  static constexpr int kNone = -1;
  int handle_ = kNone;  // cuFFT's
  std::size_t work_bytes_ = 0;
  FftDirection direction_ = FftDirection::forward;
  Precision precision_ = Precision::fp32;
};

}  // namespace convscope::cuda
