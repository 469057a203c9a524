#pragma once
// Matrix products of the two targets, both by a library: cuBLAS on the device, oneDNN on the host.

#include <cstdint>

namespace convscope {

/// c[i] = a b[i] for `batch` matrices, row-major: a is m x k and given transposed, as k x m (cuBLAS is up to
/// an eighth faster so where m is small), b[i] is k x n, c[i] m x n.
struct GemmSize {
  int64_t m = 0, n = 0, k = 0;
  int64_t b_pitch = 0, c_pitch = 0;    // values from one row to the next
  int64_t batch = 1;                   // at most 65535
  int64_t b_stride = 0, c_stride = 0;  // values from one matrix to the next
};

/// Every size and pitch counts in 32 bits.
inline constexpr int64_t kGemmLimit = (int64_t{1} << 31) - 1;

namespace cuda {
/// Makes what gemm() needs; throws Error where cuBLAS is missing or does not start.
void prepare_gemm();
/// Enqueued on stream(). fp32 stays fp32: no TF32, no emulation, whatever the environment asks for. Throws
/// Error.
void gemm(const GemmSize&, const float* a, const float* b, float* c);
void gemm(const GemmSize&, const double* a, const double* b, double* c);
}  // namespace cuda

namespace emulated {
void prepare_gemm();
/// Returns when it is done. Throws Error.
void gemm(const GemmSize&, const float* a, const float* b, float* c);
void gemm(const GemmSize&, const double* a, const double* b, double* c);
}  // namespace emulated

}  // namespace convscope
