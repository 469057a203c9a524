// The race as CSV and JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/window/race_table.h"
#include "bench/json_number.h"
#include "bench/report.h"

namespace convscope {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json optional_json(const std::optional<T>& v) {
  return v ? Json(*v) : Json(nullptr);
}

template <class T>
std::string optional_text(const std::optional<T>& v) {
  return v ? fmt::format("{}", *v) : "";
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

Json row_json(const RaceRow& row) {
  const bench::Entry& e = *row.entry;
  Json json{{"strategy", e.info.name},
            {"target", to_string(e.info.target)},
            {"precision", to_string(e.info.precision)},
            {"runs", e.time.runs}};
  if (row.timed()) {
    json.update({{"median_us", e.time.median_us},
                 {"p10_us", e.time.p10_us},
                 {"p90_us", e.time.p90_us},
                 {"rank", optional_json(row.rank)},
                 {"tied", row.tied},
                 {"gb_s", optional_json(row.gb_s)},
                 {"gflop_s", optional_json(row.gflop_s)},
                 {"of_floor", optional_json(row.of_floor)},
                 {"speed_up", optional_json(row.speed_up)},
                 {"bound_fraction", json_number(e.bound_fraction)},
                 {"error_bounds", e.error_bounds},
                 {"limit", e.limit}});
  }
  json.update({{"bytes", e.cost.bytes}, {"multiply_adds", e.cost.multiply_adds}, {"cost_note", e.cost.note}});
  json["approximation"] = e.approximation.empty() ? Json(nullptr) : Json(e.approximation);
  json["refused"] = e.refused.empty() ? Json(nullptr) : Json(e.refused);
  json["launches"] = Json::array();
  for (const LaunchLog::Entry& launch : e.launches) json["launches"].push_back(bench::launch_json(launch));
  return json;
}

}  // namespace

std::string race_csv(const std::vector<RaceRow>& rows) {
  std::string text =
      "strategy,target,precision,runs,median_us,p10_us,p90_us,rank,tied,gb_s,gflop_s,of_floor,speed_up,"
      "bound_fraction,error_bounds,bytes,multiply_adds,approximation,limit,refused\n";
  for (const RaceRow& row : rows) {
    const bench::Entry& e = *row.entry;
    text += fmt::format("{},{},{},{},", e.info.name, to_string(e.info.target), to_string(e.info.precision),
                        e.time.runs);
    text += row.timed() ? fmt::format("{},{},{},{},{},{},{},{},{},{},{},", e.time.median_us, e.time.p10_us,
                                      e.time.p90_us, optional_text(row.rank), row.tied ? 1 : 0,
                                      optional_text(row.gb_s), optional_text(row.gflop_s),
                                      optional_text(row.of_floor), optional_text(row.speed_up),
                                      e.bound_fraction, e.error_bounds)
                        : std::string(11, ',');
    text += fmt::format("{},{},{},{},{}\n", e.cost.bytes, e.cost.multiply_adds, quoted(e.approximation),
                        quoted(e.limit), quoted(e.refused));
  }
  return text;
}

std::string race_json(const bench::RaceState& state, const std::vector<RaceRow>& rows,
                      const std::string& subject, const std::string& shown) {
  Json targets = Json::object();
  for (const Target target : {Target::cuda, Target::emulated, Target::cpu}) {
    const bench::Timing& copy = state.copy[static_cast<int>(target)];
    if (copy.runs == 0) continue;
    const bench::Ceilings& c = state.ceilings[static_cast<int>(target)];
    targets[to_string(target)] = {{"copy_us", copy.median_us},
                                  {"copy_gb_s", c.copy_gb_s},
                                  {"fma_gflop_s", c.fma_gflop_s},
                                  {"launch_us", c.launch_us},
                                  {"how", c.how}};
  }
  Json list = Json::array();
  for (const RaceRow& row : rows) list.push_back(row_json(row));
  const Json json{{"of", subject},
                  {"speed_up_against", shown},
                  {"inputs", "in the caches where they fit"},
                  {"finished", state.finished},
                  {"targets", std::move(targets)},
                  {"rows", std::move(list)}};
  return json.dump(2) + "\n";
}

}  // namespace convscope
