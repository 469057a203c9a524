#include "app/window/view_stage.h"

#include <chrono>
#include <cstring>

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
         a.first_plane == b.first_plane && a.cell_w == b.cell_w && a.cell_h == b.cell_h && a.pitch_x == b.pitch_x &&
         a.pitch_y == b.pitch_y && a.origin_x == b.origin_x && a.origin_y == b.origin_y && a.plane_w == b.plane_w &&
         a.plane_h == b.plane_h && a.region_x == b.region_x && a.region_y == b.region_y && a.step == b.step;
}

std::string ViewStage::reason(bool share) const {
  if (!share) return "switched off";
  if (probed_ && *probed_) return **probed_;
  return buffer_.reason();
}

void ViewStage::update(const ViewedPlanes& planes, const ViewLayout& layout, Metric metric, bool share,
                       TimingTable& timings) {
  if (layout.cells == 0) return;
  if (!probed_) probed_ = interop_unavailable();
  const bool resized = buffer_.width() != layout.view_w || buffer_.height() != layout.view_h;
  if (resized) pending_.reset();
  const bool was_shared = buffer_.shared();
  buffer_.resize(layout.view_w, layout.view_h, share && !*probed_);
  if (!planes.runtime->on_device()) pending_.reset();  // of a target that was left
  if (pending_) deliver(*planes.runtime, timings);
  const Drawn now{layout, metric, planes.serial};
  const bool drawn_so = drawn_ && same(*drawn_, now) && !resized && was_shared == buffer_.shared();
  if (drawn_so || (pending_ && same(*pending_, now))) return;
  if (planes.runtime->on_device()) {
    through_device(planes, now, timings);
  } else {
    through_host(planes, now, timings);
  }
}

void ViewStage::through_host(const ViewedPlanes& planes, const Drawn& now, TimingTable& timings) {
  const ViewLayout& l = now.layout;
  pixels_.resize(static_cast<std::size_t>(l.view_w) * static_cast<std::size_t>(l.view_h));
  Stages& stages = planes.runtime->stages();
  stages.begin_frame(0);
  planes.runtime->view(l, planes.planes, planes.precision, now.metric, pixels_.data());
  stages.end_frame();
  for (const FrameTimes& frame : stages.collect()) {
    for (const StageTime& stage : frame.stages) timings.add(stage.name, stage.ms);
  }
  const HostClock clock;
  buffer_.write(pixels_);
  timings.add("copy to GL", clock.ms());
  drawn_ = now;
}

void ViewStage::through_device(const ViewedPlanes& planes, const Drawn& now, TimingTable& timings) {
  const ViewLayout& l = now.layout;
  Runtime& runtime = *planes.runtime;
  Stages& stages = runtime.stages();
  if (buffer_.shared()) {
    const HostClock map_clock;
    float* const mapped = buffer_.map();
    const double map_ms = map_clock.ms();
    stages.begin_frame(0);
    runtime.view(l, planes.planes, planes.precision, now.metric, mapped);
    stages.end_frame();
    const HostClock unmap_clock;
    buffer_.unmap();
    timings.add("interop (host)", map_ms + unmap_clock.ms());
    drawn_ = now;
    return;
  }
  const std::size_t bytes = static_cast<std::size_t>(l.view_w) * static_cast<std::size_t>(l.view_h) * sizeof(float);
  if (pending_ && !runtime.idle()) return;  // the last copy first; asked again with the next frame
  if (!staging_ || staging_->bytes() < bytes) {
    staging_ = runtime.allocate(bytes);
    pinned_ = runtime.allocate_host(bytes);
  }
  stages.begin_frame(0);
  runtime.view(l, planes.planes, planes.precision, now.metric, static_cast<float*>(staging_->data()));
  {
    const StageTimer timer(stages, "view download");
    runtime.download_async(pinned_->data(), staging_->data(), bytes);
  }
  stages.end_frame();
  pending_ = now;
}

void ViewStage::deliver(Runtime& runtime, TimingTable& timings) {
  if (!runtime.idle()) return;
  const HostClock clock;
  const auto* pixels = static_cast<const float*>(pinned_->data());
  buffer_.write({pixels, static_cast<std::size_t>(buffer_.width()) * static_cast<std::size_t>(buffer_.height())});
  timings.add("copy to GL", clock.ms());
  drawn_ = pending_;
  pending_.reset();
}

}  // namespace convscope
