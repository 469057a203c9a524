#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/settings.h"
#include "bench/race.h"

namespace convscope {

/// A row of the race's table. What is not known is nullopt: no time yet, or none for a reason.
struct RaceRow {
  const bench::Entry* entry = nullptr;
  std::optional<int> rank;  // 1: the fastest; rows whose times are tied with the first of a rank share it
  bool tied = false;        // shares its rank
  std::optional<double> gb_s, gflop_s;  // of the bytes and multiply-adds that its own algorithm has
  /// The time that a copy of the input and output bytes takes on the target, of this row's time.
  std::optional<double> of_floor;
  std::optional<double> speed_up;  // against the shown strategy
  bool over_bound = false;         // its result is further off than it may be

  bool timed() const { return entry->time.runs > 0; }
  /// Of the error that it may have.
  double error() const { return entry->bound_fraction / entry->error_bounds; }
};

/// Every entry of the race, sorted; those without a time stand last. `shown`: the id of the shown strategy.
std::vector<RaceRow> race_table(const bench::RaceState&, const std::string& shown, RaceColumn,
                                bool descending);

/// Name of a column with its unit, and what it is in a sentence.
struct RaceColumnText {
  const char *name, *about;
};
RaceColumnText race_column_text(RaceColumn);

/// The race as files of an export: with what it is of, and the id of the strategy that speed-ups refer to.
std::string race_csv(const std::vector<RaceRow>&);
std::string race_json(const bench::RaceState&, const std::vector<RaceRow>&, const std::string& subject,
                      const std::string& shown);

}  // namespace convscope
