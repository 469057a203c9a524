#pragma once

#include <string>

#include "bench/bench.h"

namespace convscope::bench {

/// A table for the terminal, the fastest first; what has no time says why below.
std::string table_of(const WorkloadResult&);

/// Everything: machine, versions, ceilings, and for each workload each row. `date`: as it is to stand there.
std::string json_of(const BenchResult&, const BenchRequest&, const std::string& date);

}  // namespace convscope::bench
