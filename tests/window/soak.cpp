// Switches of source, size, strategy and bank while streaming, resizes and hiding in between: the right
// values after each, nothing said on stderr; the same switches once more take no more memory.
// CONVSCOPE_SOAK_SWITCHES=500 for the long form.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "app/live/frame_reader.h"
#include "app/operation.h"
#include "app/settings.h"
#include "app/source.h"
#include "tests/window/driver.h"

namespace convscope::test {
namespace {

int switches() {
  const char* const text = std::getenv("CONVSCOPE_SOAK_SWITCHES");
  return text ? std::max(2, std::atoi(text)) : 40;
}

struct Choice {
  std::string source;
  bool live = false;
  Settings settings;
};

Choice choose(std::mt19937& random) {
  const auto pick = [&](auto& list) { return list[random() % std::size(list)]; };
  static const char* const kSources[] = {"barcode", "zone_plate", "noise", "chart"};
  static const char* const kSizes[] = {"176x99", "320x180", "257x131", "480x270", "96x300"};
  static const std::pair<const char*, const char*> kStrategies[] = {{"direct", "emulated"},
                                                                    {"tiled", "emulated"},
                                                                    {"direct_constant", "emulated"},
                                                                    {"register_tiled", "emulated"},
                                                                    {"im2col_gemm", "emulated"},
                                                                    {"onednn", "cpu"},
                                                                    {"scalar", "cpu"},
                                                                    {"winograd_f2", "emulated"}};
  static const char* const kBanks[] = {"random", "sobel"};
  Choice c;
  c.live = random() % 4 != 0;
  c.source = std::string("pattern:") + pick(kSources) + ":" + pick(kSizes) + "x3" + (c.live ? ":fps=60" : "");
  // a still image of the barcode is none
  if (!c.live) c.source.replace(0, c.source.find(':', 8), "pattern:chart");
  const auto [strategy, target] = pick(kStrategies);
  set(c.settings, "source", c.source);
  set(c.settings, "strategy", strategy);
  set(c.settings, "target", target);
  set(c.settings, "bank", pick(kBanks));
  set(c.settings, "kernel", "3");
  set(c.settings, "tab", random() % 5 == 0 ? "one" : random() % 5 == 0 ? "difference" : "maps");
  return c;
}

/// The value of a map of a source's frame, by the reference strategy in this process.
double expected(const Choice& choice, int64_t index, int64_t map, int64_t y, int64_t x) {
  FramePtr frame;
  FramePool pool;
  if (choice.live) {
    const std::unique_ptr<FrameReader> reader = open_reader(choice.source);
    reader->seek(index);
    frame = reader->read(pool);
  } else {
    frame = open_source(choice.source);
  }
  const Operation operation = make_operation(choice.settings, *frame).operation;
  const std::unique_ptr<Runtime> runtime = make_runtime(Target::cpu);
  Chain chain(*runtime);
  chain.set(*find_strategy("reference", Target::cpu, Precision::fp32), operation);
  chain.run(1, frame->pixels.data());
  const ConvShape& s = operation.problem.shape;
  return static_cast<const float*>(chain.output())[(map * s.out_h() + y) * s.out_w() + x];
}

bool shows(const Json& j, const Choice& c, bool frozen) {
  if (!j["shown"].is_object() || j["shown"]["source"] != c.source) return false;
  if (j["shown"]["strategy"] != c.settings.strategy || j["settings"]["bank"] != c.settings.bank) return false;
  if (!c.live)
    return j["difference"].is_object() && j["difference"]["number"] == j["shown"]["number"] &&
           j["flow"].is_null();
  if (!j["flow"].is_object() || j["flow"]["frozen"] != frozen) return false;
  return frozen ? j["difference"].is_object() && j["difference"]["number"] == j["shown"]["number"] &&
                      j["view"]["current"] == true
                : j["flow"]["displayed"] >= 2;
}

/// Ctrl+R and Return. On a busy machine both keys may come to one frame of the window, before the dialog is
/// there to take the second.
void restore(Driver& window, const Choice& c) {
  const auto asked = [&] {
    return window.state()["settings"]["source"] == c.source &&
           window.state()["settings"]["strategy"] == c.settings.strategy &&
           window.state()["settings"]["bank"] == c.settings.bank;
  };
  const auto wait = [](double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };
  window.key("ctrl+r");
  for (int attempt = 0; attempt < 3; ++attempt) {
    wait(0.15);
    window.key("Return");
    for (int i = 0; i < 40 && !asked(); ++i) wait(0.05);
    if (asked()) return;
  }
}

double resident_mib(const Driver& window) {
  const std::string text =
      shell("awk '/VmRSS/ {print $2}' /proc/" + std::to_string(window.pid()) + "/status");
  return std::atof(text.c_str()) / 1024;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values.at(values.size() / 2);
}

TEST(WindowSoak, SwitchesWhileStreaming) {
  constexpr unsigned kSeed = 20261130;
  std::mt19937 random(kSeed);
  const std::string folder = temporary_folder(), session = folder + "/soak.json";
  Choice choice = choose(random);
  save_session(choice.settings, session);
  Driver window({"--size", "1280x720", "--session", session});
  const int count = switches();
  const int half = std::max(1, count / 2);
  std::vector<double> before, after;  // resident MiB
  for (int i = 0; i < count; ++i) {
    const std::string what = "switch " + std::to_string(i) + ": " + choice.source + ", " +
                             choice.settings.strategy + ", " + choice.settings.bank;
    if (i > 0) {
      save_session(choice.settings, session);
      restore(window, choice);
    }
    window.wait_for(what, [&](const Json& j) { return shows(j, choice, false); });
    const int step = i % half;
    if (step % 7 == 3)
      window.resize(1024 + static_cast<int>(random() % 600), 640 + static_cast<int>(random() % 400));
    if (step % 13 == 5) window.hide(), window.show();
    if (choice.live) window.key("f");
    const Json j = window.wait_for(what + ", at rest", [&](const Json& s) { return shows(s, choice, true); });
    if (::testing::Test::HasFailure()) return;
    EXPECT_EQ(j["difference"]["pass"], true) << what << j["difference"].dump(1);
    EXPECT_EQ(j["difference"]["frame_a"], j["difference"]["frame_b"]) << what;
    EXPECT_TRUE(j["fault"].is_null()) << what << j["fault"];
    const Json& pixel = j["pixel"];
    ASSERT_TRUE(pixel.is_object()) << what;
    const double value = expected(choice, j["shown"]["index"], pixel["map"], pixel["y"], pixel["x"]);
    EXPECT_NEAR(pixel["a"].get<double>(), value, 2e-5) << what << " " << pixel;
    if (choice.live) {
      EXPECT_EQ(j["flow"]["back"], 0) << what << ": an older frame was shown after a newer one";
      double sum = 0;
      for (const auto& [name, ms] : j["flow"]["cost_ms"].items()) sum += ms.get<double>();
      EXPECT_NEAR(sum, j["flow"]["cost_age_ms"].get<double>(), 0.05 * sum) << what << j["flow"]["cost_ms"];
    }
    // what is on its way differs from time to time: the median of the last few counts
    if (step >= half - std::max(1, half / 4)) (i < half ? before : after).push_back(resident_mib(window));
    // caches of every size and strategy are filled after half; from there all of it comes once more
    if (i + 1 == half) random.seed(kSeed);
    if (std::getenv("CONVSCOPE_SOAK_TRACE"))
      std::printf("%d %.1f MiB\n", i, resident_mib(window)), std::fflush(stdout);
    choice = choose(random);
  }
  const double first = median(before), second = median(after);
  EXPECT_LT(second - first, 16) << "MiB more resident memory: " << first << " and then " << second;
  EXPECT_EQ(window.errors(), "") << "OpenGL errors and faults are said there";
  EXPECT_EQ(window.quit(), 0);
  std::printf("%d switches: %.1f MiB resident, the same once more: %.1f\n", half, first, second);
  shell("rm -r " + folder);
}

}  // namespace
}  // namespace convscope::test
