#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/operation.h"
#include "bench/race.h"

namespace convscope {

/// What the shown picture has that the race had not: the race's numbers are then of something else.
enum class RaceAge { current, other_frame, other_operation };

/// The race asked for last: of what it is, and what is known of it.
struct RaceResults {
  uint64_t id = 0;     // rises with every race; 0: none yet
  uint64_t frame = 0;  // Frame::id; the frame itself is not kept, its memory may be a stream's
  std::string source;  // Frame::name
  std::shared_ptr<const PreparedOperation> prepared;
  Precision precision = Precision::fp32;
  std::vector<StrategyInfo> rows;  // asked for; state.entries are in this order
  bench::RaceState state;
  bool running = false;
  bool cancelled = false;
  std::string error;  // why nothing could be raced
  RaceAge age = RaceAge::current;

  /// Whether a row of this target has a time.
  bool has(Target) const;
};

/// "landscape.png, frame 3, 1920 x 1080: 1x3x1080x1920 -> 16, 3x3, ..., fused, fp32".
std::string race_subject(const RaceResults&);

}  // namespace convscope
