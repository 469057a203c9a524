#pragma once

#include <chrono>
#include <optional>

#include "app/seconds.h"

namespace convscope {

/// When the frames of a file are due: by their own times, divided by the speed, from the frame shown first.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  /// After a jump, a pause or a change of speed: the next frame follows one interval after the last shown.
  void restart() { start_.reset(); }

  Clock::time_point due(double seconds, double interval, double speed) const {
    if (start_ && seconds >= start_->seconds)
      return start_->wall + duration_of((seconds - start_->seconds) / speed);
    return last_ ? *last_ + duration_of(interval / speed) : Clock::time_point{};
  }

  /// A frame that was due at `due` is shown now. One that is late by more than a moment moves all later ones:
  /// a reader that is too slow plays slower, and does not race to catch up.
  void shown(double seconds, Clock::time_point due, Clock::time_point now) {
    constexpr std::chrono::milliseconds kMoment{100};
    const bool late = now - due > kMoment;
    if (!start_ || seconds < start_->seconds || late) start_ = Start{late ? now : due, seconds};
    last_ = late ? now : due;
  }

 private:
  struct Start {
    Clock::time_point wall;
    double seconds;
  };
  std::optional<Start> start_;
  std::optional<Clock::time_point> last_;
};

}  // namespace convscope
