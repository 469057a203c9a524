#pragma once

#include <deque>

#include "kernels/timing.h"

namespace convscope {

/// How far uploads and kernels ran at the same time, over any number of frames told in their order.
class Overlap {
 public:
  void add(const FrameTimes&);
  double upload_ms() const { return upload_ms_; }
  double kernel_ms() const { return kernel_ms_; }
  /// Time during which both ran.
  double both_ms() const;
  /// Of what could run beside the other, the part that did: 0 to 1; 0 where nothing was uploaded.
  double hidden() const;

 private:
  struct Interval {
    double start = 0, end = 0;
  };
  double shared(const Interval& upload) const;

  double upload_ms_ = 0, kernel_ms_ = 0, both_ms_ = 0;
  std::deque<Interval> uploads_, kernels_;  // that later frames may still overlap
};

}  // namespace convscope
