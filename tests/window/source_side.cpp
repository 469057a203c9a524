// The source of the window, without the window: what is shown while another one is opened, or cannot be.
#include "app/window/source_side.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <opencv2/imgcodecs.hpp>

#include "tests/app_testing.h"
#include "tests/live_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

const std::string kShown = "pattern:chart:64x48";

class Source : public ::testing::Test {
 protected:
  bool until(const std::function<bool()>& wanted) {
    return comes(
        [&] {
          side_.request(settings_, results_);
          side_.collect(settings_, results_);
          return wanted();
        },
        20);
  }
  bool shows(const std::string& name) {
    return until([&] { return side_.frame() && side_.frame()->name == name; });
  }
  bool is(LiveState state) {
    return until([&] { return results_.live && results_.live->state == state; });
  }

  TemporaryFolder folder_;
  Settings settings_;
  Results results_;
  SourceSide side_{[] {}};
};

void write_to_pipe(const std::string& path, const std::string& text, int times) {
  const int pipe = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  for (int i = 0; i < times; ++i) {
    if (::write(pipe, text.data(), text.size()) < 0) break;
  }
  ::close(pipe);
}

TEST_F(Source, ThatIsNotThereYetIsTriedAgainBesideThePicture) {
  ::signal(SIGPIPE, SIG_IGN);
  settings_.source = kShown;
  ASSERT_TRUE(shows(kShown));
  settings_.source = "missing.png";
  ASSERT_TRUE(until([&] { return results_.fault.has_value(); }));
  const std::string path = folder_ / "p.mjpeg";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  settings_.source = path;
  std::thread broken(write_to_pipe, path, "no picture", 1);
  ASSERT_TRUE(until([&] { return results_.live && !results_.live->message.empty() && !results_.opening; }));
  broken.join();
  EXPECT_TRUE(one_line_with(results_.live->message, {path, "trying again every second"}));
  EXPECT_TRUE(results_.live_beside);
  EXPECT_EQ(settings_.source, path);
  EXPECT_EQ(side_.frame()->name, kShown);
  EXPECT_FALSE(results_.fault) << results_.fault->text;

  cv::Mat image(96, 128, CV_8UC3, cv::Scalar(90, 120, 60));
  std::vector<uchar> jpeg;
  cv::imencode(".jpg", image, jpeg);
  std::thread good(write_to_pipe, path, std::string(jpeg.begin(), jpeg.end()), 300);
  EXPECT_TRUE(shows(path));
  EXPECT_FALSE(results_.live_beside);
  settings_.source = kShown;  // lets the writer go
  EXPECT_TRUE(shows(kShown));
  good.join();
}

TEST_F(Source, ThatCannotComeIsOneFaultAndTheOneBefore) {
  settings_.source = kShown;
  ASSERT_TRUE(shows(kShown));
  write_string(folder_ / "broken.mp4", "no video");
  for (const std::string& source : {folder_ / "missing.mp4", folder_ / "broken.mp4",
                                    std::string("camera:front"), std::string("gst:nosuchelement")}) {
    results_.fault.reset();
    settings_.source = source;
    ASSERT_TRUE(until([&] { return results_.fault.has_value(); })) << source;
    EXPECT_EQ(results_.fault->text.find("trying again"), std::string::npos) << results_.fault->text;
    EXPECT_EQ(settings_.source, kShown) << source;
    EXPECT_FALSE(results_.live) << source;
    EXPECT_EQ(side_.frame()->name, kShown);
  }
}

TEST_F(Source, ThatIsWaitedForCanBeLeft) {
  settings_.source = "camera:97";
  ASSERT_TRUE(is(LiveState::failed));
  EXPECT_TRUE(until([&] { return side_.frame() != nullptr; })) << "the sample picture, meanwhile";
  EXPECT_EQ(settings_.source, "camera:97");
  EXPECT_TRUE(is(LiveState::failed));
  settings_.source = kShown;
  ASSERT_TRUE(shows(kShown));
  EXPECT_FALSE(results_.live);
  EXPECT_FALSE(results_.fault);
}

}  // namespace
}  // namespace convscope
