#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/window/newest_worker.h"
#include "app/window/results.h"

namespace convscope {

/// Computes side A on the host (targets emulated and cpu), or the ranges of maps read back from the device.
struct MapsRequest {
  uint64_t number = 0;
  FramePtr frame;
  std::shared_ptr<const PreparedOperation> prepared;
  const RegistryRow* row = nullptr;
  std::shared_ptr<HostMaps> read_back;  // then only its ranges are made
  int measure = 0;                      // only so many warm runs, no new maps
};
struct MapsDelivery {
  uint64_t number = 0;
  HostMapsPtr maps;  // null for warm runs and where `error` says why
  std::vector<FrameTimes> times;
  bool warm = false;
  std::string error;
};
using MapsWorker = NewestWorker<MapsRequest, MapsDelivery>;

std::unique_ptr<MapsWorker> make_maps_worker(std::function<void()> wake);

/// Warm runs that follow a first run of `first_ms` without being asked for: as many as fit into a quarter of a second.
int warm_runs(double first_ms);

}  // namespace convscope
