#include "app/json_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "kernels/error.h"

namespace convscope {

template <class Json>
Json parse_json(const std::string& text) {
  std::vector<std::set<std::string>> open;  // the keys so far of each object around the current place
  const auto watch = [&](int, typename Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(parsed.template get<std::string>()).second)
      throw Error(fmt::format("the key {} stands there twice, expected once", parsed.dump()));
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const typename Json::parse_error& e) {
    throw Error(fmt::format("is not JSON: byte {} is unexpected", e.byte));
  } catch (const typename Json::exception& e) {
    // the one other fault of a parse: a number beyond all doubles, quoted by the library
    const std::string what = e.what();
    const std::size_t first = what.find('\''), last = what.rfind('\'');
    const bool quoted = first != std::string::npos && first < last;
    throw Error(fmt::format("holds a number that is too large: {}",
                            quoted ? what.substr(first + 1, last - first - 1).substr(0, 40) : what));
  }
}

template nlohmann::json parse_json(const std::string&);
template nlohmann::ordered_json parse_json(const std::string&);

}  // namespace convscope
