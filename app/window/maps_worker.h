#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/window/newest_worker.h"
#include "app/window/results.h"

namespace convscope {

/// Computes side A on the host (targets emulated and cpu).
struct MapsRequest {
  uint64_t number = 0;
  FramePtr frame;
  std::shared_ptr<const PreparedOperation> prepared;
  const RegistryRow* row = nullptr;
  int measure = 0;  // only so many warm runs, no new maps
};
struct MapsDelivery {
  uint64_t number = 0;
  HostMapsPtr maps;  // null for warm runs and where `error` says why
  std::vector<FrameTimes> times;
  bool warm = false;
  double started = 0, ended = 0;  // seconds_now()
  std::string error;
};
using MapsWorker = NewestWorker<MapsRequest, MapsDelivery>;

std::unique_ptr<MapsWorker> make_maps_worker(std::function<void()> wake);

/// Warm runs that are made without being asked for after a first run of `first_ms`: few enough to be over
/// soon.
int warm_runs(double first_ms);

}  // namespace convscope
