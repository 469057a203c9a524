#include "bench/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "bench/statistics.h"
#include "kernels/parallel.h"

namespace convscope::bench {
namespace {

constexpr int kRuns = 5;

double best_us(Batch& batch) {
  batch.run();  // first touch, and clocks that have to rise
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRuns; ++i) best = std::min(best, batch.run());
  return best;
}

/// Bytes each way: together four times the cache, within what is quickly had.
std::size_t copied_bytes(const Machine& machine) {
  constexpr std::size_t kLeast = std::size_t{32} << 20, kMost = std::size_t{512} << 20;
  return std::clamp(2 * machine.cache_bytes(), kLeast, kMost) / 16 * 16;
}

double copy_gb_s(Machine& machine) {
  const std::size_t bytes = copied_bytes(machine);
  const auto from = machine.runtime().allocate(bytes), to = machine.runtime().allocate(bytes);
  machine.poison(from->data(), bytes);  // pages that were never written may all be one page
  const auto batch = machine.batch(
      1, [&](int) { machine.copy(to->data(), from->data(), bytes); }, Submission::stream);
  return 2e-3 * static_cast<double>(bytes) / best_us(*batch);
}

double fma_gflop_s(Machine& machine, Precision precision) {
  constexpr double kLongEnough = 4000;  // us: no clock's resolution and no start of threads shows
  double done = 0;
  for (int64_t steps = 64;; steps *= 2) {
    const auto batch = machine.batch(
        1, [&](int) { done = machine.multiply_add(precision, steps); }, Submission::stream);
    if (batch->run() < kLongEnough) continue;
    return 2e-3 * done / best_us(*batch);
  }
}

double launch_us(Machine& machine) {
  if (!machine.has_launches()) return 0;
  constexpr int kLaunches = 200;
  const auto batch = machine.batch(
      kLaunches, [&](int) { machine.launch_empty(); }, Submission::stream);
  batch->run();
  std::vector<double> us;
  for (int i = 0; i < kRuns; ++i) us.push_back(batch->run());
  return percentile(us, 0.5);
}

}  // namespace

Ceilings measure_ceilings(Machine& machine, Precision precision) {
  Ceilings c{copy_gb_s(machine), fma_gflop_s(machine, precision), launch_us(machine), {}};
  const double copied = static_cast<double>(2 * copied_bytes(machine)) * 1e-6;
  c.how = machine.has_launches()
              ? fmt::format(
                    "best of {}: a kernel that copies {:.0f} MB (read and written); four chains of "
                    "{} FMAs in 2048 threads a multiprocessor; 200 empty kernels one after the other",
                    kRuns, copied, to_string(precision))
              : fmt::format(
                    "best of {}, {} threads: memcpy of {:.0f} MB (read and written); twelve chains of "
                    "{} multiply-adds in vectors of 256 bits",
                    kRuns, thread_count(), copied, to_string(precision));
  return c;
}

Ceilings measure_ceilings(Target target, Precision precision) {
  return measure_ceilings(*make_machine(target), precision);
}

}  // namespace convscope::bench
