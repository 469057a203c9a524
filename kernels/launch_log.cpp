#include "kernels/launch_log.h"

#include <utility>

namespace convscope {
namespace {

thread_local LaunchLog* current_log = nullptr;

bool alike(const LaunchRecord& a, const LaunchRecord& b) {
  for (int i = 0; i < 3; ++i) {
    if (a.grid[i] != b.grid[i] || a.block[i] != b.block[i]) return false;
  }
  return a.kernel == b.kernel && a.shared_bytes == b.shared_bytes;
}

}  // namespace

LaunchLog::LaunchLog() { current_log = this; }
LaunchLog::~LaunchLog() { current_log = nullptr; }
LaunchLog* LaunchLog::current() { return current_log; }

void LaunchLog::add(LaunchRecord record) {
  for (Entry& entry : entries_) {
    if (alike(entry.record, record)) {
      ++entry.count;
      return;
    }
  }
  entries_.push_back({std::move(record), 1});
}

}  // namespace convscope
