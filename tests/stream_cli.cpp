// convscope stream as a user starts it.
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <thread>

#include "tests/cli_testing.h"

namespace convscope::testing {
namespace {

TEST_F(Cli, StreamVerifiesTheFramesOfABarcode) {
  const Outcome run = convscope({"stream", "pattern:barcode:320x180:fps=5000", "--frames", "40", "--set",
                                 "target=emulated", "--set", "bank=random", "--json", "s.json"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("40 processed, 0 dropped, 0 repeated"), std::string::npos) << run.out;
  const Json report = Json::parse(read_string(folder_ / "s.json"));
  EXPECT_EQ(report["frames"], 40);
  EXPECT_EQ(report["barcode"]["checked"], 40);
  EXPECT_EQ(report["barcode"]["good"], true);
  EXPECT_EQ(report["claimed_fps"], 5000);
  EXPECT_GT(report["processed_fps"], 0);
  EXPECT_GT(report["age_p95_ms"], 0);
  EXPECT_EQ(report["upload_bytes_per_s"], 0) << "host targets compute where the frames are";
}

TEST_F(Cli, StreamWithoutBarcodeSaysSo) {
  const Outcome run = convscope({"stream", "pattern:noise:64x48:fps=100", "--frames", "5", "--set",
                                 "target=cpu", "--strategy", "onednn"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("frames were not verified"), std::string::npos) << run.out;
}

/// 18 channels of 31x31 weights are more than the constant memory of a launch.
TEST_F(Cli, StreamsWhereTheDefaultStrategyRefusesAreTakenByAnother) {
  const std::string source = "pattern:noise:40x40x18:fps=100";
  const Outcome run = convscope({"stream", source, "--frames", "3", "--set", "kernel=31", "--set",
                                 "target=emulated", "--json", "s.json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("direct in its place"), std::string::npos) << run.out;
  const Json report = Json::parse(read_string(folder_ / "s.json"));
  EXPECT_EQ(report["strategy"], "direct/emulated/fp32");
  EXPECT_EQ(report["frames"], 3);
  EXPECT_TRUE(report["note"].get<std::string>().starts_with("register_tiled refuses: ")) << report["note"];

  const Outcome named = convscope({"stream", source, "--frames", "3", "--set", "kernel=31", "--set",
                                   "target=emulated", "--strategy", "register_tiled"});
  EXPECT_EQ(named.code, 1) << named.out;
  EXPECT_TRUE(named.err.find("register_tiled refuses: ") != std::string::npos) << named.err;
  EXPECT_EQ(std::count(named.err.begin(), named.err.end(), '\n'), 1) << named.err;
}

TEST_F(Cli, StreamRefusesInOneLine) {
  struct Row {
    std::vector<std::string> arguments;
    int code;
    std::vector<std::string> words;
  };
  const Row table[] = {
      {{"stream"}, 2, {"SOURCE"}},
      {{"stream", "pattern:barcode:320x180:fps=10", "--frames", "0"}, 2, {"--frames", "0"}},
      {{"stream", "pattern:barcode:320x180:fps=10", "--seconds", "-1"}, 2, {"--seconds", "-1"}},
      {{"stream", "pattern:barcode:320x180:fps=10", "--strategy", "fast"}, 2, {"strategy=fast"}},
      {{"stream", "pattern:barcode:320x180:fps=10", "--set", "loop=on"}, 2, {"loop=on", "is about playing"}},
      {{"stream", "missing.mp4"}, 1, {"missing.mp4"}},
      {{"stream", "missing.mp4", "--json", "no/such/folder/s.json"}, 1, {"no/such/folder/s.json"}},
      {{"stream", "pattern:barcode:320x180:fps=ten"}, 1, {"fps=ten"}},
      {{"stream", "pattern:barcode:320x180:fps=100", "--frames", "3", "--set", "target=cpu", "--strategy",
        "onednn", "--json", "no/such/folder/s.json"},
       1,
       {"no/such/folder/s.json"}},
  };
  for (const Row& row : table) {
    const Outcome run = convscope(row.arguments);
    EXPECT_EQ(run.code, row.code) << row.arguments.back() << ": " << run.err;
    std::string line = run.err;
    if (!line.empty() && line.back() == '\n') line.pop_back();
    EXPECT_TRUE(one_line_with(line, row.words)) << row.arguments.back();
  }
}

std::string picture() {
  cv::Mat image(96, 128, CV_8UC3);
  cv::randu(image, 0, 256);
  std::vector<uchar> jpeg;
  cv::imencode(".jpg", image, jpeg);
  return {jpeg.begin(), jpeg.end()};
}

/// So many pictures into the pipe; false where nobody reads any more.
bool write_pictures(int pipe, int count) {
  const std::string jpeg = picture();
  for (int i = 0; i < count; ++i) {
    for (std::size_t at = 0; at < jpeg.size();) {
      const ssize_t written = ::write(pipe, jpeg.data() + at, jpeg.size() - at);
      if (written < 0) return false;
      at += static_cast<std::size_t>(written);
    }
  }
  return true;
}

class StreamOfAPipe : public Cli {
 protected:
  StreamOfAPipe() {
    ::signal(SIGPIPE, SIG_IGN);
    ::mkfifo((folder_ / "p.mjpeg").c_str(), 0600);
  }
  /// The program reads the pipe while `write` has its other end.
  Outcome stream(const char* seconds, const std::function<void(int pipe)>& write) {
    std::thread writer([&] {
      const int pipe = ::open((folder_ / "p.mjpeg").c_str(), O_WRONLY | O_CLOEXEC);
      write(pipe);
      ::close(pipe);
    });
    const Outcome run = convscope({"stream", "p.mjpeg", "--seconds", seconds, "--set", "target=cpu",
                                   "--strategy", "onednn", "--json", "s.json"});
    writer.join();
    return run;
  }
  Json report() { return Json::parse(read_string(folder_ / "s.json")); }
};

TEST_F(StreamOfAPipe, ThatFallsSilentEndsInTime) {
  const Outcome run = stream("2", [&](int pipe) {
    write_pictures(pipe, 200);
    pollfd gone{pipe, 0, 0};
    ::poll(&gone, 1, 60'000);  // until nobody reads any more
  });
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_GT(report()["frames"], 0);
  EXPECT_EQ(report()["interrupted"], false);
  EXPECT_GT(report()["silent_seconds"], 0);
}

TEST_F(StreamOfAPipe, InterruptedKeepsItsReport) {
  const Outcome run = stream("600", [&](int pipe) {
    // more than FFmpeg looks at before it is open: frames have been computed
    write_pictures(pipe, 1500);
    ::kill(child_, SIGINT);
    while (write_pictures(pipe, 1)) {
    }
  });
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("interrupted"), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("frames/s processed"), std::string::npos) << run.out;
  EXPECT_EQ(report()["interrupted"], true);
  EXPECT_GT(report()["frames"], 0);
}

TEST_F(Cli, StreamTakesAFolderAtTheRateThatIsSet) {
  std::filesystem::create_directory(folder_ / "pictures");
  write_string(folder_ / "pictures/1.jpg", picture());
  write_string(folder_ / "pictures/2.jpg", picture());
  const Outcome run = convscope({"stream", "pictures", "--set", "rate=10", "--set", "target=cpu",
                                 "--strategy", "onednn", "--json", "s.json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(Json::parse(read_string(folder_ / "s.json"))["claimed_fps"], 10);
}

TEST_F(Cli, StreamOfANameThatIsNoUtf8) {
  const std::string name = "bad\xff";
  std::filesystem::create_directory(folder_ / name);
  write_string(folder_ / (name + "/1.jpg"), picture());
  write_string(folder_ / (name + "/2.jpg"), picture());
  const Outcome run =
      convscope({"stream", name, "--set", "target=cpu", "--strategy", "onednn", "--json", "s.json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(Json::parse(read_string(folder_ / "s.json"))["frames"], 2);
}

}  // namespace
}  // namespace convscope::testing
