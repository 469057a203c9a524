#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/chain.h"
#include "kernels/cost.h"
#include "kernels/launch_log.h"

namespace convscope::bench {

/// Microseconds of one convolution over several runs.
struct Timing {
  double median_us = 0, p10_us = 0, p90_us = 0;
  int runs = 0;
};

/// What was found out about one strategy on one problem.
struct Entry {
  StrategyInfo info;
  std::string refused;  // why there is no time, in words: refused, unavailable, or a wrong result
  /// What else than the operation it computes, and is checked against: "rank-2 approximation, keeps 97.3 % of
  /// the filters' energy". Empty where it computes the operation.
  std::string approximation;
  Timing time;
  Cost cost;
  double bound_fraction = 0;  // largest |difference from the reference| in error bounds
  double error_bounds = 1;    // as many are permitted to it
  std::vector<LaunchLog::Entry> launches;
  /// What limits it, from the times of this run: "memory (78 % of the copy's rate)", "arithmetic (...)",
  /// "launches (...)", "neither memory nor arithmetic (...)".
  std::string limit;
};

/// What a target's machine can do at best, by micro-benchmarks in this process.
struct Ceilings {
  double copy_gb_s = 0;    // read + written, 10^9 bytes a second, over more than the caches hold
  double fma_gflop_s = 0;  // independent FMAs on every core, of the precision asked for; 2 flop each
  double launch_us = 0;    // an empty kernel, one after the other; 0 on the host
  std::string how;         // one sentence for the user
};
/// Takes about 0.2 s. Throws Error where the target is unavailable. `emulated` has the host's.
Ceilings measure_ceilings(Target, Precision);

/// What a race computes: one frame, one operation, these rows (all of one precision; several targets at
/// will).
struct RaceRequest {
  std::shared_ptr<const Operation> operation;
  std::shared_ptr<const std::vector<std::byte>> pixels;
  std::vector<const RegistryRow*> rows;
  int rounds = 15;
  double most_seconds_a_row = 1;  // a slow row gets fewer rounds, at least one
};

struct RaceState {
  std::vector<Entry> entries;  // in the order of the rows; a row not yet measured has time.runs == 0
  Timing copy[3];              // copy of the same bytes, for each Target raced; runs == 0 where not raced
  Ceilings ceilings[3];        // likewise
  int done = 0, total = 0;     // steps
  std::string doing;           // "im2col_gemm/cuda/fp32, round 3 of 15"
  bool finished = false;
};

/// Times every row on the same input planes with them in the caches ("hot", as the live times are), rows
/// interleaved round by round, outputs poisoned before and checked against the reference. Blocks: call it on
/// a thread of its own; cuda work runs on a stream of that thread. All rows compute the same, but `separable`
/// where the operation's separable_rank lets it approximate the kernels: its entry says so, and its result is
/// checked against the convolution with those. `report` is called there after every step with the state so
/// far. Stops soon after a stop request, keeping what was measured. Throws Error where
/// nothing could be raced.
RaceState race(const RaceRequest&, const std::function<void(const RaceState&)>& report, std::stop_token);

/// Whether two timings differ by less than their noise: their 10-90 % ranges overlap.
bool tied(const Timing&, const Timing&);

}  // namespace convscope::bench
