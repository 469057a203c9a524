#include <fmt/core.h>

#include "kernels/error.h"
#include "kernels/targets/cuda_check.h"
#include "kernels/targets/cuda_library.h"
#include "kernels/targets/gemm.h"
#include "kernels/targets/of_this_thread.h"

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>

namespace convscope::cuda {
namespace {

const CudaLibrary& library() {
  static const CudaLibrary opened("cuBLAS", {"libcublas.so.13", "libcublas.so.12"});
  return opened;
}

struct CublasApi {
  CONVSCOPE_LIBRARY_FUNCTION(library(), cublasCreate_v2);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cublasSetStream_v2);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cublasSetWorkspace_v2);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cublasSetMathMode);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cublasGetStatusString);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cublasSgemmStridedBatched);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cublasDgemmStridedBatched);
};

/// Throws Error where it is not to be had.
const CublasApi& api() {
  static const CublasApi table;
  return table;
}

void check_blas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  check(cudaGetLastError(), what);  // where CUDA itself failed, its words say more
  throw Error(fmt::format("cuBLAS: {}: {}", what, api().cublasGetStatusString(status)));
}

/// The library's state for one thread.
struct Blas {
  // what the library takes on Hopper by itself; ours, so that no call allocates
  static constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

  Blas() : workspace(kWorkspaceBytes) {
    check_blas(api().cublasCreate_v2(&handle), "start");
    check_blas(api().cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH), "math mode");
  }

  void bind(cudaStream_t wanted) {
    if (bound == wanted) return;
    check_blas(api().cublasSetStream_v2(handle, wanted), "stream");
    // a new stream takes the library back to a workspace of its own
    check_blas(api().cublasSetWorkspace_v2(handle, workspace.get(), kWorkspaceBytes), "workspace");
    bound = wanted;
  }

  DeviceMemory workspace;
  cublasHandle_t handle = nullptr;
  cudaStream_t bound = nullptr;
};

Blas& blas() {
  auto& own = of_this_thread<Blas>();
  own.bind(stream());
  return own;
}

/// cuBLAS counts by columns: the transpose of c = a b is b' a', and a row-major matrix is its own transpose.
/// So b is the first factor, and a, which is given transposed, is to be transposed once more.
template <class T, class Function>
void multiply(Function function, const GemmSize& s, const T* a, const T* b, T* c) {
  const auto i = [](int64_t v) { return static_cast<int>(v); };
  const T one = 1, zero = 0;
  check_blas(function(blas().handle, CUBLAS_OP_N, CUBLAS_OP_T, i(s.n), i(s.m), i(s.k), &one, b, i(s.b_pitch),
                      s.b_stride, a, i(s.m), 0, &zero, c, i(s.c_pitch), s.c_stride, i(s.batch)),
             "matrix product");
}

}  // namespace

std::optional<std::string> cublas_missing() {
  try {
    api();
    return std::nullopt;
  } catch (const Error& e) {
    return e.what();
  }
}

void prepare_gemm() { blas(); }

void gemm(const GemmSize& s, const float* a, const float* b, float* c) {
  multiply(api().cublasSgemmStridedBatched, s, a, b, c);
}
void gemm(const GemmSize& s, const double* a, const double* b, double* c) {
  multiply(api().cublasDgemmStridedBatched, s, a, b, c);
}

}  // namespace convscope::cuda

#else

namespace convscope::cuda {

std::optional<std::string> cublas_missing() {
  return "this build was made without cuBLAS's header (cublas_v2.h)";
}
void prepare_gemm() { throw Error(*cublas_missing()); }
void gemm(const GemmSize&, const float*, const float*, float*) { prepare_gemm(); }
void gemm(const GemmSize&, const double*, const double*, double*) { prepare_gemm(); }

}  // namespace convscope::cuda

#endif
