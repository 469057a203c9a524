#include "kernels/targets/cuda_status.h"

#include <mutex>
#include <optional>

#include "kernels/runtime.h"

namespace convscope {
namespace {

// The state of the hardware, which the process has but one of.
struct CudaStatus {
  std::mutex mutex;
  bool probed = false;
  std::string reason;  // empty: usable
};
CudaStatus& status() {
  static CudaStatus s;
  return s;
}

}  // namespace

std::optional<std::string> cuda_unavailable() {
  CudaStatus& s = status();
  const std::lock_guard lock(s.mutex);
  if (!s.probed) {
#ifdef CONVSCOPE_WITH_CUDA
    s.reason = probe_cuda();
#else
    s.reason = "this build has no CUDA (no nvcc was found, or CONVSCOPE_CUDA=OFF)";
#endif
    s.probed = true;
  }
  return s.reason.empty() ? std::nullopt : std::optional(s.reason);
}

void mark_cuda_lost(const std::string& reason) {
  CudaStatus& s = status();
  const std::lock_guard lock(s.mutex);
  s.probed = true;
  if (s.reason.empty()) s.reason = reason;
}

#ifndef CONVSCOPE_WITH_CUDA
CudaVersions cuda_versions() { return {}; }
std::size_t free_device_bytes() { return 0; }
#endif

}  // namespace convscope
