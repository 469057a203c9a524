#include <fmt/core.h>

#include "kernels/error.h"
#include "kernels/targets/cuda_check.h"
#include "kernels/targets/cuda_event.h"
#include "kernels/targets/cuda_library.h"
#include "kernels/targets/gemm.h"
#include "kernels/targets/of_this_thread.h"

#include <memory>
#include <vector>

#if __has_include(<cublas_v2.h>) && __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <cublas_v2.h>

#include <algorithm>
#include <functional>
#include <limits>

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
/// So b is the first factor; a is the second, to be transposed once more where it is given transposed.
template <class T, class Function>
void multiply(Function function, const GemmPlan& plan, const GemmSize& s, const T* a, const T* b, T* c) {
  const auto i = [](int64_t v) { return static_cast<int>(v); };
  const T one = 1, zero = 0;
  check_blas(function(blas().handle, CUBLAS_OP_N, plan.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, i(s.n),
                      i(s.m), i(s.k), &one, b, i(s.b_pitch), s.b_stride, a, i(plan.a_transposed ? s.m : s.k),
                      0, &zero, c, i(s.c_pitch), s.c_stride, i(s.batch)),
             "matrix product");
}

const CudaLibrary& lt_library() {
  static const CudaLibrary opened("cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12"});
  return opened;
}

/// The part of cuBLAS that offers its algorithms one by one.
struct LtApi {
  CONVSCOPE_LIBRARY_FUNCTION(lt_library(), cublasLtCreate);
  CONVSCOPE_LIBRARY_FUNCTION(lt_library(), cublasLtMatmulDescInit_internal);
  CONVSCOPE_LIBRARY_FUNCTION(lt_library(), cublasLtMatmulDescSetAttribute);
  CONVSCOPE_LIBRARY_FUNCTION(lt_library(), cublasLtMatrixLayoutInit_internal);
  CONVSCOPE_LIBRARY_FUNCTION(lt_library(), cublasLtMatrixLayoutSetAttribute);
  CONVSCOPE_LIBRARY_FUNCTION(lt_library(), cublasLtMatmulPreferenceInit_internal);
  CONVSCOPE_LIBRARY_FUNCTION(lt_library(), cublasLtMatmulPreferenceSetAttribute);
  CONVSCOPE_LIBRARY_FUNCTION(lt_library(), cublasLtMatmulAlgoGetHeuristic);
  CONVSCOPE_LIBRARY_FUNCTION(lt_library(), cublasLtMatmul);
};

const LtApi& lt() {
  static const LtApi table;
  return table;
}

/// One for all threads, as the library allows; never destroyed.
cublasLtHandle_t lt_handle() {
  static const cublasLtHandle_t handle = [] {
    cublasLtHandle_t made = nullptr;
    check_blas(lt().cublasLtCreate(&made), "start of cuBLASLt");
    return made;
  }();
  return handle;
}

}  // namespace

/// One of cuBLASLt's algorithms with the matrices of one size.
class GemmAlgorithm {
 public:
  /// What the library offers, best guess first.
  static std::vector<std::shared_ptr<GemmAlgorithm>> all(const GemmSize& s, bool a_transposed) {
    GemmAlgorithm one(s, a_transposed);
    cublasLtMatmulPreferenceOpaque_t preference;
    check_blas(lt().cublasLtMatmulPreferenceInit_internal(&preference, sizeof preference), "preference");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
      check_blas(lt().cublasLtMatmulPreferenceSetAttribute(&preference, what, &value, sizeof value),
                 "preference");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{Blas::kWorkspaceBytes});
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, kAlignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, kAlignment);
    cublasLtMatmulHeuristicResult_t results[kMost];
    int count = 0;
    const cublasStatus_t status = lt().cublasLtMatmulAlgoGetHeuristic(
        lt_handle(), &one.product_, &one.b_, &one.a_, &one.c_, &one.c_, &preference, kMost, results, &count);
    std::vector<std::shared_ptr<GemmAlgorithm>> found;
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return found;
    check_blas(status, "list of algorithms");
    for (int i = 0; i < count; ++i) {
      if (results[i].state != CUBLAS_STATUS_SUCCESS) continue;
      one.algorithm_ = results[i].algo;
      found.push_back(std::make_shared<GemmAlgorithm>(one));
    }
    return found;
  }

  GemmAlgorithm(const GemmSize& s, bool a_transposed) : size_(s) {
    check_blas(lt().cublasLtMatmulDescInit_internal(&product_, sizeof product_, CUBLAS_COMPUTE_32F_PEDANTIC,
                                                    CUDA_R_32F),
               "product");
    const cublasOperation_t operation = a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check_blas(lt().cublasLtMatmulDescSetAttribute(&product_, CUBLASLT_MATMUL_DESC_TRANSB, &operation,
                                                   sizeof operation),
               "product");
    lay_out(b_, s.n, s.k, s.b_pitch, s.b_stride);
    a_transposed ? lay_out(a_, s.m, s.k, s.m, 0) : lay_out(a_, s.k, s.m, s.k, 0);
    lay_out(c_, s.n, s.m, s.c_pitch, s.c_stride);
  }

  bool takes(const GemmSize& s, const float* c) const {
    return s == size_ && reinterpret_cast<uintptr_t>(c) % kAlignment == 0;
  }
  void run(const float* a, const float* b, float* c) const {
    const float one = 1, zero = 0;
    const Blas& own = blas();
    check_blas(lt().cublasLtMatmul(lt_handle(), &product_, &one, b, &b_, a, &a_, &zero, c, &c_, c, &c_,
                                   &algorithm_, own.workspace.get(), Blas::kWorkspaceBytes, own.bound),
               "matrix product");
  }

 private:
  static constexpr int kMost = 8;
  static constexpr uint32_t kAlignment = 16;  // bytes, of c; the others are allocated on their own

  void lay_out(cublasLtMatrixLayoutOpaque_t& matrix, int64_t rows, int64_t columns, int64_t pitch,
               int64_t stride) const {
    check_blas(lt().cublasLtMatrixLayoutInit_internal(&matrix, sizeof matrix, CUDA_R_32F,
                                                      static_cast<uint64_t>(rows),
                                                      static_cast<uint64_t>(columns), pitch),
               "matrix");
    const auto batch = static_cast<int32_t>(size_.batch);
    check_blas(lt().cublasLtMatrixLayoutSetAttribute(&matrix, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                                     sizeof batch),
               "matrix");
    check_blas(lt().cublasLtMatrixLayoutSetAttribute(&matrix, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                     &stride, sizeof stride),
               "matrix");
  }

  GemmSize size_;
  // the library only reads them, through pointers that are not to const
  mutable cublasLtMatmulDescOpaque_t product_{};
  mutable cublasLtMatrixLayoutOpaque_t a_{}, b_{}, c_{};
  cublasLtMatmulAlgo_t algorithm_{};
};

namespace {

constexpr double kWorthIt = 0.98;  // of the time before

/// The better of two runs after one more, in ms; the first alone where it takes far longer than `best`.
/// Infinite where the library refuses after all.
double time_of(const std::function<void()>& run, double best) {
  double least = std::numeric_limits<double>::infinity();
  try {
    for (int i = 0; i < 3; ++i) {
      Event start, end;
      start.record(stream());
      run();
      end.record(stream());
      end.wait();
      const double ms = end.ms_since(start);
      if (i > 0 || ms > 2 * best) least = std::min(least, ms);
      if (ms > 2 * best) break;
    }
  } catch (const Error&) {
    return std::numeric_limits<double>::infinity();
  }
  return least;
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

GemmPlan plan_gemm(const GemmSize&, const double*) {
  blas();
  return {};
}

GemmPlan plan_gemm(const GemmSize& s, const float* b) {
  blas();
  GemmPlan plan;
  if (b == nullptr) return plan;
  try {
    const DeviceMemory a(static_cast<std::size_t>(s.m * s.k) * sizeof(float)),
        c(static_cast<std::size_t>((s.batch - 1) * s.c_stride + s.m * s.c_pitch) * sizeof(float));
    auto* const from = static_cast<const float*>(a.get());
    auto* const to = static_cast<float*>(c.get());
    double best = time_of([&] { gemm(plan, s, from, b, to); }, std::numeric_limits<double>::infinity());
    for (const bool a_transposed : {true, false}) {
      for (const auto& algorithm : GemmAlgorithm::all(s, a_transposed)) {
        const double ms = time_of([&] { algorithm->run(from, b, to); }, best);
        if (ms < kWorthIt * best) best = ms, plan = {a_transposed, algorithm};
      }
    }
  } catch (const Error&) {  // without cuBLASLt, or room for the trial, it is the library's choice
    check(cudaGetLastError(), "choice of a matrix product");
    return {};
  }
  return plan;
}

void gemm(const GemmPlan& plan, const GemmSize& s, const float* a, const float* b, float* c) {
  if (plan.algorithm != nullptr && plan.algorithm->takes(s, c)) return plan.algorithm->run(a, b, c);
  multiply(api().cublasSgemmStridedBatched, plan, s, a, b, c);
}
void gemm(const GemmPlan& plan, const GemmSize& s, const double* a, const double* b, double* c) {
  multiply(api().cublasDgemmStridedBatched, plan, s, a, b, c);
}

}  // namespace convscope::cuda

#else

namespace convscope::cuda {

std::optional<std::string> cublas_missing() {
  return "this build was made without cuBLAS's headers (cublas_v2.h, cublasLt.h)";
}
GemmPlan plan_gemm(const GemmSize&, const float*) { throw Error(*cublas_missing()); }
GemmPlan plan_gemm(const GemmSize&, const double*) { throw Error(*cublas_missing()); }
void gemm(const GemmPlan&, const GemmSize& s, const float*, const float* b, float*) { plan_gemm(s, b); }
void gemm(const GemmPlan&, const GemmSize& s, const double*, const double* b, double*) { plan_gemm(s, b); }

}  // namespace convscope::cuda

#endif
