#pragma once

#include <memory>
#include <optional>

#include "bench/bench.h"
#include "bench/contender.h"
#include "bench/planes.h"
#include "bench/series.h"

namespace convscope::bench {

/// A machine, kept over all workloads, and what it can do at best in one precision.
struct Stage {
  Target target = Target::cuda;  // whose rows run on it; emulated and cpu have one each
  Machine* machine = nullptr;
  Ceilings ceilings;
};

/// One workload in one precision on some targets, from its planes to its result.
class WorkloadBench {
 public:
  WorkloadBench(const BenchRequest&, const Workload&, Precision, std::vector<Stage>, const BenchObserver&,
                std::stop_token);
  ~WorkloadBench();

  WorkloadResult run();

 private:
  struct Lane;
  struct Arena;

  void measure();
  void ask();
  void add_floors(Arena&);
  void prove(Lane&, Expected&);
  void run_rounds();
  void step(Lane&, Inputs, int round);
  WorkloadResult result();
  void fill_measures(Lane&, WorkloadResult&);
  double fastest_copy_us(Target, Inputs) const;
  void tell(const std::string& what) const;
  Series make_series(Arena&, Inputs, double first_us, std::function<void(int)> enqueue) const;

  const BenchRequest& request_;
  const Workload& workload_;
  const Precision precision_;
  const BenchObserver& observer_;
  const std::stop_token stop_;
  const ConvProblem problem_;
  const ConvWeights weights_;
  std::vector<Stage> stages_;
  int64_t checked_ = 0;
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // after what they run in
};

}  // namespace convscope::bench
