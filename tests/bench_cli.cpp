// convscope bench as a user runs it: exit codes, one-line errors, its files, and Ctrl-C.
#include <csignal>
#include <thread>

#include "tests/cli_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

TEST_F(Cli, BenchFaults) {
  struct Row {
    int code;
    std::vector<std::string> arguments, parts;
  };
  const Row table[] = {
      {2, {"--only", "Z"}, {"--only Z", "A,B,B5"}},
      {2, {"--strategies", "nosuch"}, {"nosuch", "direct"}},
      {2, {"--target", "gpu"}, {"--target gpu", "emulated"}},
      {2, {"--precision", "fp16"}, {"fp16", "fp64"}},
      {2, {"--rounds", "0"}, {"--rounds"}},
      {2, {"--seconds", "nan"}, {"--seconds"}},
      {2, {"A"}, {"A"}},
      {1, {"--target", "cpu", "--json", "none/b.json"}, {"none/b.json", "cannot be written"}}};
  for (const Row& row : table) {
    std::vector<std::string> arguments{"bench"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    SCOPED_TRACE(row.arguments.back());
    const Outcome outcome = convscope(arguments);
    EXPECT_EQ(outcome.code, row.code);
    ASSERT_FALSE(outcome.err.empty());
    EXPECT_TRUE(one_line_with(outcome.err.substr(0, outcome.err.size() - 1), row.parts));
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(Cli, BenchWritesTableAndJson) {
  const Outcome outcome = convscope({"bench", "--only", "G1", "--target", "emulated", "--cpu", "--strategies",
                                     "direct_constant,winograd_f2,onednn", "--rounds", "3", "--seconds",
                                     "0.2", "--json", "b.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("G1 fp32: 5 rows timed, 0 not")) << outcome.err;
  const Json json = Json::parse(read_string(folder_ / "b.json"));
  EXPECT_FALSE(json["interrupted"]);
  std::vector<std::string> names;
  for (const Json& row : json["workloads"][0]["rows"]) {
    names.push_back(row["name"].get<std::string>() + " " + row["target"].get<std::string>());
    EXPECT_NE(outcome.out.find(row["name"]), std::string::npos) << outcome.out;
    EXPECT_GT(row["streaming"]["median_us"], 0.0);
    EXPECT_GT(row["hot"]["median_us"], 0.0);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"copy of the same bytes emulated", "copy of the same bytes cpu",
                                      "direct_constant emulated", "winograd_f2 emulated", "onednn cpu"}));
  EXPECT_NE(outcome.out.find("say nothing about a GPU"), std::string::npos);
}

/// Starts the benchmark, waits until the JSON holds `workloads`, and sends the signal.
TEST_F(Cli, BenchInterruptedKeepsItsRows) {
  for (const int signal : {SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    const std::string path = folder_ / "b.json";
    std::remove(path.c_str());
    std::jthread sender([&](const std::stop_token& over) {
      while (!over.stop_requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const std::string text = read_string(path);
        if (text.empty() || Json::parse(text)["workloads"].empty() || !child_) continue;
        ::kill(child_, signal);
        return;
      }
    });
    // G1 is done in a moment, the rest is not
    const Outcome outcome =
        convscope({"bench", "--only", "G1,G15,S17,G31", "--target", "cpu", "--strategies", "scalar,reference",
                   "--rounds", "200", "--seconds", "0.4", "--json", "b.json"});
    sender.request_stop();
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("interrupted"), std::string::npos) << outcome.err;
    const Json json = Json::parse(read_string(path));
    EXPECT_TRUE(json["interrupted"]);
    ASSERT_GE(json["workloads"].size(), 1u);
    ASSERT_LT(json["workloads"].size(), 4u);
    EXPECT_GT(json["workloads"][0]["rows"][1]["streaming"]["median_us"], 0.0);
  }
}

}  // namespace
}  // namespace convscope
