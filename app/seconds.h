#pragma once

#include <chrono>

namespace convscope {

/// Seconds of the steady clock.
inline double seconds_of(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(t.time_since_epoch()).count();
}
inline double seconds_now() { return seconds_of(std::chrono::steady_clock::now()); }

}  // namespace convscope
