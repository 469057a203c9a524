#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "kernels/registry.h"

namespace convscope {
namespace {

void print_json() {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const RegistryRow& row : registry()) {
    const auto reason = unavailable(row.info);
    rows.push_back({{"name", row.info.name},
                    {"target", to_string(row.info.target)},
                    {"precision", to_string(row.info.precision)},
                    {"available", !reason.has_value()},
                    {"reason", nullptr}});
    if (reason) rows.back()["reason"] = *reason;
  }
  fmt::print("{}\n", rows.dump(2));
}

void print_table() {
  std::size_t width = 8;
  for (const RegistryRow& row : registry()) width = std::max(width, row.info.name.size());
  fmt::print("{:<{}}  {:<8}  {:<9}  {:<9}  {}\n", "name", width, "target", "precision", "available",
             "reason");
  for (const RegistryRow& row : registry()) {
    const auto reason = unavailable(row.info);
    fmt::print("{:<{}}  {:<8}  {:<9}  {:<9}  {}\n", row.info.name, width, to_string(row.info.target),
               to_string(row.info.precision), reason ? "no" : "yes", reason.value_or(row.info.idea));
  }
}

}  // namespace

int list_command(const CommandLine& line) {
  if (line.json) {
    print_json();
  } else {
    print_table();
  }
  return 0;
}

}  // namespace convscope
