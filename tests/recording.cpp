// What was shown, as files: read back and compared.
#include "app/recording.h"

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>

#include "tests/app_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

cv::Mat grey(int value, int w = 64, int h = 48) { return cv::Mat(h, w, CV_8UC3, cv::Scalar::all(value)); }

TEST(Recording, FolderHoldsEveryPicture) {
  const TemporaryFolder folder;
  Recording recording(folder / "pictures");
  std::vector<cv::Mat> pictures;
  for (int i = 0; i < 5; ++i) {
    cv::Mat picture(40 + i, 60, CV_8UC3);
    cv::randu(picture, 0, 255);
    pictures.push_back(picture);
    recording.add(picture, i * 0.1);
  }
  recording.finish();
  const RecordingProgress p = recording.progress();
  EXPECT_EQ(p.pictures, 5u);
  EXPECT_EQ(p.left_out, 0u);
  EXPECT_EQ(p.fault, "");
  EXPECT_TRUE(p.ended);
  EXPECT_NEAR(p.seconds, 0.4, 1e-9);
  for (int i = 0; i < 5; ++i) {
    const cv::Mat read = cv::imread(folder / ("pictures/00000" + std::to_string(i + 1) + ".png"));
    ASSERT_EQ(read.size(), pictures[static_cast<std::size_t>(i)].size()) << i;
    EXPECT_EQ(cv::norm(read, pictures[static_cast<std::size_t>(i)], cv::NORM_INF), 0) << i;
  }
}

TEST(Recording, VideoKeepsTheTimes) {
  const TemporaryFolder folder;
  const std::string path = folder / "v.avi";
  {
    Recording recording(path);
    recording.add(grey(40), 100.0);
    recording.add(grey(120), 100.5);  // 15 places of a thirtieth of a second
    recording.add(grey(200), 100.7);  // 6
    recording.finish();
    EXPECT_EQ(recording.progress().pictures, 3u);
    EXPECT_GT(recording.progress().bytes, 1000u);
  }
  cv::VideoCapture video(path, cv::CAP_OPENCV_MJPEG);
  ASSERT_TRUE(video.isOpened());
  EXPECT_NEAR(video.get(cv::CAP_PROP_FPS), Recording::kVideoFps, 0.01);
  std::vector<int> values;
  for (cv::Mat frame; video.read(frame);) values.push_back(static_cast<int>(std::lround(cv::mean(frame)[0])));
  ASSERT_NEAR(static_cast<double>(values.size()), 22, 1);
  const auto count = [&](int value) {
    return std::count_if(values.begin(), values.end(), [=](int v) { return std::abs(v - value) < 6; });
  };
  EXPECT_NEAR(static_cast<double>(count(40)), 15, 1);
  EXPECT_NEAR(static_cast<double>(count(120)), 6, 1);
  EXPECT_EQ(count(200), 1);
}

TEST(Recording, FaultsAreOneLine) {
  const TemporaryFolder folder;
  write_string(folder / "file", "x");
  for (const std::string& path :
       {folder / "missing/v.avi", folder / "file/pictures", folder / "file", std::string()}) {
    const std::string fault = error_of([&] { Recording recording(path); });
    EXPECT_TRUE(one_line_with(fault, {path})) << path;
    EXPECT_NE(fault, "(no error)") << path;
  }
  EXPECT_EQ(read_string(folder / "file"), "x");

  Recording sizes(folder / "s.avi");
  sizes.add(grey(1), 0);
  sizes.add(grey(1, 80), 1);
  sizes.finish();
  EXPECT_TRUE(one_line_with(sizes.progress().fault, {"s.avi", "64x48", "80x48", "1 pictures were recorded"}));
}

TEST(Recording, AFullDiskEndsItAndKeepsWhatIsThere) {
  for (const char* name : {"v.avi", "pictures"}) {
    const TemporaryFolder folder;
    int asked = 0;
    Recording recording(folder / name, [&](const std::string&) {
      return ++asked > 3 ? uint64_t{1000000} : uint64_t{1} << 40;
    });
    for (int i = 0; i < 6; ++i) recording.add(grey(30 * i), i);
    recording.finish();
    const RecordingProgress p = recording.progress();
    EXPECT_EQ(p.pictures, 3u) << name;
    EXPECT_TRUE(one_line_with(p.fault, {name, "the disk is full, 1.0 MB", "3 pictures were recorded"}));
    EXPECT_TRUE(std::filesystem::exists(folder / name));
    EXPECT_GT(p.bytes, 100u) << name;
  }
}

}  // namespace
}  // namespace convscope
