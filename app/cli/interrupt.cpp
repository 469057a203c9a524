#include "app/cli/interrupt.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace convscope {
namespace {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  watch_ = std::jthread([this, set](const std::stop_token& end) {
    constexpr timespec kLook{0, 50'000'000};
    while (!end.stop_requested()) {
      const int signal = sigtimedwait(&set, nullptr, &kLook);
      if (signal < 0) continue;
      if (interrupted_.stop_requested()) ::_exit(128 + signal);
      interrupted_.request_stop();
    }
  });
}

InterruptGuard::~InterruptGuard() {
  watch_.request_stop();
  watch_.join();
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace convscope
