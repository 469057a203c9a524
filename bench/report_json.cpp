#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/json_number.h"
#include "bench/report.h"
#include "bench/statistics.h"
#include "kernels/runtime.h"

namespace convscope::bench {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// "580.159.04": what the CUDA runtime does not tell.
std::string driver_release() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string word;
  while (file >> word) {
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  }
  return {};
}

Json axes(const Axes& a) { return {a.y, a.x}; }

Json shape_json(const ConvShape& s) {
  return {{"n", s.n},           {"c_in", s.c_in},
          {"h", s.h},           {"w", s.w},
          {"c_out", s.c_out},   {"k_h", s.k_h},
          {"k_w", s.k_w},       {"stride", axes(s.stride)},
          {"pad", axes(s.pad)}, {"dilation", axes(s.dilation)},
          {"out_h", s.out_h()}, {"out_w", s.out_w()}};
}

Json measure_json(const Measure& m, const BenchRow& row) {
  const double us = m.time.median_us;
  Json json{{"median_us", json_number(us)},
            {"p10_us", json_number(m.time.p10_us)},
            {"p90_us", json_number(m.time.p90_us)},
            {"runs", m.time.runs}};
  if (m.of_copy > 0) json["of_copy"] = json_number(m.of_copy);
  if (row.entry.cost.bytes > 0) json["gb_s"] = json_number(gb_s(row.entry.cost, us));
  if (row.floor) return json;
  json["gflop_s"] = json_number(gflop_s(row.entry.cost, us));
  json["tied_with_fastest"] = m.tied_with_fastest;
  json["limit"] = m.limit;
  return json;
}

Json row_json(const BenchRow& row) {
  const Entry& e = row.entry;
  Json json{{"name", e.info.name},
            {"target", to_string(e.info.target)},
            {"precision", to_string(e.info.precision)},
            {"floor", row.floor}};
  if (!e.refused.empty()) json["refused"] = e.refused;
  for (const Measure& measure : row.measures) json[to_string(measure.inputs)] = measure_json(measure, row);
  if (row.floor) return json;
  json["bytes"] = json_number(e.cost.bytes);
  json["multiply_adds"] = json_number(e.cost.multiply_adds);
  json["launches"] = json_number(e.cost.launches);
  if (!e.cost.note.empty()) json["cost_note"] = e.cost.note;
  if (!row.measures.empty()) json["bound_fraction"] = json_number(e.bound_fraction);
  json["error_bounds"] = json_number(e.error_bounds);
  Json kernels = Json::array();
  for (const LaunchLog::Entry& launch : e.launches) kernels.push_back(launch_json(launch));
  if (!kernels.empty()) json["kernels"] = std::move(kernels);
  return json;
}

Json workload_json(const WorkloadResult& result) {
  const ConvShape& s = result.workload.shape;
  Json sets = Json::object(), rows = Json::array();
  for (const auto& each : result.sets) sets[to_string(each.target)] = each.count;
  for (const BenchRow& row : result.rows) rows.push_back(row_json(row));
  Json json{{"name", result.workload.name},
            {"about", result.workload.about},
            {"precision", to_string(result.precision)},
            {"shape", shape_json(s)},
            {"bytes", least_bytes(s, result.precision)},
            {"multiply_adds", s.multiply_adds()},
            {"values", result.values},
            {"values_checked", result.checked},
            {"streaming_sets", std::move(sets)},
            {"rows", std::move(rows)}};
  if (!result.fault.empty()) json["fault"] = result.fault;
  return json;
}

}  // namespace

Json launch_json(const LaunchLog::Entry& entry) {
  const LaunchRecord& r = entry.record;
  Json json{{"kernel", r.kernel},
            {"count", entry.count},
            {"grid", r.grid},
            {"block", r.block},
            {"shared_bytes", r.shared_bytes}};
  if (!r.compiled) return json;
  json["registers"] = r.compiled->registers;
  json["local_bytes"] = r.compiled->local_bytes;
  json["blocks_per_sm"] = r.compiled->blocks_per_sm;
  json["occupancy"] = json_number(r.compiled->occupancy);
  json["limited_by"] = r.compiled->limited_by;
  return json;
}

std::string json_of(const BenchResult& result, const BenchRequest& request, const std::string& date) {
  const CudaVersions cuda = cuda_versions();
  Json json{{"what", "convscope bench"},
            {"date", date},
            {"device", text_or_null(cuda.device)},
            {"driver", text_or_null(driver_release())},
            {"cuda", text_or_null(cuda.runtime)},
            {"cuda_of_driver", text_or_null(cuda.driver)},
            {"host", make_runtime(Target::cpu)->device_name()},
            {"unit", "us"},
            {"rounds", request.rounds},
            {"most_seconds_a_row", request.most_seconds_a_row},
            {"interrupted", result.interrupted}};
  json["ceilings"] = Json::array();
  for (const BenchResult::Machine& m : result.ceilings)
    json["ceilings"].push_back({{"target", to_string(m.target)},
                                {"precision", to_string(m.precision)},
                                {"copy_gb_s", json_number(m.ceilings.copy_gb_s)},
                                {"fma_gflop_s", json_number(m.ceilings.fma_gflop_s)},
                                {"launch_us", json_number(m.ceilings.launch_us)},
                                {"how", m.ceilings.how}});
  json["workloads"] = Json::array();
  for (const WorkloadResult& workload : result.workloads)
    json["workloads"].push_back(workload_json(workload));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace convscope::bench
