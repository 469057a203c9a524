#include "app/window/race_results.h"

#include <fmt/format.h>

#include <algorithm>

namespace convscope {

bool RaceResults::has(Target target) const {
  return std::any_of(state.entries.begin(), state.entries.end(),
                     [&](const bench::Entry& e) { return e.info.target == target && e.time.runs > 0; });
}

std::string race_subject(const RaceResults& race) {
  if (race.id == 0) return "";
  const std::string& name = race.source;
  const std::string base = name.starts_with("pattern:") ? name : name.substr(name.rfind('/') + 1);
  const ConvProblem& problem = race.prepared->operation.problem;
  std::string text = fmt::format("{}, frame {}: {}, {}, {}", base, race.frame, describe(problem.shape),
                                 to_string(race.precision), to_string(problem.rounding));
  if (problem.activation != Activation::none) text += fmt::format(", {}", to_string(problem.activation));
  return text;
}

}  // namespace convscope
