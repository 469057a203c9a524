// A stream in the window: followed, frozen, compared in step, recorded, accounted for.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>

#include "tests/window/driver.h"

namespace convscope::test {
namespace {

const std::vector<std::string> kStream = {
    "--size", "1280x720", "--set", "target=emulated", "--set", "kernel=3", "pattern:barcode:320x180:fps=30"};

TEST(WindowFlow, FollowsFreezesAndGoesOn) {
  Driver window(kStream);
  const Json s = window.wait_for("a stream of 30 frames a second that runs", [](const Json& j) {
    return j["flow"].is_object() && j["flow"]["displayed"] > 20 && j["flow"]["age_median_ms"].is_number() &&
           std::abs(j["flow"]["source_fps"].get<double>() - 30) <= 3;
  });
  EXPECT_EQ(s["flow"]["back"], 0);
  EXPECT_LE(s["flow"]["computed"], s["flow"]["taken"]);
  window.key("f");
  const Json frozen = window.wait_for("a frozen frame, compared", [](const Json& j) {
    return j["flow"]["frozen"] == true && j["view"]["current"] == true && j["difference"].is_object() &&
           j["difference"]["number"] == j["shown"]["number"];
  });
  EXPECT_EQ(frozen["difference"]["frame_a"], frozen["shown"]["frame"]);
  EXPECT_EQ(frozen["difference"]["frame_b"], frozen["shown"]["frame"]);
  EXPECT_EQ(frozen["difference"]["pass"], true);
  const Json later = window.wait_for("the source goes on", [&](const Json& j) {
    return j["flow"]["newest"].get<uint64_t>() > frozen["flow"]["newest"].get<uint64_t>() + 20;
  });
  EXPECT_EQ(later["shown"]["frame"], frozen["shown"]["frame"]) << "and the picture stays";
  EXPECT_EQ(later["view"]["hash"], frozen["view"]["hash"]);
  window.key("f");
  window.wait_for("frames again", [&](const Json& j) {
    return j["flow"]["frozen"] == false &&
           j["shown"]["frame"].get<uint64_t>() > later["flow"]["newest"].get<uint64_t>();
  });
  EXPECT_EQ(window.errors(), "");
  EXPECT_EQ(window.quit(), 0);
}

TEST(WindowFlow, DifferenceGoesInStep) {
  Driver window(kStream);
  window.key("d");
  uint64_t last = 0;
  int pairs = 0;
  window.wait_for("ten pairs", [&](const Json& j) {
    if (!j["difference"].is_object() || j["settings"]["tab"] != "difference") return false;
    EXPECT_EQ(j["difference"]["frame_a"], j["difference"]["frame_b"]);
    EXPECT_EQ(j["difference"]["pass"], true);
    const auto frame = j["difference"]["frame_a"].get<uint64_t>();
    EXPECT_GE(frame, last);
    pairs += frame > last;
    last = frame;
    return pairs >= 10;
  });
  EXPECT_EQ(window.quit(), 0);
}

TEST(WindowFlow, LimitsItsFrames) {
  std::vector<std::string> arguments = kStream;
  arguments.insert(arguments.begin(), {"--set", "frame_limit=5"});
  Driver window(arguments);
  const Json s = window.wait_for(
      "a while", [](const Json& j) { return j["flow"].is_object() && j["flow"]["displayed"] > 15; });
  EXPECT_LT(s["flow"]["processed_fps"].get<double>(), 7);
  EXPECT_GT(s["flow"]["dropped"].get<int>(), 30);
}

TEST(WindowFlow, MinimisedItRestsAndGoesOnAfterwards) {
  Driver window(kStream);
  const Json before = window.wait_for("a stream that runs", [](const Json& j) {
    return j["flow"].is_object() && j["flow"]["displayed"] > 20;
  });
  window.minimise();
  EXPECT_TRUE(window.rests(0.1)) << "it draws where nobody sees it";
  window.restore();
  const Json after = window.wait_for("the present", [&](const Json& j) {
    return j["flow"]["newest"].get<uint64_t>() > before["flow"]["newest"].get<uint64_t>() + 50 &&
           j["flow"]["displayed"].get<int>() > before["flow"]["displayed"].get<int>() + 10;
  });
  EXPECT_EQ(after["flow"]["back"], 0);
  EXPECT_EQ(window.errors(), "");
  EXPECT_EQ(window.quit(), 0);
}

TEST(WindowFlow, RecordsAndExports) {
  Driver window(kStream);
  window.fill_in("F10", "Record the view", "pictures");
  window.wait_for("ten pictures", [](const Json& j) {
    return j["recording"].is_object() && j["recording"]["pictures"] >= 10;
  });
  window.key("F10");
  const Json s = window.wait_for("the end of it", [](const Json& j) {
    return j["recording"].is_null() && j["message"].get<std::string>().starts_with("recorded ");
  });
  ASSERT_TRUE(std::filesystem::is_directory(window.path("pictures"))) << s["message"];
  int pictures = 0;
  for (const auto& file : std::filesystem::directory_iterator(window.path("pictures"))) {
    const cv::Mat picture = cv::imread(file.path().string());
    EXPECT_EQ(picture.cols, s["view"]["size"][0].get<int>()) << file.path();
    EXPECT_EQ(picture.rows, s["view"]["size"][1].get<int>()) << file.path();
    ++pictures;
  }
  EXPECT_EQ(s["message"].get<std::string>().substr(0, 9 + std::to_string(pictures).size()),
            "recorded " + std::to_string(pictures))
      << s["message"];
  window.fill_in("F10", "Record the view", "no/such/folder/v.avi");
  window.wait_for("a line about the path", [](const Json& j) {
    return j["message"].get<std::string>().find("no/such/folder/v.avi: cannot be written") !=
           std::string::npos;
  });
  window.fill_in("ctrl+e", "Export maps and numbers", "maps");
  window.wait_for("the maps", [](const Json& j) { return j["message"] == "exported to maps"; });
  for (const char* file : {"maps.npy", "maps.png", "window.json"})
    EXPECT_TRUE(std::filesystem::exists(window.path(std::string("maps/") + file))) << file;
  window.fill_in("ctrl+shift+f", "Export the stream's account", "account");
  window.wait_for("the export", [](const Json& j) { return j["message"] == "exported to account"; });
  std::ifstream frames(window.path("account/frames.csv"));
  std::string header, line;
  std::getline(frames, header);
  EXPECT_TRUE(header.starts_with("frame,sequence,captured_s")) << header;
  int lines = 0;
  while (std::getline(frames, line)) lines += std::count(line.begin(), line.end(), ',') == 10;
  EXPECT_GT(lines, 20);
  EXPECT_TRUE(std::filesystem::exists(window.path("account/history.csv")));
  EXPECT_EQ(window.errors(), "");
}

}  // namespace
}  // namespace convscope::test
