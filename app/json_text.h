#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace convscope {

/// A JSON text as `Json` (nlohmann::json or ordered_json). Throws Error: where it is no JSON, a number no
/// double holds, or a key that stands twice in one object, of which the library would drop all but the last.
template <class Json>
Json parse_json(const std::string& text);

}  // namespace convscope
