#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/runtime.h"

namespace convscope {

/// Memory and stages of the emulated and cpu targets.
std::unique_ptr<Runtime> make_host_runtime();

#ifdef CONVSCOPE_WITH_CUDA
/// In cuda_runtime.cpp.
std::unique_ptr<Runtime> make_cuda_runtime();
#endif

/// Throws Error where this machine has not so much memory to give: "needs 8.98 GB of memory, ... are free".
void check_available(std::size_t bytes);

/// "8.98 GB", in powers of ten.
std::string readable_bytes(std::size_t bytes);

}  // namespace convscope
