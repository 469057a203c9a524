#pragma once
// The least that a strategy can take on the host.

#include <cstddef>
#include <cstdint>

#include "kernels/shape.h"

namespace convscope::bench {

/// memcpy on every thread.
void copy_on_host(void* to, const void* from, std::size_t bytes);

/// Chains of multiply-adds that do not wait for one another, in vectors of 32 bytes, on every thread; answers
/// how many.
double multiply_add_on_host(Precision, int64_t steps);

}  // namespace convscope::bench
