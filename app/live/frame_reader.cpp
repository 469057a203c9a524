#include "app/live/frame_reader.h"

#include <fmt/format.h>

#include "kernels/error.h"

namespace convscope {

std::shared_ptr<Frame> FrameReader::read(FramePool& pool) {
  std::shared_ptr<Frame> frame = next(pool);
  if (!frame) return nullptr;
  frame->id = next_frame_id();
  frame->sequence = ++sequence_;
  if (frame->captured == std::chrono::steady_clock::time_point{})
    frame->captured = std::chrono::steady_clock::now();
  return frame;
}

void FrameReader::seek(int64_t index) {
  throw Error(fmt::format("frame {}: this source runs forward only", index));
}

}  // namespace convscope
