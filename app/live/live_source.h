#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/frame.h"
#include "app/live/frame_pool.h"
#include "app/live/frame_reader.h"

namespace convscope {

/// Totals of a source over all its openings.
struct LiveCounts {
  uint64_t read = 0, dropped = 0;
};

enum class LiveState {
  opening,
  playing,
  paused,
  ended,    // at the end of a file, without loop
  stalled,  // nothing new comes, though the source is open
  lost,     // it was there; opened again by itself when it is back
  failed,   // could not be opened; tried again on request, and by itself where it may come (a camera)
};
const char* to_string(LiveState);

/// What a stream does, at the time of asking.
struct LiveStatus {
  LiveState state = LiveState::opening;
  std::string message;      // one line, what is wrong and what to do; empty where all is well
  ReaderInfo info;          // of the open reader, or the last one
  double measured_fps = 0;  // of frames that arrived in the last second or so; 0 while none do
  uint64_t read = 0;        // frames since the source was opened first
  uint64_t dropped = 0;     // of these, replaced by a newer one before anybody took them
  int64_t w = 0, h = 0;     // of the newest frame
  int64_t index = 0;        // of the newest frame
  double seconds = 0;
  bool playing = true, loop = true;  // as set, whatever the state
  double speed = 1;
};

struct LiveOptions {
  bool playing = true, loop = true;
  double speed = 1;                 // 0.05 to 100; nothing for live readers
  std::shared_ptr<FramePool> pool;  // null: one of its own
  double stall_seconds = 1.3;       // without a frame (or 3 of its intervals, if longer)
  double retry_seconds = 1;         // between attempts to open a lost source
  bool retry_failed = false;  // so is one that could not be opened at first, as a camera to be plugged in
  double close_seconds = 1;   // that the destructor waits for a read that hangs
};

/// A reader on a thread of its own, with a slot for its newest frame. No call waits for the source, and no
/// lock is held while it reads. Files are paced by the times of their frames; a live source by itself.
/// For one thread, but for `wake`, which is called from others.
class LiveSource {
 public:
  /// Opens on the source's own thread; called again to reopen.
  using Open = std::function<std::unique_ptr<FrameReader>()>;
  /// `wake` is called whenever a frame has come or the status has changed; not after close().
  LiveSource(Open, std::function<void()> wake, const LiveOptions& = {});
  /// Closes, and waits for the thread up to close_seconds after close(); a read that hangs even then is left
  /// to itself, with all that it uses.
  ~LiveSource();
  LiveSource(const LiveSource&) = delete;
  LiveSource& operator=(const LiveSource&) = delete;

  /// The newest frame that has not been taken yet, or null.
  FramePtr take_newest();
  LiveStatus status() const;

  void play();  // from the start where it has ended
  void pause();
  /// Pauses, and shows the frame so many further on, or back where the source can seek.
  void step(int64_t frames);
  void seek(int64_t index);
  void set_loop(bool);
  void set_speed(double);
  /// Opens the source anew, whatever its state; a read that hangs is left to itself.
  void reopen();

  /// Asks it to end, and returns at once.
  void close();
  bool closed() const;  // its threads have ended

 private:
  struct Thread;
  void start(const LiveCounts&);

  Open open_;
  std::function<void()> wake_;
  LiveOptions options_;
  std::unique_ptr<Thread> reading_;
  std::vector<Thread> left_;  // whose reads hung when the source was opened again
  bool closing_ = false;
  std::chrono::steady_clock::time_point close_asked_{};
};

/// Whether a source that is not there, or cannot be read, may come by itself: a camera that is plugged in, a
/// server or the writer of a named pipe that is started. A file that is missing stays so.
bool may_come(const std::string& source);

/// A LiveSource of open_reader(source), which is tried again where it may come.
std::unique_ptr<LiveSource> open_live(const std::string& source, const ReaderOptions&,
                                      std::function<void()> wake, const LiveOptions& = {});

}  // namespace convscope
