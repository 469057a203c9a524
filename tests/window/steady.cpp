// A stream that goes on: the memory stays where it is, and every picture on screen is one frame, whole and
// newer than the one before. CONVSCOPE_STEADY_SECONDS=600 and CONVSCOPE_STEADY_FRAMES=10000 for the long
// forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <sstream>
#include <thread>

#include "app/live/barcode.h"
#include "kernels/registry.h"
#include "tests/window/driver.h"
#include "tests/window/measuring.h"

namespace convscope::test {
namespace {

int asked(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::max(1, std::atoi(text)) : otherwise;
}

double count_of(const Json& state, const char* of) { return state["flow"][of].get<double>(); }

/// Workload A of 1080p at 30 frames a second, by the CPU's library.
TEST(WindowSteady, MemoryStaysFlat) {
  constexpr int kWarmUp = 10, kPart = 5;  // seconds
  const int seconds = std::max(asked("CONVSCOPE_STEADY_SECONDS", 20), 2 * kPart);
  Driver window({"--size", "1280x720", "--set", "strategy=onednn", "--set", "target=cpu", "--set",
                 "bank=random", "--set", "kernel=3", "--set", "stride=2", "--set", "pad=valid",
                 "pattern:barcode:1920x1080:fps=30"});
  window.wait_for("a stream that runs",
                  [](const Json& j) { return j["flow"].is_object() && j["flow"]["displayed"] > 20; });
  std::this_thread::sleep_for(std::chrono::seconds(kWarmUp));
  const auto start = Clock::now();
  const Json first = window.state();
  const double cpu = window.cpu_seconds();
  std::vector<double> parts, part;  // resident MiB: medians of so many seconds, and the seconds of the newest
  for (int second = 1; second <= seconds && window.running(); ++second) {
    std::this_thread::sleep_until(start + std::chrono::seconds(second));
    part.push_back(window.resident_mib());
    if (second == 1 || second == 60 || second == 300 || second == seconds) {
      const Json s = window.state();
      std::printf("after %3d s: %.1f MiB, age in ms %s median, %s p95\n", second, part.back(),
                  s["flow"]["age_median_ms"].dump().c_str(), s["flow"]["age_p95_ms"].dump().c_str());
      std::fflush(stdout);
    }
    if (part.size() == kPart) parts.push_back(median(std::exchange(part, {})));
  }
  const Json last = window.state();
  const double took = seconds_since(start);
  const auto rate = [&](const char* of) { return (count_of(last, of) - count_of(first, of)) / took; };
  const auto [least, most] = std::minmax_element(parts.begin(), parts.end());
  std::printf("%.0f s: %.1f to %.1f MiB; %.1f frames/s processed, %.1f shown; %.2f processors\n", took,
              *least, *most, rate("computed"), rate("displayed"), (window.cpu_seconds() - cpu) / took);
  // the short form may run beside other work: then fewer frames are made, and more results wait for their
  // turn
  const bool alone = std::getenv("CONVSCOPE_STEADY_SECONDS") || busy() < 1.5;
  constexpr double kMapsMib = 16 * 539 * 959 * sizeof(float) / double{1 << 20};
  EXPECT_LT(*most - *least, alone ? 16 : 8 * kMapsMib) << "MiB of resident memory went up and down, or up";
  const double least_rate = std::getenv("CONVSCOPE_STEADY_SECONDS") ? 15 : 5 / busy();
  EXPECT_GE(rate("computed"), least_rate);
  EXPECT_GE(rate("displayed"), least_rate);
  EXPECT_EQ(last["flow"]["back"], 0);
  EXPECT_EQ(window.errors(), "");
  EXPECT_EQ(window.quit(), 0);
}

/// Pictures as the window recorded them before they were swapped to the screen, one after the other, each
/// gone from the disk once it is read.
class ShownPictures {
 public:
  explicit ShownPictures(std::string folder) : folder_(std::move(folder)) {}

  /// The next one; empty where it does not come in time.
  cv::Mat next() {
    const std::string path = name(++read_);
    // the one after it is begun when it is whole
    for (const auto start = Clock::now(); !std::filesystem::exists(name(read_ + 1));
         std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
      if (seconds_since(start) > 20) return {};
    }
    cv::Mat picture = cv::imread(path);
    std::filesystem::remove(path);
    return picture;
  }

 private:
  std::string name(int number) const {
    std::string digits = std::to_string(number);
    return folder_ + "/" + std::string(6 - digits.size(), '0') + digits + ".png";
  }
  const std::string folder_;
  int read_ = 0;
};

struct Verdict {
  int read = 0, torn = 0, unreadable = 0, twice = 0, back = 0;
  std::vector<uint32_t> numbers;

  void judge(const barcode::Reading& reading) {
    ++read;
    if (reading.torn()) ++torn;
    const auto number = reading.number();
    if (!number) {
      unreadable += !reading.torn();
      return;
    }
    twice += !numbers.empty() && *number == numbers.back();
    back += !numbers.empty() && *number < numbers.back();
    numbers.push_back(*number);
  }
};

/// Starts a recording, and returns the state with it under way.
Json record(Driver& window, const std::string& name) {
  window.fill_in("F10", "Record the view", name);
  return window.wait_for("a recording", [](const Json& j) {
    return j["recording"].is_object() && j["recording"]["pictures"] >= 2;
  });
}

/// The numbers of the frames that the window's account calls shown, from `first` to `last`. Frame 0 is the
/// first that was read.
std::vector<uint32_t> accounted(Driver& window, uint32_t first, uint32_t last) {
  window.fill_in("ctrl+shift+f", "Export the stream's account", "account");
  window.wait_for("the export", [](const Json& j) { return j["message"] == "exported to account"; });
  std::ifstream file(window.path("account/frames.csv"));
  std::vector<uint32_t> numbers;
  std::string line;
  std::getline(file,
               line);  // frame,sequence,captured_s,taken_s,started_s,uploaded_s,computed_s,viewed_s,shown_s
  while (std::getline(file, line)) {
    std::vector<std::string> fields;
    std::stringstream parts(line);
    for (std::string field; std::getline(parts, field, ',');) fields.push_back(field);
    if (fields.size() < 10 || fields[8].empty()) continue;
    const auto number = static_cast<uint32_t>(std::stoul(fields[1]) - 1);
    if (number >= first && number <= last) numbers.push_back(number);
  }
  return numbers;
}

void expect_every_picture_to_be_one_frame_and_a_new_one(const std::string& target) {
  constexpr int64_t kW = 320, kH = 180;
  const int frames = asked("CONVSCOPE_STEADY_FRAMES", 150);
  Driver window({"--size", "1000x620", "--set", "strategy=direct", "--set", "target=" + target, "--set",
                 "bank=identity", "--set", "tab=one", "--set", "color_map=grey", "--set", "range=0,1",
                 "pattern:barcode:320x180:fps=60"});
  window.wait_for("a stream that runs",
                  [](const Json& j) { return j["flow"].is_object() && j["flow"]["displayed"] > 20; });
  const Json state = record(window, "pictures");
  const Json& region = state["view"]["region"];  // in the frame's pixels, and how many make one of the view's
  const double left = region[0], top = region[1], step = region[2];
  ASSERT_LE(step, 1) << "too small a picture to read from";
  const auto start = Clock::now();
  ShownPictures pictures(window.path("pictures"));
  Verdict verdict;
  while (verdict.read < frames) {
    const cv::Mat picture = pictures.next();
    ASSERT_FALSE(picture.empty()) << "picture " << verdict.read + 1 << " did not come, "
                                  << seconds_since(start)
                                  << " s after the first: " << window.state()["recording"]
                                  << window.state()["flow"] << window.errors();
    verdict.judge(barcode::read(kW, kH, [&](int64_t y, int64_t x) {
      const auto at = [&](int64_t pixel, double from) {
        return static_cast<int>((static_cast<double>(pixel) + 0.5 - from) / step);
      };
      return picture.at<cv::Vec3b>(at(y, top), at(x, left))[1];
    }));
  }
  const double took = seconds_since(start);
  ASSERT_FALSE(verdict.numbers.empty());
  const Json end = window.wait_for("a state after them",
                                   [&](const Json& j) { return j["recording"]["pictures"] >= verdict.read; });
  std::printf(
      "%d pictures in %.0f s: %d torn, %d unreadable, %d twice, %d older; frames %u to %u; %d left out\n",
      verdict.read, took, verdict.torn, verdict.unreadable, verdict.twice, verdict.back,
      verdict.numbers.front(), verdict.numbers.back(), end["recording"]["left_out"].get<int>());
  EXPECT_EQ(verdict.torn, 0);
  EXPECT_EQ(verdict.unreadable, 0);
  EXPECT_EQ(verdict.twice, 0);
  EXPECT_EQ(verdict.back, 0);
  EXPECT_EQ(end["flow"]["back"], 0);
  // the window's account has all that was seen and, of what was not, as much as the recording says it left
  // out
  const auto account = accounted(window, verdict.numbers.front(), verdict.numbers.back());
  EXPECT_TRUE(std::includes(account.begin(), account.end(), verdict.numbers.begin(), verdict.numbers.end()));
  EXPECT_LE(account.size() - verdict.numbers.size(), end["recording"]["left_out"].get<std::size_t>());
  // the short form may run beside other work
  if (std::getenv("CONVSCOPE_STEADY_FRAMES")) {
    EXPECT_LT(end["recording"]["left_out"], verdict.read / 50) << "pictures that nobody looked at";
  }
  EXPECT_EQ(window.errors(), "");
  EXPECT_EQ(window.quit(), 0);
}

TEST(WindowSteady, EveryPictureShownIsOneFrameAndANewOne) {
  expect_every_picture_to_be_one_frame_and_a_new_one("emulated");
}

TEST(WindowSteady, EveryPictureShownIsOneFrameAndANewOneOnTheGpu) {
  if (const auto why = unavailable(find_strategy("direct", Target::cuda, Precision::fp32)->info))
    GTEST_SKIP() << *why;
  expect_every_picture_to_be_one_frame_and_a_new_one("cuda");
}

/// From capture to swap, of workload A.
TEST(WindowSteady, FramesAreAtMostTwoIntervalsOldOnTheGpu) {
  if (const auto why = unavailable(find_strategy("register_tiled", Target::cuda, Precision::fp32)->info))
    GTEST_SKIP() << *why;
  for (const int fps : {30, 60}) {
    Driver window({"--size", "1280x720", "--set", "target=cuda", "--set", "bank=random", "--set", "kernel=3",
                   "--set", "stride=2", "--set", "pad=valid",
                   "pattern:barcode:1920x1080:fps=" + std::to_string(fps)});
    const Json s = window.wait_for("some seconds of a stream", [&](const Json& j) {
      return j["flow"].is_object() && j["flow"]["displayed"] > 5 * fps;
    });
    std::printf("%d frames/s: age in ms %s median, %s p95\n", fps, s["flow"]["age_median_ms"].dump().c_str(),
                s["flow"]["age_p95_ms"].dump().c_str());
    EXPECT_LE(s["flow"]["age_median_ms"].get<double>(), 2000.0 / fps);
    EXPECT_EQ(window.quit(), 0) << window.errors();
  }
}

}  // namespace
}  // namespace convscope::test
