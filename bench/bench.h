#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/race.h"
#include "bench/workloads.h"

namespace convscope::bench {

/// Where a launch finds its inputs. streaming: in main memory, since one launch after the other has sets of
/// its own, together eight times what the last cache holds. hot: in the caches as far as they fit, since
/// every launch has the same, as in the window.
enum class Inputs { streaming, hot };
const char* to_string(Inputs);

struct BenchRequest {
  std::vector<Workload> workloads;
  std::vector<Target> targets;          // whose rows are timed in one table
  std::vector<std::string> strategies;  // names; empty: all
  std::optional<Precision> precision;   // nullopt: fp32, and fp64 where the workload says so
  std::vector<Inputs> inputs{Inputs::streaming, Inputs::hot};
  int rounds = 25;
  double most_seconds_a_row = 1;  // of each kind of inputs
};

/// The times of one row with inputs of one kind.
struct Measure {
  Inputs inputs = Inputs::streaming;
  Timing time;
  double of_copy = 0;              // median / that of the fastest copy of the same bytes on this target
  bool tied_with_fastest = false;  // of the same inputs and target; the fastest itself too
  std::string limit;
};

struct BenchRow {
  Entry entry;         // entry.time: of the first of the inputs asked for
  bool floor = false;  // no strategy: a copy of the same bytes, an empty kernel
  std::vector<Measure> measures;
};

/// One workload in one precision.
struct WorkloadResult {
  Workload workload;
  Precision precision = Precision::fp32;
  int64_t checked = 0, values = 0;  // output values of a row compared with the reference, and all
  struct Sets {
    Target target;
    int count;  // of inputs and outputs, streaming
  };
  std::vector<Sets> sets;
  std::vector<BenchRow> rows;  // floors, then the registry's order
  std::string fault;           // why it ended early, where it did not by request: no memory for the planes
};

struct BenchResult {
  struct Machine {
    Target target;
    Precision precision;
    Ceilings ceilings;
  };
  std::vector<Machine> ceilings;
  std::vector<WorkloadResult> workloads;
  bool interrupted = false;
};

/// Hears what the benchmark does; called on its thread.
struct BenchObserver {
  std::function<void(const std::string& doing)> progress;
  /// After each workload, which is the last of those so far; `interrupted` until all are done.
  std::function<void(const BenchResult& so_far)> measured;
};

/// Times every row that takes a workload, rows interleaved round by round, each checked against the reference
/// before it is timed. After a stop request it ends soon and keeps what was measured. Throws Error where a
/// target is unavailable.
BenchResult run_bench(const BenchRequest&, const BenchObserver&, std::stop_token);

}  // namespace convscope::bench
