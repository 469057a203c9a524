#pragma once

#include <memory>

#include "bench/expected.h"
#include "bench/machine.h"
#include "bench/race.h"

namespace convscope::bench {

/// One strategy's way from a row of the registry to a checked result of one problem. Whatever goes wrong is
/// kept as the reason, and stops nobody else; a lost CUDA device is the end of its own target's rows alone.
class Contender {
 public:
  explicit Contender(const RegistryRow&);

  /// Fills entry.cost and bounds, or entry.refused where it is unavailable or refuses.
  void ask(const ConvProblem&, const ConvWeights&);
  /// Prepares, launches once into `out`, which held NaN, and has the result judged. `out` is of the machine.
  void prove(Machine&, const ConvProblem&, const ConvWeights&, const void* in, void* out, Expected&);
  /// Judges another result of it; false where it is wrong, which is then entry.refused.
  bool prove_again(Machine&, const void* out, Expected&);
  /// One more launch, where it may: enqueued.
  void launch(const void* in, void* out) { strategy_->launch(in, out, no_stages_); }
  /// It has no place any more, for this reason.
  void refuse(const std::string& why);

  bool runs() const { return entry.refused.empty() && strategy_ != nullptr; }
  const RegistryRow& row() const { return *row_; }
  double first_us() const { return first_us_; }

  Entry entry;

 private:
  const RegistryRow* row_;
  std::unique_ptr<Strategy> strategy_;
  NoStages no_stages_;
  int64_t reach_ = 0;  // of its errors
  double first_us_ = 0;
};

}  // namespace convscope::bench
