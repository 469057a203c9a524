#pragma once

#include <chrono>
#include <string>

#include "bench/bench.h"

namespace convscope {

/// What the benchmark is doing, on stderr: one line that is written over where that is a terminal, otherwise
/// a line a workload.
class BenchProgress {
 public:
  BenchProgress();
  ~BenchProgress() { clear(); }
  void doing(const std::string& what);
  void measured(const bench::WorkloadResult&);
  /// Takes the line away, before something else is printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_{}, workload_start_ = start_;
  bool line_there_ = false;
};

}  // namespace convscope
