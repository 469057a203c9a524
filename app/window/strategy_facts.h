#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/race.h"
#include "kernels/cost.h"
#include "kernels/launch_log.h"
#include "kernels/registry.h"

namespace convscope {

struct PreparedOperation;
struct Results;

/// What is known of the shown strategy without timing it.
struct ShownFacts {
  StrategyInfo info;
  std::shared_ptr<const PreparedOperation> prepared;
  Cost cost;
  double error_bounds = 1;
};

/// How a strategy's kernels were started when it first ran a problem.
struct KernelLaunches {
  std::string id;  // of the strategy
  ConvProblem problem;
  std::vector<LaunchLog::Entry> kernels;
};

/// The launches without the stages that make the strategy's input.
std::vector<LaunchLog::Entry> own_kernels(const std::vector<LaunchLog::Entry>&);

/// Keeps Results::facts, and Results::launches of the host, those of the shown strategy and operation.
class FactsSide {
 public:
  void update(Results&);

 private:
  std::unique_ptr<Strategy> probe_;  // of the shown row; asked, never prepared
  std::string probe_id_;
};

/// What the last race found out about the shown strategy; null where it was of another operation, or has no
/// time.
const bench::Entry* raced_entry(const Results&);

/// The kernels of the shown strategy as they were started for the shown operation, without those that prepare
/// its input; null where no launch of it has been recorded.
const std::vector<LaunchLog::Entry>* shown_launches(const Results&);

}  // namespace convscope
