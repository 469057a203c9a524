#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convscope {

/// One timed stage of a frame.
struct StageTime {
  std::string name;
  double ms = 0;
  double start_ms = 0;  // from the start of the runtime's first timed frame
};

/// The stages of one frame, in the order they ran. `frame` is the number given to Stages::begin_frame.
struct FrameTimes {
  uint64_t frame = 0;
  std::vector<StageTime> stages;
  double total_ms() const;
};

/// Times the stages of a frame: event pairs on the stream for cuda, a steady clock elsewhere. Stages of one
/// frame follow one another; they do not nest. The upload of a frame may run beside stages of the frame
/// before. Names must outlive the frame's collection (string literals).
class Stages {
 public:
  virtual ~Stages() = default;
  virtual void begin_frame(uint64_t frame) = 0;
  virtual void end_frame() = 0;
  virtual void begin(const char* stage) = 0;
  virtual void end() = 0;
  /// Frames whose times have become known since the last call, oldest first. Never waits.
  virtual std::vector<FrameTimes> collect() = 0;
};

/// Times one stage from construction to destruction.
class StageTimer {
 public:
  StageTimer(Stages& stages, const char* name) : stages_(stages) { stages_.begin(name); }
  ~StageTimer() { stages_.end(); }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  Stages& stages_;
};

/// Steady-clock times for the emulated and cpu targets.
class HostStages final : public Stages {
 public:
  void begin_frame(uint64_t frame) override;
  void end_frame() override;
  void begin(const char* stage) override;
  void end() override;
  std::vector<FrameTimes> collect() override;

 private:
  FrameTimes current_;
  const char* name_ = "";
  int64_t started_ns_ = 0, epoch_ns_ = 0;
  std::vector<FrameTimes> done_;
};

}  // namespace convscope
