#include "bench/bench.h"

#include <algorithm>
#include <map>

#include "bench/ceilings.h"
#include "bench/workload_bench.h"
#include "kernels/error.h"

namespace convscope::bench {
namespace {

std::vector<Precision> precisions_of(const BenchRequest& request, const Workload& workload) {
  if (request.precision) return {*request.precision};
  if (workload.also_fp64) return {Precision::fp32, Precision::fp64};
  return {Precision::fp32};
}

/// One machine a memory space for all workloads.
class Machines {
 public:
  Machine& of(Target target) {
    auto& machine = machines_[target == Target::cuda];
    if (!machine) machine = make_machine(target);
    return *machine;
  }

 private:
  std::unique_ptr<Machine> machines_[2];
};

}  // namespace

const char* to_string(Inputs inputs) { return inputs == Inputs::hot ? "hot" : "streaming"; }

BenchResult run_bench(const BenchRequest& request, const BenchObserver& observer, std::stop_token stop) {
  if (request.rounds < 1) throw Error("rounds: expected at least 1");
  if (request.inputs.empty()) throw Error("inputs: expected streaming, hot or both");
  Machines machines;
  BenchResult result;
  result.interrupted = true;
  std::map<Precision, std::vector<Stage>> stages;
  for (const Workload& workload : request.workloads) {
    for (const Precision precision : precisions_of(request, workload)) {
      if (stop.stop_requested()) break;
      std::vector<Stage>& known = stages[precision];
      for (const Target target : request.targets) {
        const bool there = std::any_of(known.begin(), known.end(),
                                       [&](const Stage& stage) { return stage.target == target; });
        if (there) continue;
        Machine& machine = machines.of(target);
        known.push_back({target, &machine, measure_ceilings(machine, precision)});
        result.ceilings.push_back({target, precision, known.back().ceilings});
      }
      result.workloads.push_back(WorkloadBench(request, workload, precision, known, observer, stop).run());
      if (observer.measured) observer.measured(result);
    }
  }
  result.interrupted = stop.stop_requested();
  return result;
}

}  // namespace convscope::bench
