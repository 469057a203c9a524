#include "app/window/view_stage.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kernels/error.h"

namespace convscope {
namespace {

class HostClock {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool same(const ViewStage::Drawn& a, const ViewStage::Drawn& b) {
  return a.serial == b.serial && a.metric == b.metric && same_view(a.layout, b.layout);
}

}  // namespace

bool same_view(const ViewLayout& a, const ViewLayout& b) {
  return a.view_w == b.view_w && a.view_h == b.view_h && a.columns == b.columns && a.cells == b.cells &&
         a.first_plane == b.first_plane && a.cell_w == b.cell_w && a.cell_h == b.cell_h &&
         a.pitch_x == b.pitch_x && a.pitch_y == b.pitch_y && a.origin_x == b.origin_x &&
         a.origin_y == b.origin_y && a.plane_w == b.plane_w && a.plane_h == b.plane_h &&
         a.region_x == b.region_x && a.region_y == b.region_y && a.step == b.step;
}

std::string ViewStage::reason(bool share) const {
  if (!share) return "switched off";
  if (probed_ && *probed_) return **probed_;
  return buffer_.reason();
}

void ViewStage::forget_device() {
  staging_.reset(), pinned_.reset(), copied_.reset();
  drawn_.reset(), pending_.reset(), range_.reset(), last_range_.reset();
  if (const auto why = cuda_unavailable()) probed_ = "no CUDA (" + *why + ")";
}

void ViewStage::update(const ViewedPlanes& planes, const ViewLayout& layout, Metric metric, bool share,
                       TimingTable& timings) {
  if (layout.cells == 0) return;
  if (!probed_) probed_ = interop_unavailable();
  if (buffer_.width() != layout.view_w || buffer_.height() != layout.view_h) {
    pending_.reset(), drawn_.reset(), range_.reset();
  }
  const bool was_shared = buffer_.shared();
  buffer_.resize(layout.view_w, layout.view_h, share && !*probed_);
  const Drawn now{layout, metric, planes.serial, planes.frame};
  if (!planes.runtime) {
    through_host(planes, now, timings);
    return;
  }
  asked_.reset();  // of the worker; what it still delivers is of a target that was left
  if (polling()) deliver(timings);
  const bool drawn_so = drawn_ && same(*drawn_, now) && was_shared == buffer_.shared();
  if (!drawn_so && !(pending_ && same(*pending_, now))) through_device(planes, now, timings);
}

void ViewStage::through_host(const ViewedPlanes& planes, const Drawn& now, TimingTable& timings) {
  pending_.reset();  // of a target that was left
  for (ViewDelivery& d : worker_->collect()) {
    const ViewLayout& l = d.job.layout;
    if (!d.error.empty()) throw Error("view: " + d.error);
    if (!asked_ || l.view_w != buffer_.width() || l.view_h != buffer_.height()) continue;
    for (const FrameTimes& frame : d.times) {
      for (const StageTime& stage : frame.stages) timings.add(stage.name, stage.ms);
    }
    const HostClock clock;
    buffer_.write(d.pixels);
    timings.add("copy to GL", clock.ms());
    drawn_ = Drawn{l, d.job.metric, d.job.serial, d.job.frame, d.started, d.ended};
    range_ = last_range_ = d.range;
  }
  if ((drawn_ && same(*drawn_, now)) || (asked_ && same(*asked_, now))) return;
  asked_ = now;
  worker_->submit(
      {now.layout, now.metric, now.serial, now.frame, planes.planes, planes.precision, planes.keep});
}

void ViewStage::reserve(Runtime& runtime, std::size_t bytes, bool staging) {
  if (!copied_) copied_ = runtime.make_marker();
  if (!pinned_ || pinned_->bytes() < bytes) pinned_ = runtime.allocate_host(bytes);
  if (staging && (!staging_ || staging_->bytes() < bytes)) staging_ = runtime.allocate(bytes);
}

void ViewStage::through_device(const ViewedPlanes& planes, const Drawn& now, TimingTable& timings) {
  const ViewLayout& l = now.layout;
  Runtime& runtime = *planes.runtime;
  const bool shared = buffer_.shared();
  // pinned_ may still be written by the copy before; asked again with the next frame
  if (copied_ && !copied_->passed()) return;
  const std::size_t bytes =
      static_cast<std::size_t>(l.view_w) * static_cast<std::size_t>(l.view_h) * sizeof(float);
  reserve(runtime, bytes, !shared);
  HostClock clock;
  auto* const target = shared ? buffer_.map() : static_cast<float*>(staging_->data());
  double interop_ms = clock.ms();
  Stages& stages = runtime.stages();
  stages.begin_frame(0);
  runtime.view(l, planes.planes, planes.precision, now.metric, target);
  {
    // without interop this is the picture; with it, what the automatic range is made of
    const StageTimer timer(stages, "view download");
    runtime.download_async(pinned_->data(), target, bytes);
  }
  stages.end_frame();
  copied_->record();
  interop_ms_ = 0;
  if (!shared) {
    pending_ = now;
    return;
  }
  clock = HostClock();
  buffer_.unmap();
  interop_ms += clock.ms();
  interop_ms_ = interop_ms;
  timings.add("interop (host)", interop_ms);
  drawn_ = now;
  range_.reset();
}

std::span<const float> ViewStage::copied() const {
  return {static_cast<const float*>(pinned_->data()),
          static_cast<std::size_t>(buffer_.width()) * static_cast<std::size_t>(buffer_.height())};
}

void ViewStage::deliver(TimingTable& timings) {
  if (!copied_ || !copied_->passed()) return;
  if (pending_) {
    const HostClock clock;
    buffer_.write(copied());
    timings.add("copy to GL", clock.ms());
    drawn_ = pending_;
    pending_.reset();
  }
  range_ = last_range_ = view_pixel_range(copied());
}

}  // namespace convscope
