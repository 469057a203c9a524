#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kernels/registry.h"
#include "kernels/runtime.h"

namespace convscope {

/// One convolution of one image, whatever strategy computes it: pixels -> unpack -> pad -> convolve.
struct Operation {
  PixelLayout pixels;   // of one image; problem.shape.n images lie one after the other in memory
  PadAmounts border;    // made by the pad stage; none() where the strategy pads with zeros itself
  ConvProblem problem;  // as the strategy sees it: h and w include `border`
  ConvWeights weights;
  bool operator==(const Operation&) const = default;
};

/// Runs a strategy over frames of one operation at a time, in the memory of its runtime. Buffers are kept
/// while sizes stay; a failed set() leaves the last operation and output as they were.
class Chain {
 public:
  explicit Chain(Runtime&);
  ~Chain();

  /// Prepares for an operation with a strategy. Throws Error: a fault of shape or weights, "NAME refuses:
  /// why", unavailable, no memory.
  void set(const RegistryRow&, const Operation&);

  /// Uploads and computes one frame; on cuda asynchronous, the upload beside the kernels of the frame before.
  /// `frame` names the pixels: two runs with the same number in a row have the same pixels. Pixels that are
  /// not pinned have been read when it returns. Waits only where it is called before ready(). Throws Error.
  void run(uint64_t frame, const HostPixels&);
  void run(uint64_t frame, const void* pixels) { run(frame, HostPixels{pixels}); }
  /// Whether run() would not wait for the upload of the frame before last. Never waits.
  bool ready() const;

  /// The output of the last run (n x c_out x out_h x out_w), its input planes after the pad stage, in the
  /// runtime's memory; null before the first run.
  const void* output() const;
  const void* input() const;
  const Operation& operation() const;
  const StrategyInfo& info() const;

 private:
  const void* input_planes() const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace convscope
