#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace convscope {

/// Events a second: of the last `window` seconds, or of the last two events where fewer came in these.
/// Knows no clock of its own: times are told, in seconds that rise.
class RateMeter {
 public:
  explicit RateMeter(double window) : window_(window) {}

  /// So many events since the last call; the last of them now.
  void add(double at, uint64_t events = 1) {
    if (!times_.empty()) at = std::max(at, times_.back().at);
    times_.push_back({at, times_.empty() ? 0 : times_.back().count + events});
    while (times_.size() > 2 && times_.front().at <= at - window_) times_.pop_front();
  }
  void clear() { times_.clear(); }

  /// 0 before the second event, and where they have ceased: none for three intervals and the window.
  double rate(double now) const {
    if (times_.size() < 2) return 0;
    const auto first = std::upper_bound(times_.begin(), times_.end() - 2, now - window_,
                                        [](double t, const Time& e) { return t < e.at; });
    const double span = times_.back().at - first->at, idle = now - times_.back().at;
    const auto events = static_cast<double>(times_.back().count - first->count);
    const double interval = span / events;
    if (!(interval > 0) || idle > window_ + 3 * interval) return 0;
    // what slows down is slower from the moment its next event is overdue
    return 1 / std::max(interval, (span + idle) / (events + 1));
  }

 private:
  struct Time {
    double at;
    uint64_t count;  // of the events since the first one that was told
  };
  double window_;
  std::deque<Time> times_;
};

}  // namespace convscope
