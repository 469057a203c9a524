#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace convscope {

/// NaN and infinities, which JSON has no numbers for, as the texts "nan", "inf" and "-inf".
template <class Json = nlohmann::ordered_json>
Json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace convscope
