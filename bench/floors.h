#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace convscope::bench {

/// Reads `bytes` and writes as many, 16 at a time: the least that a kernel moving 2 * bytes can take.
void copy(void* to, const void* from, std::size_t bytes, cudaStream_t);

/// A kernel that does nothing: the cost of a launch.
void empty(cudaStream_t);

}  // namespace convscope::bench
