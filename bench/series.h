#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bench/machine.h"
#include "bench/race.h"

namespace convscope::bench {

/// Rounds before those that count, for whatever is timed in all of them.
inline constexpr int kWarmUpRounds = 2;

/// How often something is timed.
struct Pace {
  int rounds = 15;
  double most_seconds = 1;  // of all rounds of a row together
};

/// The times of one thing, taken round by round among others.
class Series {
 public:
  Series() = default;
  /// `launches` launches a round, enqueue(0) ..., fewer where one takes long. `first_us`: what one took,
  /// cold; where that is longer than the pace permits, it is the only time.
  Series(Machine&, const Pace&, int launches, Submission, double first_us, std::function<void(int)> enqueue);

  /// Brings what the next round() reads into the caches, where the launch is short enough for that to show.
  void warm();
  /// Whether a time is wanted in this round (from 0 up; below: to warm up).
  bool wants(int round) const;
  void step(int round);
  int rounds() const { return rounds_; }
  int launches() const { return launches_; }  // a round
  Timing timing() const;

 private:
  std::unique_ptr<Batch> batch_;
  std::function<void(int)> enqueue_;
  int rounds_ = 0, launches_ = 1, warm_up_ = 0;
  double estimate_us_ = 0;
  std::vector<double> us_;
};

/// Launches a round whose inputs are in the caches: as many as outlast the clock's resolution.
int hot_launches(double first_us);

}  // namespace convscope::bench
