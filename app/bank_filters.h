#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/bank_generators.h"
#include "kernels/shape.h"

namespace convscope {

/// How a 2-D kernel meets the input's channels.
enum class Channels { each, mean, own };

/// A filter as its file gives it: one kernel, one for each channel, or a generator.
struct Filter {
  std::string name;
  Channels channels = Channels::each;
  std::vector<Kernel> kernels;  // one, or one for each input channel (own)
  std::string generator;
  nlohmann::json parameters;
  double bias = 0;
};

/// Filters whose weights are drawn: `count` maps over all input channels.
struct RandomFilters {
  int64_t count = 0;
  uint64_t seed = 0;
};

struct ParsedBank {
  Axes kernel;  // the bank's own size
  std::vector<Filter> filters;
  std::optional<RandomFilters> random;
};

/// The filters that a bank's file holds. Throws Error naming the filter and what is wrong with it.
ParsedBank parse_filters(const nlohmann::json&);

/// A required text of an object. Throws Error.
std::string text_member(const nlohmann::json&, const char* key);

}  // namespace convscope
