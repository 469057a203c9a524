#pragma once

#include "bench/machine.h"
#include "bench/race.h"

namespace convscope::bench {

/// measure_ceilings() on a machine that is there already.
Ceilings measure_ceilings(Machine&, Precision);

}  // namespace convscope::bench
