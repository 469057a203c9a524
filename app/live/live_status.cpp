// What a session is asked, and what it tells.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "app/live/live_session.h"
#include "app/seconds.h"

namespace convscope {
namespace {

double seconds_of(LiveSession::Clock::duration d) { return std::chrono::duration<double>(d).count(); }

/// The time of day, so many seconds ago: it stays true on a screen that nobody redraws.
std::string clock_time(double seconds_ago) {
  const auto at = static_cast<std::time_t>(static_cast<double>(std::time(nullptr)) - seconds_ago);
  std::tm parts{};
  ::localtime_r(&at, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace

const char* to_string(LiveState state) {
  switch (state) {
    case LiveState::opening:
      return "opening";
    case LiveState::playing:
      return "playing";
    case LiveState::paused:
      return "paused";
    case LiveState::ended:
      return "ended";
    case LiveState::stalled:
      return "stalled";
    case LiveState::lost:
      return "lost";
    case LiveState::failed:
      return "failed";
  }
  return "";
}

FramePtr LiveSession::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(slot_, nullptr);
}

LiveCounts LiveSession::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

double LiveSession::stall_limit() const {
  const double rate = info_.fps > 0 ? info_.fps : 0;
  return std::max(options_.stall_seconds, rate > 0 ? 3 / rate : 0);
}

bool LiveSession::silent(Clock::time_point now) const {
  return waiting_ && seconds_of(now - waiting_since_) >= stall_limit();
}

bool LiveSession::repeating(Clock::time_point now) const {
  return same_since_ && seconds_of(now - *same_since_) >= stall_limit();
}

std::string LiveSession::message(LiveState state, Clock::time_point now) const {
  const std::string retry = fmt::format(
      "trying again every {}",
      options_.retry_seconds == 1 ? "second" : fmt::format("{:g} seconds", options_.retry_seconds));
  switch (state) {
    case LiveState::opening:
      return silent(now) ? fmt::format("no answer since {}; wait, or open it again",
                                       clock_time(seconds_of(now - waiting_since_)))
                         : "";
    case LiveState::stalled:
      return silent(now)
                 ? fmt::format("no new frame since {}; check the source, or open it again",
                               clock_time(seconds_of(now - waiting_since_)))
                 : fmt::format(
                       "the same picture since {}: frames come, but none differs; a covered lens or a "
                       "hung driver: open it again",
                       clock_time(seconds_of(now - *same_since_)));
    case LiveState::lost:
      return fault_ + "; " + retry;
    case LiveState::failed:
      return options_.retry_failed ? fault_ + "; " + retry : fault_;
    default:
      return "";
  }
}

LiveStatus LiveSession::status(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  LiveStatus s;
  switch (phase_) {
    case Phase::opening:
      s.state = LiveState::opening;
      break;
    case Phase::open:
      s.state = silent(now) || repeating(now) ? LiveState::stalled
                : playing_                    ? LiveState::playing
                                              : LiveState::paused;
      break;
    case Phase::at_end:
      s.state = LiveState::ended;
      break;
    case Phase::lost:
      s.state = LiveState::lost;
      break;
    case Phase::failed:
      s.state = LiveState::failed;
      break;
  }
  s.message = message(s.state, now);
  s.info = info_;
  s.measured_fps = rate_.rate(seconds_of(now));
  s.read = counts_.read, s.dropped = counts_.dropped;
  s.w = w_, s.h = h_;
  s.index = index_;
  s.seconds = seconds_;
  s.playing = playing_, s.loop = loop_;
  s.speed = speed_;
  return s;
}

LiveSession::Clock::duration LiveSession::waiting(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return waiting_ ? now - waiting_since_ : Clock::duration::zero();
}

void LiveSession::play() {
  {
    const std::lock_guard lock(mutex_);
    playing_ = true;
    if (phase_ == Phase::at_end && info_.seekable) jump_to_ = 0;
    if (phase_ == Phase::at_end && !info_.seekable) reopen_ = true;
    pace_.restart();
  }
  changed_.notify_all();
}

void LiveSession::pause() {
  const std::lock_guard lock(mutex_);
  playing_ = false;
  changed_.notify_all();
}

void LiveSession::step(int64_t frames) {
  {
    const std::lock_guard lock(mutex_);
    playing_ = false;
    if (info_.seekable && (frames != 1 || jump_to_ || phase_ == Phase::at_end)) {
      int64_t to = std::max<int64_t>(0, jump_to_.value_or(index_) + frames);
      if (info_.frames > 0) to = std::min(to, info_.frames - 1);
      jump_to_ = to;
    } else if (frames > 0) {
      steps_ += frames;
    }
  }
  changed_.notify_all();
}

void LiveSession::seek(int64_t index) {
  {
    const std::lock_guard lock(mutex_);
    if (!info_.seekable) return;
    jump_to_ = std::max<int64_t>(0, info_.frames > 0 ? std::min(index, info_.frames - 1) : index);
  }
  changed_.notify_all();
}

void LiveSession::set_loop(bool loop) {
  {
    const std::lock_guard lock(mutex_);
    loop_ = loop;
  }
  changed_.notify_all();
}

void LiveSession::set_speed(double speed) {
  {
    const std::lock_guard lock(mutex_);
    speed_ = std::clamp(speed, 0.05, 100.0);
    pace_.restart();
  }
  changed_.notify_all();
}

void LiveSession::reopen() {
  {
    const std::lock_guard lock(mutex_);
    reopen_ = true;
  }
  changed_.notify_all();
}

/// A stall is an event that does not come, so that nobody else would tell of it.
bool LiveSession::watch() {
  bool changed = false;
  {
    std::unique_lock lock(mutex_);
    // five times a second is soon enough for every limit, and costs nothing
    watched_.wait_for(lock, std::chrono::milliseconds(200), [this] { return end_; });
    if (end_) return false;
    const Clock::time_point now = Clock::now();
    const bool tell = silent(now) || repeating(now);
    changed = tell != std::exchange(told_, tell);
  }
  if (changed) wake_();
  return true;
}

}  // namespace convscope
