#pragma once
// The least that a kernel can take on the device.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/shape.h"

namespace convscope::bench {

/// Reads `bytes` (a multiple of 16) and writes as many, 16 at a time: the least for a kernel that moves
/// 2 * bytes.
void copy_on_device(void* to, const void* from, std::size_t bytes, cudaStream_t);

/// A kernel that does nothing: the cost of a launch.
void empty_on_device(cudaStream_t);

/// Chains of FMAs that do not wait for one another, on every core; answers how many FMAs.
double multiply_add_on_device(Precision, int64_t steps, cudaStream_t);

}  // namespace convscope::bench
