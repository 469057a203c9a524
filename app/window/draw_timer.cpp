#include "app/window/draw_timer.h"

namespace convscope {

DrawTimer::DrawTimer() {
  for (GlTimer& timer : timers_) timer = GlTimer::make();
}

void DrawTimer::begin() {
  running_ = in_flight_ < kRing;  // all still unread: this frame goes untimed
  if (running_) glBeginQuery(GL_TIME_ELAPSED, timers_[next_].id());
}

void DrawTimer::end() {
  if (!running_) return;
  glEndQuery(GL_TIME_ELAPSED);
  next_ = (next_ + 1) % kRing;
  ++in_flight_;
}

std::optional<double> DrawTimer::collect() {
  if (in_flight_ == 0) return std::nullopt;
  GLuint available = 0;
  glGetQueryObjectuiv(timers_[oldest_].id(), GL_QUERY_RESULT_AVAILABLE, &available);
  if (!available) return std::nullopt;
  GLuint64 ns = 0;
  glGetQueryObjectui64v(timers_[oldest_].id(), GL_QUERY_RESULT, &ns);
  oldest_ = (oldest_ + 1) % kRing;
  --in_flight_;
  return static_cast<double>(ns) / 1e6;
}

}  // namespace convscope
