// Races started, watched, ended and clicked with real keys and a real pointer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "kernels/registry.h"
#include "tests/window/driver.h"

namespace convscope::test {
namespace {

const std::vector<std::string> kSmall{"--size",          "1280x720",   "--set",
                                      "strategy=direct", "--set",      "target=emulated",
                                      "--set",           "bank=sobel", "pattern:noise:96x64"};

bool ended(const Json& s, int id) { return s["race"]["id"] == id && s["race"]["running"] == false; }

Json race_and_wait(Driver& window, int id) {
  window.key("F7");
  return window.wait_for(
      "the end of race " + std::to_string(id), [&](const Json& s) { return ended(s, id); }, 60);
}

std::set<std::string> timed_ids(const Json& state) {
  std::set<std::string> ids;
  for (const Json& row : state["race"]["rows"]) {
    if (row["runs"] > 0) ids.insert(row["id"]);
  }
  return ids;
}

TEST(WindowRace, RacesWhatCanRunHereSortedAndChecked) {
  Driver window(kSmall);
  EXPECT_EQ(window.state()["race"]["id"], 0);
  const Json s = race_and_wait(window, 1);
  EXPECT_EQ(s["settings"]["bottom_tab"], "race") << "the results are looked at";
  EXPECT_EQ(s["race"]["error"], "");
  EXPECT_EQ(s["race"]["age"], "current");
  EXPECT_EQ(s["race"]["done"], s["race"]["total"]);

  // every emulated row of the registry that takes a 3x3 stride-1 problem, and the CPU's libraries
  const std::set<std::string> timed = timed_ids(s);
  for (const RegistryRow& row : registry()) {
    if (row.info.precision != Precision::fp32 || unavailable(row.info)) continue;
    const bool plain = row.info.name == "reference" || row.info.name == "scalar";
    const bool expected = row.info.target == Target::emulated || (row.info.target == Target::cpu && !plain);
    const Json& rows = s["race"]["rows"];
    const auto at =
        std::find_if(rows.begin(), rows.end(), [&](const Json& r) { return r["id"] == row.info.id(); });
    EXPECT_EQ(at != rows.end(), expected) << row.info.id();
    if (at == rows.end()) continue;
    EXPECT_NE(timed.contains(row.info.id()), (*at)["refused"] != "") << row.info.id();
  }
  EXPECT_TRUE(timed.contains("direct/emulated/fp32"));
  EXPECT_TRUE(timed.contains("onednn/cpu/fp32"));

  double before = 0;
  for (const Json& row : s["race"]["rows"]) {
    if (row["runs"] == 0) continue;
    EXPECT_GE(row["median_us"], before) << row["id"] << ": sorted by time";
    before = row["median_us"];
    EXPECT_FALSE(row["limit"].get<std::string>().empty()) << row["id"];
    EXPECT_LT(row["bound_fraction"], 1.0) << row["id"];
    if (row["id"] == "direct/emulated/fp32") {
      EXPECT_EQ(row["speed_up"], 1.0) << "it is the shown one";
    }
  }
  EXPECT_EQ(s["race"]["rows"][0]["rank"], 1);
}

TEST(WindowRace, AnApproximationIsNamedInItsRow) {
  // the Laplacian has rank 2, and "separable" is asked for its best of rank 1
  Driver window({"--size", "1280x720", "--set", "strategy=separable", "--set", "target=emulated", "--set",
                 "separable_rank=1", "--set", "bank=laplacian", "pattern:noise:96x64"});
  const Json s = race_and_wait(window, 1);
  int named = 0;
  for (const Json& row : s["race"]["rows"]) {
    const std::string id = row["id"], words = row["approximation"];
    EXPECT_EQ(id.starts_with("separable/"), words.starts_with("rank-1 approximation, keeps")) << row;
    if (words.empty()) continue;
    ++named;
    EXPECT_GT(row["runs"], 0) << row;
    EXPECT_EQ(row["refused"], "") << row;
    EXPECT_EQ(row["speed_up"], 1.0) << "it is the shown one";
  }
  EXPECT_EQ(named, 1);
}

TEST(WindowRace, AClickOnARowShowsThatStrategyAndTheResultsStayCurrent) {
  Driver window(kSmall);
  const Json s = race_and_wait(window, 1);
  const std::set<std::string> timed = timed_ids(s);
  const Json places = s["race"]["rows_at"];
  ASSERT_GE(places.size(), 3U) << "rows in sight at 1280x720";
  for (const Json& place : places) {
    const std::string id = place[0];
    if (id == "direct/emulated/fp32" || !timed.contains(id)) continue;
    window.click(place[1], place[2]);
    const Json after = window.wait_for("the strategy of row " + id, [&](const Json& j) {
      const Json& shown = j["shown"];
      return shown.is_object() &&
             shown["strategy"].get<std::string>() + "/" + shown["target"].get<std::string>() + "/fp32" == id;
    });
    EXPECT_EQ(after["race"]["age"], "current") << "the operation is the same";
    break;
  }
}

TEST(WindowRace, ResultsAreMarkedStaleAfterAChangeAndARaceAgainIsCurrent) {
  Driver window(kSmall);
  Json s = race_and_wait(window, 1);
  EXPECT_EQ(s["race"]["age"], "current");
  window.key("v");  // true convolution: other weights
  s = window.wait_for("stale results", [](const Json& j) { return j["race"]["age"] == "other_operation"; });
  EXPECT_FALSE(s["race"]["rows"].empty()) << "kept, and marked";
  s = race_and_wait(window, 2);
  EXPECT_EQ(s["race"]["age"], "current");
  window.key("v");
  window.wait_for("stale again", [](const Json& j) { return j["race"]["age"] == "other_operation"; });
  window.key("v");
  window.wait_for("the raced operation again", [](const Json& j) { return j["race"]["age"] == "current"; });
}

TEST(WindowRace, TheWindowGoesOnWhileRacingAndCancelKeepsWhatWasMeasured) {
  Driver window({"--size", "1280x720", "--set", "strategy=onednn", "--set", "target=cpu", "--set",
                 "race_rows=emulated,cpu", "pattern:noise:1280x720"});
  window.key("F7");
  window.wait_for("a race that runs",
                  [](const Json& j) { return j["race"]["running"] == true && !timed_ids(j).empty(); });
  // the picture is zoomed while the kernels have both cores
  for (int i = 0; i < 8; ++i) {
    const Json before = window.state();
    window.key(i % 2 == 0 ? "plus" : "minus");
    const Json during = window.wait_for("the zoom of key " + std::to_string(i), [&](const Json& j) {
      return j["settings"]["zoom"] != before["settings"]["zoom"] &&
             j["window"]["frames"] > before["window"]["frames"];
    });
    ASSERT_TRUE(during["race"]["running"]) << "too short a race to tell";
  }

  window.key("F7");
  const Json s = window.wait_for(
      "the end", [](const Json& j) { return ended(j, 1); }, 30);
  EXPECT_TRUE(s["race"]["cancelled"]);
  EXPECT_LT(s["race"]["done"], s["race"]["total"]);
  EXPECT_FALSE(timed_ids(s).empty());
  EXPECT_EQ(window.quit(), 0) << window.errors();
}

TEST(WindowRace, OfSeveralRequestsTheLastIsShown) {
  Driver window({"--size", "1280x720", "--set", "strategy=direct", "--set", "target=emulated", "--set",
                 "race_rows=cpu", "pattern:noise:640x360"});
  window.key("F7");
  window.key("F7");  // given up
  window.key("v");
  window.wait_for("the turned kernel", [](const Json& j) {
    return j["settings"]["convolution"] == "on" && j["race"]["age"] == "other_operation";
  });
  const Json s = race_and_wait(window, 2);
  EXPECT_EQ(s["race"]["age"], "current");
  EXPECT_FALSE(s["race"]["cancelled"]);
  EXPECT_EQ(s["race"]["done"], s["race"]["total"]);
}

TEST(WindowRace, QuitsWhileARaceRuns) {
  Driver window({"--size", "1280x720", "--set", "strategy=direct", "--set", "target=emulated",
                 "pattern:noise:640x360"});
  window.key("F7");
  window.wait_for("a race that runs", [](const Json& j) { return j["race"]["running"] == true; });
  EXPECT_EQ(window.quit(), 0) << window.errors();
}

TEST(WindowRace, TabAndOrderComeFromTheSettingsAndGoToTheSession) {
  std::vector<std::string> arguments = kSmall;
  arguments.insert(arguments.begin(), {"--set", "race_sort=time", "--set", "race_descending=on", "--set",
                                       "bottom_tab=strategy"});
  Driver window(arguments);
  EXPECT_EQ(window.state()["settings"]["bottom_tab"], "strategy");
  const Json s = race_and_wait(window, 1);
  EXPECT_EQ(s["settings"]["bottom_tab"], "strategy") << "a race leaves a chosen tab alone";
  double before = 1e300;
  for (const Json& row : s["race"]["rows"]) {
    if (row["runs"] == 0) continue;
    EXPECT_LE(row["median_us"], before) << row["id"];
    before = row["median_us"];
  }
  for (const char* tab : {"timings", "race", "roofline", "strategy", "timings", "race"}) {
    window.key("F8");
    const Json j = window.wait_for(std::string("tab ") + tab,
                                   [&](const Json& k) { return k["settings"]["bottom_tab"] == tab; });
    EXPECT_EQ(j["race"]["rows_at"].empty(), std::string(tab) != "race") << tab;
  }
  window.fill_in("ctrl+s", "Save the session", "mine.json");
  window.wait_for("the message", [](const Json& j) { return j["message"] == "saved mine.json"; });
  std::ifstream file(window.path("mine.json"));
  const Json session = Json::parse(file);
  EXPECT_EQ(session["bottom_tab"], "race");
  EXPECT_EQ(session["race_sort"], "time");
  EXPECT_EQ(session["race_descending"], true);
}

TEST(WindowRace, ExportsTheTable) {
  Driver window(kSmall);
  window.fill_in("ctrl+shift+e", "Export the race", "");
  window.wait_for("why not", [](const Json& j) {
    return j["message"].get<std::string>().find("no race was run") != std::string::npos;
  });
  const Json s = race_and_wait(window, 1);
  window.fill_in("ctrl+shift+e", "Export the race", "out");
  window.wait_for("the message", [](const Json& j) { return j["message"] == "exported to out"; });
  std::ifstream file(window.path("out/race.json"));
  ASSERT_TRUE(file.good());
  const Json json = Json::parse(file);
  ASSERT_EQ(json["rows"].size(), s["race"]["rows"].size());
  EXPECT_EQ(json["rows"][0]["median_us"], s["race"]["rows"][0]["median_us"]);
  EXPECT_EQ(json["speed_up_against"], "direct/emulated/fp32");
  EXPECT_NE(json["of"].get<std::string>().find("pattern:noise:96x64"), std::string::npos) << json["of"];
  std::ifstream csv(window.path("out/race.csv"));
  std::size_t lines = 0;
  for (std::string line; std::getline(csv, line);) ++lines;
  EXPECT_EQ(lines, json["rows"].size() + 1);
}

TEST(WindowRace, TheStrategyPanelKnowsHowItsKernelsWereStarted) {
  Driver window(kSmall);
  const Json s = window.wait_for("facts", [](const Json& j) { return j["facts"].is_object(); });
  const auto outputs = s["shown"]["output"];
  const int64_t maps = outputs[1], h = outputs[2], w = outputs[3];
  EXPECT_EQ(s["facts"]["id"], "direct/emulated/fp32");
  EXPECT_EQ(s["facts"]["multiply_adds"], static_cast<double>(maps * h * w * 3 * 9)) << "3 channels, 3x3";
  ASSERT_EQ(s["facts"]["kernels"].size(), 1U) << "unpack and pad are not the strategy's";
  const Json& kernel = s["facts"]["kernels"][0];
  int64_t threads = kernel["count"];
  for (int i = 0; i < 3; ++i) threads *= kernel["grid"][i].get<int64_t>() * kernel["block"][i].get<int64_t>();
  EXPECT_GE(threads, maps * h * w) << "a thread an output value";
  window.key("v");
  window.wait_for("facts again", [](const Json& j) {
    return j["settings"]["convolution"] == "on" && j["facts"]["kernels"].size() == 1;
  });
}

}  // namespace
}  // namespace convscope::test
