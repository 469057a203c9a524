#pragma once

#include <memory>

#include "bench/machine.h"

namespace convscope::bench {

/// In machine_cuda.cpp, where the build has CUDA.
std::unique_ptr<Machine> make_cuda_machine();

}  // namespace convscope::bench
