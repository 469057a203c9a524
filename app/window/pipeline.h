#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "app/window/device_side.h"
#include "app/window/difference_side.h"
#include "app/window/maps_worker.h"
#include "app/window/results.h"
#include "app/window/source_side.h"
#include "app/window/strategy_rows.h"

namespace convscope {

/// Turns settings into results: opens the source, computes side A on its target, and side B where it is
/// wanted. collect() and update() never wait: cuda work is enqueued, host work goes to workers.
class Pipeline {
 public:
  /// `wake` is called from other threads when something is ready to be collected.
  explicit Pipeline(std::function<void()> wake);

  /// Fills in what stays: banks, devices.
  void describe_machine(Results&) const;

  /// Takes over what has become ready. A failed source or computation puts the settings back to the last
  /// valid ones.
  void collect(Settings&, Results&);
  /// Requests what the settings ask for and results do not have. Invalid settings go back, with
  /// Results::fault saying why. `want_difference`: someone looks at side B.
  void update(Settings&, Results&, bool want_difference);
  /// After an Error from work on the device that others enqueued: the settings go back, or to another target
  /// where the device is lost.
  void device_failed(Settings&, Results&, const std::string& text);
  /// Runs the shown strategy again for its times.
  void measure(Results&);

  /// The maps on screen, and the two sides where both are there for the same computation.
  std::optional<ViewedPlanes> value_planes(const Results&);
  std::optional<ViewedPlanes> difference_planes(const Results&);
  /// Something on the device is on its way and has to be polled.
  bool polling() const {
    return device_ && (device_->reading_back() || warm_left_ > 0 || device_->times_pending());
  }

 private:
  struct Plan {
    std::shared_ptr<const PreparedOperation> prepared;
    const RegistryRow* row = nullptr;
    const ConvProblem& problem() const { return prepared->operation.problem; }
    const ConvWeights& weights() const { return prepared->operation.weights; }
  };
  Plan make_plan(const Settings&) const;
  void start(Plan, Settings&, Results&);
  void run_on_device(Settings&, Results&);
  void measure_host(Results&, int runs);
  void show(Results&, HostMapsPtr);
  void collect_maps(Settings&, Results&);
  void collect_device(Settings&, Results&);
  void request_difference(Settings&, Results&);
  void difference_failed(Settings&, Results&, const std::string& text);
  void refuse(Settings&, Results&, const std::string& text);
  void add_times(Results&, const FrameTimes&, bool first);
  void refresh_rows(Results&);

  std::unique_ptr<DeviceSide> device_;
  StrategyRows rows_;
  SourceSide source_;
  std::optional<Settings> asked_;           // of the newest request; only what a computation depends on
  std::optional<Settings> valid_;           // the last that were found valid
  std::map<uint64_t, Settings> requested_;  // by number, until delivered
  Settings good_against_;                   // the last valid side B
  FramePtr asked_frame_;
  Plan plan_;                  // of the newest request
  uint64_t number_ = 0;        // of the newest request
  uint64_t first_number_ = 0;  // the request that last switched strategy or problem
  double first_ms_ = 0;        // of that run on the host, until its warm runs are made
  int warm_left_ = 0;          // runs on the device still to be made for their times
  // Last: their threads end before anything they deliver into.
  std::unique_ptr<MapsWorker> maps_worker_;
  DifferenceSide difference_;
};

}  // namespace convscope
