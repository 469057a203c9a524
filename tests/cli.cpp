// The program as a user runs it: exit codes, one-line errors, and the files that `run` writes.
#include <cmath>
#include <numeric>
#include <opencv2/imgcodecs.hpp>
#include <set>

#include "app/cli/conflicts.h"
#include "app/npy.h"
#include "kernels/registry.h"
#include "tests/cli_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;
TEST_F(Cli, HelpVersionAndList) {
  const Outcome help = convscope({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* part :
       {"SOURCE", "pattern:NAME", "zone_plate", "--session", "stride", "Examples", "run", "check"})
    EXPECT_NE(help.out.find(part), std::string::npos) << part;
  EXPECT_EQ(convscope({"run", "--help"}).code, 0);
  EXPECT_TRUE(convscope({"--version"}).out.starts_with("convscope " CONVSCOPE_VERSION));
  const Outcome list = convscope({"list", "--json"});
  ASSERT_EQ(list.code, 0);
  const Json rows = Json::parse(list.out);
  ASSERT_EQ(rows.size(), registry().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const StrategyInfo& info = registry()[i].info;
    EXPECT_EQ(rows[i].size(), 5u);
    EXPECT_EQ(rows[i]["name"], info.name);
    EXPECT_EQ(rows[i]["target"], to_string(info.target));
    EXPECT_EQ(rows[i]["precision"], to_string(info.precision));
    EXPECT_EQ(rows[i]["available"].get<bool>(), rows[i]["reason"].is_null());
    EXPECT_EQ(rows[i]["available"].get<bool>(), !unavailable(info));
  }
  const Outcome table = convscope({"list"});
  for (const std::string& name : strategy_names()) EXPECT_NE(table.out.find(name), std::string::npos) << name;
}

TEST_F(Cli, FaultsHaveOneLineAndTheirCode) {
  write_string(folder_ / "text.png", "no picture");
  write_string(folder_ / "bad.json", "{\"stride\": 0}");
  write_string(folder_ / "w.npy", npy_text("<i8", false, "1, 1, 1, 1", std::string(8, '\0')));
  struct Row {
    int code;
    std::vector<std::string> arguments;
    std::vector<std::string> parts;
  };
  const Row table[] = {
      {2, {"run", "pattern:impulse:8x8"}, {"--out"}},
      {2, {"run", "pattern:impulse:8x8", "--out", "out", "--nosuch"}, {"--nosuch"}},
      {2, {"run", "a.png", "b.png", "--out", "out"}, {"b.png"}},
      {2, {"run", "pattern:impulse:8x8", "--out", "out", "--set", "stride=0"}, {"stride=0"}},
      {2, {"run", "pattern:impulse:8x8", "--out", "out", "--set", "nosuch=0"}, {"nosuch=0", "stride"}},
      {2, {"run", "pattern:impulse:8x8", "--out", "out", "--set", "stride"}, {"stride", "key=value"}},
      {2, {"run", "pattern:impulse:8x8", "--out", "out", "--strategy", "nosuch"}, {"nosuch", "direct"}},
      {2, {"list", "--nosuch"}, {"--nosuch"}},
      {2, {"--size", "12", "x.png"}, {"--size 12", "WxH"}},
      {2, {"--interop=maybe"}, {"interop=maybe", "on | off"}},
      {2, {"--frames", "-1"}, {"--frames"}},
      {1, {"run", "missing.png", "--out", "out"}, {"missing.png", "No such file"}},
      {1, {"run", "text.png", "--out", "out"}, {"text.png", "not an image"}},
      {1, {"run", "pattern:nosuch", "--out", "out"}, {"pattern:nosuch", "chart"}},
      {1, {"run", "pattern:impulse:8x8", "--out", "out", "--session", "bad.json"}, {"bad.json", "stride=0"}},
      {1, {"run", "pattern:impulse:8x8", "--out", "out", "--session", "none.json"}, {"none.json"}},
      {1, {"run", "pattern:impulse:8x8", "--out", "out", "--weights", "w.npy"}, {"w.npy", "<i8"}},
      {1, {"run", "pattern:impulse:8x8", "--out", "out", "--set", "bank=nosuch"}, {"bank=nosuch"}},
      {1, {"run", "pattern:impulse:2x2", "--out", "out", "--set", "pad=valid"}, {"kernel=3x3", "2x2"}},
      {1,
       {"run", "pattern:impulse:8x8", "--out", "out", "--strategy", "onednn", "--set", "precision=fp64"},
       {"onednn", "cpu/fp32"}},
      {1, {"run", "pattern:impulse:8x8", "--out", "text.png"}, {"text.png", "folder"}},
      // what would do nothing beside the others
      {2,
       {"run", "pattern:impulse:8x8", "--out", "out", "--weights", "w.npy", "--set", "kernel=5"},
       {"kernel=5,5", "w.npy", "a size of their own"}},
      {2,
       {"run", "pattern:impulse:8x8", "--out", "out", "--weights", "w.npy", "--set", "bank=box"},
       {"bank=box", "weights=w.npy override it"}},
      {2,
       {"run", "x.npy", "--out", "out", "--set", "border=wrap", "--set", "pad=valid"},
       {"border=wrap", "pad=valid"}},
      {2,
       {"run", "x.npy", "--out", "out", "--set", "border=wrap", "--set", "pad=0"},
       {"border=wrap", "pad=0,0,0,0"}},
      {2,
       {"run", "x.npy", "--out", "out", "--set", "separable_rank=2"},
       {"separable_rank=2", "strategy=separable"}},
      {2, {"run", "x.npy", "--out", "out", "--set", "zoom=3"}, {"zoom=3", "the window's view"}},
      {2, {"run", "pattern:impulse:8x8", "--out", "out", "--chw"}, {"chw=on", ".npy", "pattern:impulse:8x8"}},
      {2, {"--set", "kernel=3", "--set", "weights=w.npy", "--screenshot", "x.png"}, {"kernel=3,3", "w.npy"}},
  };
  for (const Row& row : table) {
    std::string line;
    for (const std::string& argument : row.arguments) line += argument + " ";
    SCOPED_TRACE(line);
    const Outcome outcome = convscope(row.arguments);
    EXPECT_EQ(outcome.code, row.code);
    ASSERT_FALSE(outcome.err.empty());
    EXPECT_EQ(outcome.err.back(), '\n');
    EXPECT_TRUE(one_line_with(outcome.err.substr(0, outcome.err.size() - 1), row.parts));
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out")) << "a failed run left a folder";
  }
}

/// Every setting: whether run and stream have a use for it. What a session holds may lie idle.
TEST(Conflicts, WhatACommandHasNoUseForIsRefusedWhereItIsNamed) {
  const TemporaryFolder folder;
  const std::set<std::string> neither{
      "tab",         "map",        "center",    "zoom",      "metric", "interop",         "freeze", "vsync",
      "frame_limit", "bottom_tab", "race_rows", "race_sort", "play",   "race_descending", "loop",   "speed"};
  const std::set<std::string> not_stream{"color_map", "range", "against", "against_target"};
  for (const SettingInfo& info : setting_infos()) {
    for (const Command command : {Command::window, Command::run, Command::stream}) {
      SCOPED_TRACE(info.key + (command == Command::run      ? " of run"
                               : command == Command::stream ? " of stream"
                                                            : ""));
      Settings settings;
      settings.source = folder / "";
      settings.weights_file = info.key == "weights" ? "w.npy" : "";
      const std::string text = error_of([&] { refuse_without_effect(settings, {info.key}, command); });
      const bool used =
          command == Command::window ||
          !(neither.contains(info.key) || (command == Command::stream && not_stream.contains(info.key)));
      EXPECT_EQ(text == "(no error)", used) << text;
      EXPECT_TRUE(used || one_line_with(text, {info.key + "=" + get(settings, info.key) + ": is "}));
    }
  }
  Settings of_a_video;
  of_a_video.source = "a.mp4";
  of_a_video.chw = true;
  for (const Command command : {Command::run, Command::stream}) {
    for (const char* key : {"rate", "chw"})
      EXPECT_TRUE(one_line_with(error_of([&] { refuse_without_effect(of_a_video, {key}, command); }),
                                {key, "is about", "the source is a.mp4"}));
    EXPECT_EQ(error_of([&] { refuse_without_effect(of_a_video, {}, command); }), "(no error)");
  }
}

TEST_F(Cli, ARefusalNamesTheStrategyAndWritesNothing) {
  const std::pair<std::vector<std::string>, std::string> table[] = {
      // 18 * 31 * 31 weights of 4 bytes are more than the constant memory of a launch; asked for by name it
      // is
      // that strategy or none
      {{"run", "pattern:constant:40x40x18", "--strategy", "register_tiled", "--set", "kernel=31", "--out",
        "out"},
       "register_tiled refuses: "},
      {{"run", "pattern:constant:8x8", "--strategy", "onednn", "--set", "rounding=separate", "--out", "out"},
       "onednn refuses: "},
      {{"run", "pattern:constant:8x8", "--against", "onednn", "--set", "rounding=separate", "--out", "out"},
       "onednn refuses: "}};
  for (const auto& [arguments, start] : table) {
    const Outcome outcome = convscope(arguments);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(outcome.err.starts_with(start)) << outcome.err;
    EXPECT_GT(outcome.err.size(), start.size() + 10) << "no reason";
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
  }
}

TEST_F(Cli, OnesTimesOnes) {  // C19
  write_ones("w.npy", "1, 1, 3, 3", 9);
  struct Row {
    int64_t h, w;
    double sum;
    std::vector<const char*> strategies;
  };
  const std::vector<const char*> all{"direct", "direct_constant", "tiled", "reference", "scalar", "onednn"};
  const Row table[] = {{1, 1, 1, all},
                       {5, 7, 247, all},
                       {17, 33, 4753, all},
                       {1000, 1000, 8988004, {"direct_constant"}},
                       {1080, 1920, 18644404, {"tiled", "onednn"}}};
  for (const Row& row : table) {
    for (const char* strategy : row.strategies) {
      SCOPED_TRACE(std::to_string(row.h) + "x" + std::to_string(row.w) + " " + strategy);
      const std::string source = "pattern:constant:" + std::to_string(row.w) + "x" + std::to_string(row.h);
      const Outcome outcome = convscope(
          {"run", source, "--weights", "w.npy", "--strategy", strategy, "--set", "pad=1", "--out", "out"});
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_EQ(outcome.err, "");
      const NpyArray maps = read_npy(folder_ / "out/maps.npy");
      EXPECT_EQ(maps.type, PixelType::f32);
      ASSERT_EQ(maps.shape, (std::vector<int64_t>{1, 1, row.h, row.w}));
      const std::vector<double> values = maps.values();
      EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0.0), row.sum);
      for (int64_t y = 0; y < row.h; ++y)
        for (int64_t x = 0; x < row.w; ++x) {
          const int64_t rows = 1 + (y > 0) + (y < row.h - 1), columns = 1 + (x > 0) + (x < row.w - 1);
          ASSERT_EQ(values[static_cast<std::size_t>(y * row.w + x)], static_cast<double>(rows * columns));
        }
      EXPECT_EQ(run_report()["comparison"]["max_abs"], 0.0);
    }
  }
}

TEST_F(Cli, RunWritesWhatItSays) {  // C29 among it
  const Outcome outcome =
      convscope({"run", "pattern:noise:64x48x3:seed=4", "--strategy", "tiled", "--against", "onednn", "--set",
                 "stride=2,3", "--set", "target=emulated", "--out", "out"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json report = run_report();
  EXPECT_EQ(report["input"]["source"], "pattern:noise:64x48x3:seed=4");
  EXPECT_EQ(report["input"]["width"], 64);
  EXPECT_EQ(report["input"]["channels"], 3);
  EXPECT_EQ(report["input"]["type"], "u8");
  EXPECT_EQ(report["shape"]["stride"], (Json{2, 3}));
  EXPECT_EQ(report["shape"]["out_h"], 24);
  EXPECT_EQ(report["shape"]["out_w"], 22);
  EXPECT_EQ(report["strategy"], "tiled");
  EXPECT_EQ(report["target"], "emulated");
  EXPECT_EQ(report["rounding"], "fused");
  EXPECT_EQ(report["against"]["strategy"], "onednn");
  EXPECT_EQ(report["comparison"]["count"], 16 * 24 * 22);
  EXPECT_EQ(report["comparison"]["pass"], true);
  EXPECT_EQ(report["settings"]["stride"], "2,3");
  for (const Json& side : {report, report["against"]}) {
    std::vector<std::string> names;
    double total = 0, first = 0;
    for (const Json& stage : side["stages"]) {
      names.push_back(stage["stage"]);
      total += stage["ms"].get<double>();
      first += stage["first_ms"].get<double>();
      EXPECT_GE(stage["ms"].get<double>(), 0);
    }
    EXPECT_EQ(names.front(), "upload");
    EXPECT_EQ(names[1], "unpack");
    EXPECT_EQ(names.back(), "download");
    EXPECT_NEAR(side["total_ms"], total, 1e-9);
    EXPECT_NEAR(side["first_total_ms"], first, 1e-9);
    EXPECT_GT(total, 0);
  }
  for (const char* name : {"out/maps.png", "out/difference.png"})
    EXPECT_FALSE(cv::imread(folder_ / name).empty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "out"), {}), 4)
      << "something else is there";
  EXPECT_NE(outcome.out.find("tiled/emulated/fp32"), std::string::npos);
  EXPECT_NE(outcome.out.find("not a GPU's time"), std::string::npos);
}

TEST_F(Cli, DoublesArraysAndSessions) {
  const std::vector<double> pixels{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, taps{1.0 / 3, 2.0 / 3};
  write_string(folder_ / "x.npy", npy_text("<f8", false, "2, 1, 3", bytes_of_values(pixels)));
  write_string(folder_ / "w.npy", npy_text("<f8", false, "1, 2, 1, 1", bytes_of_values(taps)));
  write_string(folder_ / "b.npy", npy_text("<f8", false, "1,", bytes_of_values<double>({10})));
  write_string(folder_ / "s.json",
               R"({"precision": "fp64", "chw": true, "weights": "w.npy", "strategy": "nothing"})");
  // the command line comes after the session
  const Outcome outcome = convscope({"run", "x.npy", "--session", "s.json", "--strategy", "direct", "--bias",
                                     "b.npy", "--set", "rounding=separate", "--out", "out"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const NpyArray maps = read_npy(folder_ / "out/maps.npy");
  EXPECT_EQ(maps.type, PixelType::f64);
  ASSERT_EQ(maps.shape, (std::vector<int64_t>{1, 1, 1, 3}));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(maps.values()[i], pixels[i] / 3 + pixels[i + 3] * 2 / 3 + 10, 1e-14);
  EXPECT_EQ(run_report()["rounding"], "separate");
}

TEST_F(Cli, WhatIsNotFiniteIsCountedAndSaid) {  // C8
  std::vector<float> pixels(32 * 32, 1.0f);
  pixels[10 * 32 + 10] = NAN;
  write_string(folder_ / "x.npy", npy_text("<f4", false, "32, 32", bytes_of_values(pixels)));
  write_ones("w.npy", "1, 1, 3, 3", 9);
  for (const char* strategy : {"direct", "tiled", "direct_constant", "scalar"}) {
    SCOPED_TRACE(strategy);
    ASSERT_EQ(convscope({"run", "x.npy", "--weights", "w.npy", "--strategy", strategy, "--out", "out"}).code,
              0);
    const Json comparison = run_report()["comparison"];
    EXPECT_EQ(comparison["nonfinite_a"], 9);
    EXPECT_EQ(comparison["nonfinite_b"], 9);
    EXPECT_EQ(comparison["nonfinite_mismatch"], 0);
    EXPECT_EQ(comparison["max_abs"], 0.0);
    EXPECT_EQ(comparison["mean_abs"], 0.0);
    EXPECT_EQ(comparison["pass"], false);
    EXPECT_EQ(comparison["worst"]["a"], "nan");
    EXPECT_EQ(comparison["psnr_db"], "inf");
  }
}

TEST_F(Cli, CheckFindsThisMachineGood) {
  const Outcome outcome = convscope({"check", "--quick", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Json rows = Json::parse(outcome.out);
  std::size_t available = 0;
  for (const RegistryRow& row : registry()) available += !unavailable(row.info);
  ASSERT_EQ(rows.size(), available);
  for (const Json& row : rows) {
    EXPECT_EQ(row["faults"], Json::array()) << row.dump();
    EXPECT_GE(row["cases"], 7);
    EXPECT_LE(row["worst_bound_fraction"], 1.0);
    EXPECT_LT(row["refusals"], row["cases"]);
  }
}

TEST_F(Cli, WhereTheDefaultStrategyRefusesAnotherTakesItsPlaceAndIsNamed) {
  const Outcome outcome = convscope(
      {"run", "pattern:constant:40x40x18", "--set", "kernel=31", "--set", "target=emulated", "--out", "out"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("direct in its place"), std::string::npos) << outcome.out;
  const Json json = Json::parse(read_string(folder_ / "out/run.json"));
  EXPECT_EQ(json["strategy"], "direct");
  EXPECT_TRUE(json["note"].get<std::string>().starts_with("register_tiled refuses: ")) << json["note"];
  EXPECT_TRUE(json["comparison"]["pass"]);
}

/// A kernel of singular values 3 and 1: rank 1 keeps 9/10 of it, and differs from the kernel as it is.
TEST_F(Cli, AnApproximationSaysSo) {
  write_string(folder_ / "w.npy", npy_text("<f4", false, "2, 2", bytes_of_values<float>({3, 0, 0, 1})));
  struct Row {
    const char *strategy, *against, *rank;
    std::string approximation, of_against;
    bool pass;
  };
  const std::string text = "rank-1 approximation, keeps 90.0 % of the filters' energy";
  const Row table[] = {{"separable", "reference", "1", text, "", false},
                       {"separable", "reference", "2", "", "", true},
                       {"direct", "separable", "1", "", text, false}};
  for (const Row& row : table) {
    const Outcome outcome = convscope({"run", "pattern:noise:40x30x1", "--weights", "w.npy", "--strategy",
                                       row.strategy, "--against", row.against, "--set",
                                       std::string("separable_rank=") + row.rank, "--out", "out"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json json = Json::parse(read_string(folder_ / "out/run.json"));
    EXPECT_EQ(json["approximation"], row.approximation);
    EXPECT_EQ(json["against"]["approximation"], row.of_against);
    EXPECT_EQ(json["comparison"]["pass"], row.pass);
    EXPECT_EQ(outcome.out.find(text) != std::string::npos,
              row.approximation.size() + row.of_against.size() > 0);
  }
}

TEST_F(Cli, AFileNamedLikeACommandCanBeOpened) {
  write_string(folder_ / "run", "no picture");
  const Outcome outcome = convscope({"run", "./run", "--out", "out"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(outcome.err.starts_with("./run: is not an image")) << outcome.err;
}

}  // namespace
}  // namespace convscope
