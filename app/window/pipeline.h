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

/// What is looked at of side B. In a stream `numbers` are made of a frame now and then; a `picture` of each
/// frame that is shown: then both sides go at the rate of the slower one.
enum class WantDifference { no, numbers, picture };

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
  /// Requests what the settings ask for and results do not have: of a stream, its newest frame, for which
  /// nothing is planned or prepared again. Invalid settings go back, with Results::fault saying why.
  void update(Settings&, Results&, WantDifference);
  /// The planes of this serial are on their way to the screen: in step with the difference, the next frame
  /// may take their place.
  void drawn(uint64_t difference_serial) { drawn_pair_ = difference_serial; }
  /// After an Error from work on the device that others enqueued: the settings go back, or to another target
  /// where the device is lost.
  void device_failed(Settings&, Results&, const std::string& text);
  /// The open source, for what is asked of it alone.
  SourceSide& source() { return source_; }
  /// Runs the shown strategy again for its times.
  void measure(Results&);

  /// Tells the ledger when the newest difference, of this frame, was made.
  void difference_times(Ledger& ledger, uint64_t frame) const {
    ledger.compare(frame, difference_.started(), difference_.ended());
  }

  /// The maps on screen, and the two sides where both are there for the same computation.
  std::optional<ViewedPlanes> value_planes(const Results&);
  std::optional<ViewedPlanes> difference_planes(const Results&);
  /// Something on the device is on its way and has to be polled.
  bool polling() const {
    return device_ && (device_->reading_back() || warm_left_ > 0 || device_->times_pending() || held_back_);
  }

 private:
  struct Plan {
    std::shared_ptr<const PreparedOperation> prepared;
    const RegistryRow* row = nullptr;
    std::string note;  // why it is not the row that was chosen
    const ConvProblem& problem() const { return prepared->operation.problem; }
    const ConvWeights& weights() const { return prepared->operation.weights; }
  };
  void request_source(Settings&, Results&);
  void compute(Settings&, Results&, WantDifference);
  Plan make_plan(const Settings&, const Frame&) const;
  void start(Plan, const FramePtr&, Settings&, Results&);
  /// The frame to be computed next: the source's newest, or the one at hand while that has to stay.
  FramePtr next_frame(const Settings&, Results&, WantDifference);
  bool pair_done(const Results&) const;
  void follow(const FramePtr&, Settings&, Results&);
  void take(const FramePtr&, Results&);
  MapsRequest maps_request() const;
  void submit(Settings&, Results&);
  const Settings* settings_of(uint64_t number) const;
  void forget_before(uint64_t number);
  bool following() const { return asked_frame_ && asked_frame_->live() && !frozen_; }
  void make_device();
  void run_on_device(Settings&, Results&);
  void measure_host(Results&, int runs);
  void show(Results&, HostMapsPtr);
  void collect_maps(Settings&, Results&);
  void collect_device(Settings&, Results&);
  HostMapsPtr comparable(const Results&, WantDifference);
  void read_back_shown();
  void request_difference(Settings&, Results&, WantDifference);
  void add_device_times(Results&, const DeviceSide::Times&);
  void difference_failed(Settings&, Results&, const std::string& text);
  void refuse(Settings&, Results&, const std::string& text);
  void add_times(Results&, const FrameTimes&, bool first);
  void refresh_rows(Results&);

  std::unique_ptr<DeviceSide> device_;
  StrategyRows rows_;
  SourceSide source_;
  std::optional<SourceRequest> source_of_settings_;  // when they were last seen
  std::optional<Settings> held_;   // computed part of settings that wait for the source they came with
  std::optional<Settings> asked_;  // of the newest request; only what a computation depends on
  std::optional<Settings> valid_;  // the last that were found valid
  std::map<uint64_t, Settings> requested_;  // by number, while maps of theirs may come
  Settings good_against_;                   // the last valid side B
  FramePtr asked_frame_;
  Plan plan_;                     // of the newest request
  uint64_t number_ = 0;           // of the newest request
  uint64_t first_number_ = 0;     // the request that last switched strategy or problem
  uint64_t settings_number_ = 0;  // the request that last changed anything but the frame
  bool first_due_ = false;        // no run since that switch has been delivered
  bool frozen_ = false;
  bool held_back_ = false;  // a newer frame waits for the device
  double rows_at_ = 0;      // when the rows were made last
  double taken_at_ = 0;     // when the frame at hand was taken
  double compared_at_ = 0;  // when numbers of a stream were last asked for
  uint64_t compared_number_ = 0;
  uint64_t drawn_pair_ = 0;
  HostMapsPtr read_back_;  // of a stream on the device, for the numbers of the difference
  double first_ms_ = 0;    // of that run on the host, until its warm runs are made
  int warm_left_ = 0;      // runs on the device still to be made for their times
  // Last: their threads end before anything they deliver into.
  std::unique_ptr<MapsWorker> maps_worker_;
  DifferenceSide difference_;
};

}  // namespace convscope
