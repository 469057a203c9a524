// The benchmark itself on small workloads: what its result, table and JSON hold, and what a stop keeps.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "bench/report.h"
#include "kernels/registry.h"

namespace convscope::bench {
namespace {

using Json = nlohmann::json;

BenchRequest small_request(std::vector<Target> targets) {
  BenchRequest request;
  request.workloads = {
      {"one", "1x3x20x30 -> 4, 3x3", {1, 3, 20, 30, 4, 3, 3, {1, 1}, {1, 1}, {1, 1}}, false, true},
      {"flat", "2x1x9x40 -> 1, 5x5 of rank 1", {2, 1, 9, 40, 1, 5, 5, {1, 1}, {2, 2}, {1, 1}}, true}};
  request.targets = std::move(targets);
  request.rounds = 4;
  request.most_seconds_a_row = 0.2;
  return request;
}

/// The registry's rows of these targets.
std::size_t rows_of(const std::vector<Target>& targets, Precision precision) {
  std::size_t count = 0;
  for (const RegistryRow& row : registry())
    count += row.info.precision == precision &&
             std::find(targets.begin(), targets.end(), row.info.target) != targets.end();
  return count;
}

void expect_row(const Json& row, const Json& workload) {
  SCOPED_TRACE(row.dump());
  const std::string name = row["name"];
  if (row.contains("refused")) {
    EXPECT_FALSE(row.contains("streaming") || row.contains("hot")) << "a refused row has a time";
    EXPECT_TRUE(name == "separable" || name.starts_with("winograd")) << row["refused"];
    return;
  }
  for (const char* inputs : {"streaming", "hot"}) {
    const Json& m = row.at(inputs);
    EXPECT_GT(m.at("p10_us"), 0.0);
    EXPECT_LE(m.at("p10_us"), m.at("median_us"));
    EXPECT_LE(m.at("median_us"), m.at("p90_us"));
    EXPECT_GE(m.at("runs"), 1);
    EXPECT_LE(m.at("runs"), 4);
    EXPECT_GT(m.at("of_copy"), 0.0);
    if (row.at("floor").get<bool>()) continue;
    EXPECT_NE(m.at("limit"), "");
    const double us = m.at("median_us");
    EXPECT_NEAR(m.at("gb_s").get<double>() * us, row.at("bytes").get<double>() * 1e-3, 1e-6);
    EXPECT_NEAR(m.at("gflop_s").get<double>() * us, row.at("multiply_adds").get<double>() * 2e-3, 1e-6);
  }
  if (row.at("floor").get<bool>()) return;
  EXPECT_GE(row.at("bytes"), workload.at("bytes"));
  EXPECT_GE(row.at("launches"), 1.0);
  EXPECT_LE(row.at("bound_fraction"), row.at("error_bounds"));
  const bool direct = row.at("target") == "emulated" && name == "direct";
  EXPECT_TRUE(!direct || row.at("kernels").size() == 1) << "the launch is not in the log";
}

TEST(Bench, CpuAndEmulatedInOneTable) {
  const std::vector<Target> targets{Target::emulated, Target::cpu};
  const BenchRequest request = small_request(targets);
  std::vector<std::string> heard;
  const BenchResult result = run_bench(request,
                                       {{},
                                        [&](const BenchResult& so_far) {
                                          EXPECT_TRUE(so_far.interrupted) << "not all are done";
                                          heard.push_back(so_far.workloads.back().workload.name);
                                        }},
                                       {});
  EXPECT_EQ(heard, (std::vector<std::string>{"one", "one", "flat"}));  // "one" in both precisions
  EXPECT_FALSE(result.interrupted);
  const Json json = Json::parse(json_of(result, request, "2026-01-02T03:04:05Z"));
  EXPECT_EQ(json["date"], "2026-01-02T03:04:05Z");
  EXPECT_EQ(json["interrupted"], false);
  EXPECT_EQ(json["unit"], "us");
  EXPECT_EQ(json["ceilings"].size(), 4u);  // two targets, two precisions
  for (const Json& ceiling : json["ceilings"]) EXPECT_GT(ceiling["fma_gflop_s"], 0.0);
  ASSERT_EQ(json["workloads"].size(), 3u);
  const Precision precisions[] = {Precision::fp32, Precision::fp64, Precision::fp32};
  for (std::size_t i = 0; i < 3; ++i) {
    const Json& workload = json["workloads"][i];
    SCOPED_TRACE(workload["name"]);
    EXPECT_EQ(workload["precision"], to_string(precisions[i]));
    EXPECT_EQ(workload["values_checked"], workload["values"]);
    EXPECT_EQ(workload["values"], i < 2 ? 4 * 20 * 30 : 2 * 9 * 40);
    EXPECT_EQ(workload["bytes"], i < 2 ? (3 + 4) * 20 * 30 * (i == 0 ? 4 : 8) : 4 * 9 * 40 * 4);
    EXPECT_EQ(workload["shape"]["out_w"], i < 2 ? 30 : 40);
    EXPECT_GE(workload["streaming_sets"]["emulated"], 2);
    EXPECT_EQ(workload["rows"].size(), rows_of(targets, precisions[i]) + 2) << "a copy for each target";
    std::set<std::string> fastest;
    for (const Json& row : workload["rows"]) {
      expect_row(row, workload);
      if (row.contains("hot") && row["hot"].value("tied_with_fastest", false)) fastest.insert(row["target"]);
      const bool taken = row["name"] != "separable" || workload["name"] == "flat";
      EXPECT_TRUE(taken || row.contains("refused")) << "filters of rank 3";
    }
    EXPECT_EQ(fastest, (std::set<std::string>{"cpu", "emulated"}));
  }
}

TEST(Bench, TheTableSaysWhatTheJsonSays) {
  BenchRequest request = small_request({Target::cpu});
  request.workloads.resize(1);
  request.precision = Precision::fp32;
  request.strategies = {"reference", "scalar"};
  request.inputs = {Inputs::hot};
  const BenchResult result = run_bench(request, {}, {});
  ASSERT_EQ(result.workloads.size(), 1u);
  const WorkloadResult& workload = result.workloads.front();
  ASSERT_EQ(workload.rows.size(), 3u);  // the copy
  const std::string table = table_of(workload);
  for (const BenchRow& row : workload.rows) {
    ASSERT_EQ(row.measures.size(), 1u);
    char median[32];
    std::snprintf(median, sizeof median, " %.2f ", row.measures[0].time.median_us);
    const std::size_t line = table.find(row.entry.info.name + " ");
    ASSERT_NE(line, std::string::npos) << table;
    EXPECT_NE(table.substr(line, table.find('\n', line) - line).find(median), std::string::npos) << table;
  }
  EXPECT_NE(table.find("2400 of 2400 values checked"), std::string::npos) << table;
  EXPECT_EQ(table.find("streaming:"), std::string::npos) << table;
}

TEST(Bench, AStopKeepsWhatWasMeasured) {
  const BenchRequest request = small_request({Target::cpu});
  struct Row {
    const char* at;  // what was being done when the stop came
    std::size_t workloads;
    bool timed;
  };
  const Row table[] = {{"one fp32: the planes", 1, false},
                       {"one fp32: reference/cpu/fp32, streaming, round 3 of 4", 1, true},
                       {"flat fp32: the planes", 3, false}};
  for (const Row& row : table) {
    SCOPED_TRACE(row.at);
    std::stop_source stop;
    const BenchResult result = run_bench(request,
                                         {[&](const std::string& doing) {
                                            if (doing == row.at) stop.request_stop();
                                          },
                                          {}},
                                         stop.get_token());
    EXPECT_TRUE(result.interrupted);
    ASSERT_EQ(result.workloads.size(), row.workloads);
    int timed = 0;
    for (const BenchRow& each : result.workloads.back().rows)
      for (const Measure& measure : each.measures) timed += !each.floor && measure.time.runs > 0;
    EXPECT_EQ(timed > 0, row.timed);
    EXPECT_TRUE(Json::parse(json_of(result, request, ""))["interrupted"].get<bool>());
  }
}

TEST(Bench, WhatDoesNotFitIsSaidAndTheRestGoesOn) {
  BenchRequest request = small_request({Target::cpu});
  request.precision = Precision::fp32;
  Workload vast = request.workloads[0];
  vast.name = "vast";
  vast.shape.n = int64_t{1} << 36;
  request.workloads.insert(request.workloads.begin(), vast);
  request.workloads.pop_back();
  const BenchResult result = run_bench(request, {}, {});
  ASSERT_EQ(result.workloads.size(), 2u);
  // 2^36 images of 3 + 4 planes of 600 floats
  EXPECT_TRUE(result.workloads[0].fault.starts_with("needs 1154487.21 GB of memory"))
      << result.workloads[0].fault;
  for (const BenchRow& row : result.workloads[0].rows) EXPECT_TRUE(row.measures.empty());
  EXPECT_EQ(result.workloads[1].fault, "");
  EXPECT_NE(table_of(result.workloads[0]).find(result.workloads[0].fault), std::string::npos);
}

}  // namespace
}  // namespace convscope::bench
