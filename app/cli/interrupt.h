#pragma once

#include <stop_token>
#include <thread>

namespace convscope {

/// Turns Ctrl-C (SIGINT) and SIGTERM into a stop request while it lives, so that work can end and keep what
/// it has; a second one ends the program at once. To be made before any other thread is started, since
/// threads take the mask of signals from the one that starts them.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  std::stop_token token() const { return interrupted_.get_token(); }

 private:
  std::stop_source interrupted_;
  std::jthread watch_;
};

}  // namespace convscope
