// The pixels on screen, against colours worked out here.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <opencv2/imgcodecs.hpp>
#include <set>

#include "app/files.h"
#include "app/npy.h"
#include "tests/window/driver.h"

namespace convscope::test {
namespace {

struct Shot {
  cv::Mat picture;
  Json state;

  /// The colour, red first, of a value of a cell; where a value covers several pixels, of its middle.
  std::array<int, 3> value_color(int cell, double y, double x) const {
    const Json& view = state["view"];
    const double step = view["region"][2];
    const double px = view["position"][0].get<double>() + view["cells"][cell][0].get<double>() +
                      (x + 0.5 - view["region"][0].get<double>()) / step;
    const double py = view["position"][1].get<double>() + view["cells"][cell][1].get<double>() +
                      (y + 0.5 - view["region"][1].get<double>()) / step;
    const auto p = picture.at<cv::Vec3b>(static_cast<int>(py), static_cast<int>(px));
    return {p[2], p[1], p[0]};
  }
};

Shot take(std::vector<std::string> arguments) {
  const std::string folder = temporary_folder();
  arguments.insert(arguments.end(), {"--screenshot", folder + "/shot.png", "--frames", "3", "--state",
                                     folder + "/state.json"});
  const Ended ended = run_program(arguments, folder);
  EXPECT_EQ(ended.code, 0) << ended.errors;
  EXPECT_EQ(ended.errors, "");
  Shot shot{cv::imread(folder + "/shot.png"), Json()};
  EXPECT_FALSE(shot.picture.empty()) << "no screenshot";
  shot.state = Json::parse(read_text(folder + "/state.json"));
  shell("rm -r " + folder);
  return shot;
}

using Color = std::array<int, 3>;

TEST(WindowPictures, GreyIsTheValue) {
  // identity of a constant c in the range 0 to 1: grey of 255 c, half to even
  for (const auto& [value, grey] :
       {std::pair{"0", 0}, {"0.25", 64}, {"0.5", 128}, {"1", 255}, {"-3", 0}, {"7", 255}}) {
    const Shot shot =
        take({"--size", "1024x640", "--set", "bank=identity", "--set", "color_map=grey", "--set", "range=0,1",
              "--set", "tab=one", std::string("pattern:constant:32x24:value=") + value});
    EXPECT_EQ(shot.picture.cols, 1024);
    EXPECT_EQ(shot.picture.rows, 640);
    EXPECT_EQ(shot.value_color(0, 12, 16), (Color{grey, grey, grey})) << value;
    EXPECT_EQ(shot.state["pixel"]["a"].get<double>(), std::stod(value));
  }
}

TEST(WindowPictures, NotANumberHasItsOwnColour) {
  // C8: one NaN and a 3x3 kernel of ones give nine
  const std::string folder = temporary_folder();
  std::vector<float> image(32 * 32, 1.0F), ones(9, 1.0F);
  image[10 * 32 + 10] = std::numeric_limits<float>::quiet_NaN();
  const int64_t image_shape[] = {32, 32}, kernel_shape[] = {3, 3};
  write_file(folder + "/image.npy", npy_bytes(Precision::fp32, image_shape, image.data()));
  write_file(folder + "/ones.npy", npy_bytes(Precision::fp32, kernel_shape, ones.data()));
  for (const char* strategy : {"direct", "tiled", "direct_constant"}) {
    for (const char* tab : {"one", "difference"}) {
      const Shot shot = take({"--size", "1280x800", "--set", std::string("strategy=") + strategy, "--set",
                              "weights=" + folder + "/ones.npy", "--set", std::string("tab=") + tab, "--set",
                              "color_map=grey", folder + "/image.npy"});
      int magenta = 0;
      for (int y = 0; y < 32; ++y) {
        for (int x = 0; x < 32; ++x) {
          const bool is_nan = std::abs(y - 10) <= 1 && std::abs(x - 10) <= 1;
          const bool colored = shot.value_color(0, y, x) == Color{255, 0, 255};
          magenta += colored;
          EXPECT_EQ(colored, is_nan) << strategy << ' ' << tab << " y " << y << " x " << x;
        }
      }
      EXPECT_EQ(magenta, 9) << strategy << ' ' << tab;
      EXPECT_EQ(shot.state["difference"]["nonfinite_a"], 9);
      EXPECT_EQ(shot.state["difference"]["max_abs"], 0.0)
          << "NaN belongs neither to the largest nor to the mean";
      EXPECT_FALSE(shot.state["difference"]["pass"]);
    }
  }
  shell("rm -r " + folder);
}

TEST(WindowPictures, ColourMapAndStrategyChangePixelsAsTheyMust) {
  const auto hash = [](const Shot& s) { return s.state["view"]["hash"].get<std::string>(); };
  const auto shot = [](const std::string& strategy, const std::string& map) {
    return take({"--size", "1024x640", "--set", "strategy=" + strategy, "--set", "color_map=" + map,
                 "pattern:chart:200x120"});
  };
  const Shot direct = shot("direct", "viridis"), tiled = shot("tiled", "viridis"),
             turbo = shot("direct", "turbo");
  EXPECT_EQ(hash(direct), hash(tiled)) << "fused kernels of the same order give the same maps";
  EXPECT_NE(hash(direct), hash(turbo));
  std::set<std::string> filters;
  for (const char* bank : {"identity", "box", "gaussian", "sobel", "laplacian", "emboss"}) {
    filters.insert(
        hash(take({"--size", "1024x640", "--set", std::string("bank=") + bank, "pattern:chart:200x120"})));
  }
  EXPECT_EQ(filters.size(), 6U);
}

TEST(WindowPictures, DifferenceOfEqualsIsWhite) {
  const Shot shot = take({"--size", "1024x640", "--set", "strategy=direct", "--set", "target=emulated",
                          "--set", "against=scalar", "--set", "tab=difference", "pattern:noise:64x64"});
  ASSERT_EQ(shot.state["difference"]["max_abs"], 0.0);
  const Color middle = shot.value_color(0, 32, 32);
  for (const int channel : middle) EXPECT_GT(channel, 235) << "the middle of the diverging map";
  EXPECT_EQ(shot.state["difference"]["frame_a"], shot.state["difference"]["frame_b"]);
}

TEST(WindowPictures, InteropOffDrawsTheSame) {
  const std::vector<std::string> base{"--size", "1024x640", "pattern:chart:300x200"};
  std::vector<std::string> off = base;
  off.insert(off.begin(), {"--set", "interop=off"});
  const Shot on = take(base), copied = take(off);
  EXPECT_EQ(on.state["view"]["hash"], copied.state["view"]["hash"]);
  EXPECT_FALSE(copied.state["interop"]["on"]);
  EXPECT_EQ(copied.state["interop"]["reason"], "switched off");
  const std::string no_cuda = on.state["cuda"]["reason"], no_interop = on.state["interop"]["reason"];
  if (!no_cuda.empty()) GTEST_SKIP() << no_cuda;
  if (!no_interop.empty()) GTEST_SKIP() << no_interop;
  EXPECT_TRUE(on.state["interop"]["on"]);
}

TEST(WindowPictures, FirstPictureOfTheSampleWithinThreeSeconds) {
  const Shot shot = take({"--size", "1280x720"});
  EXPECT_LT(shot.state["window"]["first_picture_ms"].get<double>(), 3000 * busy());
  EXPECT_EQ(shot.state["shown"]["output"], (Json{1, 16, 1080, 1920}));
  EXPECT_TRUE(shot.state["difference"]["pass"]);
  EXPECT_EQ(shot.state["difference"]["count"], 16 * 1080 * 1920);
}

}  // namespace
}  // namespace convscope::test
