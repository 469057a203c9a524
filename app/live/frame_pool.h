#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "app/frame.h"

namespace convscope {

/// Memory of frames that is used again: new memory for each frame of a 1080p stream costs 1500 page faults.
/// Frames may outlive the pool. Any thread.
class FramePool {
 public:
  /// Makes memory, on the thread that takes a frame; may throw Error.
  using Allocate = std::function<std::unique_ptr<Buffer>(std::size_t bytes)>;

  FramePool();
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// A frame with pixels of so many bytes, of whatever value. `content` names what the taker draws: memory
  /// that was last taken with the same name, not 0, is preferred, and `*kept` tells that it still holds it.
  std::shared_ptr<Frame> take(std::size_t bytes, uint64_t content = 0, bool* kept = nullptr);

  /// From now on new memory comes from here, as from [&runtime](size_t n) { return runtime.allocate_host(n);
  /// } with `pinned` for memory that a device reads by itself; nullptr: ordinary memory. Unused memory is
  /// freed.
  void allocate_with(Allocate, bool pinned);

  /// For tests: blocks ever made, and blocks that no frame holds now.
  std::size_t made() const;
  std::size_t free() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace convscope
