#pragma once

#include <chrono>

namespace convscope {

/// Seconds of the steady clock.
inline double seconds_of(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(t.time_since_epoch()).count();
}
inline std::chrono::steady_clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}
inline double seconds_now() { return seconds_of(std::chrono::steady_clock::now()); }

}  // namespace convscope
