#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/targets/cuda_event.h"
#include "kernels/timing.h"

namespace convscope::cuda {

/// A ring of event pairs. Frames are read when their last event has passed; a frame that finds no free place
/// in the ring runs untimed rather than waiting.
class CudaStages final : public Stages {
 public:
  void begin_frame(uint64_t frame) override;
  void end_frame() override;
  void begin(const char* stage) override { begin_on(stream(), stage); }
  void end() override;
  std::vector<FrameTimes> collect() override;

  /// A stage on another stream than the runtime's; end() ends it there.
  void begin_on(cudaStream_t, const char* stage);

 private:
  static constexpr int kFrames = 8, kStages = 16;
  struct StageEvents {
    const char* name = "";
    Event start, stop;
  };
  struct RingFrame {
    uint64_t frame = 0;
    int count = 0;
    std::array<StageEvents, kStages> stages;
  };
  FrameTimes times_of(RingFrame&);

  std::array<RingFrame, kFrames> ring_;
  uint64_t oldest_ = 0, newest_ = 0;
  RingFrame* current_ = nullptr;
  StageEvents* open_ = nullptr;
  cudaStream_t open_on_ = nullptr;
  // Start of the frame read last, and its time: each frame is placed by its distance from the one before,
  // which a float of milliseconds holds to well under a microsecond.
  Event anchor_;
  double anchor_ms_ = 0;
  bool anchored_ = false;
};

}  // namespace convscope::cuda
