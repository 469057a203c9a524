// Real videos, made here, read back frame by frame; pipes; and one line for each fault.
#include <fcntl.h>
#include <sys/stat.h>

#include <opencv2/videoio.hpp>
#include <random>

#include "app/live/frame_reader.h"
#include "app/source.h"
#include "tests/app_testing.h"
#include "tests/barcode_testing.h"
#include "tests/image_testing.h"
#include "tests/live_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

TEST(VideoReader, EveryFrameInOrderWithItsTimeAndWhereverOneJumps) {
  const TemporaryFolder folder;
  struct Case {
    const char *name, *code, *format;
  };
  for (const Case& c :
       {Case{"a.avi", "MJPG", "MJPG"}, Case{"a.mp4", "mp4v", "mp4v"}, Case{"a.mkv", "FFV1", "FFV1"}}) {
    SCOPED_TRACE(c.name);
    const std::string path = folder / c.name;
    if (!write_video(path, c.code, 40, 25)) {
      EXPECT_STRNE(c.code, "MJPG") << "OpenCV has that encoder itself";
      continue;
    }
    ASSERT_TRUE(is_stream(path));
    const auto reader = open_reader(path);
    const ReaderInfo& info = reader->info();
    EXPECT_EQ(info.kind, "video");
    EXPECT_EQ(info.fps, 25);
    EXPECT_EQ(info.frames, 40);
    EXPECT_NEAR(info.seconds, 1.6, 1e-9);
    EXPECT_EQ(info.format.substr(0, 4), c.format);
    EXPECT_TRUE(info.seekable && !info.live);
    FramePool pool;
    for (int i = 0; i < 40; ++i) {
      const auto frame = reader->read(pool);
      ASSERT_TRUE(frame) << i;
      EXPECT_EQ(number_in(*frame), static_cast<uint32_t>(i));
      EXPECT_EQ(frame->index, i);
      EXPECT_NEAR(frame->seconds, i / 25.0, 0.002);
      EXPECT_EQ(frame->layout.w, 352);
      EXPECT_TRUE(frame->layout.reverse);
    }
    EXPECT_EQ(reader->read(pool), nullptr);
    EXPECT_EQ(reader->info().note, "");
    std::mt19937 random(5);
    for (int i = 0; i < 30; ++i) {
      const auto index = static_cast<int64_t>(random() % 40);
      reader->seek(index);
      for (int64_t k = index; k < std::min<int64_t>(40, index + 2); ++k) {
        const auto frame = reader->read(pool);
        ASSERT_TRUE(frame) << k;
        EXPECT_EQ(number_in(*frame), static_cast<uint32_t>(k));
        EXPECT_NEAR(frame->seconds, static_cast<double>(k) / 25, 0.002);
      }
    }
    EXPECT_LE(pool.made(), 3u) << "memory was not used again";
  }
}

TEST(VideoReader, LoopsThroughALiveSourceInTime) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_video(folder / "a.avi", "MJPG", 20, 50));
  const auto source = open_live(folder / "a.avi", {}, [] {});
  const auto start = Clock::now();
  std::vector<uint32_t> numbers;
  comes(
      [&] {
        if (const FramePtr f = source->take_newest()) numbers.push_back(number_in(*f).value_or(9999));
        return numbers.size() >= 45;
      },
      10);
  ASSERT_EQ(numbers.size(), 45u);
  EXPECT_GT(seconds_since(start), 0.8) << "faster than 50 frames a second";
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    // a loaded machine may miss some; none comes twice, in another order or as another
    const uint32_t step = (numbers[i] + 20 - numbers[i - 1]) % 20;
    EXPECT_TRUE(step >= 1 && step < 10) << numbers[i - 1] << " then " << numbers[i];
  }
}

/// Sets the display matrix of the picture track in an MP4 file: a quarter turn clockwise (ISO
/// 14496-12, 8.3.2).
void turn_right(std::string& mp4) {
  const std::size_t box = mp4.find("tkhd");
  ASSERT_NE(box, std::string::npos);
  // version 0: flags, three times, duration, reserved, layer, group, volume
  const std::size_t matrix = box + 4 + 4 + 5 * 4 + 8 + 4 * 2;
  const uint32_t values[9] = {0, 0x10000, 0, 0xffff0000, 0, 0, 0, 0, 0x40000000};
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t k = 0; k < 4; ++k)
      mp4[matrix + i * 4 + k] = static_cast<char>(values[i] >> (24 - 8 * k) & 0xff);
}

TEST(VideoReader, RotationOfTheMetadataIsAppliedOnce) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.mp4";
  {
    cv::VideoWriter writer(path, cv::CAP_FFMPEG, cv::VideoWriter::fourcc('m', 'p', '4', 'v'), 25, {128, 64});
    if (!writer.isOpened()) GTEST_SKIP() << "OpenCV cannot write MP4 here";
    cv::Mat colour;
    cv::merge(std::vector<cv::Mat>(3, quadrants(128, 64)), colour);
    for (int i = 0; i < 5; ++i) writer.write(colour);
  }
  std::string bytes = read_string(path);
  turn_right(bytes);
  write_string(path, bytes);
  const FramePtr frame = open_source(path);
  ASSERT_EQ(frame->layout.w, 64);
  ASSERT_EQ(frame->layout.h, 128);
  const auto at = [&](int x, int y) {
    return (static_cast<int>(frame->pixels[static_cast<std::size_t>((y * 64 + x) * 3)]) + 40) / 80;
  };
  // what was at the left bottom (2) is at the left top
  EXPECT_EQ((std::array{at(16, 32), at(48, 32), at(16, 96), at(48, 96)}), (std::array{2, 0, 3, 1}));
  EXPECT_NE(open_reader(path)->info().note.find("turned by 90 degrees"), std::string::npos);
}

/// JPEGs one after the other, which FFmpeg takes for a video.
std::string motion_jpeg(const std::vector<cv::Mat>& pictures) {
  std::string bytes;
  for (const cv::Mat& picture : pictures) bytes += encoded(".jpg", picture);
  return bytes;
}

TEST(VideoReader, SizeThatChangesInMidStreamIsFollowedOrTold) {
  const TemporaryFolder folder;
  std::vector<cv::Mat> pictures;
  for (uint32_t i = 0; i < 40; ++i)
    pictures.push_back(barcode_picture(i, i < 6 ? 352 : 480, i < 6 ? 192 : 270));
  write_string(folder / "a.mjpeg", motion_jpeg(pictures));
  const auto reader = open_reader(folder / "a.mjpeg");
  FramePool pool;
  bool followed = true;
  for (uint32_t i = 0; i < 40; ++i) {
    const auto frame = reader->read(pool);
    ASSERT_TRUE(frame) << i;
    EXPECT_EQ(frame->layout.w, reader->info().w);
    EXPECT_EQ(frame->pixels.size(), frame->layout.bytes());
    followed &= number_in(*frame) == i;
  }
  if (!followed) {
    EXPECT_TRUE(one_line_with(reader->info().note, {"the same picture since frame 5", "another size"}));
  }
}

TEST(VideoReader, ANamedPipeIsPlayedToItsEnd) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::vector<cv::Mat> pictures;
  for (uint32_t i = 0; i < 8; ++i) pictures.push_back(barcode_picture(i));
  std::thread writer([&, bytes = motion_jpeg(pictures)] { std::ofstream(pipe, std::ios::binary) << bytes; });
  ASSERT_TRUE(is_stream(pipe));
  FramePool pool;
  uint32_t count = 0;
  {
    const auto reader = open_reader(pipe);
    EXPECT_EQ(reader->info().kind, "stream");
    EXPECT_FALSE(reader->info().seekable);
    while (const auto frame = reader->read(pool)) EXPECT_EQ(number_in(*frame), count++);
  }
  writer.join();
  EXPECT_EQ(count, 8u);
}

TEST(VideoReader, APipeThatNobodyWritesToHoldsNobodyUp) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  {
    const auto source = open_live(pipe, {}, [] {});
    ASSERT_TRUE(comes([&] { return !source->status().message.empty(); }, 3));
    EXPECT_EQ(source->status().state, LiveState::opening);
    const auto start = Clock::now();
    source->close();
    EXPECT_LT(seconds_since(start), 0.5);
  }
  // lets the thread go that was left behind
  ::close(::open(pipe.c_str(), O_WRONLY | O_NONBLOCK));
  nap(0.2);
}

TEST(VideoReader, FaultsAreOneLine) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_video(folder / "a.avi", "MJPG", 40, 25));
  const std::string avi = read_string(folder / "a.avi");
  write_string(folder / "half.avi", avi.substr(0, avi.size() / 2));
  write_string(folder / "empty.mp4", "");
  write_string(folder / "text.mp4", "no video");
  struct Case {
    std::string name;
    std::vector<std::string> parts;
  };
  const Case cases[] = {
      {folder / "missing.mp4", {"missing.mp4", "No such file"}},
      {folder / "empty.mp4", {"is empty (0 bytes)"}},
      {folder / "text.mp4", {"cannot be read as a video"}},
      {"http://127.0.0.1:9/nothing.mp4", {"http://127.0.0.1:9/nothing.mp4", "cannot be opened"}},
  };
  for (const Case& c : cases) {
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(one_line_with(error_of([&] { open_source(c.name); }), c.parts));
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << c.name << ": the library spoke for itself";
  }
  FramePool pool;
  const auto half = open_reader(folder / "half.avi");
  int count = 0;
  while (half->read(pool)) ++count;
  EXPECT_GT(count, 5);
  EXPECT_LT(count, 30);
  EXPECT_NE(half->info().note.find("40 were announced"), std::string::npos) << half->info().note;
  EXPECT_TRUE(one_line_with(error_of([&] { open_source(folder / "a.avi", {.frame = 40}); }),
                            {"has 40 frames", "frame 40 was asked for"}));
  EXPECT_EQ(number_in(*open_source(folder / "a.avi", {.frame = 39})), 39u);
}

}  // namespace
}  // namespace convscope
