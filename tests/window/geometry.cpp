// Sizes of the window, the pointer, zoom.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/window/driver.h"

namespace convscope::test {
namespace {

/// All cells of the view lie in it, and the view in the window.
void expect_inside(const Json& s) {
  const double x = s["view"]["position"][0], y = s["view"]["position"][1];
  const double w = s["view"]["size"][0], h = s["view"]["size"][1];
  EXPECT_GE(x, 0);
  EXPECT_LE(x + w, s["window"]["size"][0].get<double>());
  EXPECT_LE(y + h, s["window"]["size"][1].get<double>());
  EXPECT_GE(w, 300) << "too little is left for the maps";
  EXPECT_GE(h, 240);
  for (const Json& cell : s["view"]["cells"]) {
    EXPECT_GE(cell[0], 0);
    EXPECT_GE(cell[1], 0);
    EXPECT_LE(cell[0].get<double>() + cell[2].get<double>(), w);
    EXPECT_LE(cell[1].get<double>() + cell[3].get<double>(), h);
  }
}

TEST(WindowGeometry, ResizesAndKeepsItsPicture) {
  Driver window({"--size", "1280x720", "pattern:chart:160x90"});
  const Json before = window.state();
  for (const auto& [w, h] : {std::pair{1024, 640}, {1600, 900}, {1100, 1000}, {1280, 720}}) {
    window.resize(w, h);
    const Json s = window.wait_for("the new size", [w = w, h = h](const Json& j) {
      return j["window"]["size"] == Json{w, h} && j["view"]["current"];
    });
    EXPECT_EQ(s["view"]["cells"].size(), 16U);
    expect_inside(s);
  }
  EXPECT_EQ(window.state()["view"]["hash"], before["view"]["hash"])
      << "back at the first size, the same pixels";
  EXPECT_EQ(window.quit(), 0) << window.errors();
}

TEST(WindowGeometry, SurvivesOnePixelAndHiding) {
  Driver window({"--size", "1280x720", "pattern:chart:160x90"});
  const Json before = window.state();
  window.resize(1, 1);
  window.key("c");
  window.resize(1280, 720);
  Json s = window.wait_for("the size of before", [](const Json& j) {
    return j["window"]["size"] == Json{1280, 720} && j["view"]["current"] && j["view"]["size"][0] > 300;
  });
  EXPECT_EQ(s["view"]["size"], before["view"]["size"]);
  window.hide();
  EXPECT_TRUE(window.running());
  window.show();
  window.key("d");
  s = window.wait_for("keys after hiding",
                      [](const Json& j) { return j["settings"]["tab"] == "difference"; });
  EXPECT_TRUE(s["view"]["current"]);
  EXPECT_EQ(window.errors(), "") << "no OpenGL error, no assertion";
  EXPECT_EQ(window.quit(), 0);
}

TEST(WindowGeometry, TwiceTheScaleStillFits) {
  Driver window({"--size", "1600x1000", "--ui-scale", "2", "pattern:chart:160x90"});
  expect_inside(window.state());
  EXPECT_EQ(window.state()["window"]["scale"], 2.0);
}

TEST(WindowGeometry, ClickEnlargesAndDoubleClickGoesBack) {
  Driver window({"--size", "1280x720", "pattern:chart:160x90"});
  const Json s = window.state();
  const Json cell = s["view"]["cells"][6];
  const int x = static_cast<int>(s["view"]["position"][0].get<double>() + cell[0].get<double>() +
                                 cell[2].get<double>() / 2);
  const int y = static_cast<int>(s["view"]["position"][1].get<double>() + cell[1].get<double>() +
                                 cell[3].get<double>() / 2);
  window.click(x, y);
  const Json one = window.wait_for("one map", [](const Json& j) { return j["settings"]["tab"] == "one"; });
  EXPECT_EQ(one["settings"]["map"], "6");
  EXPECT_EQ(one["view"]["cells"].size(), 1U);
  EXPECT_EQ(one["view"]["first_map"], 6);
  window.key("Escape");
  window.wait_for("all maps", [](const Json& j) { return j["settings"]["tab"] == "maps"; });
}

TEST(WindowGeometry, WheelZoomsAtThePointerAndDragMoves) {
  Driver window({"--size", "1280x720", "--set", "tab=one", "--set", "bank=identity", "pattern:ramp:200x100"});
  const Json s = window.state();
  const int x =
      static_cast<int>(s["view"]["position"][0].get<double>() + 0.3 * s["view"]["size"][0].get<double>());
  const int y =
      static_cast<int>(s["view"]["position"][1].get<double>() + 0.5 * s["view"]["size"][1].get<double>());
  window.move(x, y);
  const auto at = [](const Json& j) { return j["pixel"].is_object() && j["pixel"]["at_pointer"] == true; };
  const Json before = window.wait_for("the pointer's value", at);
  window.wheel(x, y, 4);
  // it may come to rest between two steps of the wheel
  const Json after = window.wait_for("four steps of zoom", [&](const Json& j) {
    const double magnified =
        std::stod(j["settings"]["zoom"].get<std::string>()) * before["view"]["region"][2].get<double>();
    return std::abs(magnified - std::pow(1.25, 4)) < 1e-9 && at(j);
  });
  EXPECT_NEAR(after["pixel"]["x"].get<double>(), before["pixel"]["x"].get<double>(), 1)
      << "the value stays under the pointer";
  EXPECT_NEAR(after["pixel"]["y"].get<double>(), before["pixel"]["y"].get<double>(), 1);

  const double region = after["view"]["region"][0], step = after["view"]["region"][2];
  window.drag(x, y, 60, 0);
  window.wait_for("the picture 60 pixels to the right", [&](const Json& j) {
    return std::abs(j["view"]["region"][0].get<double>() - (region - 60 * step)) < 3.5 * step;
  });
  window.key("z");
  window.wait_for("1:1", [](const Json& j) { return j["view"]["region"][2] == 1.0; });
  window.key("0");
  const Json fitted = window.wait_for("fit", [](const Json& j) { return j["settings"]["zoom"] == "0"; });
  EXPECT_EQ(fitted["view"]["region"], before["view"]["region"]);
}

}  // namespace
}  // namespace convscope::test
