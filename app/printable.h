#pragma once

#include <string>

namespace convscope {

/// Text for one line of a terminal: control characters, which names of files may hold, as escapes (\n, \x1b).
std::string printable(const std::string& text);

/// The first line of a fault: libraries add where in their source they are.
std::string first_line(const std::string& text);

/// `text` cut to `most` bytes, with the sign that something is missing: for values quoted in messages.
std::string shortened(const std::string& text, std::size_t most = 80);

}  // namespace convscope
