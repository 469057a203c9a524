#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "app/live/frame_reader.h"

namespace convscope {

/// Reads a source on a thread of its own, a few frames ahead of who takes them. A source whose frames come by
/// themselves is never held up: where its frames are not taken in time, the newest replaces them.
class ReadAhead {
 public:
  ReadAhead(std::unique_ptr<FrameReader>, FramePool&);
  ~ReadAhead();  // waits for a read that goes on
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// The next frame; null at the end. Waits for it. Throws Error where the source is lost.
  FramePtr take();
  const ReaderInfo& info() const { return info_; }  // as it was opened

 private:
  void loop();

  std::unique_ptr<FrameReader> reader_;
  FramePool& pool_;
  const ReaderInfo info_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FramePtr> frames_;
  std::exception_ptr fault_;
  bool ended_ = false, stop_ = false;
  std::thread thread_;  // last: starts when everything above exists
};

}  // namespace convscope
