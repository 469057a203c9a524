#pragma once

#include <string>
#include <vector>

#include "app/frame.h"

namespace convscope {

struct SourceOptions {
  bool chw = false;  // a 3-D .npy is C x H x W, not H x W x C
};

/// Opens SOURCE as the command line describes it: an image file, a .npy array, or
/// pattern:NAME[:WxH[xC]][:key=value...]; empty: the sample picture.
/// Throws Error with one line: the file, what is wrong, what was expected.
FramePtr open_source(const std::string& source, const SourceOptions& = {});

/// Endings (lower case, with the dot) that open_source reads on this machine, for the file browser's filter.
const std::vector<std::string>& source_endings();

struct PatternInfo {
  std::string name;   // "zone_plate"
  std::string about;  // one sentence
};
const std::vector<PatternInfo>& patterns();

}  // namespace convscope
