#include "bench/workload_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <new>

#include "bench/limit.h"
#include "kernels/error.h"
#include "kernels/targets/host_runtime.h"

namespace convscope::bench {
namespace {

constexpr const char* kCopy = "copy of the same bytes";
constexpr const char* kVendorCopy = "cudaMemcpy of the same bytes";
constexpr const char* kEmpty = "empty kernel";

/// Marks, for each target, the fastest strategy and those that the noise does not tell from it.
void mark_ties(WorkloadResult& result, Inputs inputs) {
  std::map<Target, std::vector<Measure*>> of_target;
  for (BenchRow& row : result.rows) {
    for (Measure& measure : row.measures)
      if (!row.floor && measure.inputs == inputs) of_target[row.entry.info.target].push_back(&measure);
  }
  for (const auto& [target, measures] : of_target) {
    const Measure& fastest = **std::min_element(measures.begin(), measures.end(), [](auto* a, auto* b) {
      return a->time.median_us < b->time.median_us;
    });
    for (Measure* measure : measures) measure->tied_with_fastest = tied(measure->time, fastest.time);
  }
}

}  // namespace

/// Where the rows of one target run.
struct WorkloadBench::Arena {
  Stage stage;
  std::optional<Planes> planes;
};

/// What is timed: a strategy or a floor.
struct WorkloadBench::Lane {
  explicit Lane(const RegistryRow& row) : contender(row) {}
  Contender contender;
  bool floor = false;
  Arena* arena = nullptr;
  Series series[2];  // by Inputs

  bool runs() const { return arena != nullptr && (floor || contender.runs()); }
  Series& of(Inputs inputs) { return series[static_cast<std::size_t>(inputs)]; }
};

WorkloadBench::WorkloadBench(const BenchRequest& request, const Workload& workload, Precision precision,
                             std::vector<Stage> stages, const BenchObserver& observer, std::stop_token stop)
    : request_(request),
      workload_(workload),
      precision_(precision),
      observer_(observer),
      stop_(std::move(stop)),
      problem_{workload.shape, Activation::none, Rounding::fused},
      weights_(weights_of(workload)),
      stages_(std::move(stages)) {}
WorkloadBench::~WorkloadBench() = default;

void WorkloadBench::tell(const std::string& what) const {
  if (observer_.progress)
    observer_.progress(fmt::format("{} {}: {}", workload_.name, to_string(precision_), what));
}

WorkloadResult WorkloadBench::run() {
  std::string fault;
  try {
    measure();
  } catch (const Error& e) {
    fault = e.what();
  } catch (const std::bad_alloc&) {
    fault = "the workload needs more memory than is to be had";
  }
  WorkloadResult kept = result();
  kept.fault = std::move(fault);
  return kept;
}

void WorkloadBench::measure() {
  ask();
  const bool any =
      std::any_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->contender.runs(); });
  if (!any) return;
  tell("the planes");
  check_available(least_bytes(workload_.shape, precision_));  // of the host: its input, and what is compared
  const std::vector<std::byte> input = input_of(workload_, precision_);
  const bool streaming = std::count(request_.inputs.begin(), request_.inputs.end(), Inputs::streaming) > 0;
  for (const Stage& stage : stages_) {
    arenas_.push_back(std::make_unique<Arena>(Arena{stage, {}}));
    arenas_.back()->planes.emplace(*stage.machine, workload_.shape, precision_, input, streaming);
    add_floors(*arenas_.back());
  }
  tell("the reference");
  if (stop_.stop_requested()) return;
  Expected expected(problem_, weights_, precision_, input.data());
  checked_ = expected.checked();
  for (const auto& lane : lanes_) {
    if (stop_.stop_requested()) break;
    if (!lane->floor && lane->contender.runs()) prove(*lane, expected);
  }
  run_rounds();
}

/// The rows, and which of them refuse.
void WorkloadBench::ask() {
  for (const RegistryRow& row : registry()) {
    const bool wanted =
        row.info.precision == precision_ &&
        std::any_of(stages_.begin(), stages_.end(),
                    [&](const Stage& stage) { return stage.target == row.info.target; }) &&
        (request_.strategies.empty() ||
         std::count(request_.strategies.begin(), request_.strategies.end(), row.info.name) > 0);
    if (!wanted) continue;
    lanes_.push_back(std::make_unique<Lane>(row));
    lanes_.back()->contender.ask(problem_, weights_);
  }
}

Series WorkloadBench::make_series(Arena& arena, Inputs inputs, double first_us,
                                  std::function<void(int)> enqueue) const {
  const Pace pace{request_.rounds, request_.most_seconds_a_row};
  const int launches = inputs == Inputs::streaming ? arena.planes->sets() : hot_launches(first_us);
  if (inputs == Inputs::hot) enqueue = [enqueue = std::move(enqueue)](int) { enqueue(0); };
  return Series(*arena.stage.machine, pace, launches, Submission::graph, first_us, std::move(enqueue));
}

void WorkloadBench::add_floors(Arena& arena) {
  Machine& machine = *arena.stage.machine;
  const Planes& planes = *arena.planes;
  const auto at = lanes_.begin() + static_cast<std::ptrdiff_t>(std::count_if(
                                       lanes_.begin(), lanes_.end(), [](const auto& l) { return l->floor; }));
  std::vector<std::unique_ptr<Lane>> floors;
  const auto add = [&](const char* name, Cost cost, const std::function<void(int)>& enqueue) {
    const RegistryRow row{{name, arena.stage.target, precision_, {}}, {}};
    auto lane = std::make_unique<Lane>(row);
    lane->floor = true;
    lane->arena = &arena;
    lane->contender.entry.cost = std::move(cost);
    machine.batch(1, enqueue, Submission::stream)->run();  // first touch
    const double first_us = machine.batch(1, enqueue, Submission::stream)->run();
    for (const Inputs inputs : request_.inputs)
      lane->of(inputs) = make_series(arena, inputs, first_us, enqueue);
    floors.push_back(std::move(lane));
  };
  const Cost copying{.bytes = 2 * static_cast<double>(planes.copied()), .note = {}};
  if (machine.has_launches()) add(kEmpty, {}, [&](int) { machine.launch_empty(); });
  add(kCopy, copying, [&](int i) { machine.copy(planes.copy_to(i), planes.copy_from(i), planes.copied()); });
  if (machine.vendor_copy(planes.copy_to(0), planes.copy_from(0), planes.copied()))
    add(kVendorCopy, copying,
        [&](int i) { machine.vendor_copy(planes.copy_to(i), planes.copy_from(i), planes.copied()); });
  lanes_.insert(at, std::make_move_iterator(floors.begin()), std::make_move_iterator(floors.end()));
}

/// Its first result, then the graph of all sets by the result of the last: only what is right is timed.
void WorkloadBench::prove(Lane& lane, Expected& expected) {
  Contender& contender = lane.contender;
  tell(contender.entry.info.id() + ", the first run and its check");
  for (const auto& arena : arenas_)
    if (arena->stage.target == contender.entry.info.target) lane.arena = arena.get();
  Machine& machine = *lane.arena->stage.machine;
  const Planes& planes = *lane.arena->planes;
  contender.prove(machine, problem_, weights_, planes.in(0), planes.out(0), expected);
  if (!contender.runs()) return;
  try {
    const int last = planes.sets() - 1;
    for (const Inputs inputs : request_.inputs) {
      machine.poison(planes.out(last), planes.out_bytes());
      Series& series = lane.of(inputs);
      series = make_series(*lane.arena, inputs, contender.first_us(),
                           [&contender, &planes](int i) { contender.launch(planes.in(i), planes.out(i)); });
      if (inputs == Inputs::streaming && last > 0 && series.launches() == planes.sets() &&
          !contender.prove_again(machine, planes.out(last), expected))
        return;
    }
  } catch (const Error& e) {
    contender.refuse(e.what());
  } catch (const std::bad_alloc&) {
    contender.refuse("needs more memory than is to be had");
  }
}

void WorkloadBench::run_rounds() {
  for (int round = -kWarmUpRounds; round < request_.rounds; ++round) {
    for (const auto& lane : lanes_) {
      for (const Inputs inputs : request_.inputs) {
        if (stop_.stop_requested()) return;
        if (lane->runs() && lane->of(inputs).wants(round)) step(*lane, inputs, round);
      }
    }
  }
}

void WorkloadBench::step(Lane& lane, Inputs inputs, int round) {
  tell(fmt::format("{}, {}, round {} of {}", lane.contender.entry.info.id(), to_string(inputs),
                   std::max(round + 1, 1), request_.rounds));
  try {
    if (inputs == Inputs::hot) lane.of(inputs).warm();
    lane.of(inputs).step(round);
  } catch (const Error& e) {
    lane.contender.refuse(e.what());
  }
}

double WorkloadBench::fastest_copy_us(Target target, Inputs inputs) const {
  double fastest = std::numeric_limits<double>::infinity();
  for (const auto& lane : lanes_) {
    const StrategyInfo& info = lane->contender.entry.info;
    if (!lane->floor || info.target != target || info.name == kEmpty) continue;
    const Timing time = lane->of(inputs).timing();
    if (time.runs > 0) fastest = std::min(fastest, time.median_us);
  }
  return fastest;
}

WorkloadResult WorkloadBench::result() {
  WorkloadResult result{workload_, precision_, checked_, workload_.shape.output_size(), {}, {}, {}};
  for (const auto& arena : arenas_)
    if (arena->planes) result.sets.push_back({arena->stage.target, arena->planes->sets()});
  for (const auto& lane : lanes_) fill_measures(*lane, result);
  for (const Inputs inputs : request_.inputs) mark_ties(result, inputs);
  return result;
}

void WorkloadBench::fill_measures(Lane& lane, WorkloadResult& result) {
  BenchRow row{lane.contender.entry, lane.floor, {}};
  for (const Inputs inputs : request_.inputs) {
    const Timing time = lane.runs() ? lane.of(inputs).timing() : Timing{};
    if (time.runs == 0) continue;
    const double copy = fastest_copy_us(row.entry.info.target, inputs);
    Measure measure{inputs, time, std::isfinite(copy) ? time.median_us / copy : 0, false, {}};
    if (!lane.floor) {
      Ceilings ceilings = lane.arena->stage.ceilings;
      for (const auto& other : lanes_) {  // a launch from a graph costs less than one from the host
        const Timing empty = other->of(inputs).timing();
        if (other->contender.entry.info.name == kEmpty && other->arena == lane.arena && empty.runs > 0)
          ceilings.launch_us = std::min(ceilings.launch_us, empty.median_us);
      }
      measure.limit = limit_of(time.median_us, row.entry.cost, ceilings);
    }
    row.measures.push_back(std::move(measure));
  }
  if (!row.measures.empty()) {
    row.entry.time = row.measures.front().time;
    row.entry.limit = row.measures.front().limit;
  }
  result.rows.push_back(std::move(row));
}

}  // namespace convscope::bench
