#include "app/window/strategy_facts.h"

#include <algorithm>

#include "app/window/results.h"

namespace convscope {

std::vector<LaunchLog::Entry> own_kernels(const std::vector<LaunchLog::Entry>& all) {
  std::vector<LaunchLog::Entry> own = all;
  std::erase_if(
      own, [](const LaunchLog::Entry& e) { return e.record.kernel == "unpack" || e.record.kernel == "pad"; });
  return own;
}

void FactsSide::update(Results& results) {
  if (!results.shown) {
    results.facts.reset();
    return;
  }
  const Shown& shown = *results.shown;
  const std::string id = shown.info.id();
  const ConvProblem& problem = shown.prepared->operation.problem;
  const bool logged = results.launches && results.launches->id == id && results.launches->problem == problem;
  if (!logged && shown.host && !shown.host->launches.empty())
    results.launches = {id, problem, own_kernels(shown.host->launches)};
  if (results.facts && results.facts->info.id() == id && results.facts->prepared == shown.prepared) return;
  if (probe_id_ != id) {
    const RegistryRow* row = find_strategy(shown.info.name, shown.info.target, shown.info.precision);
    probe_ = row && row->make ? row->make() : nullptr;
    probe_id_ = id;
  }
  results.facts = ShownFacts{shown.info, shown.prepared, {}, 1};
  if (!probe_) return;
  results.facts->cost = probe_->cost(problem, shown.prepared->operation.weights);
  results.facts->error_bounds = probe_->error_bounds(problem);
}

const bench::Entry* raced_entry(const Results& results) {
  if (!results.shown || results.race.age == RaceAge::other_operation) return nullptr;
  const std::string id = results.shown->info.id();
  for (const bench::Entry& e : results.race.state.entries) {
    if (e.info.id() == id && e.time.runs > 0) return &e;
  }
  return nullptr;
}

const std::vector<LaunchLog::Entry>* shown_launches(const Results& results) {
  if (!results.shown) return nullptr;
  const std::string id = results.shown->info.id();
  if (results.launches && results.launches->id == id &&
      results.launches->problem == results.shown->prepared->operation.problem)
    return &results.launches->kernels;
  const bench::Entry* const raced = raced_entry(results);
  return raced ? &raced->launches : nullptr;
}

}  // namespace convscope
