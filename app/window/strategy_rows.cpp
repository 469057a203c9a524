#include "app/window/strategy_rows.h"

#include <algorithm>
#include <array>

#include "app/quantile.h"

namespace convscope {
namespace {

constexpr std::size_t kRunsKept = 31;

double own_ms(const FrameTimes& times) {
  static const std::array<std::string, 5> others{"upload", "unpack", "pad", "download", "view"};
  double ms = 0;
  for (const StageTime& stage : times.stages) {
    if (std::find(others.begin(), others.end(), stage.name) == others.end()) ms += stage.ms;
  }
  return ms;
}

}  // namespace

std::vector<StrategyRow> StrategyRows::rows(const ConvProblem& problem, const ConvWeights& weights,
                                            Precision precision) {
  std::vector<StrategyRow> rows;
  for (const RegistryRow& row : registry()) {
    if (row.info.precision != precision) continue;
    StrategyRow r;
    r.row = &row;
    const std::string id = row.info.id();
    r.reason = unavailable(row.info);
    r.missing = r.reason.has_value();
    if (!r.reason) {
      std::unique_ptr<Strategy>& probe = probes_[id];
      if (!probe) probe = row.make();
      r.reason = probe->refuses(problem, weights);
    }
    if (const auto m = measured_.find(id); m != measured_.end()) {
      r.kernel_ms = nearest_quantile(m->second.ms, 0.5);
      r.stale = !(m->second.problem == problem);
    }
    rows.push_back(std::move(r));
  }
  return rows;
}

void StrategyRows::add(const StrategyInfo& info, const ConvProblem& problem, const FrameTimes& times) {
  Measured& m = measured_[info.id()];
  if (!(m.problem == problem)) m = {problem, {}};
  m.ms.push_back(own_ms(times));
  if (m.ms.size() > kRunsKept) m.ms.erase(m.ms.begin());
}

}  // namespace convscope
