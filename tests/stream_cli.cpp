// convscope stream as a user starts it.
#include <algorithm>

#include "tests/cli_testing.h"

namespace convscope::testing {
namespace {

TEST_F(Cli, StreamVerifiesTheFramesOfABarcode) {
  const Outcome run = convscope({"stream", "pattern:barcode:320x180:fps=5000", "--frames", "40", "--set",
                                 "target=emulated", "--set", "bank=random", "--json", "s.json"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("40 processed, 0 dropped, 0 repeated"), std::string::npos) << run.out;
  const Json report = Json::parse(read_string(folder_ / "s.json"));
  EXPECT_EQ(report["frames"], 40);
  EXPECT_EQ(report["barcode"]["checked"], 40);
  EXPECT_EQ(report["barcode"]["good"], true);
  EXPECT_EQ(report["claimed_fps"], 5000);
  EXPECT_GT(report["processed_fps"], 0);
  EXPECT_GT(report["age_p95_ms"], 0);
  EXPECT_EQ(report["upload_bytes_per_s"], 0) << "host targets compute where the frames are";
}

TEST_F(Cli, StreamWithoutBarcodeSaysSo) {
  const Outcome run = convscope({"stream", "pattern:noise:64x48:fps=100", "--frames", "5", "--set",
                                 "target=cpu", "--strategy", "onednn"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("frames were not verified"), std::string::npos) << run.out;
}

/// 18 channels of 31x31 weights are more than the constant memory of a launch.
TEST_F(Cli, StreamsWhereTheDefaultStrategyRefusesAreTakenByAnother) {
  const std::string source = "pattern:noise:40x40x18:fps=100";
  const Outcome run = convscope({"stream", source, "--frames", "3", "--set", "kernel=31", "--set",
                                 "target=emulated", "--json", "s.json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("direct in its place"), std::string::npos) << run.out;
  const Json report = Json::parse(read_string(folder_ / "s.json"));
  EXPECT_EQ(report["strategy"], "direct/emulated/fp32");
  EXPECT_EQ(report["frames"], 3);
  EXPECT_TRUE(report["note"].get<std::string>().starts_with("register_tiled refuses: ")) << report["note"];

  const Outcome named = convscope({"stream", source, "--frames", "3", "--set", "kernel=31", "--set",
                                   "target=emulated", "--strategy", "register_tiled"});
  EXPECT_EQ(named.code, 1) << named.out;
  EXPECT_TRUE(named.err.find("register_tiled refuses: ") != std::string::npos) << named.err;
  EXPECT_EQ(std::count(named.err.begin(), named.err.end(), '\n'), 1) << named.err;
}

TEST_F(Cli, StreamRefusesInOneLine) {
  struct Row {
    std::vector<std::string> arguments;
    int code;
    std::vector<std::string> words;
  };
  const Row table[] = {
      {{"stream"}, 2, {"SOURCE"}},
      {{"stream", "pattern:barcode:320x180:fps=10", "--frames", "0"}, 2, {"--frames", "0"}},
      {{"stream", "pattern:barcode:320x180:fps=10", "--seconds", "-1"}, 2, {"--seconds", "-1"}},
      {{"stream", "pattern:barcode:320x180:fps=10", "--strategy", "fast"}, 2, {"strategy=fast"}},
      {{"stream", "missing.mp4"}, 1, {"missing.mp4"}},
      {{"stream", "pattern:barcode:320x180:fps=ten"}, 1, {"fps=ten"}},
      {{"stream", "pattern:barcode:320x180:fps=100", "--frames", "3", "--set", "target=cpu", "--strategy",
        "onednn", "--json", "no/such/folder/s.json"},
       1,
       {"no/such/folder/s.json"}},
  };
  for (const Row& row : table) {
    const Outcome run = convscope(row.arguments);
    EXPECT_EQ(run.code, row.code) << row.arguments.back() << ": " << run.err;
    std::string line = run.err;
    if (!line.empty() && line.back() == '\n') line.pop_back();
    EXPECT_TRUE(one_line_with(line, row.words)) << row.arguments.back();
  }
}

}  // namespace
}  // namespace convscope::testing
