#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "app/settings.h"
#include "app/window/race_worker.h"
#include "app/window/results.h"

namespace convscope {

/// The registry's rows that the settings let race beside the shown strategy, and that this machine has.
std::vector<const RegistryRow*> racing_rows(const RaceRows&, const StrategyInfo& shown);
/// What the automatic choice ticks.
RaceRows ticked(const RaceRows&, const StrategyInfo& shown);

/// Races of the shown frame, as the window asks for them.
class RaceSide {
 public:
  explicit RaceSide(std::function<void()> wake, RaceWorker::Race race = bench::race);

  /// Races what is on screen; a race that runs is given up. Where nothing can race, results say why.
  void start(const Settings&, Results&);
  void cancel(Results&);
  /// Takes over what has become known.
  void collect(Results&);

 private:
  RaceWorker::Race race_;
  std::function<void()> wake_;
  uint64_t id_ = 0;
  // what the age in results was found for
  std::shared_ptr<const PreparedOperation> aged_prepared_;
  uint64_t aged_id_ = 0;
  bool same_operation_ = true;
  std::unique_ptr<RaceWorker> worker_;  // made with the first race: most sessions have none
};

}  // namespace convscope
