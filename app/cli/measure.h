#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/frame.h"
#include "kernels/chain.h"

namespace convscope {

/// One timed stage: in the first run after preparing, and in a second, warm one.
struct MeasuredStage {
  std::string name;
  double first_ms = 0, ms = 0;
};

/// A strategy's result for one frame, in host memory, and what it took.
struct Measured {
  StrategyInfo info;
  std::string device;
  std::vector<std::byte> output;      // n x c_out x out_h x out_w
  std::vector<MeasuredStage> stages;  // upload, unpack, ..., download; transfers are 0 where memory is shared
  double first_total_ms() const;
  double total_ms() const;
};

/// Runs twice. `input`: where not null, the planes that the strategy read (after the pad stage). Throws
/// Error, among them "NAME refuses: why".
Measured measure(const RegistryRow&, const Operation&, const Frame&, std::vector<std::byte>* input = nullptr);

}  // namespace convscope
