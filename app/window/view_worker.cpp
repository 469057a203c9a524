#include "app/window/view_worker.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>

#include "app/ledger.h"
#include "kernels/parallel.h"

namespace convscope {
namespace {

ViewDelivery make_view(Runtime& runtime, ViewJob& job) {
  ViewDelivery d;
  d.started = seconds_now();
  const ViewLayout& l = job.layout;
  d.pixels.resize(static_cast<std::size_t>(l.view_w) * static_cast<std::size_t>(l.view_h));
  runtime.stages().begin_frame(0);
  runtime.view(l, job.planes, job.precision, job.metric, d.pixels.data());
  runtime.stages().end_frame();
  d.times = runtime.stages().collect();
  d.range = view_pixel_range(d.pixels);
  d.ended = seconds_now();
  return d;
}

}  // namespace

// pixels that show no plane are NaN and do not count
Range view_pixel_range(std::span<const float> pixels) {
  constexpr std::size_t kPart = 1 << 16;
  const std::size_t parts = (pixels.size() + kPart - 1) / kPart;
  std::vector<std::optional<Range>> ranges(parts);
  parallel_for(static_cast<int64_t>(parts), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * kPart;
      const std::span<const float> part = pixels.subspan(at, std::min(kPart, pixels.size() - at));
      // finite_range() says {0, 0} of a part without finite values, which must not widen the whole
      if (std::any_of(part.begin(), part.end(), [](float v) { return std::isfinite(v); })) {
        ranges[static_cast<std::size_t>(i)] = finite_range(part);
      }
    }
  });
  std::optional<Range> all;
  for (const std::optional<Range>& r : ranges) {
    if (r) all = all ? Range{std::min(all->low, r->low), std::max(all->high, r->high)} : *r;
  }
  return all.value_or(Range{});
}

std::unique_ptr<ViewWorker> make_view_worker(std::function<void()> wake) {
  // made on the worker's thread, which alone uses it
  auto runtime = std::make_shared<std::unique_ptr<Runtime>>();
  auto body = [runtime](ViewJob& job, ViewWorker::Sink& sink) {
    ViewDelivery d;
    try {
      if (!*runtime) *runtime = make_runtime(Target::cpu);
      d = make_view(**runtime, job);
    } catch (const std::exception& e) {
      d.error = e.what();
    }
    job.planes = {};
    job.keep.clear();
    d.job = std::move(job);
    sink.deliver(std::move(d));
  };
  return std::make_unique<ViewWorker>(std::move(body), std::move(wake));
}

}  // namespace convscope
