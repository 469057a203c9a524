#include "kernels/launch_log.h"

#include <algorithm>
#include <utility>

namespace convscope {
namespace {

thread_local LaunchLog* current_log = nullptr;

bool same_grid(const LaunchRecord& a, const LaunchRecord& b) {
  return std::equal(a.grid, a.grid + 3, b.grid) && std::equal(a.block, a.block + 3, b.block);
}

}  // namespace

LaunchLog::LaunchLog() { current_log = this; }
LaunchLog::~LaunchLog() { current_log = nullptr; }
LaunchLog* LaunchLog::current() { return current_log; }

void LaunchLog::add(LaunchRecord record, const std::function<void(LaunchRecord&)>& complete) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const LaunchRecord& known = entries_[i].record;
    if (known.kernel == record.kernel && same_grid(known, record) &&
        dynamic_bytes_[i] == record.shared_bytes) {
      ++entries_[i].count;
      return;
    }
  }
  const std::size_t dynamic_bytes = record.shared_bytes;
  if (complete) complete(record);
  entries_.push_back({std::move(record), 1});
  dynamic_bytes_.push_back(dynamic_bytes);
}

}  // namespace convscope
