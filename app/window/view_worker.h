#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/display.h"
#include "app/window/newest_worker.h"
#include "kernels/runtime.h"

namespace convscope {

/// The view stage for maps in host memory, on a thread of its own: the picture of many large maps takes a
/// processor longer than a frame may.
struct ViewJob {
  ViewLayout layout;
  Metric metric = Metric::value;
  uint64_t serial = 0;  // of the planes
  uint64_t frame = 0;   // of which they were computed
  ViewPlanes planes;
  Precision precision = Precision::fp32;
  std::vector<std::shared_ptr<const void>> keep;  // owners of the planes
};
struct ViewDelivery {
  ViewJob job;  // without its planes
  std::vector<float> pixels;
  Range range;
  std::vector<FrameTimes> times;
  double started = 0, ended = 0;  // seconds_now()
  std::string error;
};
using ViewWorker = NewestWorker<ViewJob, ViewDelivery>;

std::unique_ptr<ViewWorker> make_view_worker(std::function<void()> wake);

/// Finite range of view pixels, in parallel; {0, 0} where none is finite.
Range view_pixel_range(std::span<const float> pixels);

}  // namespace convscope
