#include "bench/limit.h"

#include <fmt/format.h>

namespace convscope::bench {
namespace {

/// From here on a resource is what limits: the best kernels keep two thirds and more of one busy.
constexpr double kLimiting = 0.6;
/// More than the cores can multiply: tensor cores, or a library that carries out less than is counted.
constexpr double kBeyond = 1.1;

}  // namespace

Shares shares_of(double us, const Cost& cost, const Ceilings& ceilings) {
  Shares shares;
  if (us <= 0) return shares;
  const double seconds = us * 1e-6;
  if (ceilings.copy_gb_s > 0) shares.memory = cost.bytes / seconds / (ceilings.copy_gb_s * 1e9);
  if (ceilings.fma_gflop_s > 0)
    shares.arithmetic = 2 * cost.multiply_adds / seconds / (ceilings.fma_gflop_s * 1e9);
  shares.launches = cost.launches * ceilings.launch_us / us;
  return shares;
}

std::string limit_of(double us, const Cost& cost, const Ceilings& ceilings) {
  const Shares s = shares_of(us, cost, ceilings);
  const auto percent = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
  if (s.launches >= kLimiting && s.launches >= s.memory)
    return fmt::format("launches ({:.0f} of {:.2g} us)", cost.launches, ceilings.launch_us);
  const bool cores = s.arithmetic <= kBeyond;
  if (s.memory >= kLimiting && (!cores || s.memory >= s.arithmetic))
    return fmt::format("memory ({} of the copy's rate)", percent(s.memory));
  if (cores && s.arithmetic >= kLimiting)
    return fmt::format("arithmetic ({} of the FMA rate)", percent(s.arithmetic));
  const std::string arithmetic =
      cores ? percent(s.arithmetic) + " of the FMA rate"
            : fmt::format("{:.1f} times the FMA rate, so not by that route", s.arithmetic);
  return fmt::format("neither memory nor arithmetic ({} of the copy's rate, {})", percent(s.memory),
                     arithmetic);
}

}  // namespace convscope::bench
