// convscope bench: the workloads timed without a display.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "app/cli/bench_progress.h"
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/files.h"
#include "bench/report.h"
#include "kernels/registry.h"
#include "kernels/runtime.h"

namespace convscope {
namespace {

std::vector<bench::Workload> chosen_workloads(const BenchOptions& options) {
  const std::vector<bench::Workload> all = bench::workloads();
  if (options.only.empty()) return all;
  std::vector<std::string> names;
  for (const bench::Workload& workload : all) names.push_back(workload.name);
  for (const std::string& name : options.only) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UsageError(
          fmt::format("--only {}: no such workload, expected some of {}", name, fmt::join(names, ",")));
  }
  std::vector<bench::Workload> chosen;
  for (const bench::Workload& workload : all) {
    if (std::find(options.only.begin(), options.only.end(), workload.name) != options.only.end())
      chosen.push_back(workload);
  }
  return chosen;
}

std::vector<Target> chosen_targets(const BenchOptions& options) {
  Target first = Target::cuda;
  if (options.target.empty()) {
    if (const auto why = cuda_unavailable()) {
      fmt::print(stderr, "the cuda target is not available ({}): timing the cpu target\n", *why);
      first = Target::cpu;
    }
  } else if (const auto parsed = parse_target(options.target)) {
    first = *parsed;
  } else {
    throw UsageError(fmt::format("--target {}: expected cuda, emulated or cpu", options.target));
  }
  if (options.cpu && first != Target::cpu) return {first, Target::cpu};
  return {first};
}

bench::BenchRequest request_of(const BenchOptions& options) {
  bench::BenchRequest request;
  request.workloads = chosen_workloads(options);
  const std::vector<std::string> names = strategy_names();
  for (const std::string& name : options.strategies) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UsageError(
          fmt::format("--strategies {}: no such strategy, expected some of {}", name, fmt::join(names, ",")));
  }
  request.strategies = options.strategies;
  if (!options.precision.empty()) {
    request.precision = parse_precision(options.precision);
    if (!request.precision)
      throw UsageError(fmt::format("--precision {}: expected fp32 or fp64", options.precision));
  }
  if (options.hot != options.streaming)
    request.inputs = {options.hot ? bench::Inputs::hot : bench::Inputs::streaming};
  request.rounds = options.rounds;
  request.most_seconds_a_row = options.seconds;
  request.targets = chosen_targets(options);
  return request;
}

std::string date_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

int bench_command(const CommandLine& line) {
  const InterruptGuard interrupt;
  const bench::BenchRequest request = request_of(line.bench);
  const std::string& path = line.bench.json;
  const std::string date = date_now();
  const auto save = [&](const bench::BenchResult& result) {
    if (!path.empty()) write_text(path, json_of(result, request, date));
  };
  save({.ceilings = {}, .workloads = {}, .interrupted = true});  // a path that cannot be written is told now
  BenchProgress progress;
  const bench::BenchResult result = run_bench(request,
                                              {[&](const std::string& what) { progress.doing(what); },
                                               [&](const bench::BenchResult& so_far) {
                                                 progress.measured(so_far.workloads.back());
                                                 fmt::print("{}", table_of(so_far.workloads.back()));
                                                 std::fflush(stdout);
                                                 save(so_far);
                                               }},
                                              interrupt.token());
  progress.clear();
  save(result);
  if (result.interrupted) fmt::print(stderr, "interrupted: what was measured before is kept\n");
  const bool faults = std::any_of(result.workloads.begin(), result.workloads.end(),
                                  [](const auto& workload) { return !workload.fault.empty(); });
  return result.interrupted || faults ? 1 : 0;
}

}  // namespace convscope
