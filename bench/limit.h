#pragma once

#include <string>

#include "bench/race.h"

namespace convscope::bench {

/// What a strategy of this cost, done in `us` microseconds, asked of the machine, as parts of what it can do
/// at best (1: all of it).
struct Shares {
  double memory = 0, arithmetic = 0, launches = 0;
};
Shares shares_of(double us, const Cost&, const Ceilings&);

/// What limits it, for the user: "memory (78 % of the copy's rate)".
std::string limit_of(double us, const Cost&, const Ceilings&);

}  // namespace convscope::bench
