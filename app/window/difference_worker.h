#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/window/newest_worker.h"
#include "app/window/results.h"

namespace convscope {

/// Computes side B of the same frame and input, the error bound, and the numbers of the comparison.
struct DifferenceRequest {
  uint64_t number = 0;
  HostMapsPtr a;
  const RegistryRow* row = nullptr;  // of side B, on the host
  HostMapsPtr b;                     // side B read back from the device, instead of computing it
  // Where A is on the device: page-locked memory for copies of B and of the bound, from which they go up
  // without stopping the frame.
  std::shared_ptr<Buffer> pinned_b, pinned_bound;
};
struct DifferenceDelivery {
  DifferenceResult result;
  std::vector<FrameTimes> times;  // of side B; empty where it was known already
  std::shared_ptr<Buffer> pinned_b, pinned_bound;
  std::string error;
};
using DifferenceWorker = NewestWorker<DifferenceRequest, DifferenceDelivery>;

std::unique_ptr<DifferenceWorker> make_difference_worker(std::function<void()> wake);

/// Bytes of all output values of an operation.
std::size_t output_bytes(const Operation&, Precision);

}  // namespace convscope
