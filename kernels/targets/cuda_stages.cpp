#include "kernels/targets/cuda_stages.h"

#include <utility>

#include "kernels/error.h"

namespace convscope::cuda {

void CudaStages::begin_frame(uint64_t frame) {
  current_ = nullptr;
  if (newest_ - oldest_ == kFrames) return;
  current_ = &ring_[newest_ % kFrames];
  current_->frame = frame;
  current_->count = 0;
}

void CudaStages::end_frame() {
  if (current_ != nullptr && current_->count > 0) ++newest_;
  current_ = nullptr;
}

void CudaStages::begin_on(cudaStream_t on, const char* stage) {
  set_current_stage(stage);
  open_ = nullptr;
  if (current_ == nullptr || current_->count == kStages) return;
  open_ = &current_->stages[current_->count++];
  open_->name = stage;
  open_on_ = on;
  open_->start.record(on);
}

void CudaStages::end() {
  if (open_ == nullptr) return;
  StageEvents* const closing = std::exchange(open_, nullptr);
  try {
    closing->stop.record(open_on_);
  } catch (const Error&) {
    // Runs in a destructor: the error is found again, and told, by the call that follows.
  }
}

FrameTimes CudaStages::times_of(RingFrame& f) {
  Event& first = f.stages[0].start;
  if (anchored_) anchor_ms_ += first.ms_since(anchor_);
  FrameTimes times{f.frame, {}};
  for (int i = 0; i < f.count; ++i) {
    const StageEvents& stage = f.stages[i];
    times.stages.push_back({stage.name, stage.stop.ms_since(stage.start),
                            anchor_ms_ + (i == 0 ? 0 : stage.start.ms_since(first))});
  }
  anchor_.swap(first);
  anchored_ = true;
  return times;
}

std::vector<FrameTimes> CudaStages::collect() {
  std::vector<FrameTimes> done;
  while (oldest_ < newest_) {
    RingFrame& f = ring_[oldest_ % kFrames];
    if (!f.stages[f.count - 1].stop.done()) break;
    done.push_back(times_of(f));
    ++oldest_;
  }
  return done;
}

}  // namespace convscope::cuda
