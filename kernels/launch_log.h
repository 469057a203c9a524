#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace convscope {

/// How a kernel was started, and what the compiler gave it.
struct LaunchRecord {
  std::string kernel;  // the stage's name
  int64_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::size_t shared_bytes = 0;  // a block, static and dynamic
  /// Of cuda kernels alone (cudaFuncGetAttributes, cudaOccupancyMaxActiveBlocksPerMultiprocessor).
  struct Compiled {
    int registers = 0;            // a thread
    std::size_t local_bytes = 0;  // a thread: what spilled
    int blocks_per_sm = 0;
    double occupancy = 0;    // resident threads / the most that an SM holds
    std::string limited_by;  // "registers", "shared memory", "threads", "blocks"
  };
  std::optional<Compiled> compiled;
};

/// Records the launches of kernels by the calling thread, from construction to destruction. Where a kernel is
/// started many times alike, `count` says how often. One log a thread at a time. Kernels inside libraries
/// (cuBLAS, cuFFT, cuDNN, oneDNN) are not seen.
class LaunchLog {
 public:
  struct Entry {
    LaunchRecord record;
    int64_t count = 1;
  };
  LaunchLog();
  ~LaunchLog();
  LaunchLog(const LaunchLog&) = delete;
  LaunchLog& operator=(const LaunchLog&) = delete;
  const std::vector<Entry>& entries() const { return entries_; }

  /// For the targets' launch(): the thread's log, or null.
  static LaunchLog* current();
  /// Counts a launch with `shared_bytes` of dynamic shared memory. `complete` adds what is known of the
  /// kernel and its static shared memory; asked once for launches that are alike, since asking takes a while.
  void add(LaunchRecord, const std::function<void(LaunchRecord&)>& complete = {});

 private:
  std::vector<Entry> entries_;
  std::vector<std::size_t> dynamic_bytes_;  // of each entry
};

}  // namespace convscope
