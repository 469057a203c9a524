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
  uint64_t frame = 0;                             // Frame::id of which they were computed
  std::vector<std::shared_ptr<const void>> keep;  // owners of host planes
};

/// Side B and the comparison: for the computation on screen, the same frame and the same input, or not at
/// all.
class DifferenceSide {
 public:
  explicit DifferenceSide(std::function<void()> wake) : worker_(make_difference_worker(std::move(wake))) {}

  /// Requests the difference of maps against a row. `device`: where the maps or side B are cuda's. Throws
  /// Error where side B cannot be had.
  void request(Results&, const HostMapsPtr& a, const RegistryRow& against, DeviceSide* device);
  /// Whether these maps against this row were the last request.
  bool asked(uint64_t number, const RegistryRow& against) const {
    return asked_number_ == number && asked_against_ == against.info.id();
  }
  /// Whether times of this computation by this row belong to Results::against_timings.
  bool timed(uint64_t number, const StrategyInfo& info) const {
    return number >= timed_from_ && info.id() == asked_against_;
  }
  void collect(Results&, DeviceSide* device);
  /// Side B, computed on the device, has come to the host.
  void receive(std::shared_ptr<HostMaps> b, DeviceSide& device);
  /// Nothing asked for yet, as after the loss of the device.
  void forget() { asked_number_ = 0, on_device_ = false, a_.reset(); }
  /// Of the newest result; rises with each.
  uint64_t serial() const { return serial_; }
  /// When the newest result was asked for and came, in seconds_now().
  double started() const { return started_; }
  double ended() const { return ended_; }

  /// Both sides for the view, of one frame; nullopt where they are of other settings than the maps shown, or
  /// lie no longer in the device's memory.
  std::optional<ViewedPlanes> planes(const Results&, DeviceSide* device) const;

 private:
  void submit(const RegistryRow*, HostMapsPtr b, DeviceSide* device);

  uint64_t asked_number_ = 0;  // computation of the newest request, and its side B
  std::string asked_against_;
  HostMapsPtr a_;  // of the newest request
  double asked_at_ = 0, started_ = 0, ended_ = 0;
  bool b_by_device_ = false;  // chain b of the device holds side B of the newest request
  bool on_device_ = false;    // side B and bound of the newest result are in device memory
  std::string timed_;         // strategy and shape that the times of side B are of
  uint64_t timed_from_ = 0;   // the computation that they began with
  uint64_t serial_ = 0;
  std::unique_ptr<DifferenceWorker> worker_;
};

}  // namespace convscope
