#include "app/cli/bench_progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace convscope {
namespace {

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

BenchProgress::BenchProgress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void BenchProgress::doing(const std::string& what) {
  constexpr double kApart = 0.1;  // seconds; a terminal is slower than a round
  if (!terminal_ || (line_there_ && seconds_since(shown_) < kApart)) return;
  shown_ = Clock::now();
  const std::string line = fmt::format("[{:.0f} s] {}", seconds_since(start_), what);
  fmt::print(stderr, "\r\x1b[K{}", line.substr(0, terminal_width() - 1));
  std::fflush(stderr);
  line_there_ = true;
}

void BenchProgress::clear() {
  if (!line_there_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  line_there_ = false;
}

void BenchProgress::measured(const bench::WorkloadResult& result) {
  clear();
  if (!terminal_) {
    const auto timed = std::count_if(result.rows.begin(), result.rows.end(),
                                     [](const bench::BenchRow& row) { return !row.measures.empty(); });
    fmt::print(stderr, "{} {}: {} rows timed, {} not, in {:.1f} s\n", result.workload.name,
               to_string(result.precision), timed, static_cast<std::ptrdiff_t>(result.rows.size()) - timed,
               seconds_since(workload_start_));
  }
  workload_start_ = Clock::now();
}

}  // namespace convscope
