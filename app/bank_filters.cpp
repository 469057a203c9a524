// Reading a bank's JSON, with a line for each fault.
#include "app/bank_filters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "app/printable.h"
#include "kernels/error.h"

namespace convscope {
namespace {

using Json = nlohmann::json;

void expect_keys(const Json& json, std::vector<std::string> allowed) {
  if (!json.is_object()) throw Error(fmt::format("is a JSON {}, expected an object", json.type_name()));
  for (const auto& [key, value] : json.items()) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
      throw Error(fmt::format("unknown key \"{}\", expected {}", key, fmt::join(allowed, ", ")));
  }
}

template <class T>
T member(const Json& json, const char* key, const char* expected) {
  try {
    return json.at(key).get<T>();
  } catch (const Json::exception&) {
    throw Error(fmt::format("\"{}\" is {}, expected {}", key,
                            json.contains(key) ? shortened(json.at(key).dump()) : "missing", expected));
  }
}

int64_t whole(const Json& json, const char* key, int64_t least, int64_t most) {
  const std::string expected = fmt::format("a whole number from {} to {}", least, most);
  const Json value = member<Json>(json, key, expected.c_str());
  if (!value.is_number_integer() || value < least || value > most)
    throw Error(fmt::format("\"{}\" is {}, expected {}", key, shortened(value.dump()), expected));
  return value.get<int64_t>();
}

void check_side(int64_t side) {
  if (side < 1 || side > kMaxKernelSide)
    throw Error(fmt::format("a kernel side is {}, expected 1 to {}", side, kMaxKernelSide));
}

/// Rows of numbers, each divided by `divisor`: 1/9 is written as 1 over 9 and rounded once.
Kernel parse_kernel(const Json& rows, double divisor) {
  if (!rows.is_array() || rows.empty() || !rows.front().is_array())
    throw Error("a kernel is expected as rows of numbers, [[1, 2], [3, 4]]");
  Kernel kernel{static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.front().size()), {}};
  check_side(kernel.h);
  check_side(kernel.w);
  for (const Json& row : rows) {
    if (!row.is_array() || static_cast<int64_t>(row.size()) != kernel.w)
      throw Error(
          fmt::format("row {} of the kernel does not have {} values", shortened(row.dump()), kernel.w));
    for (const Json& value : row) {
      if (!value.is_number() || !std::isfinite(value.get<double>()))
        throw Error(fmt::format("{} in the kernel is not a number", shortened(value.dump())));
      kernel.values.push_back(value.get<double>() / divisor);
      if (!std::isfinite(kernel.values.back()))
        throw Error(fmt::format("{} of the kernel over the divisor {} is too large", value.dump(), divisor));
    }
  }
  return kernel;
}

Channels parse_channels(const Json& json) {
  const std::string rule =
      json.contains("channels") ? member<std::string>(json, "channels", "each or mean") : "each";
  if (rule == "each") return Channels::each;
  if (rule == "mean") return Channels::mean;
  throw Error(fmt::format("\"channels\" is \"{}\", expected each or mean", rule));
}

Filter parse_generated(const Json& json, Filter filter) {
  filter.generator = member<std::string>(json, "generator", "a name");
  if (!is_generator(filter.generator))
    throw Error(fmt::format("generator \"{}\" is unknown, expected identity, box, gaussian, log or gabor",
                            filter.generator));
  std::vector<std::string> keys{"name", "channels", "generator", "bias"};
  for (const std::string& key : generator_parameters(filter.generator)) {
    keys.push_back(key);
    if (json.contains(key)) member<double>(json, key.c_str(), "a number");
  }
  expect_keys(json, keys);
  filter.parameters = json;
  generate(filter.generator, json, 3, 3);  // a parameter out of range is a fault of the file, not of the size
  return filter;
}

Filter parse_filter(const Json& json) {
  Filter filter;
  filter.channels = parse_channels(json);
  filter.name = member<std::string>(json, "name", "a text");
  if (json.contains("bias")) filter.bias = member<double>(json, "bias", "a number");
  if (json.contains("generator")) return parse_generated(json, std::move(filter));
  expect_keys(json, {"name", "channels", "kernel", "kernels", "divisor", "bias"});
  const double divisor = json.contains("divisor") ? member<double>(json, "divisor", "a number") : 1;
  if (!std::isfinite(divisor) || divisor == 0)
    throw Error(fmt::format("\"divisor\" is {}, expected not 0", divisor));
  if (json.contains("kernels") == json.contains("kernel"))
    throw Error("expected exactly one of kernel, kernels (one for each channel) and generator");
  if (json.contains("kernel")) {
    filter.kernels = {parse_kernel(json.at("kernel"), divisor)};
    return filter;
  }
  if (json.contains("channels")) throw Error("\"channels\" has no meaning beside \"kernels\"");
  filter.channels = Channels::own;
  if (!json.at("kernels").is_array() || json.at("kernels").empty())
    throw Error("\"kernels\" is expected as a list of kernels, one for each input channel");
  for (const Json& rows : json.at("kernels")) filter.kernels.push_back(parse_kernel(rows, divisor));
  for (const Kernel& kernel : filter.kernels) {
    if (kernel.h != filter.kernels.front().h || kernel.w != filter.kernels.front().w)
      throw Error("its kernels differ in size");
  }
  return filter;
}

Axes own_size(const Json& json, const std::vector<Filter>& filters) {
  Axes size{0, 0};
  if (json.contains("kernel")) {
    const Json& sides = json.at("kernel");
    const auto whole_number = [](const Json& side) { return side.is_number_integer(); };
    if (!sides.is_array() || sides.size() != 2 || !std::all_of(sides.begin(), sides.end(), whole_number))
      throw Error(fmt::format("\"kernel\" is {}, expected [height, width]", shortened(sides.dump())));
    const auto asked = sides.get<std::vector<int64_t>>();
    check_side(asked[0]);
    check_side(asked[1]);
    return {asked[0], asked[1]};
  }
  for (const Filter& filter : filters) {
    for (const Kernel& kernel : filter.kernels)
      size = {std::max(size.y, kernel.h), std::max(size.x, kernel.w)};
  }
  return size.y > 0 ? size : Axes{3, 3};
}

}  // namespace

ParsedBank parse_filters(const Json& json) {
  expect_keys(json, {"name", "title", "about", "kernel", "filters", "random"});
  ParsedBank bank;
  if (json.contains("random") == json.contains("filters"))
    throw Error("expected exactly one of \"filters\" and \"random\"");
  if (json.contains("random")) {
    const Json& random = json.at("random");
    expect_keys(random, {"count", "seed"});
    bank.random = RandomFilters{whole(random, "count", 1, 4096),
                                static_cast<uint64_t>(whole(random, "seed", 0, int64_t{1} << 53))};
  } else {
    const Json& filters = json.at("filters");
    if (!filters.is_array() || filters.empty() || filters.size() > 4096)
      throw Error("\"filters\" is expected as a list of 1 to 4096 filters");
    for (std::size_t i = 0; i < filters.size(); ++i) {
      const bool named =
          filters[i].is_object() && filters[i].contains("name") && filters[i].at("name").is_string();
      const std::string name = named ? fmt::format("\"{}\"", filters[i].at("name").get<std::string>())
                                     : fmt::format("number {}", i + 1);
      try {
        if (!filters[i].is_object()) throw Error("is not an object");
        bank.filters.push_back(parse_filter(filters[i]));
      } catch (const Error& e) {
        throw Error(fmt::format("filter {}: {}", name, e.what()));
      }
    }
  }
  bank.kernel = own_size(json, bank.filters);
  return bank;
}

std::string text_member(const Json& json, const char* key) {
  return member<std::string>(json, key, "a text");
}

}  // namespace convscope
