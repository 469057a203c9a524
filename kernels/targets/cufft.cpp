#include "kernels/targets/cufft.h"

#include <fmt/core.h>

#include <utility>

#include "kernels/error.h"
#include "kernels/targets/cuda_check.h"
#include "kernels/targets/cuda_library.h"

#if __has_include(<cufft.h>)
#include <cufft.h>

namespace convscope::cuda {
namespace {

const CudaLibrary& library() {
  static const CudaLibrary opened("cuFFT", {"libcufft.so.12", "libcufft.so.11"});
  return opened;
}

struct CufftApi {
  CONVSCOPE_LIBRARY_FUNCTION(library(), cufftCreate);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cufftDestroy);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cufftSetAutoAllocation);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cufftMakePlanMany64);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cufftSetWorkArea);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cufftSetStream);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cufftExecR2C);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cufftExecC2R);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cufftExecD2Z);
  CONVSCOPE_LIBRARY_FUNCTION(library(), cufftExecZ2D);
};

/// Throws Error where it is not to be had.
const CufftApi& api() {
  static const CufftApi table;
  return table;
}

const char* words(cufftResult result) {
  switch (result) {
    case CUFFT_ALLOC_FAILED:
      return "no memory";
    case CUFFT_INVALID_SIZE:
      return "a size that it does not take";
    case CUFFT_INTERNAL_ERROR:
      return "an internal error";
    case CUFFT_EXEC_FAILED:
      return "the device failed";
    case CUFFT_SETUP_FAILED:
      return "it does not start";
    case CUFFT_NOT_SUPPORTED:
      return "not supported";
    default:
      return "an error";
  }
}

void check_fft(cufftResult result, const char* what) {
  if (result == CUFFT_SUCCESS) return;
  check(cudaGetLastError(), what);  // where CUDA itself failed, its words say more
  throw Error(fmt::format("cuFFT: {}: {} ({})", what, words(result), static_cast<int>(result)));
}

cufftType type_of(FftDirection direction, Precision precision) {
  if (precision == Precision::fp64) return direction == FftDirection::forward ? CUFFT_D2Z : CUFFT_Z2D;
  return direction == FftDirection::forward ? CUFFT_R2C : CUFFT_C2R;
}

}  // namespace

std::optional<std::string> cufft_missing() {
  try {
    api();
    return std::nullopt;
  } catch (const Error& e) {
    return e.what();
  }
}

FftPlan::FftPlan(const FftPlane& plane, int64_t batch, FftDirection direction, Precision precision)
    : direction_(direction), precision_(precision) {
  check_fft(api().cufftCreate(&handle_), "plan");
  try {
    check_fft(api().cufftSetAutoAllocation(handle_, 0), "plan");
    const bool line = plane.h == 1 || plane.w == 1;
    long long sizes[] = {line ? plane.reals() : plane.h, plane.w};
    check_fft(api().cufftMakePlanMany64(handle_, line ? 1 : 2, sizes, nullptr, 1, 0, nullptr, 1, 0,
                                        type_of(direction, precision), batch, &work_bytes_),
              "plan");
  } catch (...) {
    api().cufftDestroy(handle_);  // the destructor does not run for an object that was never made
    throw;
  }
}

FftPlan::~FftPlan() {
  if (handle_ != kNone) api().cufftDestroy(handle_);
}

void FftPlan::set_work_area(void* area) { check_fft(api().cufftSetWorkArea(handle_, area), "work area"); }

void FftPlan::execute(void* from, void* to) const {
  const bool forward = direction_ == FftDirection::forward;
  check_fft(api().cufftSetStream(handle_, stream()), "stream");  // the plan may have come from another thread
  cufftResult result;
  if (precision_ == Precision::fp64) {
    result =
        forward
            ? api().cufftExecD2Z(handle_, static_cast<double*>(from), static_cast<cufftDoubleComplex*>(to))
            : api().cufftExecZ2D(handle_, static_cast<cufftDoubleComplex*>(from), static_cast<double*>(to));
  } else {
    result = forward ? api().cufftExecR2C(handle_, static_cast<float*>(from), static_cast<cufftComplex*>(to))
                     : api().cufftExecC2R(handle_, static_cast<cufftComplex*>(from), static_cast<float*>(to));
  }
  check_fft(result, "transform");
}

}  // namespace convscope::cuda

#else

namespace convscope::cuda {

std::optional<std::string> cufft_missing() { return "this build was made without cuFFT's header (cufft.h)"; }
FftPlan::FftPlan(const FftPlane&, int64_t, FftDirection, Precision) { throw Error(*cufft_missing()); }
FftPlan::~FftPlan() = default;
void FftPlan::set_work_area(void*) {}
void FftPlan::execute(void*, void*) const {}

}  // namespace convscope::cuda

#endif

namespace convscope::cuda {

void FftPlan::swap(FftPlan& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(work_bytes_, other.work_bytes_);
  std::swap(direction_, other.direction_);
  std::swap(precision_, other.precision_);
}

}  // namespace convscope::cuda
