#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/display.h"
#include "app/window/difference_side.h"
#include "app/window/layout.h"
#include "app/window/timing_table.h"
#include "app/window/view_buffer.h"
#include "app/window/view_worker.h"

namespace convscope {

/// Brings planes to the view buffer: by the view stage straight into it where it is shared with CUDA,
/// otherwise through host memory. Only when planes, layout or metric changed.
class ViewStage {
 public:
  /// `wake` is called from another thread when a picture of host maps is ready to be taken by update().
  explicit ViewStage(std::function<void()> wake) : worker_(make_view_worker(std::move(wake))) {}

  /// `share`: use interop where it is to be had. Throws Error.
  void update(const ViewedPlanes&, const ViewLayout&, Metric, bool share, TimingTable&);

  const ViewBuffer& buffer() const { return buffer_; }
  /// What the buffer holds.
  struct Drawn {
    ViewLayout layout;
    Metric metric = Metric::value;
    uint64_t serial = 0;
    uint64_t frame = 0;             // of which the planes were computed
    double started = 0, ended = 0;  // when the host made the pixels; 0 where the device did
  };
  const std::optional<Drawn>& drawn() const { return drawn_; }
  /// Finite range of the view pixels that drawn() is about; nullopt until it is known.
  const std::optional<Range>& range() const { return range_; }
  /// Of the newest pixels of which it is known: those of drawn(), or earlier ones.
  const std::optional<Range>& last_range() const { return last_range_; }
  /// Whether these planes are in the buffer, or on their way into it.
  bool has(uint64_t serial) const {
    return (drawn_ && drawn_->serial == serial) || (pending_ && pending_->serial == serial);
  }
  /// Host time that mapping and unmapping took for the newest picture in shared memory; else 0.
  double interop_ms() const { return interop_ms_; }
  /// A copy from the device is on its way.
  bool polling() const { return pending_.has_value() || (drawn_ && !range_); }
  /// Why interop is not used, or empty.
  std::string reason(bool share) const;
  /// Lets go of everything that lies in the device's memory; where the device is lost, for good.
  void forget_device();

 private:
  void through_host(const ViewedPlanes&, const Drawn&, TimingTable&);
  void through_device(const ViewedPlanes&, const Drawn&, TimingTable&);
  void deliver(TimingTable&);
  void reserve(Runtime&, std::size_t bytes, bool staging);
  std::span<const float> copied() const;

  ViewBuffer buffer_;
  std::unique_ptr<Buffer> staging_, pinned_;  // of device views
  std::optional<Drawn> drawn_;
  std::optional<Drawn> pending_;  // on its way from the device
  std::optional<Drawn> asked_;    // of the worker
  std::optional<Range> range_, last_range_;
  double interop_ms_ = 0;
  std::unique_ptr<Marker> copied_;                    // the copy into pinned_ has ended
  std::optional<std::optional<std::string>> probed_;  // interop_unavailable(), once asked
  std::unique_ptr<ViewWorker> worker_;  // last: its thread ends before anything it delivers into
};

bool same_view(const ViewLayout&, const ViewLayout&);

}  // namespace convscope
