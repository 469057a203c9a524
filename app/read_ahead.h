#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "app/live/frame_reader.h"

namespace convscope {

/// Opens and reads a source on a thread of its own, a few frames ahead of who takes them. A source whose
/// frames come by themselves is never held up: where its frames are not taken in time, the newest replaces
/// them.
class ReadAhead {
 public:
  using Clock = std::chrono::steady_clock;
  using Open = std::function<std::unique_ptr<FrameReader>()>;

  ReadAhead(Open, std::shared_ptr<FramePool>);
  /// Waits a second for a call that goes on; one that hangs even then is left to itself, with all that it
  /// uses.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// What the source says of itself when it is open; nothing where it is not by `until`, or the stop is
  /// requested. Throws what opening throws.
  std::optional<ReaderInfo> opened(Clock::time_point until, const std::stop_token&);
  /// The next frame; null at the end, and where none came by `until` or the stop is requested. Throws what
  /// reading throws.
  FramePtr take(Clock::time_point until, const std::stop_token&);
  /// Whether no frame comes any more.
  bool ended() const;

 private:
  struct Shared;
  static void read_all(const Open&, Shared&);

  std::shared_ptr<Shared> shared_;  // the thread has a share: it may outlive this
  std::thread thread_;
};

}  // namespace convscope
