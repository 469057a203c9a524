#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/window/device_side.h"
#include "app/window/difference_worker.h"

namespace convscope {

/// Planes to be viewed, in the memory of the runtime that can view them.
struct ViewedPlanes {
  Runtime* runtime = nullptr;  // null: host memory
  ViewPlanes planes;
  Precision precision = Precision::fp32;
  uint64_t serial = 0;                            // differs for different planes
  std::vector<std::shared_ptr<const void>> keep;  // owners of host planes
};

/// Side B and the comparison: for the computation on screen, the same frame and the same input, or not at
/// all.
class DifferenceSide {
 public:
  explicit DifferenceSide(std::function<void()> wake) : worker_(make_difference_worker(std::move(wake))) {}

  /// Requests the difference of the shown computation against a row, unless that was the last request.
  /// `device`: where the shown maps or side B are cuda's. Throws Error where side B cannot be had.
  void request(Results&, const RegistryRow& against, DeviceSide* device);
  void collect(Results&, DeviceSide* device);
  /// Side B, computed on the device, has come to the host.
  void receive(Results&, std::shared_ptr<HostMaps> b, DeviceSide& device);
  /// Nothing asked for yet, as after the loss of the device.
  void forget() { asked_number_ = 0, on_device_ = false; }

  /// Both sides for the view; nullopt unless they are of the shown computation.
  std::optional<ViewedPlanes> planes(const Results&, DeviceSide* device) const;

 private:
  void submit(const Results&, const RegistryRow*, HostMapsPtr b, DeviceSide* device);

  uint64_t asked_number_ = 0;  // computation of the newest request, and its side B
  std::string asked_against_;
  bool b_by_device_ = false;  // chain b of the device holds side B of the newest request
  bool on_device_ = false;    // side B and bound of the newest result are in device memory
  std::string timed_;         // strategy and shape that the times of side B are of
  uint64_t serial_ = 0;
  std::unique_ptr<DifferenceWorker> worker_;
};

}  // namespace convscope
