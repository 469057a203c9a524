#pragma once
// Whether the cuda target can be used, kept where builds without CUDA have it too.

#include <string>

namespace convscope {

/// After an error that CUDA cannot clear: no row of the cuda target is available any more, for this reason.
void mark_cuda_lost(const std::string& reason);

#ifdef CONVSCOPE_WITH_CUDA
/// Looks for a driver, a device and a kernel image for it; empty where all are there. In cuda_runtime.cpp.
std::string probe_cuda();
#endif

}  // namespace convscope
