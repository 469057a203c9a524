#include "bench/contender.h"

#include <algorithm>
#include <new>

#include "kernels/error.h"

namespace convscope::bench {
namespace {

constexpr const char* kNoMemory = "needs more memory than is to be had";

}  // namespace

Contender::Contender(const RegistryRow& row) : row_(&row) { entry.info = row.info; }

void Contender::refuse(const std::string& why) {
  entry.refused = why;
  entry.time = {};
  entry.limit.clear();
  strategy_.reset();
}

void Contender::ask(const ConvProblem& problem, const ConvWeights& weights) {
  try {
    if (auto why = unavailable(row_->info)) return refuse(*why);
    if (!row_->make) return refuse("this build has no " + row_->info.id());
    strategy_ = row_->make();
    if (auto why = strategy_->refuses(problem, weights)) return refuse(*why);
    entry.cost = strategy_->cost(problem, weights);
    entry.error_bounds = strategy_->error_bounds(problem);
    reach_ = strategy_->error_reach(problem);
  } catch (const Error& e) {
    refuse(e.what());
  } catch (const std::bad_alloc&) {
    refuse(kNoMemory);
  }
}

void Contender::prove(Machine& machine, const ConvProblem& problem, const ConvWeights& weights,
                      const void* in, void* out, Expected& expected) {
  const std::size_t bytes =
      static_cast<std::size_t>(problem.shape.output_size()) * bytes_of(row_->info.precision);
  try {
    strategy_->prepare(problem, weights);
    machine.poison(out, bytes);
    machine.runtime().synchronise();
    {
      LaunchLog log;
      first_us_ = machine
                      .batch(
                          1, [&](int) { launch(in, out); }, Submission::stream)
                      ->run();
      entry.launches = log.entries();
    }
    prove_again(machine, out, expected);
  } catch (const Error& e) {  // a library may find out only when it plans
    refuse(e.what());
  } catch (const std::bad_alloc&) {
    refuse(kNoMemory);
  }
}

bool Contender::prove_again(Machine& machine, const void* out, Expected& expected) {
  const Expected::Verdict verdict = expected.judge(machine.runtime(), out, entry.error_bounds, reach_);
  entry.bound_fraction = std::max(entry.bound_fraction, verdict.bound_fraction);
  if (!verdict.good) refuse(verdict.fault);
  return verdict.good;
}

}  // namespace convscope::bench
