// What goes wrong is said, and what was good stays.
#include <gtest/gtest.h>

#include <fstream>
#include <opencv2/imgcodecs.hpp>

#include "app/files.h"
#include "app/npy.h"
#include "tests/window/driver.h"

namespace convscope::test {
namespace {

TEST(WindowFaults, BrokenFilesLeaveTheLastPicture) {
  Driver window({"--size", "1280x720", "pattern:chart:120x80"});
  const Json good = window.state();
  cv::Mat picture(40, 60, CV_8UC3, cv::Scalar(10, 90, 200));
  cv::randu(picture, 0, 255);
  std::vector<uint8_t> png, jpeg;
  cv::imencode(".png", picture, png);
  cv::imencode(".jpg", picture, jpeg);
  const auto half = [](const std::vector<uint8_t>& b) {
    return std::string(b.begin(), b.begin() + static_cast<int>(b.size() / 2));
  };
  const std::pair<const char*, std::string> files[] = {
      {"half.png", half(png)}, {"half.jpg", half(jpeg)}, {"empty.png", ""}, {"text.png", "no picture\n"}};
  for (const auto& [name, bytes] : files) std::ofstream(window.path(name), std::ios::binary) << bytes;
  shell("mkdir " + window.path("folder.png"));
  for (const char* name : {"half.png", "half.jpg", "empty.png", "text.png", "folder.png", "missing.png"}) {
    window.fill_in("ctrl+l", "path", name);
    const Json s = window.wait_for(std::string("the fault of ") + name, [&](const Json& j) {
      return j["fault"].is_object() && j["fault"]["text"].get<std::string>().find(name) != std::string::npos;
    });
    EXPECT_EQ(s["fault"]["key"], "source") << name;
    EXPECT_EQ(s["fault"]["text"].get<std::string>().find('\n'), std::string::npos)
        << "one line: " << s["fault"];
    EXPECT_EQ(s["shown"]["source_hash"], good["shown"]["source_hash"]) << name;
    EXPECT_EQ(s["settings"]["source"], "pattern:chart:120x80") << name;
    EXPECT_EQ(s["view"]["hash"], good["view"]["hash"]) << name;
  }
  std::ofstream(window.path("good.png"), std::ios::binary) << std::string(png.begin(), png.end());
  window.fill_in("ctrl+l", "path", "good.png");
  const Json s =
      window.wait_for("the good picture", [](const Json& j) { return j["shown"]["source"] == "good.png"; });
  EXPECT_TRUE(s["fault"].is_null()) << s["fault"];
  EXPECT_EQ(window.errors(), "");
  EXPECT_EQ(window.quit(), 0);
}

TEST(WindowFaults, BrokenSourceAtStartStillOpens) {
  Driver window({"--size", "1280x720", "nowhere.png"});
  const Json s = window.wait_for("the sample", [](const Json& j) { return j["shown"].is_object(); });
  EXPECT_EQ(s["fault"]["key"], "source");
  EXPECT_NE(s["fault"]["text"].get<std::string>().find("nowhere.png"), std::string::npos);
  EXPECT_EQ(window.quit(), 0);
}

TEST(WindowFaults, InvalidSettingsNeverStick) {
  Driver window({"--size", "1280x720", "--set", "kernel=3", "--set", "bank=box", "pattern:noise:8x8"});
  const Json good = window.state();
  Json session = Json::parse(R"({"source": "pattern:noise:8x8", "bank": "box", "kernel": [3, 3]})");
  struct Case {
    const char *key, *value;
  };
  const Case cases[] = {{"kernel", "[31, 31]"},
                        {"dilation", "[5, 1]"},
                        {"bank", "\"no_such_bank\""},
                        {"strategy", "\"onednn\""}};
  for (const Case& c : cases) {
    Json bad = session;
    bad[c.key] = Json::parse(c.value);
    if (std::string(c.key) == "kernel" || std::string(c.key) == "dilation") bad["pad"] = "valid";
    if (std::string(c.key) == "strategy") bad["rounding"] = "separate";  // which oneDNN refuses
    std::ofstream(window.path("bad.json")) << bad;
    window.fill_in("ctrl+r", "Restore a session", "bad.json");
    const Json s = window.wait_for(std::string("a fault of ") + c.key,
                                   [](const Json& j) { return j["fault"].is_object(); });
    EXPECT_EQ(s["settings"][c.key], good["settings"][c.key]) << c.key << " = " << c.value << " stuck";
    EXPECT_GT(s["fault"]["text"].get<std::string>().size(), 15U);
    EXPECT_EQ(s["shown"]["source_hash"], good["shown"]["source_hash"]);
    EXPECT_TRUE(s["view"]["current"]);
    std::ofstream(window.path("good.json")) << session;
    window.fill_in("ctrl+r", "Restore a session", "good.json");
    window.wait_for("the good session", [](const Json& j) { return j["message"] == "restored good.json"; });
    window.key("v");  // a valid change takes the fault away
    window.wait_for("no fault", [](const Json& j) { return j["fault"].is_null(); });
    window.key("v");
    window.wait_for(
        "back", [](const Json& j) { return j["settings"]["convolution"] == "off" && j["fault"].is_null(); });
  }
}

TEST(WindowFaults, ASessionsFiltersAreJudgedByItsOwnSource) {
  Driver window({"--size", "1280x720", "pattern:chart:96x64"});
  const std::vector<float> ones(27, 1.0F);
  const int64_t grey_shape[] = {1, 1, 3, 3}, rgb_shape[] = {1, 3, 3, 3};
  write_file(window.path("grey.npy"), npy_bytes(Precision::fp32, grey_shape, ones.data()));
  write_file(window.path("rgb.npy"), npy_bytes(Precision::fp32, rgb_shape, ones.data()));
  const auto restore = [&](const Json& session) {
    std::ofstream(window.path("session.json")) << session;
    window.fill_in("ctrl+r", "Restore a session", "session.json");
  };
  const char* const source = "pattern:ramp:64x48x1";
  restore({{"source", source}, {"weights", "grey.npy"}});
  Json s =
      window.wait_for("the session's source", [&](const Json& j) { return j["shown"]["source"] == source; });
  EXPECT_TRUE(s["fault"].is_null()) << s["fault"];
  EXPECT_EQ(s["settings"]["weights"], "grey.npy") << "which the picture of before does not take";
  EXPECT_EQ(s["shown"]["output"], (Json{1, 1, 48, 64}));

  // without its source a session is judged by the one that is open, and why the source is not there is said
  const auto is_missing = [](const Json& j) {
    return j["fault"].is_object() &&
           j["fault"]["text"].get<std::string>().find("missing.png") != std::string::npos;
  };
  restore({{"source", "missing.png"}, {"weights", "rgb.npy"}});
  s = window.wait_for("why not, and the weights back",
                      [&](const Json& j) { return is_missing(j) && j["settings"]["weights"] == "grey.npy"; });
  EXPECT_EQ(s["settings"]["source"], source);
  restore({{"source", "missing.png"}, {"bank", "box"}});
  s = window.wait_for("why not, and the bank", [&](const Json& j) {
    return is_missing(j) && j["settings"]["bank"] == "box" && j["shown"]["output"][1] == 1;
  });
  EXPECT_EQ(s["settings"]["weights"], "");
  EXPECT_EQ(window.quit(), 0) << window.errors();
}

TEST(WindowFaults, MissingSessionIsSaid) {
  Driver window({"--size", "1280x720", "pattern:noise:16x16"});
  window.fill_in("ctrl+r", "Restore a session", "none.json");
  window.wait_for("the message", [](const Json& j) {
    return j["message"].get<std::string>().find("none.json") != std::string::npos;
  });
  EXPECT_EQ(window.quit(), 0);
}

TEST(WindowFaults, NoDisplayIsOneLine) {
  const std::string folder = temporary_folder();
  const Ended ended = run_program({"pattern:noise:16x16"}, folder, true);
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.errors.find("no display"), std::string::npos) << ended.errors;
  EXPECT_NE(ended.errors.find("convscope run"), std::string::npos) << ended.errors;
  EXPECT_EQ(std::count(ended.errors.begin(), ended.errors.end(), '\n'), 1) << ended.errors;
  shell("rm -r " + folder);
}

TEST(WindowFaults, CudaRowsSayWhyTheyCannotRun) {
  Driver window({"--size", "1280x720", "pattern:noise:16x16"});
  const Json s = window.state();
  if (s["cuda"]["reason"] == "") GTEST_SKIP() << "this machine has CUDA";
  int rows = 0;
  for (const Json& row : s["strategies"]) {
    if (row["id"].get<std::string>().find("/cuda/") == std::string::npos) continue;
    ++rows;
    EXPECT_EQ(row["reason"], s["cuda"]["reason"]) << row["id"];
  }
  EXPECT_GE(rows, 3);
}

}  // namespace
}  // namespace convscope::test
