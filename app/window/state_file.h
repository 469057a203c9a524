#pragma once

#include <string>

namespace convscope {

struct Program;

/// What the window shows, as JSON: window and view geometry, strategy, frame, times, comparison, interop,
/// faults, and a hash of the view's coloured pixels. NaN and infinities are the texts "nan", "inf" and
/// "-inf".
std::string state_json(const Program&);

}  // namespace convscope
