#pragma once

#include <algorithm>
#include <chrono>
#include <deque>

namespace convscope {

/// Events a second, over about the last one.
class RateMeter {
 public:
  using Clock = std::chrono::steady_clock;

  void add(Clock::time_point at) {
    times_.push_back(at);
    while (times_.size() > 2 && times_.front() < at - std::chrono::seconds(1)) times_.pop_front();
  }
  void clear() { times_.clear(); }

  /// 0 before the second event, and where they have ceased: none for three intervals and a second.
  double rate(Clock::time_point now) const {
    if (times_.size() < 2) return 0;
    const double span = seconds(times_.back() - times_.front()), idle = seconds(now - times_.back());
    const double interval = span / static_cast<double>(times_.size() - 1);
    if (!(interval > 0) || idle > 1 + 3 * interval) return 0;
    // a source that slows down is slower from the moment its next event is overdue
    return 1 / std::max(interval, (span + idle) / static_cast<double>(times_.size()));
  }

 private:
  static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }
  std::deque<Clock::time_point> times_;
};

}  // namespace convscope
