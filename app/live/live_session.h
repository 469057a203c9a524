#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/live/live_source.h"
#include "app/live/pace.h"
#include "app/live/rate_meter.h"

namespace convscope {

/// Calls a function of others, until it is silenced; silence() returns when no call is going on.
class Waker {
 public:
  explicit Waker(std::function<void()> call) : call_(std::move(call)) {}
  void operator()() {
    const std::lock_guard lock(mutex_);
    if (call_) call_();
  }
  void silence() {
    const std::lock_guard lock(mutex_);
    call_ = nullptr;
  }

 private:
  std::mutex mutex_;
  std::function<void()> call_;
};

/// One reader's life on its thread, and what is known of it. The thread owns a share of it: where a read
/// never returns, both are left behind. Everything but run() may be called from any thread and never waits.
class LiveSession {
 public:
  using Clock = std::chrono::steady_clock;
  using Open = LiveSource::Open;

  LiveSession(Open, std::function<void()> wake, const LiveOptions&, const LiveCounts&);

  /// The thread's work: opens, plays, opens again, until end().
  void run();

  FramePtr take();
  LiveStatus status(Clock::time_point now) const;
  LiveCounts counts() const;
  void play();
  void pause();
  void step(int64_t frames);
  void seek(int64_t index);
  void set_loop(bool);
  void set_speed(double);
  void reopen();

  /// Ends the thread as soon as the reader lets it; no wake comes after this.
  void end();
  bool ended() const;
  /// Whether it ends by then.
  bool wait_for_end(Clock::time_point until);
  /// Waits a moment and wakes where the silence of the source has become worth telling; false after end().
  bool watch();
  /// For how long a read or an attempt to open has been going on; zero where none is.
  Clock::duration waiting(Clock::time_point now) const;

 private:
  enum class Phase { opening, open, at_end, lost, failed };
  struct Order {
    enum class Kind { leave, jump, read, show } kind;
    int64_t index = 0;        // to jump to
    Clock::time_point due{};  // of the frame to be shown
    bool counted = true;      // false: a live source's frame that nobody wants while it is frozen
  };

  std::unique_ptr<FrameReader> open_reader();
  void play_through(FrameReader&);
  Order next_order(const Frame* pending, const ReaderInfo&);
  std::optional<Order> order_at_end(const ReaderInfo&);
  std::shared_ptr<Frame> read(FrameReader&);
  void show(std::shared_ptr<Frame>, const Order&, const FrameReader&);
  void jump(FrameReader&, int64_t index);
  void fail(const std::string& text);
  bool pause_before_retry();
  void note_repeats(const FramePtr&, Clock::time_point now);
  double stall_limit() const;
  bool silent(Clock::time_point now) const;
  bool repeating(Clock::time_point now) const;
  std::string message(LiveState, Clock::time_point now) const;
  void wait_begins();

  const Open open_;
  const LiveOptions options_;
  Waker wake_;

  mutable std::mutex mutex_;
  std::condition_variable changed_, watched_, ended_changed_;
  // what is asked for
  bool end_ = false, reopen_ = false, playing_, loop_;
  double speed_;
  int64_t steps_ = 0;
  std::optional<int64_t> jump_to_;
  bool show_now_ = true;  // the next frame does not wait for its time: the first, and after a jump
  // what is
  Phase phase_ = Phase::opening;
  bool was_open_ = false;  // what fails from then on is lost, and tried again until it is back
  std::string fault_;
  ReaderInfo info_;
  FramePtr newest_, slot_;  // newest_: only where repeats are looked for
  RateMeter rate_{1};
  LiveCounts counts_;
  bool read_since_jump_ = false;
  int64_t w_ = 0, h_ = 0, index_ = 0;
  double seconds_ = 0;
  bool waiting_ = false, told_ = false, ended_ = false;
  Clock::time_point waiting_since_{};
  std::optional<Clock::time_point> same_since_;  // all frames from then on have been equal
  Pace pace_;
};

}  // namespace convscope
