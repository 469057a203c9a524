#include "app/window/race_side.h"

#include <utility>

namespace convscope {
namespace {

/// The CPU's loops that are written to be read: the specification, and the order of the sums.
bool plain_loops(const StrategyInfo& info) { return info.name == "reference" || info.name == "scalar"; }

bool races(const RaceRows& rows, const StrategyInfo& info) {
  switch (info.target) {
    case Target::cuda:
      return rows.cuda;
    case Target::emulated:
      return rows.emulated;
    case Target::cpu:
      return plain_loops(info) ? rows.plain : rows.cpu;
  }
  return false;
}

}  // namespace

RaceRows ticked(const RaceRows& rows, const StrategyInfo& shown) {
  if (!rows.automatic) return rows;
  return {.automatic = false,
          .cuda = shown.target == Target::cuda,
          .emulated = shown.target == Target::emulated,
          .cpu = true,
          .plain = false};
}

std::vector<const RegistryRow*> racing_rows(const RaceRows& chosen, const StrategyInfo& shown) {
  const RaceRows rows = ticked(chosen, shown);
  std::vector<const RegistryRow*> racing;
  for (const RegistryRow& row : registry()) {
    if (row.info.precision != shown.precision || unavailable(row.info)) continue;
    // the shown one always: all others are compared with it
    if (races(rows, row.info) || row.info.id() == shown.id()) racing.push_back(&row);
  }
  return racing;
}

RaceSide::RaceSide(std::function<void()> wake, RaceWorker::Race race)
    : race_(std::move(race)), wake_(std::move(wake)) {}

void RaceSide::start(const Settings& settings, Results& results) {
  if (!results.shown) {
    results.race.error = "nothing to race yet: no maps have been computed";
    return;
  }
  const Shown& shown = *results.shown;
  RaceResults race;
  race.id = ++id_;
  race.frame = shown.frame->id;
  race.source = shown.frame->name;
  race.prepared = shown.prepared;
  race.precision = shown.info.precision;
  bench::RaceRequest request;
  request.rows = racing_rows(settings.race_rows, shown.info);
  request.operation = {shown.prepared, &shown.prepared->operation};
  // copied: the frame's memory may be a stream's, which goes on meanwhile
  const std::span<const std::byte> pixels = shown.frame->pixels;
  request.pixels = std::make_shared<const std::vector<std::byte>>(pixels.begin(), pixels.end());
  for (const RegistryRow* row : request.rows) race.rows.push_back(row->info);
  race.running = true;
  if (!worker_) worker_ = std::make_unique<RaceWorker>(race_, wake_);
  worker_->start(race.id, std::move(request));
  results.race = std::move(race);
}

void RaceSide::cancel(Results& results) {
  if (!results.race.running) return;
  results.race.cancelled = true;
  worker_->cancel();
}

void RaceSide::collect(Results& results) {
  RaceResults& race = results.race;
  if (race.id == 0) return;
  if (auto report = worker_->collect(); report && report->id == race.id) {
    race.state = std::move(report->state);
    race.error = std::move(report->error);
    race.running = !report->ended;
  }
  if (!results.shown) return;
  // operations may hold millions of weights: compared once for each pair
  if (aged_id_ != race.id || aged_prepared_ != results.shown->prepared) {
    aged_id_ = race.id;
    aged_prepared_ = results.shown->prepared;
    same_operation_ =
        race.prepared == aged_prepared_ || race.prepared->operation == aged_prepared_->operation;
  }
  race.age = !same_operation_ || results.shown->info.precision != race.precision ? RaceAge::other_operation
             : results.shown->frame->id != race.frame                            ? RaceAge::other_frame
                                                                                 : RaceAge::current;
}

}  // namespace convscope
