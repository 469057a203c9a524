#pragma once

#include <cstdint>
#include <functional>

namespace convscope {

/// Threads that parallel_for uses: the machine's, or CONVSCOPE_THREADS.
int thread_count();

/// Calls body(begin, end) over disjoint parts of [0, count), at most `grain` long, on all threads; returns
/// when all are done. The first exception is thrown again here. Calls from within a body run in the calling
/// thread.
void parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace convscope
