// Streams in the window: real keys, a real video, a pipeline that stalls.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>
#include <thread>

#include "app/live/barcode.h"
#include "tests/window/driver.h"
#include "tests/window/measuring.h"

namespace convscope::test {
namespace {

/// 60 frames of 25 a second, each with its number in it.
std::string video_in(const std::string& folder) {
  const std::string path = folder + "/numbers.avi";
  cv::VideoWriter writer(path, cv::CAP_FFMPEG, cv::VideoWriter::fourcc('M', 'J', 'P', 'G'), 25, {352, 192});
  for (uint32_t i = 0; i < 60; ++i) {
    cv::Mat image(192, 352, CV_8UC3, cv::Scalar(90, 120, 60));
    barcode::draw(i, image.cols, image.rows, 3, image.data);
    writer.write(image);
  }
  return path;
}

class WindowLive : public testing::Test {
 protected:
  WindowLive() : folder_(temporary_folder()), video_(video_in(folder_)) {}
  ~WindowLive() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::vector<std::string> arguments(const std::string& source, std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"--size", "1280x720", "--set", "strategy=onednn", "--set", "target=cpu"};
    all.insert(all.end(), more.begin(), more.end());
    all.push_back(source);
    return all;
  }
  const std::string folder_, video_;
};

std::function<bool(const Json&)> live_is(const std::string& key, const Json& value) {
  return [=](const Json& s) { return s["live"].is_object() && s["live"][key] == value; };
}

TEST_F(WindowLive, PlaysPausesStepsAndJumpsByKeys) {
  Driver window(arguments(video_, {"--set", "play=off"}));
  window.wait_for("the first frame, paused", [](const Json& s) {
    return s["live"].is_object() && s["live"]["state"] == "paused" && s["live"]["index"] == 0;
  });
  struct Case {
    const char* key;
    int index;
  };
  for (const Case& c : {Case{"period", 1}, Case{"period", 2}, Case{"comma", 1}, Case{"ctrl+Left", 0},
                        Case{"ctrl+Right", 59}, Case{"comma", 58}, Case{"Home", 0}, Case{"period", 1}}) {
    SCOPED_TRACE(c.key);
    window.key(c.key);
    window.wait_for(std::string(c.key) + " to frame " + std::to_string(c.index), live_is("index", c.index),
                    5);
  }
  window.key("space");
  window.wait_for("playing", live_is("state", "playing"), 5);
  const Json playing = window.wait_for("some frames", [](const Json& s) { return s["live"]["read"] > 30; });
  EXPECT_EQ(playing["settings"]["play"], "on");
  EXPECT_NEAR(playing["live"]["claimed_fps"].get<double>(), 25, 0.01);
  EXPECT_GT(playing["live"]["measured_fps"].get<double>(), 10);
  EXPECT_TRUE(playing["fault"].is_null());
  window.key("space");
  window.wait_for("paused", live_is("state", "paused"), 5);
  EXPECT_EQ(window.quit(), 0) << window.errors();
}

TEST_F(WindowLive, SpeedLoopAndTheEnd) {
  Driver window(arguments(video_, {"--set", "loop=off"}));
  window.key("bracketright");
  window.key("bracketright");
  window.wait_for(
      "four times the speed", [](const Json& s) { return s["settings"]["speed"] == "4"; }, 5);
  window.wait_for("the end", live_is("state", "ended"));
  EXPECT_EQ(window.state()["live"]["index"], 59);
  window.key("space");
  window.wait_for("again from the start", [](const Json& s) { return s["live"]["read"] > 61; });
  window.key("l");
  window.wait_for(
      "loop", [](const Json& s) { return s["settings"]["loop"] == "on"; }, 5);
  window.wait_for("round and round", [](const Json& s) { return s["live"]["read"] > 200; });
  window.key("bracketleft");
  window.wait_for(
      "slower", [](const Json& s) { return s["settings"]["speed"] == "2"; }, 5);
  EXPECT_EQ(window.quit(), 0) << window.errors();
}

TEST_F(WindowLive, SourcesAreSwitchedAndAFaultKeepsTheStream) {
  Driver window(arguments("pattern:barcode:320x180:fps=30"));
  const auto open = [&](const std::string& source) { window.fill_in("ctrl+l", "path", source); };
  const auto goes_on = [&](const Json& s) {
    const int newest = s["flow"]["newest"];
    return window.wait_for("the stream goes on",
                           [&](const Json& j) { return j["flow"]["newest"] > newest + 10; });
  };
  open("camera:93");
  const Json waits = window.wait_for("what is waited for", live_is("state", "failed"));
  EXPECT_NE(waits["live"]["message"].get<std::string>().find("there is no such camera; trying again"),
            std::string::npos)
      << waits["live"];
  EXPECT_EQ(waits["settings"]["source"], "camera:93");
  EXPECT_TRUE(waits["fault"].is_null()) << waits["fault"];
  goes_on(waits);
  open("pattern:barcode:320x180:fps=30");
  window.wait_for("the stream again", live_is("state", "playing"));
  const std::string missing = folder_ + "/missing.mp4";
  open(missing);
  const Json s = window.wait_for("the fault", [&](const Json& j) {
    return j["fault"].is_object() && j["fault"]["text"].get<std::string>().find(missing) != std::string::npos;
  });
  EXPECT_EQ(s["settings"]["source"], "pattern:barcode:320x180:fps=30");
  EXPECT_EQ(goes_on(s)["status"], s["fault"]["text"]) << "what is wrong stands in the status bar";
  window.fill_in("ctrl+shift+f", "Export the stream's account", "account");
  const Json said = window.wait_for("a newer message in the status bar",
                                    [](const Json& j) { return j["status"] == "exported to account"; });
  EXPECT_TRUE(said["fault"].is_object()) << "said beside the source until other settings are chosen";
  window.key("v");
  window.wait_for("other settings",
                  [](const Json& j) { return j["settings"]["convolution"] == "on" && j["fault"].is_null(); });
  open("pattern:checker:64x48");
  window.wait_for("a still image", [](const Json& s) {
    return s["live"].is_null() && s["shown"].is_object() && s["shown"]["source"] == "pattern:checker:64x48";
  });
  open(video_);
  window.wait_for("the video",
                  [](const Json& s) { return s["live"].is_object() && s["live"]["kind"] == "video"; });
  EXPECT_EQ(window.quit(), 0) << window.errors();
}

/// Pictures through a named pipe, then nothing: the pipe stays open until the writer is told to end it.
class PipeWriter {
 public:
  PipeWriter(const std::string& path, int pictures)
      : thread_([=, this] {
          std::ofstream pipe(path, std::ios::binary);  // waits for the reader
          for (int i = 0; i < pictures; ++i) {
            cv::Mat image(192, 352, CV_8UC3, cv::Scalar(90, 120, 60));
            barcode::draw(static_cast<uint32_t>(i), image.cols, image.rows, 3, image.data);
            std::vector<uchar> jpeg;
            cv::imencode(".jpg", image, jpeg);
            pipe.write(reinterpret_cast<const char*>(jpeg.data()), static_cast<std::streamsize>(jpeg.size()));
          }
          pipe.flush();
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [this] { return end_; });
        }) {}
  ~PipeWriter() {
    end();
    thread_.join();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    end_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool end_ = false;
  std::thread thread_;
};

TEST_F(WindowLive, AStallIsOnScreenAndCostsLittle) {
  ::signal(SIGPIPE, SIG_IGN);
  const std::string path = folder_ + "/pipe.mjpeg";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  PipeWriter writer(path, 150);
  Driver window(arguments(path, {"--set", "loop=off"}));
  const Json before = window.wait_for("the stall", live_is("state", "stalled"), 30);
  EXPECT_NE(before["live"]["message"].get<std::string>().find("no new frame since"), std::string::npos);
  EXPECT_GT(before["live"]["read"].get<int>(), 100);
  EXPECT_TRUE(window.rests(0.1));
  window.key("o");
  window.wait_for(
      "the window answers", [](const Json& s) { return s["settings"]["tab"] == "one"; }, 3);
  writer.end();
  window.wait_for("the end", live_is("state", "ended"), 5);
  EXPECT_EQ(window.quit(), 0) << window.errors();
}

TEST_F(WindowLive, ASourceThatNeverOpensDoesNotKeepTheProgram) {
  const std::string path = folder_ + "/silent.mjpeg";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Driver window(arguments("pattern:barcode:320x180:fps=30"));
  window.fill_in("ctrl+l", "path", path);
  const Json s = window.wait_for("no answer", [](const Json& j) {
    return j["live"].is_object() && j["live"]["state"] == "opening" &&
           j["live"]["message"].get<std::string>().find("no answer since") != std::string::npos;
  });
  EXPECT_EQ(s["shown"]["source"], "pattern:barcode:320x180:fps=30") << "the last picture stays";
  const auto start = Clock::now();
  EXPECT_EQ(window.quit(), 0) << window.errors();
  EXPECT_LT(seconds_since(start), 3 * busy());
}

/// Minutes of work, which nobody waits for.
TEST_F(WindowLive, AComputationThatGoesOnDoesNotKeepTheProgram) {
  Driver window({"--size", "1280x720", "--set", "strategy=direct", "--set", "target=emulated", "--set",
                 "kernel=31", "pattern:scene:64x48"});
  window.fill_in("ctrl+l", "path", "pattern:scene:7680x4320");
  const double before = window.cpu_seconds();
  for (const auto asked = Clock::now(); window.cpu_seconds() < before + 4 && seconds_since(asked) < 60;)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_GE(window.cpu_seconds(), before + 4) << "it is not at work";
  const auto start = Clock::now();
  EXPECT_EQ(window.quit(), 0) << window.errors();
  EXPECT_LT(seconds_since(start), 4 * busy());
}

}  // namespace
}  // namespace convscope::test
