#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace convscope {

/// Ends the process, with this exit code, one second after its own end. Held so that files are finished
/// before it and the threads that compute end after it: those may be in the midst of minutes of work, or of a
/// library's call that hangs, and nobody waits for that once the window is closed.
class EndDeadline {
 public:
  EndDeadline() = default;
  ~EndDeadline() {
    std::thread([code = code_] {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      std::fflush(stdout);
      std::_Exit(code);
    }).detach();
  }
  EndDeadline(const EndDeadline&) = delete;
  EndDeadline& operator=(const EndDeadline&) = delete;
  /// The window was closed as it should be.
  void succeed() { code_ = EXIT_SUCCESS; }

 private:
  int code_ = EXIT_FAILURE;
};

}  // namespace convscope
