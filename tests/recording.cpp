// What was shown, as files: read back and compared.
#include "app/recording.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <thread>

#include "tests/app_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

cv::Mat grey(int value, int w = 64, int h = 48) { return cv::Mat(h, w, CV_8UC3, cv::Scalar::all(value)); }

/// Asked to end, it does.
RecordingProgress ended(Recording& recording) {
  recording.end();
  EXPECT_TRUE(recording.wait(60));
  return recording.progress();
}

std::vector<int> greys_of(cv::VideoCapture& video) {
  std::vector<int> values;
  for (cv::Mat frame; video.read(frame);) values.push_back(static_cast<int>(std::lround(cv::mean(frame)[0])));
  return values;
}

/// Until `holds`; whether it came to that.
bool comes(const std::function<bool()>& holds) {
  for (int i = 0; i < 60'000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return holds();
}

/// A disk that answers when it is let.
class SlowDisk {
 public:
  uint64_t answer() {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    return uint64_t{1} << 40;
  }
  void wait_until_asked() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return asked_ > 0; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int asked_ = 0;
  bool open_ = false;
};

/// No file may become larger while this lives; the signal is ignored, as main() does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    signal_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int) = SIG_DFL;
};

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
  const RecordingProgress p = ended(recording);
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
    const RecordingProgress p = ended(recording);
    EXPECT_EQ(p.pictures, 3u);
    EXPECT_EQ(p.bytes, std::filesystem::file_size(path));
  }
  cv::VideoCapture video(path, cv::CAP_OPENCV_MJPEG);
  ASSERT_TRUE(video.isOpened());
  EXPECT_NEAR(video.get(cv::CAP_PROP_FPS), RecordingFiles::kVideoFps, 0.01);
  const std::vector<int> values = greys_of(video);
  ASSERT_NEAR(static_cast<double>(values.size()), 22, 1);
  const auto count = [&](int value) {
    return std::count_if(values.begin(), values.end(), [=](int v) { return std::abs(v - value) < 6; });
  };
  EXPECT_NEAR(static_cast<double>(count(40)), 15, 1);
  EXPECT_NEAR(static_cast<double>(count(120)), 6, 1);
  EXPECT_EQ(count(200), 1);
}

TEST(Recording, AVideoCountsThePicturesThatItHasNoPlaceFor) {
  const TemporaryFolder folder;
  Recording recording(folder / "v.avi");
  for (int i = 0; i < 4; ++i) recording.add(grey(50 * i), 1 + i * 0.004);  // all in the first thirtieth
  recording.add(grey(220), 1.1);
  const RecordingProgress p = ended(recording);
  EXPECT_EQ(p.pictures, 2u);
  EXPECT_EQ(p.left_out, 3u);
  EXPECT_EQ(p.fault, "");
  cv::VideoCapture video(folder / "v.avi", cv::CAP_OPENCV_MJPEG);
  const std::vector<int> values = greys_of(video);
  ASSERT_EQ(values.size(), 4u);
  EXPECT_NEAR(values.front(), 150, 5) << "the newest of the four";
  EXPECT_NEAR(values.back(), 220, 5);
}

TEST(Recording, PicturesThatComeALittleEarlyOrLateHaveTheirPlace) {
  const TemporaryFolder folder;
  Recording recording(folder / "v.avi");
  for (int i = 0; i < 7; ++i) recording.add(grey(30 * i), i / 30.0 + (i % 2 == 0 ? 0.004 : -0.004));
  const RecordingProgress p = ended(recording);
  EXPECT_EQ(p.pictures, 7u);
  EXPECT_EQ(p.left_out, 0u);
}

TEST(Recording, ALongVideoGoesOnInFurtherFiles) {
  const TemporaryFolder folder;
  constexpr uint64_t kMost = 20'000;
  write_string(folder / "v-2.avi", "of somebody else");
  Recording recording(folder / "v.avi", {.file_bytes = kMost});
  recording.add(grey(10), 0);
  recording.add(grey(90), 3);
  recording.add(grey(180), 4);
  const RecordingProgress p = ended(recording);
  EXPECT_EQ(p.fault, "");
  EXPECT_EQ(p.pictures, 3u);
  ASSERT_GT(p.files, 2u);
  std::vector<int> values;
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < p.files; ++i) {
    const std::string path = folder / (i == 0 ? "v.avi" : "v-" + std::to_string(i + 2) + ".avi");
    ASSERT_TRUE(std::filesystem::exists(path)) << path;
    EXPECT_LE(std::filesystem::file_size(path), kMost);
    bytes += std::filesystem::file_size(path);
    cv::VideoCapture video(path, cv::CAP_OPENCV_MJPEG);
    const std::vector<int> part = greys_of(video);
    values.insert(values.end(), part.begin(), part.end());
  }
  EXPECT_EQ(values.size(), 121u) << "four seconds and the last picture";
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(p.bytes, bytes);
  EXPECT_EQ(read_string(folder / "v-2.avi"), "of somebody else");
}

TEST(Recording, AVideoIsWhatOtherReadersExpect) {
  const TemporaryFolder folder;
  Recording recording(folder / "v.avi");
  cv::Mat picture(49, 63, CV_8UC3);  // odd, and chunks of odd length among the even ones
  for (int i = 0; i < 6; ++i) {
    cv::randu(picture, 0, 256);
    recording.add(picture.clone(), i / 30.0);
  }
  EXPECT_EQ(ended(recording).pictures, 6u);
  for (const int reader : {static_cast<int>(cv::CAP_FFMPEG), static_cast<int>(cv::CAP_OPENCV_MJPEG)}) {
    cv::VideoCapture video(folder / "v.avi", reader);
    ASSERT_TRUE(video.isOpened()) << reader;
    EXPECT_EQ(video.get(cv::CAP_PROP_FRAME_WIDTH), 63) << reader;
    EXPECT_EQ(video.get(cv::CAP_PROP_FRAME_HEIGHT), 49) << reader;
    EXPECT_EQ(video.get(cv::CAP_PROP_FRAME_COUNT), 6) << reader;
    EXPECT_EQ(greys_of(video).size(), 6u) << reader;
  }
}

TEST(Recording, AWriteThatFailsEndsItAndLeavesWhatIsWhole) {
  const TemporaryFolder folder;
  RecordingProgress p;
  {
    const FileSizeLimit limit(20'000);
    Recording recording(folder / "v.avi");
    recording.add(grey(100), 0);
    recording.add(grey(200), 60);
    recording.add(grey(100), 61);
    p = ended(recording);
  }
  EXPECT_TRUE(
      one_line_with(p.fault, {"v.avi: cannot be written (File too large)", "pictures were recorded"}));
  EXPECT_EQ(p.pictures + p.left_out, 3u);
  EXPECT_EQ(p.bytes, std::filesystem::file_size(folder / "v.avi"));
  cv::VideoCapture video(folder / "v.avi", cv::CAP_FFMPEG);
  const std::vector<int> values = greys_of(video);
  EXPECT_GT(values.size(), 10u) << p.bytes;
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](int v) { return std::abs(v - 100) < 6; }));
}

TEST(Recording, AnIndexThatCannotBeWrittenLeavesThePictures) {
  const TemporaryFolder folder;
  const auto record = [&](const char* name) {
    Recording recording(folder / name);
    recording.add(grey(100), 0);
    recording.add(grey(100), 0.3);
    return ended(recording);
  };
  const RecordingProgress whole = record("whole.avi");
  EXPECT_EQ(whole.fault, "");
  RecordingProgress p;
  {
    const FileSizeLimit limit(whole.bytes - 1);
    p = record("v.avi");
  }
  EXPECT_TRUE(
      one_line_with(p.fault, {"v.avi: cannot be written (File too large)", "2 pictures were recorded"}));
  EXPECT_LT(p.bytes, whole.bytes);
  EXPECT_EQ(p.bytes, std::filesystem::file_size(folder / "v.avi"));
  cv::VideoCapture video(folder / "v.avi", cv::CAP_FFMPEG);
  EXPECT_EQ(greys_of(video).size(), 10u);
}

TEST(Recording, ALongPauseIsWrittenUnderTheSameEyes) {
  const TemporaryFolder folder;
  std::atomic<int> asked{0};
  Recording recording(folder / "v.avi", {.free_bytes = [&](const std::string&) {
                        return ++asked > 50 ? uint64_t{0} : uint64_t{1} << 40;
                      }});
  recording.add(grey(100), 0);
  recording.add(grey(200), 3600);
  const RecordingProgress p = ended(recording);
  EXPECT_TRUE(one_line_with(p.fault, {"the disk is full"}));
  EXPECT_EQ(p.pictures, 1u);
  EXPECT_EQ(p.left_out, 1u);
  cv::VideoCapture video(folder / "v.avi", cv::CAP_OPENCV_MJPEG);
  EXPECT_LT(greys_of(video).size(), 60u);
}

TEST(Recording, ItsEndIsAskedForAndComesByItself) {
  const TemporaryFolder folder;
  SlowDisk disk;
  std::atomic<int> woken{0};
  Recording recording(folder / "pictures", {.free_bytes = [&](const std::string&) { return disk.answer(); },
                                            .wake = [&] { ++woken; }});
  for (int i = 0; i < 3; ++i) recording.add(grey(60 * i), i);
  disk.wait_until_asked();
  recording.end();
  EXPECT_TRUE(recording.progress().ending);
  EXPECT_FALSE(recording.progress().ended);
  recording.add(grey(1), 9);  // no part of it any more
  disk.open();
  EXPECT_TRUE(comes([&] { return recording.progress().ended; }));
  EXPECT_FALSE(recording.progress().ending);
  EXPECT_EQ(recording.progress().pictures, 3u) << "what was handed over before is written";
  EXPECT_EQ(recording.progress().left_out, 0u);
  EXPECT_TRUE(comes([&] { return woken == 1; }));
}

TEST(Recording, WhatIsNotWrittenInTimeIsLeftOutAndTheFileClosed) {
  const TemporaryFolder folder;
  SlowDisk disk;
  std::atomic<int> asked{0};
  Recording recording(folder / "v.avi", {.free_bytes = [&](const std::string&) {
                        return ++asked > 5 ? disk.answer() : uint64_t{1} << 40;
                      }});
  for (int i = 0; i < 6; ++i) recording.add(grey(30 * i), i / 30.0);
  disk.wait_until_asked();
  recording.end(0);
  disk.open();
  ASSERT_TRUE(recording.wait(60));
  const RecordingProgress p = recording.progress();
  EXPECT_TRUE(one_line_with(p.fault, {"v.avi", "too slow"}));
  EXPECT_EQ(p.pictures, 3u);
  EXPECT_EQ(p.left_out, 3u);
  cv::VideoCapture video(folder / "v.avi", cv::CAP_OPENCV_MJPEG);
  EXPECT_EQ(greys_of(video).size(), 3u);
}

TEST(Recording, NobodyWaitsForADiskThatHangs) {
  const TemporaryFolder folder;
  const auto disk = std::make_shared<SlowDisk>();
  const auto woken = std::make_shared<std::atomic<int>>(0);
  std::weak_ptr<SlowDisk> left_behind = disk;
  const auto begun = std::chrono::steady_clock::now();
  {
    Recording recording(
        folder / "v.avi",
        {.free_bytes = [disk](const std::string&) { return disk->answer(); }, .wake = [woken] { ++*woken; }});
    recording.add(grey(100), 0);
    disk->wait_until_asked();
    EXPECT_FALSE(recording.close().ended);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  disk->open();
  EXPECT_TRUE(comes([&] { return left_behind.use_count() == 1; })) << "the thread ended, and let go";
  EXPECT_EQ(*woken, 0) << "whom it would have woken is gone";
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
  EXPECT_TRUE(one_line_with(ended(sizes).fault, {"s.avi", "64x48", "80x48", "1 pictures were recorded"}));
}

TEST(Recording, WhatIsThereIsNotWrittenOver) {
  const TemporaryFolder folder;
  write_string(folder / "v.avi", "earlier");
  EXPECT_TRUE(one_line_with(error_of([&] { Recording r(folder / "v.avi"); }), {"v.avi: is there already"}));
  EXPECT_EQ(read_string(folder / "v.avi"), "earlier");

  std::filesystem::create_directory(folder / "pictures");
  write_string(folder / "pictures/notes.txt", "anything else may be there");
  for (const bool first : {true, false}) {
    const std::string fault = error_of([&] {
      Recording recording(folder / "pictures");
      recording.add(grey(1), 0);
      ended(recording);
    });
    EXPECT_TRUE(one_line_with(fault, {first ? "(no error)" : "pictures: holds pictures already"}));
  }
}

TEST(Recording, NamesThatAreFree) {
  const TemporaryFolder folder;
  EXPECT_EQ(free_recording_name(folder / "v.avi"), folder / "v.avi");
  for (const char* taken : {"v.avi", "v-2.avi", "run-2026-12-01.avi", "p/000001.png", "q/notes.txt"}) {
    std::filesystem::create_directories(std::filesystem::path(folder / taken).parent_path());
    write_string(folder / taken, "x");
  }
  EXPECT_EQ(free_recording_name(folder / "v.avi"), folder / "v-3.avi");
  EXPECT_EQ(free_recording_name(folder / "v-2.avi"), folder / "v-3.avi");
  EXPECT_EQ(free_recording_name(folder / "p"), folder / "p-2");
  EXPECT_EQ(free_recording_name(folder / "p/"), folder / "p-2");
  EXPECT_EQ(free_recording_name(folder / "q"), folder / "q") << "holds no pictures";
}

TEST(Recording, WithoutAPictureThereIsNoVideo) {
  const TemporaryFolder folder;
  Recording recording(folder / "v.avi");
  EXPECT_EQ(ended(recording).pictures, 0u);
  EXPECT_EQ(recording.progress().bytes, 0u);
  EXPECT_FALSE(std::filesystem::exists(folder / "v.avi"));
}

TEST(Recording, AFullDiskEndsItAndKeepsWhatIsThere) {
  for (const char* name : {"v.avi", "pictures"}) {
    const TemporaryFolder folder;
    std::atomic<bool> full{false};
    Recording recording(folder / name, {.free_bytes = [&](const std::string&) {
                          return full ? uint64_t{1000000} : uint64_t{1} << 40;
                        }});
    for (int i = 0; i < 3; ++i) recording.add(grey(30 * i), i);
    ASSERT_TRUE(comes([&] { return recording.progress().pictures == 3; }));
    full = true;
    for (int i = 3; i < 6; ++i) recording.add(grey(30 * i), i);
    const RecordingProgress p = ended(recording);
    EXPECT_EQ(p.pictures, 3u) << name;
    EXPECT_TRUE(one_line_with(p.fault, {name, "the disk is full, 1.0 MB", "3 pictures were recorded"}));
    EXPECT_TRUE(std::filesystem::exists(folder / name));
    EXPECT_GT(p.bytes, 100u) << name;
  }
}

}  // namespace
}  // namespace convscope
