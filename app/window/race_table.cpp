#include "app/window/race_table.h"

#include <algorithm>
#include <cmath>
#include <compare>

#include "bench/statistics.h"

namespace convscope {
namespace {

RaceRow make_row(const bench::RaceState& state, const bench::Entry& entry, const bench::Entry* shown) {
  RaceRow row;
  row.entry = &entry;
  row.over_bound = !(entry.bound_fraction <= entry.error_bounds);  // NaN is over it
  if (!row.timed()) return row;
  const double us = entry.time.median_us;
  if (us <= 0) return row;
  if (entry.cost.bytes > 0) row.gb_s = bench::gb_s(entry.cost, us);
  if (entry.cost.multiply_adds > 0) row.gflop_s = bench::gflop_s(entry.cost, us);
  const bench::Timing& copy = state.copy[static_cast<int>(entry.info.target)];
  if (copy.runs > 0) row.of_floor = copy.median_us / us;
  if (shown && shown->time.runs > 0) row.speed_up = shown->time.median_us / us;
  return row;
}

/// Rows in the order of their medians take the next rank, or that of the first of the rank before where they
/// cannot be told from it.
void give_ranks(std::vector<RaceRow>& rows) {
  std::vector<RaceRow*> timed;
  for (RaceRow& row : rows) {
    if (row.timed()) timed.push_back(&row);
  }
  std::stable_sort(timed.begin(), timed.end(), [](const RaceRow* a, const RaceRow* b) {
    return a->entry->time.median_us < b->entry->time.median_us;
  });
  RaceRow* first = nullptr;
  for (std::size_t i = 0; i < timed.size(); ++i) {
    RaceRow& row = *timed[i];
    if (first && bench::tied(first->entry->time, row.entry->time)) {
      row.rank = first->rank;
      row.tied = first->tied = true;
    } else {
      row.rank = static_cast<int>(i) + 1;
      first = &row;
    }
  }
}

double spread(const RaceRow& row) {
  const bench::Timing& t = row.entry->time;
  return (t.p90_us - t.p10_us) / t.median_us;
}

double number_of(const RaceRow& row, RaceColumn column) {
  switch (column) {
    case RaceColumn::time:
      return row.entry->time.median_us;
    case RaceColumn::spread:
      return spread(row);
    case RaceColumn::bandwidth:
      return row.gb_s.value_or(0);
    case RaceColumn::arithmetic:
      return row.gflop_s.value_or(0);
    case RaceColumn::floor:
      return row.of_floor.value_or(0);
    case RaceColumn::speed_up:
      return row.speed_up.value_or(0);
    case RaceColumn::error:
      // the furthest of all, where it is no number
      return std::isnan(row.error()) ? INFINITY : row.error();
    default:
      return 0;
  }
}

/// By one column, then by time; a total order, so that NaN cannot upset the sort.
std::strong_ordering order(const RaceRow& a, const RaceRow& b, RaceColumn column) {
  switch (column) {
    case RaceColumn::strategy:
      return a.entry->info.name <=> b.entry->info.name;
    case RaceColumn::target:
      return a.entry->info.target <=> b.entry->info.target;
    case RaceColumn::limit:
      return a.entry->limit <=> b.entry->limit;
    default:
      return std::strong_order(number_of(a, column), number_of(b, column));
  }
}

}  // namespace

std::vector<RaceRow> race_table(const bench::RaceState& state, const std::string& shown, RaceColumn column,
                                bool descending) {
  const auto shown_entry = std::find_if(state.entries.begin(), state.entries.end(),
                                        [&](const bench::Entry& e) { return e.info.id() == shown; });
  const bench::Entry* against = shown_entry == state.entries.end() ? nullptr : &*shown_entry;
  std::vector<RaceRow> rows;
  for (const bench::Entry& entry : state.entries) rows.push_back(make_row(state, entry, against));
  give_ranks(rows);
  std::stable_sort(rows.begin(), rows.end(), [&](const RaceRow& a, const RaceRow& b) {
    if (a.timed() != b.timed()) return a.timed();
    if (!a.timed()) return a.entry->refused.empty() && !b.entry->refused.empty();
    const auto by_column = descending ? order(b, a, column) : order(a, b, column);
    if (by_column != 0) return by_column < 0;
    return a.entry->time.median_us < b.entry->time.median_us;
  });
  return rows;
}

RaceColumnText race_column_text(RaceColumn column) {
  switch (column) {
    case RaceColumn::strategy:
      return {"strategy", "A click on a row shows that strategy"};
    case RaceColumn::target:
      return {"target", "Where it ran. Emulated: CUDA kernels on the CPU, not a GPU time"};
    case RaceColumn::time:
      return {"median, µs", "Of the strategy's own kernels, inputs in the caches where they fit"};
    case RaceColumn::spread:
      return {"p10 p90, %", "Eight of ten runs took so much less and so much more than the median"};
    case RaceColumn::bandwidth:
      return {"GB/s", "Bytes that its own algorithm moves, over the median"};
    case RaceColumn::arithmetic:
      return {"GFLOP/s", "Two for each multiply-add that its own algorithm does, over the median"};
    case RaceColumn::floor:
      return {"% floor", "100 %: as fast as a copy of the same input and output bytes on that target"};
    case RaceColumn::speed_up:
      return {"speed-up", "How many times faster than the shown strategy"};
    case RaceColumn::error:
      return {"error",
              "Largest difference from the reference, in error bounds; and how many it may have, "
              "where that is not 1. An approximation's: from the convolution that it approximates by"};
    case RaceColumn::limit:
      return {"limited by", "What keeps it from being faster, from the times of this race"};
  }
  return {"", ""};
}

}  // namespace convscope
