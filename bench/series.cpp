#include "bench/series.h"

#include <algorithm>

#include "bench/statistics.h"

namespace convscope::bench {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kCachesShowUs = 50000;  // a cache is filled in a thousandth of that and less

}  // namespace

int hot_launches(double first_us) {
  // an event has half a microsecond of resolution, a launch through the stream two or three of delay
  constexpr double kLongEnoughUs = 200;
  return static_cast<int>(std::clamp(kLongEnoughUs / std::max(first_us, 1.0), 1.0, 32.0));
}

Series::Series(Machine& machine, const Pace& pace, int launches, Submission how, double first_us,
               std::function<void(int)> enqueue) {
  estimate_us_ = first_us;
  if (first_us * kMicro > pace.most_seconds) {
    us_.push_back(first_us);
    rounds_ = 1;
    return;
  }
  const double fit = pace.most_seconds / (std::max(first_us, 1e-3) * kMicro);
  launches_ = static_cast<int>(std::clamp(fit, 1.0, static_cast<double>(launches)));
  enqueue_ = enqueue;
  batch_ = machine.batch(launches_, std::move(enqueue), how);
  estimate_us_ = batch_->run();
  const double affordable = pace.most_seconds / (std::max(estimate_us_, 1e-3) * kMicro * launches_);
  rounds_ = static_cast<int>(std::clamp(affordable, 1.0, static_cast<double>(pace.rounds)));
  warm_up_ = rounds_ == pace.rounds ? kWarmUpRounds : 0;
}

void Series::warm() {
  if (batch_ && estimate_us_ < kCachesShowUs) enqueue_(0);
}

bool Series::wants(int round) const { return batch_ && round < rounds_ && round >= -warm_up_; }

void Series::step(int round) {
  const double us = batch_->run();
  if (round >= 0) us_.push_back(us);
}

Timing Series::timing() const { return timing_of(us_); }

}  // namespace convscope::bench
