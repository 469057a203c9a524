// Real image sequences and pipelines, made here, read back frame by frame; and one line for each fault.
#include <opencv2/imgcodecs.hpp>

#include "app/live/frame_reader.h"
#include "app/live/gst_parse.h"
#include "app/source.h"
#include "tests/app_testing.h"
#include "tests/barcode_testing.h"
#include "tests/image_testing.h"
#include "tests/live_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;
namespace fs = std::filesystem;

TEST(SequenceReader, NaturalOrderNumberedPatternsAndWildcards) {
  const TemporaryFolder folder;
  for (const int i : {1, 2, 3, 9, 10, 11, 100}) {
    write_string(folder / ("shot" + std::to_string(i) + ".png"),
                 encoded(".png", barcode_picture(static_cast<uint32_t>(i), 88, 18)));
  }
  for (const int i : {0, 1, 9999, 12345}) {
    char name[32];
    std::snprintf(name, sizeof name, "frame_%04d.jpg", i);
    write_string(folder / name, encoded(".jpg", barcode_picture(static_cast<uint32_t>(i))));
  }
  write_string(folder / "frame_7.jpg", encoded(".jpg", barcode_picture(7)));
  write_string(folder / "readme.txt", "no picture");
  write_string(folder / ".hidden.png", "none");
  fs::create_directory(folder / "shot4.png");
  struct Case {
    std::string source;
    std::vector<uint32_t> numbers;
  };
  const Case cases[] = {
      {folder / "", {0, 1, 7, 9999, 12345, 1, 2, 3, 9, 10, 11, 100}},
      {folder / "shot%d.png", {1, 2, 3, 9, 10, 11, 100}},
      {folder / "frame_%04d.jpg", {0, 1, 9999, 12345}},
      {folder / "frame_%d.jpg", {0, 1, 7, 9999, 12345}},
      {folder / "shot1*.png", {1, 10, 11, 100}},
      {folder / "shot?.png", {1, 2, 3, 9}},
      {folder / "*[.]*", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.source);
    ASSERT_TRUE(is_stream(c.source));
    if (c.numbers.empty()) {
      EXPECT_TRUE(one_line_with(error_of([&] { open_reader(c.source); }), {"no file has such a name"}));
      continue;
    }
    const auto reader = open_reader(c.source, {.rate = 12.5});
    EXPECT_EQ(reader->info().frames, static_cast<int64_t>(c.numbers.size()));
    EXPECT_EQ(reader->info().fps, 12.5);
    FramePool pool;
    for (std::size_t i = 0; i < c.numbers.size(); ++i) {
      const auto frame = reader->read(pool);
      ASSERT_TRUE(frame) << i;
      EXPECT_EQ(number_in(*frame), c.numbers[i]) << i;
      EXPECT_EQ(frame->seconds, static_cast<double>(i) / 12.5);
    }
    EXPECT_EQ(reader->read(pool), nullptr);
    reader->seek(2);
    EXPECT_EQ(number_in(*reader->read(pool)), c.numbers[2]);
  }
}

TEST(SequenceReader, ADamagedFileIsLeftOutAndNamed) {
  const TemporaryFolder folder;
  const std::string png = encoded(".png", barcode_picture(5));
  write_string(folder / "1.png", png);
  write_string(folder / "2.png", png.substr(0, png.size() / 2));
  write_string(folder / "3.png", png);
  const auto reader = open_reader(folder / "");
  FramePool pool;
  EXPECT_EQ(reader->read(pool)->index, 0);
  EXPECT_EQ(reader->read(pool)->index, 2);
  EXPECT_TRUE(one_line_with(reader->info().note, {"left out", "2.png", "truncated PNG"}));
  EXPECT_EQ(reader->read(pool), nullptr);
  const TemporaryFolder bad;
  write_string(bad / "1.png", "none");
  write_string(bad / "2.png", "none");
  EXPECT_TRUE(one_line_with(error_of([&] { open_source(bad / ""); }), {"2.png", "is not an image"}));
  EXPECT_TRUE(
      one_line_with(error_of([&] { open_source(bad / "shot_%03d.png"); }), {"no file has such a name"}));
  EXPECT_TRUE(one_line_with(error_of([&] { open_source(bad / "nowhere/x%d.png"); }), {"cannot be listed"}));
}

bool has_test_source() { return pipeline_fault("videotestsrc ! fakesink").empty(); }

TEST(GstReader, PipelinesWithAndWithoutASink) {
  if (!has_test_source()) GTEST_SKIP() << "GStreamer has no videotestsrc here";
  const std::string source = "videotestsrc num-buffers=10 ! video/x-raw,width=160,height=120,framerate=20/1";
  for (const std::string& pipeline :
       {"gst:" + source, "gst:" + source + " ! videoconvert ! video/x-raw,format=BGR ! appsink"}) {
    SCOPED_TRACE(pipeline);
    FramePool pool;
    const auto reader = open_reader(pipeline);
    const auto start = Clock::now();
    EXPECT_EQ(reader->info().fps, 20);
    EXPECT_TRUE(reader->info().live);
    int count = 0;
    while (const auto frame = reader->read(pool)) {
      EXPECT_EQ(frame->layout.w, 160);
      EXPECT_EQ(frame->layout.h, 120);
      EXPECT_EQ(frame->layout.channels, 3);
      // SMPTE bars: white at the left, in each of the three
      for (std::size_t k = 0; k < 3; ++k) EXPECT_GT(static_cast<int>(frame->pixels[k]), 160);
      ++count;
    }
    EXPECT_EQ(count, 10);
    EXPECT_GT(seconds_since(start), 0.35) << "it is paced by its own clock";
    EXPECT_LE(pool.made(), 3u);
  }
}

TEST(GstReader, FaultsAreOneLine) {
  struct Case {
    const char* source;
    std::vector<std::string> parts;
  };
  std::vector<Case> cases{{"gst:", {"gst:", "no pipeline"}}, {"gst:  ", {"no pipeline"}}};
  if (has_test_source()) {
    cases.push_back({"gst:nosuchelement", {"nosuchelement", "no element"}});
    cases.push_back({"gst:videotestsrc ! ! appsink", {"GStreamer does not take this pipeline"}});
    cases.push_back({"gst:videotestsrc nonsense=3", {"nonsense"}});
    cases.push_back({"gst:filesrc location=/nowhere/at/all ! decodebin", {"does not start"}});
  }
  for (const Case& c : cases) {
    ::testing::internal::CaptureStderr();
    EXPECT_TRUE(one_line_with(error_of([&] { open_source(c.source); }), c.parts)) << c.source;
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << c.source;
  }
}

TEST(GstReader, APipelineThatSleepsIsToldOfAndClosedWithinASecond) {
  if (!has_test_source()) GTEST_SKIP() << "GStreamer has no videotestsrc here";
  {
    // its first frame comes after 3 s
    const auto source = open_live("gst:videotestsrc ! identity sleep-time=3000000", {}, [] {});
    ASSERT_TRUE(comes([&] { return !source->status().message.empty(); }, 2.5));
    const auto start = Clock::now();
    source->close();
    EXPECT_LT(seconds_since(start), 0.5);
  }
  nap(4);  // the thread left behind comes to its end
}

TEST(Streams, AreToldFromStillsByNameAndContent) {
  const TemporaryFolder folder;
  write_string(folder / "a.png", encoded(".png", barcode_picture(1)));
  ASSERT_TRUE(write_video(folder / "a.avi", "MJPG", 3, 25));
  fs::copy_file(folder / "a.avi", folder / "nameless");
  struct Case {
    std::string source;
    bool stream;
  };
  for (const Case& c :
       {Case{"", false}, Case{"pattern:chart", false}, Case{"pattern:chart:fps=30", true},
        Case{"camera:0", true}, Case{"gst:videotestsrc", true}, Case{"rtsp://host/x", true},
        Case{"https://host/x.mp4", true}, Case{folder / "a.png", false}, Case{folder / "a.avi", true},
        Case{folder / "nameless", true}, Case{folder / "", true}, Case{folder / "x.mp4", true},
        Case{folder / "x.png", false}, Case{folder / "x%03d.png", true}, Case{folder / "*.png", true},
        Case{folder / "50%.png", false}, Case{"/dev/null", false}})
    EXPECT_EQ(is_stream(c.source), c.stream) << c.source;
}

}  // namespace
}  // namespace convscope
