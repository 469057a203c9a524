#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/bank.h"
#include "app/display.h"
#include "app/frame.h"
#include "app/live/camera.h"
#include "app/live/live_source.h"
#include "app/operation.h"
#include "app/recording.h"
#include "app/window/flow.h"
#include "app/window/race_results.h"
#include "app/window/strategy_facts.h"
#include "app/window/timing_table.h"
#include "kernels/compare.h"
#include "kernels/registry.h"

namespace convscope {

/// Maps of one computation in host memory, for the read-out, export and compare(). Immutable; `keep` owns the
/// values.
struct HostMaps {
  uint64_t number = 0;  // of the computation; see Shown
  FramePtr frame;
  std::shared_ptr<const PreparedOperation> prepared;
  StrategyInfo info;
  const void* values = nullptr;  // n x c_out x out_h x out_w of info.precision
  const void* input = nullptr;   // n x c_in x h x w, or null where it was not brought to the host
  std::shared_ptr<const void> keep;
  std::vector<LaunchLog::Entry> launches{};  // of this computation, where it ran on the host

  double value(int64_t plane, int64_t y, int64_t x) const;
};
using HostMapsPtr = std::shared_ptr<const HostMaps>;

/// The computation on screen. Numbers rise with every request; a newer number is a newer setting or frame.
struct Shown {
  uint64_t number = 0;
  FramePtr frame;
  std::shared_ptr<const PreparedOperation> prepared;
  StrategyInfo info;
  HostMapsPtr host;  // null until a cuda result has been read back

  const ConvShape& shape() const { return prepared->operation.problem.shape; }
  int64_t planes() const { return shape().n * shape().c_out; }
};

/// A against B: both of the same frame and the same input. Valid for one Shown::number only.
struct DifferenceResult {
  uint64_t number = 0;
  uint64_t serial = 0;  // rises with each result
  HostMapsPtr a, b;
  std::shared_ptr<const std::vector<float>> bound;
  Comparison comparison;
  Tolerance tolerance;  // of the comparison: how many bounds are permitted
};

/// A row of the strategy list.
struct StrategyRow {
  const RegistryRow* row = nullptr;
  std::optional<std::string> reason;  // why it cannot run now, or refuses this problem
  bool missing = false;               // the reason is the machine's or the build's, not the problem's
  std::optional<double> kernel_ms;    // median of its own stages when it last ran
  bool stale = false;                 // kernel_ms was measured on another problem
};

/// What was refused, shown beside the control it concerns. The setting went back to its last valid value.
struct Fault {
  std::string key;  // of Settings: "stride"; empty where none is to blame
  std::string text;
  double at = seconds_now();
};

struct Thumbnail {
  uint64_t frame = 0;
  int width = 0, height = 0;
  std::vector<uint8_t> rgba;
};

/// What is under the pointer, or in the middle of the view where the pointer is elsewhere.
struct PixelReadout {
  bool valid = false, at_pointer = false;
  int64_t plane = 0, y = 0, x = 0;
  std::optional<double> a, b, bound;
};

/// What the panels read.
struct Results {
  FramePtr source;                             // the open picture, of which the newest request was made
  std::optional<RecordingProgress> recording;  // while one goes on
  std::optional<LiveStatus> live;              // of the stream that is open or being opened
  bool live_beside = false;                    // it is being opened, and another source is shown
  std::vector<CameraNode> cameras;
  std::shared_ptr<const Thumbnail> thumbnail;
  std::vector<Bank> banks;
  std::vector<std::string> bank_faults;
  ConvWeights weights;  // as set, before a true convolution turns them
  std::optional<Shown> shown;
  Flow flow;
  std::optional<DifferenceResult> difference;
  bool opening = false;    // a source is being read
  bool computing = false;  // shown is of an older setting
  bool comparing = false;  // the difference is being computed
  bool measuring = false;  // warm runs are going on
  std::optional<Fault> fault;
  std::string note;              // why it is not the strategy that was chosen
  std::string difference_fault;  // why there is none
  std::vector<StrategyRow> rows;
  TimingTable timings;          // of the shown strategy
  TimingTable against_timings;  // of side B
  RaceResults race;
  std::optional<ShownFacts> facts;
  std::optional<KernelLaunches> launches;
  std::string cuda_reason;  // why there is no CUDA, or empty
  std::string cuda_device, host_device, gl_renderer;
  bool interop = false;        // the view buffer is shared with CUDA now
  std::string interop_reason;  // why not
  PixelReadout pixel;
  Range range;  // of the colours on screen
};

}  // namespace convscope
