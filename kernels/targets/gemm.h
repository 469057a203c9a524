#pragma once
// Matrix products of the two targets, both by a library: cuBLAS on the device, oneDNN on the host.

#include <cstdint>
#include <memory>

namespace convscope {

/// c[i] = a b[i] for `batch` matrices, row-major: a is m x k, b[i] is k x n, c[i] m x n.
struct GemmSize {
  int64_t m = 0, n = 0, k = 0;
  int64_t b_pitch = 0, c_pitch = 0;    // values from one row to the next
  int64_t batch = 1;                   // at most 65535
  int64_t b_stride = 0, c_stride = 0;  // values from one matrix to the next

  bool operator==(const GemmSize&) const = default;
};

/// Every size and pitch counts in 32 bits.
inline constexpr int64_t kGemmLimit = (int64_t{1} << 31) - 1;

namespace cuda {
class GemmAlgorithm;
}

/// How products of a size, and of others with the same a, are made.
struct GemmPlan {
  bool a_transposed = true;  // a is given as k x m
  std::shared_ptr<const cuda::GemmAlgorithm>
      algorithm;  // of the size planned for; none: the library's choice
};

namespace cuda {
/// Makes what gemm() needs. In fp32 it times what cuBLAS offers for this size and takes the fastest: what the
/// library would choose by itself is up to an eighth slower where m is small. `b` is read; nullptr: without a
/// trial. Throws Error where cuBLAS is missing or does not start.
GemmPlan plan_gemm(const GemmSize&, const float* b);
GemmPlan plan_gemm(const GemmSize&, const double* b);
/// Enqueued on stream(). fp32 stays fp32: no TF32, no emulation, whatever the environment asks for. Throws
/// Error.
void gemm(const GemmPlan&, const GemmSize&, const float* a, const float* b, float* c);
void gemm(const GemmPlan&, const GemmSize&, const double* a, const double* b, double* c);
}  // namespace cuda

namespace emulated {
GemmPlan plan_gemm(const GemmSize&, const float* b);
GemmPlan plan_gemm(const GemmSize&, const double* b);
/// Returns when it is done. Throws Error.
void gemm(const GemmPlan&, const GemmSize&, const float* a, const float* b, float* c);
void gemm(const GemmPlan&, const GemmSize&, const double* a, const double* b, double* c);
}  // namespace emulated

}  // namespace convscope
