#include "app/frame_cost.h"

#include <algorithm>

namespace convscope {
namespace {

/// Laid end to end from the capture, and cut at the swap: asynchronous kernels may run on after it.
class Segments {
 public:
  explicit Segments(double most) : most_(most) {}
  void add(const std::string& name, double ms) {
    ms = std::min(ms, most_ - total());
    if (!(ms > 0)) return;
    const auto same =
        std::find_if(all_.begin(), all_.end(), [&](const CostSegment& s) { return s.name == name; });
    if (same == all_.end()) {
      all_.push_back({name, ms});
    } else {
      same->ms += ms;
    }
  }
  double total() const { return total_ms(all_); }
  std::vector<CostSegment> take() { return std::move(all_); }

 private:
  double most_;
  std::vector<CostSegment> all_;
};

/// The stages, and the gaps between them: there the kernels of the frame before still ran.
void add_stages(Segments& segments, const std::vector<StageTime>& stages) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageTime& s = stages[i];
    if (i > 0) segments.add("wait", s.start_ms - (stages[i - 1].start_ms + stages[i - 1].ms));
    segments.add(s.name, s.ms);
  }
}

}  // namespace

std::vector<CostSegment> cost_of(const FrameRecord& f, double interop_ms) {
  if (!(f.shown > 0) || !(f.computed > 0)) return {};
  const double total = age_ms(f);
  Segments segments(total);
  // what the frame went through after its maps were there, each from a start to an end
  const bool compared = f.compared > 0 && f.compared <= f.shown, viewed = f.viewed > 0;
  const double compare_start = compared ? f.compare_started : f.computed;
  const double compare_end = compared ? f.compared : f.computed;
  const double view_start = viewed ? f.view_started : compare_end, view_end = viewed ? f.viewed : compare_end;
  segments.add("wait", (f.started - f.captured) * 1e3);
  add_stages(segments, f.stages);
  segments.add("wait", (compare_start - f.computed) * 1e3);
  segments.add("difference", (compare_end - compare_start) * 1e3);
  segments.add("wait", (view_start - compare_end) * 1e3);
  segments.add("view", (view_end - view_start) * 1e3);
  segments.add("wait", (f.drawn - view_end) * 1e3);
  double drawing = (f.shown - f.drawn) * 1e3;
  // asynchronous kernels of this frame may run while it is drawn: that time is theirs
  drawing -= std::clamp(segments.total() + drawing - total, 0.0, drawing);
  const double interop = std::clamp(interop_ms, 0.0, drawing);
  segments.add("interop", interop);
  segments.add("draw", drawing - interop);
  segments.add("other", total - segments.total());
  return segments.take();
}

double total_ms(const std::vector<CostSegment>& segments) {
  double total = 0;
  for (const CostSegment& s : segments) total += s.ms;
  return total;
}

}  // namespace convscope
