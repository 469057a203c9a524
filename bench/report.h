#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bench/bench.h"

namespace convscope::bench {

/// A table for the terminal, the fastest first; what has no time says why below.
std::string table_of(const WorkloadResult&);

/// Everything: machine, versions, ceilings, and for each workload each row. `date`: as it is to stand there.
std::string json_of(const BenchResult&, const BenchRequest&, const std::string& date);

/// How a kernel was started, and how often; what the compiler gave it, where that is known.
nlohmann::ordered_json launch_json(const LaunchLog::Entry&);

}  // namespace convscope::bench
