#pragma once

#include <memory>
#include <string>

#include "app/frame.h"

namespace convscope {

/// A built-in picture: pattern:NAME[:WxH[xC]][:key=value...]. Throws Error naming what is wrong and what
/// there is.
std::unique_ptr<Frame> make_pattern(const std::string& source);

}  // namespace convscope
