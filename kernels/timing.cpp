#include "kernels/timing.h"

#include <chrono>
#include <utility>

namespace convscope {
namespace {

/// Frames kept for a reader that never calls collect(); the live history shows 120.
constexpr std::size_t kKeptFrames = 1024;

int64_t now_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

double FrameTimes::total_ms() const {
  double total = 0;
  for (const StageTime& stage : stages) total += stage.ms;
  return total;
}

void HostStages::begin_frame(uint64_t frame) {
  current_.frame = frame;
  current_.stages.clear();  // stages run outside any frame belong to none
}

void HostStages::end_frame() {
  if (done_.size() == kKeptFrames) done_.erase(done_.begin());
  done_.push_back(std::exchange(current_, {}));
}

void HostStages::begin(const char* stage) {
  name_ = stage;
  started_ns_ = now_ns();
  if (epoch_ns_ == 0) epoch_ns_ = started_ns_;
}

void HostStages::end() {
  const double ms = static_cast<double>(now_ns() - started_ns_) * 1e-6;
  current_.stages.push_back({name_, ms, static_cast<double>(started_ns_ - epoch_ns_) * 1e-6});
}

std::vector<FrameTimes> HostStages::collect() { return std::exchange(done_, {}); }

}  // namespace convscope
