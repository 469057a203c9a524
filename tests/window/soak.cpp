// Switches of source, size, strategy and bank while streaming; in between the window is resized (twice in
// five switches), hidden, minimised and restored: the right values and the right picture after each, nothing
// said on stderr; the same switches once more take no more memory, of the host or of the device.
// CONVSCOPE_SOAK_SWITCHES=500 for the long form, CONVSCOPE_SOAK_TRACE=1 for the memory after each switch.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#ifdef CONVSCOPE_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

#include "app/live/frame_reader.h"
#include "app/operation.h"
#include "app/settings.h"
#include "app/source.h"
#include "tests/window/driver.h"
#include "tests/window/measuring.h"

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

/// Strategies that this machine has; of each target some that take all sources' sizes.
std::vector<std::pair<const char*, const char*>> strategies_here() {
  std::vector<std::pair<const char*, const char*>> all = {{"direct", "emulated"},
                                                          {"tiled", "emulated"},
                                                          {"direct_constant", "emulated"},
                                                          {"register_tiled", "emulated"},
                                                          {"im2col_gemm", "emulated"},
                                                          {"onednn", "cpu"},
                                                          {"scalar", "cpu"},
                                                          {"winograd_f2", "emulated"}};
  for (const char* name : {"direct", "tiled", "direct_constant", "register_tiled", "im2col_gemm",
                           "implicit_gemm", "winograd_f2"}) {
    const RegistryRow* const row = find_strategy(name, Target::cuda, Precision::fp32);
    if (row && !unavailable(row->info)) all.insert(all.end(), 2, {name, "cuda"});  // half of all switches
  }
  return all;
}

Choice choose(std::mt19937& random) {
  const auto pick = [&](auto& list) { return list[random() % std::size(list)]; };
  static const char* const kSources[] = {"barcode", "zone_plate", "noise", "chart"};
  static const char* const kSizes[] = {"176x99", "320x180", "257x131", "480x270", "96x300"};
  static const char* const kBanks[] = {"random", "sobel"};
  static const auto strategies = strategies_here();
  Choice c;
  c.live = random() % 4 != 0;
  c.source = std::string("pattern:") + pick(kSources) + ":" + pick(kSizes) + "x3" + (c.live ? ":fps=60" : "");
  // a still image of the barcode is none
  if (!c.live) c.source.replace(0, c.source.find(':', 8), "pattern:chart");
  const auto [strategy, target] = pick(strategies);
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
  if (j["shown"]["target"] != to_string(*c.settings.target)) return false;
  if (!c.live)
    return j["difference"].is_object() && j["difference"]["number"] == j["shown"]["number"] &&
           j["flow"].is_null();
  if (!j["flow"].is_object() || j["flow"]["frozen"] != frozen) return false;
  return frozen ? j["difference"].is_object() && j["difference"]["number"] == j["shown"]["number"] &&
                      j["view"]["current"] == true
                : j["flow"]["displayed"] >= 2;
}

/// Taken on the device, by whomever; nullopt where there is none.
std::optional<double> device_mib() {
#ifdef CONVSCOPE_WITH_CUDA
  if (cuda_versions().device.empty()) return std::nullopt;
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) return std::nullopt;
  return static_cast<double>(total - free) / (1 << 20);
#else
  return std::nullopt;
#endif
}

/// What is on its way differs from time to time: the median of the last few counts.
struct Memory {
  std::vector<double> host, device;
  void note(const Driver& window) {
    host.push_back(window.resident_mib());
    if (const auto mib = device_mib()) device.push_back(*mib);
  }
};

class WindowSoak : public testing::Test {
 protected:
  static constexpr unsigned kSeed = 20261130;

  WindowSoak() : choice_(choose(random_)) {
    save_session(choice_.settings, session_);
    window_.emplace(std::vector<std::string>{"--size", "1280x720", "--session", session_});
  }
  ~WindowSoak() override { shell("rm -r " + folder_); }

  /// Switch i, which is the `step`th of its half.
  void take_switch(int i, int step) {
    what_ = "switch " + std::to_string(i) + ": " + choice_.source + ", " + choice_.settings.strategy + ", " +
            to_string(*choice_.settings.target) + ", " + choice_.settings.bank;
    if (i > 0) {
      save_session(choice_.settings, session_);
      window_->fill_in("ctrl+r", "Restore a session", "");  // the same file
    }
    wait(false);
    while_streaming(step);
    if (HasFailure()) return;
    if (choice_.live) window_->key("f");
    check_values(wait(true));
    if (!HasFailure()) at_rest(step);
  }

  Json wait(bool frozen) {
    return window_->wait_for(what_ + (frozen ? ", at rest" : ", streaming"),
                             [&](const Json& s) { return shows(s, choice_, frozen); });
  }

  void while_streaming(int step) {
    if (step % 5 == 1) resize(random_size());
    if (step % 13 == 5) window_->hide(), window_->show();
    if (step % 13 == 2) {
      window_->minimise();
      window_->restore();
      ++minimised_;
    }
  }

  /// The picture on screen must be the same after the window has been away, and of the size of before.
  void at_rest(int step) {
    if (step % 10 != 3 && step % 13 != 9) return;
    const Json before = wait(true);
    const std::pair<int, int> size(before["window"]["size"][0], before["window"]["size"][1]);
    const uint64_t picture = settled_picture(before);
    if (step % 13 == 9) {
      window_->minimise();
      window_->restore();
      ++minimised_;
      expect_picture(before, picture, "restored");
    }
    if (step % 10 != 3) return;
    const Json other = resize(random_size());
    if (!HasFailure()) check_values(other);
    resize(size);
    expect_picture(before, picture, "at its size of before");
  }

  std::pair<int, int> random_size() {
    return {720 + static_cast<int>(random_() % 900), 480 + static_cast<int>(random_() % 560)};
  }

  Json resize(const std::pair<int, int>& size) {
    window_->resize(size.first, size.second);
    ++resized_;
    const Json wanted{size.first, size.second};
    return window_->wait_for(what_ + ", resized to " + wanted.dump(), [&](const Json& s) {
      return s["window"]["size"] == wanted && (s["view"]["current"] == true || !s["flow"].is_null());
    });
  }

  /// Without what is shown for a moment only.
  uint64_t settled_picture(const Json& state) {
    uint64_t last = window_->picture_on_screen(state);
    for (int same = 0, i = 0; same < 3 && i < 100; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const uint64_t now = window_->picture_on_screen(state);
      same = now == last ? same + 1 : 0;
      last = now;
    }
    EXPECT_NE(last, 0U) << what_ << ": nothing of the view is on screen";
    return last;
  }

  void expect_picture(const Json& before, uint64_t picture, const char* when) {
    const Json state = wait(true);
    for (int i = 0; i < 100 && window_->picture_on_screen(state) != picture; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(window_->picture_on_screen(state), picture)
        << what_ << ": another picture when " << when << "\nbefore: " << before["view"] << before["window"]
        << "\nafter: " << window_->state()["view"] << state["window"];
  }

  void check_values(const Json& j) {
    EXPECT_EQ(j["difference"]["pass"], true) << what_ << j["difference"].dump(1);
    EXPECT_EQ(j["difference"]["frame_a"], j["difference"]["frame_b"]) << what_;
    EXPECT_TRUE(j["fault"].is_null()) << what_ << j["fault"];
    const Json& pixel = j["pixel"];
    ASSERT_TRUE(pixel.is_object()) << what_;
    const double value = expected(choice_, j["shown"]["index"], pixel["map"], pixel["y"], pixel["x"]);
    EXPECT_NEAR(pixel["a"].get<double>(), value, 2e-5) << what_ << " " << pixel;
    if (!choice_.live) return;
    EXPECT_EQ(j["flow"]["back"], 0) << what_ << ": an older frame was shown after a newer one";
    const Json& cost = j["flow"]["cost_ms"];
    const double age = j["flow"]["cost_age_ms"];
    double sum = 0;
    for (const auto& [name, ms] : cost.items()) sum += ms.get<double>();
    EXPECT_NEAR(sum, age, 1e-3) << what_ << cost;
    EXPECT_LE(cost.value("other", 0.0), 0.05 * age) << what_ << ": time that nobody accounts for: " << cost;
  }

  const std::string folder_ = temporary_folder(), session_ = folder_ + "/soak.json";
  std::mt19937 random_{kSeed};
  Choice choice_;
  std::optional<Driver> window_;
  std::string what_;
  int resized_ = 0, minimised_ = 0;
};

void expect_flat(const char* what, const std::vector<double>& before, const std::vector<double>& after,
                 double most) {
  if (before.empty() || after.empty()) {
    std::printf("%s memory: not looked at, there is no device\n", what);
    return;
  }
  const double first = median(before), second = median(after);
  EXPECT_LT(second - first, most) << "MiB more " << what << " memory: " << first << " and then " << second;
  std::printf("%s memory: %.1f MiB, the same switches once more: %.1f MiB\n", what, first, second);
}

TEST_F(WindowSoak, SwitchesWhileStreaming) {
  const int count = switches(), half = std::max(1, count / 2);
  Memory before, after;
  for (int i = 0; i < count; ++i) {
    const int step = i % half;
    take_switch(i, step);
    if (HasFailure()) break;
    if (step >= half - std::max(1, half / 4)) (i < half ? before : after).note(*window_);
    if (std::getenv("CONVSCOPE_SOAK_TRACE"))
      std::printf("%d %.1f MiB\n", i, window_->resident_mib()), std::fflush(stdout);
    // caches of every size and strategy are filled after half; from there all of it comes once more
    if (i + 1 == half) random_.seed(kSeed);
    choice_ = choose(random_);
  }
  if (HasFailure()) return;
  std::printf("%d switches, %d resizes, %d times minimised and restored\n", count, resized_, minimised_);
  EXPECT_GE(5 * resized_, 2 * count - 40);
  EXPECT_GT(minimised_, 0);
  expect_flat("host", before.host, after.host, 16);
  expect_flat("device", before.device, after.device, 1);
  EXPECT_EQ(window_->errors(), "") << "OpenGL errors and faults are said there";
  EXPECT_EQ(window_->quit(), 0);
}

}  // namespace
}  // namespace convscope::test
