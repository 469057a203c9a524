#pragma once

#include <string>
#include <vector>

#include "app/ledger.h"

namespace convscope {

/// A share of a frame's time from capture to swap.
struct CostSegment {
  std::string name;  // "wait", "upload", "unpack", a kernel, "view", "draw", "other"
  double ms = 0;
};

/// Where the time of a shown frame went; the segments add up to its age. "wait": nobody worked on it.
/// "other": what no stage accounts for. `interop_ms`: of the window's frame that showed it.
std::vector<CostSegment> cost_of(const FrameRecord&, double interop_ms);
double total_ms(const std::vector<CostSegment>&);

}  // namespace convscope
