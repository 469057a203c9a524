#include "app/live/live_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "app/printable.h"
#include "app/seconds.h"
#include "kernels/error.h"

namespace convscope {
namespace {

constexpr double kAssumedRate = 30;  // where a file does not say

}  // namespace

LiveSession::LiveSession(Open open, std::function<void()> wake, const LiveOptions& options,
                         const LiveCounts& counts)
    : open_(std::move(open)),
      options_(options),
      wake_(std::move(wake)),
      playing_(options.playing),
      loop_(options.loop),
      speed_(options.speed),
      counts_(counts) {
  waiting_ = true;
  waiting_since_ = Clock::now();
}

void LiveSession::run() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (end_) break;
      if (reopen_) phase_ = Phase::opening;
      reopen_ = false;
    }
    try {
      const std::unique_ptr<FrameReader> reader = open_reader();
      play_through(*reader);
    } catch (const std::exception& e) {
      fail(first_line(e.what()));
      if (!pause_before_retry()) break;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_changed_.notify_all();
  watched_.notify_all();
}

std::unique_ptr<FrameReader> LiveSession::open_reader() {
  wait_begins();
  std::unique_ptr<FrameReader> reader = open_();
  {
    const std::lock_guard lock(mutex_);
    waiting_ = false;
    phase_ = Phase::open;
    was_open_ = true;
    fault_.clear();
    info_ = reader->info();
    show_now_ = true;
    read_since_jump_ = true;
    same_since_.reset();
    newest_.reset();
    rate_.clear();
    pace_ = Pace();
  }
  wake_();
  return reader;
}

void LiveSession::play_through(FrameReader& reader) {
  std::shared_ptr<Frame> pending;  // read, and waiting for its time
  while (true) {
    const Order order = next_order(pending.get(), reader.info());
    switch (order.kind) {
      case Order::Kind::leave:
        return;
      case Order::Kind::jump:
        pending.reset();
        jump(reader, order.index);
        break;
      case Order::Kind::read:
        pending = read(reader);
        break;
      case Order::Kind::show:
        if (order.counted) {
          show(std::move(pending), order, reader);
        } else {
          pending.reset();
        }
        break;
    }
  }
}

/// What to do at the end of the source; nothing: wait.
std::optional<LiveSession::Order> LiveSession::order_at_end(const ReaderInfo& info) {
  steps_ = 0;
  if (!playing_ || !loop_) return std::nullopt;
  // an empty source would turn in circles
  if (!read_since_jump_) throw Error("no frame is in it");
  if (info.seekable) return Order{Order::Kind::jump, 0};
  reopen_ = true;
  return Order{Order::Kind::leave};
}

LiveSession::Order LiveSession::next_order(const Frame* pending, const ReaderInfo& info) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (end_ || reopen_) return {Order::Kind::leave};
    if (jump_to_) {
      show_now_ = true;
      return {Order::Kind::jump, *std::exchange(jump_to_, std::nullopt)};
    }
    const bool now_wanted = show_now_ || steps_ > 0;
    if (phase_ == Phase::at_end) {
      if (const auto order = order_at_end(info)) return *order;
    } else if (playing_ || now_wanted || info.live) {
      if (!pending) return {Order::Kind::read};
      const Clock::time_point now = Clock::now();
      // a live source goes on while it is frozen, so that it is at the present afterwards
      if (info.live) return {Order::Kind::show, 0, now, playing_ || now_wanted};
      if (now_wanted) return {Order::Kind::show, 0, now};
      const double interval = 1 / (info.fps > 0 ? info.fps : kAssumedRate);
      const Clock::time_point due = pace_.due(pending->seconds, interval, speed_);
      if (due <= now) return {Order::Kind::show, 0, due};
      changed_.wait_until(lock, due);
      continue;
    }
    changed_.wait(lock);
  }
}

void LiveSession::jump(FrameReader& reader, int64_t index) {
  wait_begins();
  reader.seek(index);
  const std::lock_guard lock(mutex_);
  waiting_ = false;
  phase_ = Phase::open;
  read_since_jump_ = false;
  // a loop goes on in time; a jump is shown at once, and time counts from there
  if (show_now_) pace_ = Pace();
  pace_.restart();
}

std::shared_ptr<Frame> LiveSession::read(FrameReader& reader) {
  wait_begins();
  std::shared_ptr<Frame> frame = reader.read(*options_.pool);
  bool at_end = false;
  {
    const std::lock_guard lock(mutex_);
    waiting_ = false;
    at_end = !frame;
    if (at_end) phase_ = Phase::at_end;
    if (frame) read_since_jump_ = true;
    if (!(info_ == reader.info())) info_ = reader.info();
  }
  if (at_end) wake_();
  return frame;
}

void LiveSession::show(std::shared_ptr<Frame> frame, const Order& order, const FrameReader& reader) {
  const Clock::time_point now = Clock::now();
  // a file's frame is as old as its time to be shown; how long it lay read is no age
  if (!reader.info().live) frame->captured = now;
  if (reader.info().never_repeats) note_repeats(frame, now);
  FramePtr old;  // let go without the lock
  {
    const std::lock_guard lock(mutex_);
    frame->sequence = ++counts_.read;
    if (slot_) ++counts_.dropped;
    w_ = frame->layout.w, h_ = frame->layout.h;
    index_ = frame->index;
    seconds_ = frame->seconds;
    rate_.add(seconds_of(now));
    pace_.shown(frame->seconds, show_now_ || steps_ > 0 ? now : order.due, now);
    show_now_ = false;
    if (steps_ > 0) --steps_;
    old = std::exchange(slot_, std::move(frame));  // with the counts: nobody sees the one without the other
  }
  wake_();
}

/// Cameras whose driver hangs deliver the last picture for ever. Two pictures of a living sensor differ in
/// their first pixels already, so that the comparison costs nothing then.
void LiveSession::note_repeats(const FramePtr& frame, Clock::time_point now) {
  FramePtr before;
  {
    const std::lock_guard lock(mutex_);
    before = newest_;
  }
  const bool same = before && before->layout == frame->layout &&
                    std::memcmp(before->pixels.data(), frame->pixels.data(), frame->pixels.size()) == 0;
  const std::lock_guard lock(mutex_);
  newest_ = frame;
  if (!same) {
    same_since_.reset();
  } else if (!same_since_) {
    same_since_ = now;
  }
}

void LiveSession::fail(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    waiting_ = false;
    phase_ = was_open_ ? Phase::lost : Phase::failed;
    fault_ = text;
    rate_.clear();
    newest_.reset();
  }
  wake_();
}

/// False when the session is to end.
bool LiveSession::pause_before_retry() {
  std::unique_lock lock(mutex_);
  const bool retry = phase_ == Phase::lost || options_.retry_failed;
  const auto asked = [this] { return end_ || reopen_; };
  if (retry) {
    changed_.wait_for(lock, duration_of(options_.retry_seconds), asked);
  } else {
    changed_.wait(lock, asked);
  }
  return !end_;
}

void LiveSession::wait_begins() {
  const std::lock_guard lock(mutex_);
  waiting_ = true;
  waiting_since_ = Clock::now();
}

void LiveSession::end() {
  wake_.silence();
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  changed_.notify_all();
  watched_.notify_all();
}

bool LiveSession::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

bool LiveSession::wait_for_end(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  return ended_changed_.wait_until(lock, until, [this] { return ended_; });
}

}  // namespace convscope
