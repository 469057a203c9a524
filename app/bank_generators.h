#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace convscope {

/// A 2-D kernel, row by row.
struct Kernel {
  int64_t h = 0, w = 0;
  std::vector<double> values;
  double& at(int64_t y, int64_t x) { return values[static_cast<std::size_t>(y * w + x)]; }
  double at(int64_t y, int64_t x) const { return values[static_cast<std::size_t>(y * w + x)]; }
};

/// Names of the generators that make one kernel from a size: identity, box, gaussian, log, gabor.
bool is_generator(const std::string& name);
/// The parameters that a generator takes, besides its name.
const std::vector<std::string>& generator_parameters(const std::string& name);

/// A kernel of h x w by the generator and the parameters that `filter` holds. Throws Error where a parameter
/// is out of range ("sigma is 0, expected more than 0").
Kernel generate(const std::string& name, const nlohmann::json& filter, int64_t h, int64_t w);

/// Zero-extended or cropped about its centre (k / 2 on each axis).
Kernel resized(const Kernel&, int64_t h, int64_t w);

}  // namespace convscope
