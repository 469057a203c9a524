#include "app/live/frame_pool.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace convscope {
namespace {

class HostBuffer : public Buffer {
 public:
  // left without a value: the taker fills it
  explicit HostBuffer(std::size_t bytes) : memory_(new std::byte[std::max<std::size_t>(1, bytes)]) {
    data_ = memory_.get();
    bytes_ = bytes;
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
};

/// One piece of memory, and what was last drawn into it.
struct Block {
  std::unique_ptr<Buffer> buffer;
  uint64_t content = 0;
  uint64_t generation = 0;  // of the allocator that made it
  bool pinned = false;
};

// as many as a pipeline holds at a time: newest, uploading, shown, compared, and two spare
constexpr std::size_t kMostFree = 6;

}  // namespace

struct FramePool::State {
  mutable std::mutex mutex;
  std::vector<Block> free;  // the longest unused first
  std::size_t made = 0;
  Allocate allocate;
  bool pinned = false;
  uint64_t generation = 0;

  /// A free block of this size, with this content if there is one.
  std::optional<Block> reuse(std::size_t bytes, uint64_t content) {
    const std::lock_guard lock(mutex);
    auto best = free.end();
    for (auto at = free.begin(); at != free.end(); ++at) {
      if (at->buffer->bytes() != bytes) continue;
      if (best == free.end() || (content != 0 && at->content == content)) best = at;
    }
    if (best == free.end()) return std::nullopt;
    Block block = std::move(*best);
    free.erase(best);
    return block;
  }

  Block make(std::size_t bytes) {
    Block block;
    Allocate make_buffer;
    {
      const std::lock_guard lock(mutex);
      make_buffer = allocate;
      block.generation = generation;
      block.pinned = pinned;
      ++made;
    }
    block.buffer = make_buffer ? make_buffer(bytes) : std::make_unique<HostBuffer>(bytes);
    return block;
  }

  void give_back(Block block) {
    Block gone;  // freed without the lock: pinned memory takes its time
    const std::lock_guard lock(mutex);
    if (block.generation != generation) {
      gone = std::move(block);
      return;
    }
    free.push_back(std::move(block));
    if (free.size() <= kMostFree) return;
    // sizes that are no longer in use end up in front
    gone = std::move(free.front());
    free.erase(free.begin());
  }
};

FramePool::FramePool() : state_(std::make_shared<State>()) {}
FramePool::~FramePool() = default;

std::shared_ptr<Frame> FramePool::take(std::size_t bytes, uint64_t content, bool* kept) {
  std::optional<Block> found = state_->reuse(bytes, content);
  if (kept) *kept = found && content != 0 && found->content == content;
  if (!found) found = state_->make(bytes);
  found->content = content;
  auto* const data = static_cast<std::byte*>(found->buffer->data());
  const bool pinned = found->pinned;
  // the pixels' last owner gives the block back, wherever that is
  struct Lent {
    std::shared_ptr<State> state;
    Block block;
    ~Lent() { state->give_back(std::move(block)); }
  };
  const std::shared_ptr<Lent> lent(new Lent{state_, std::move(*found)});
  auto frame = std::make_shared<Frame>();
  frame->pixels = Pixels(lent, data, bytes, pinned);
  return frame;
}

void FramePool::allocate_with(Allocate allocate, bool pinned) {
  std::vector<Block> gone;
  const std::lock_guard lock(state_->mutex);
  state_->allocate = std::move(allocate);
  state_->pinned = pinned && state_->allocate;
  ++state_->generation;
  gone.swap(state_->free);
}

std::size_t FramePool::made() const {
  const std::lock_guard lock(state_->mutex);
  return state_->made;
}

std::size_t FramePool::free() const {
  const std::lock_guard lock(state_->mutex);
  return state_->free.size();
}

}  // namespace convscope
