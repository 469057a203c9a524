// Real keys, and what the settings say afterwards.
#include <gtest/gtest.h>

#include <fstream>

#include "kernels/registry.h"
#include "tests/window/driver.h"

namespace convscope::test {
namespace {

const std::vector<std::string> kSmall{"--size", "1280x720", "pattern:noise:96x64"};

TEST(WindowKeys, NumberSwitchesStrategyAndSessionSaysSo) {
  const std::string second = strategy_names()[1];
  Driver window(kSmall);
  const std::string before = window.state()["shown"]["strategy"];
  window.key("2");
  const Json after =
      window.wait_for("the second strategy", [&](const Json& s) { return s["shown"]["strategy"] == second; });
  EXPECT_NE(before, second);
  EXPECT_EQ(after["shown"]["frame"], after["difference"]["frame_a"]);
  EXPECT_EQ(after["shown"]["number"], after["difference"]["number"]);

  window.fill_in("ctrl+s", "Save the session", "mine.json");
  window.wait_for("the message", [](const Json& s) { return s["message"] == "saved mine.json"; });
  std::ifstream file(window.path("mine.json"));
  ASSERT_TRUE(file.good()) << "no session was saved";
  EXPECT_EQ(Json::parse(file)["strategy"], second);
  EXPECT_EQ(window.quit(), 0) << window.errors();
}

TEST(WindowKeys, EachKeyChangesItsSetting) {
  struct Case {
    const char *key, *setting;
    std::string value;
  };
  const Case cases[] = {
      {"d", "tab", "difference"},
      {"x", "metric", "absolute"},
      {"x", "metric", "relative"},
      {"x", "metric", "ulp"},
      {"x", "metric", "bound_fraction"},
      {"x", "metric", "signed"},
      {"o", "tab", "one"},
      {"Next", "map", "1"},
      {"Prior", "map", "0"},
      {"Prior", "map", "15"},
      {"Escape", "tab", "maps"},
      {"c", "color_map", "turbo"},
      {"r", "rounding", "separate"},
      {"p", "precision", "fp64"},
      {"v", "convolution", "on"},
      {"y", "vsync", "off"},
      {"y", "vsync", "on"},
      {"4", "strategy", strategy_names()[3]},
      {"1", "strategy", "direct"},
      {"m", "tab", "maps"},
  };
  Driver window(kSmall);
  for (const Case& c : cases) {
    window.key(c.key);
    const Json s = window.wait_for(
        std::string("key ") + c.key + ": " + c.setting + " = " + c.value,
        [&](const Json& j) { return j["settings"][c.setting] == c.value; }, 5);
    EXPECT_TRUE(s["fault"].is_null()) << c.key << ": " << s["fault"];
    EXPECT_TRUE(s["view"]["current"]) << c.key;
  }
  const Json s =
      window.wait_for("fp64 shown", [](const Json& j) { return j["shown"]["precision"] == "fp64"; });
  EXPECT_EQ(s["shown"]["rounding"], "separate");
  EXPECT_EQ(s["shown"]["strategy"], "direct");
  EXPECT_EQ(window.quit(), 0);
}

TEST(WindowKeys, SameOrderAndRoundingGiveTheSameBits) {
  // scalar sums in the kernels' order: with separate rounding the two differ in no bit
  Driver window({"--size", "1280x720", "--set", "strategy=direct", "--set", "target=emulated", "--set",
                 "against=scalar", "--set", "rounding=separate", "pattern:noise:96x64"});
  const Json s = window.wait_for("the difference", [](const Json& j) { return j["difference"].is_object(); });
  EXPECT_EQ(s["difference"]["count"], 16 * 96 * 64);
  EXPECT_EQ(s["difference"]["max_ulp"], 0);
  EXPECT_EQ(s["difference"]["max_abs"], 0.0);
  EXPECT_EQ(s["difference"]["against"], "scalar/cpu/fp32");
  window.key("r");  // fused on both sides: again no difference
  const Json fused =
      window.wait_for("fused", [](const Json& j) { return j["shown"]["rounding"] == "fused"; });
  EXPECT_EQ(fused["difference"]["max_ulp"], 0);
  window.key("b");  // next side B that can run this: oneDNN sums in an order of its own
  const Json other = window.wait_for("another side B", [](const Json& j) {
    return j["difference"].is_object() && j["difference"]["against"] != "scalar/cpu/fp32" &&
           j["difference"]["number"] == j["shown"]["number"];
  });
  EXPECT_EQ(other["difference"]["against"], "onednn/cpu/fp32");
  EXPECT_TRUE(other["difference"]["pass"]);
}

TEST(WindowKeys, KeysTypedIntoAFieldAreNoCommands) {
  Driver window(kSmall);
  window.open_dialog("ctrl+l", "path");
  window.type("pattern:checker:40x30");
  EXPECT_EQ(window.state()["settings"]["tab"], "maps");
  window.key("Return");
  const Json s = window.wait_for("the pattern", [](const Json& j) {
    return j["shown"].is_object() && j["shown"]["source"] == "pattern:checker:40x30";
  });
  EXPECT_EQ(s["settings"]["color_map"], "viridis");
  EXPECT_EQ(s["settings"]["strategy"], "register_tiled");
  EXPECT_EQ(s["shown"]["output"][2], 30);
  EXPECT_EQ(s["shown"]["output"][3], 40);
}

TEST(WindowKeys, RestingCostsNothing) {
  Driver window(kSmall);
  EXPECT_TRUE(window.rests(0.05));
  const Json at_start = window.state();
  EXPECT_TRUE(window.rests(0.05));
  EXPECT_EQ(window.state()["window"]["frames"], at_start["window"]["frames"]) << "drawn while idle";
}

}  // namespace
}  // namespace convscope::test
