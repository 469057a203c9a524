#include "app/window/timing_table.h"

#include <algorithm>

#include "bench/statistics.h"

namespace convscope {
namespace {

void push(TimingTable::Row& row, double ms, bool first) {
  if (first) {
    row.first = ms;
    return;
  }
  row.ms.push_back(ms);
  if (row.ms.size() > TimingTable::kWindow) row.ms.pop_front();
}

}  // namespace

std::optional<double> TimingTable::Row::last() const {
  if (!ms.empty()) return ms.back();
  return first;
}

std::optional<double> TimingTable::Row::quantile(double q) const {
  if (ms.empty()) return std::nullopt;
  return bench::percentile({ms.begin(), ms.end()}, q);
}

TimingTable::Row& TimingTable::row(const std::string& stage, bool counted) {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.stage == stage; });
  if (found != rows_.end()) return *found;
  // stages of the chain stand before those outside of it, each in the order in which it first ran
  auto place = rows_.end();
  if (counted) place = std::find_if(rows_.begin(), rows_.end(), [](const Row& r) { return !r.counted; });
  return *rows_.insert(place, Row{stage, counted});
}

void TimingTable::add(const FrameTimes& times, bool first) {
  // a stage that runs several times in a frame (once an image of a batch) counts with its sum
  std::vector<StageTime> sums;
  for (const StageTime& stage : times.stages) {
    const auto same = [&](const StageTime& s) { return s.name == stage.name; };
    const auto found = std::find_if(sums.begin(), sums.end(), same);
    if (found == sums.end()) {
      sums.push_back(stage);
    } else {
      found->ms += stage.ms;
    }
  }
  for (const StageTime& stage : sums) push(row(stage.name, true), stage.ms, first);
  push(total_, times.total_ms(), first);
}

void TimingTable::add(const std::string& stage, double ms, bool first) { push(row(stage, false), ms, first); }

}  // namespace convscope
