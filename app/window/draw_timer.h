#pragma once

#include <array>
#include <optional>

#include "app/window/gl_objects.h"

namespace convscope {

/// Time that OpenGL spends on a frame's draws, by timer queries read some frames later; never waits.
class DrawTimer {
 public:
  DrawTimer();
  void begin();
  void end();
  /// Of one earlier frame, where one has become known.
  std::optional<double> collect();

 private:
  static constexpr std::size_t kRing = 4;
  std::array<GlTimer, kRing> timers_;
  std::size_t next_ = 0, oldest_ = 0, in_flight_ = 0;
  bool running_ = false;
};

}  // namespace convscope
