#include "app/printable.h"

#include <fmt/format.h>

namespace convscope {

std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;  // UTF-8 among it
    }
  }
  return out;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  // not within a character of UTF-8, whose later bytes are 10xxxxxx
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most) + "...";
}

}  // namespace convscope
