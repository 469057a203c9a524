// The parts that streams are made of: barcode, moving patterns, memory, order of names, camera nodes.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <opencv2/imgcodecs.hpp>
#include <random>
#include <set>

#include "app/live/barcode.h"
#include "app/live/camera.h"
#include "app/live/frame_pool.h"
#include "app/live/frame_reader.h"
#include "app/live/live_source.h"
#include "app/live/natural_order.h"
#include "app/live/pace.h"
#include "app/source.h"
#include "kernels/runtime.h"
#include "tests/app_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;
namespace fs = std::filesystem;

/// CRC-8 byte by byte, as its definition goes.
uint8_t crc8(const std::vector<uint8_t>& bytes) {
  unsigned crc = 0;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int i = 0; i < 8; ++i) crc = (crc << 1) ^ (crc & 0x80 ? 0x107 : 0);
  }
  return static_cast<uint8_t>(crc);
}

const std::vector<uint32_t> kNumbers{0, 1, 2, 255, 0x12345678, 0x80000000, 0xfffffffe, 0xffffffff};

TEST(Barcode, CheckSumIsCrc8) {
  EXPECT_EQ(crc8({'1', '2', '3', '4', '5', '6', '7', '8', '9'}), 0xf4) << "the published check value";
  for (const uint32_t n : kNumbers)
    EXPECT_EQ(barcode::check_sum(n), crc8({static_cast<uint8_t>(n >> 24), static_cast<uint8_t>(n >> 16),
                                           static_cast<uint8_t>(n >> 8), static_cast<uint8_t>(n)}))
        << n;
}

cv::Mat noise(int w, int h, int channels) {
  cv::Mat image(h, w, CV_8UC(channels));
  cv::randu(image, 0, 256);
  return image;
}

std::optional<uint32_t> read_mat(const cv::Mat& image) {
  return barcode::read(image.cols, image.rows,
                       [&](int64_t y, int64_t x) {
                         return image.ptr<uint8_t>(static_cast<int>(y))[x * image.channels()];
                       })
      .number();
}

TEST(Barcode, IsReadBackFromPlanesOfAnySizeAndScale) {
  const auto runtime = make_runtime(Target::cpu);
  for (const auto& [w, h] : {std::pair{44, 9}, {45, 10}, {100, 37}, {641, 359}, {1920, 1080}}) {
    for (const int channels : {1, 3}) {
      for (const bool unit : {true, false}) {
        for (const uint32_t number : kNumbers) {
          SCOPED_TRACE(std::to_string(w) + "x" + std::to_string(h) + "x" + std::to_string(channels) + " " +
                       std::to_string(number));
          cv::Mat image = noise(w, h, channels);
          barcode::draw(number, w, h, channels, image.data);
          const PixelLayout layout{.w = w,
                                   .h = h,
                                   .channels = channels,
                                   .planes = channels,
                                   .reverse = channels == 3,
                                   .unit_scale = unit};
          const std::size_t values = static_cast<std::size_t>(w * h * channels);
          std::vector<float> single(values);
          std::vector<double> twice(values);
          runtime->unpack(layout, 1, image.data, Precision::fp32, single.data());
          runtime->unpack(layout, 1, image.data, Precision::fp64, twice.data());
          EXPECT_EQ(barcode::read_plane(single.data(), w, h).number(), number);
          EXPECT_EQ(barcode::read_plane(twice.data() + w * h * (channels - 1), w, h).number(), number);
        }
      }
    }
  }
}

TEST(Barcode, SurvivesLossyCompressionAndALostBorder) {
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    const uint32_t number = random();
    cv::Mat image = noise(704, 400, 3);
    barcode::draw(number, image.cols, image.rows, 3, image.data);
    std::vector<uint8_t> jpeg;
    cv::imencode(".jpg", image, jpeg, {cv::IMWRITE_JPEG_QUALITY, 40});
    const cv::Mat decoded = cv::imdecode(jpeg, cv::IMREAD_COLOR);
    EXPECT_EQ(read_mat(decoded), number);
    EXPECT_EQ(read_mat(image(cv::Rect(1, 1, 702, 398)).clone()), number) << "as after a 3x3 filter, valid";
  }
}

TEST(Barcode, TornAndDamagedFramesAreFoundOut) {
  const int w = 176, h = 96;
  cv::Mat a = noise(w, h, 1), b = a.clone();
  barcode::draw(1000, w, h, 1, a.data);
  barcode::draw(1001, w, h, 1, b.data);
  for (int split = 1; split < h; ++split) {
    cv::Mat torn = a.clone();
    b.rowRange(split, h).copyTo(torn.rowRange(split, h));
    // one band may be split itself; at the ends the torn part is inside the last or first band
    const auto read = barcode::read(w, h, [&](int64_t y, int64_t x) {
      return torn.at<uint8_t>(static_cast<int>(y), static_cast<int>(x));
    });
    if (split >= 8 && split <= h - 8) {
      EXPECT_TRUE(read.torn()) << split;
      EXPECT_EQ(read.number(), std::nullopt) << split;
    }
  }
  int accepted = 0;
  for (int i = 0; i < 2000; ++i) accepted += read_mat(noise(w, h, 1)).has_value();
  EXPECT_EQ(accepted, 0) << "noise taken for a number";
  EXPECT_EQ(read_mat(cv::Mat::zeros(h, w, CV_8U)), std::nullopt);
}

/// So many frames of a stream.
std::vector<std::shared_ptr<Frame>> frames_of(const std::string& source, int count, FramePool& pool) {
  const auto reader = open_reader(source);
  std::vector<std::shared_ptr<Frame>> frames;
  for (int i = 0; i < count; ++i) frames.push_back(reader->read(pool));
  return frames;
}

TEST(MovingPatterns, StartAsTheStillOnesAndMove) {
  for (const PatternInfo& info : patterns()) {
    for (const char* size : {"64x48", "101x77x3"}) {
      const std::string still = "pattern:" + info.name + ":" + size;
      SCOPED_TRACE(still);
      FramePool pool;
      const auto frames = frames_of(still + ":fps=10", 6, pool);
      const FramePtr first = open_source(still);
      ASSERT_EQ(frames[0]->layout, first->layout);
      ASSERT_EQ(frames[0]->pixels.size(), first->pixels.size());
      int most = 0;
      for (std::size_t i = 0; i < first->pixels.size(); ++i)
        most = std::max(
            most, std::abs(static_cast<int>(frames[0]->pixels[i]) - static_cast<int>(first->pixels[i])));
      EXPECT_LE(most, info.name == "zone_plate" ? 1 : 0);
      for (int i = 0; i < 6; ++i) {
        const Frame& f = *frames[static_cast<std::size_t>(i)];
        EXPECT_EQ(f.index, i);
        EXPECT_EQ(f.seconds, i / 10.0);
        EXPECT_EQ(f.sequence, static_cast<uint64_t>(i + 1));
        if (i == 0 || info.name == "constant") continue;
        const Frame& before = *frames[static_cast<std::size_t>(i - 1)];
        EXPECT_NE(std::memcmp(f.pixels.data(), before.pixels.data(), f.pixels.size()), 0) << "frame " << i;
      }
    }
  }
}

TEST(MovingPatterns, TheFrameNumberIsInEachFrameThoughMemoryIsSharedWithOthers) {
  FramePool pool;
  const auto a = open_reader("pattern:barcode:160x90:fps=30"),
             b = open_reader("pattern:barcode:160x90:fps=30");
  const auto other = open_reader("pattern:checker:160x90x3:fps=30");
  b->seek(500);
  const FramePtr background = open_source("pattern:barcode:160x90");
  for (uint32_t i = 0; i < 50; ++i) {
    for (const auto& [reader, number] : {std::pair{a.get(), i}, {b.get(), 500 + i}}) {
      const auto frame = reader->read(pool);
      const cv::Mat image(90, 160, CV_8UC3, frame->pixels.data());
      EXPECT_EQ(read_mat(image), number);
      // between the bands it is the chart
      for (int y = 20; y < 30; ++y)
        ASSERT_EQ(std::memcmp(image.ptr(y), background->pixels.data() + y * 480, 480), 0)
            << i << " row " << y;
    }
    other->read(pool);
  }
  EXPECT_LE(pool.made(), 2u);
}

TEST(MovingPatterns, FaultsAreOneLine) {
  struct Case {
    const char *source, *part;
  };
  for (const Case& c :
       {Case{"pattern:chart:fps=0", "fps=0 is not a number within"}, Case{"pattern:chart:fps=x", "fps=x"},
        Case{"pattern:chart:fps=", "fps="}, Case{"pattern:nothing:fps=30", "no pattern \"nothing\""},
        Case{"pattern:chart:0x5:fps=30", "width 0"}, Case{"pattern:chart:fps=1e9", "1e9"}})
    EXPECT_TRUE(one_line_with(error_of([&] { open_reader(c.source); }), {"pattern:", c.part})) << c.source;
}

TEST(FramePool, MemoryIsUsedAgainAndOutlivesThePool) {
  auto pool = std::make_unique<FramePool>();
  std::set<const std::byte*> seen;
  for (int i = 0; i < 100; ++i) {
    const auto a = pool->take(1000), b = pool->take(1000);
    EXPECT_NE(a->pixels.data(), b->pixels.data());
    seen.insert({a->pixels.data(), b->pixels.data()});
  }
  EXPECT_EQ(pool->made(), 2u);
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_EQ(pool->free(), 2u);
  // copies share the bytes: the memory is lent as long as one of them lives
  Frame copy = *pool->take(1000);
  EXPECT_EQ(pool->free(), 1u);
  std::vector<std::shared_ptr<Frame>> many;
  for (int i = 0; i < 40; ++i) many.push_back(pool->take(500));
  many.clear();
  EXPECT_LE(pool->free(), 6u) << "what a burst needed is given back";
  pool.reset();
  std::fill_n(copy.pixels.data(), 1000, std::byte{1});
}

TEST(FramePool, OtherMemoryFromNowOn) {
  struct Counted : Buffer {
    explicit Counted(std::size_t n, int& living) : bytes(n), living_(living) {
      data_ = bytes.data(), bytes_ = n;
      ++living_;
    }
    ~Counted() override { --living_; }
    std::vector<std::byte> bytes;
    int& living_;
  };
  int living = 0;
  {
    FramePool pool;
    const auto before = pool.take(64);
    pool.allocate_with([&](std::size_t n) { return std::make_unique<Counted>(n, living); }, true);
    EXPECT_FALSE(before->pixels.pinned());
    auto frame = pool.take(64);
    EXPECT_TRUE(frame->pixels.pinned());
    EXPECT_EQ(living, 1);
    pool.allocate_with(nullptr, true);
    EXPECT_EQ(living, 1) << "freed under a frame";
    frame.reset();
    EXPECT_EQ(living, 0) << "memory of the former kind was kept";
    EXPECT_FALSE(pool.take(64)->pixels.pinned());
  }
}

/// Frames at these times of a file are shown as they are due, or so much later; when each of them is due, in
/// seconds from the first.
TEST(Pace, FramesAreDueByTheirTimesAndLateOnesAreNotCaughtUp) {
  struct Row {
    const char* what;
    double speed;
    std::vector<double> seconds, late, due;
  };
  const Row table[] = {
      {"as it was taken", 1, {0, 0.04, 0.08, 0.2}, {0, 0, 0, 0}, {0, 0.04, 0.08, 0.2}},
      {"three times as fast", 3, {0, 0.3, 0.6}, {0, 0, 0}, {0, 0.1, 0.2}},
      {"at half the speed", 0.5, {1, 1.04, 1.08}, {0, 0, 0}, {0, 0.08, 0.16}},
      {"a moment late: the others stay where they are", 1, {0, 0.2, 0.4}, {0, 0.05, 0}, {0, 0.2, 0.4}},
      {"later: all others are so too", 1, {0, 0.2, 0.4, 0.6}, {0, 0.5, 0, 0}, {0, 0.2, 0.9, 1.1}},
  };
  using Clock = Pace::Clock;
  const auto in = [](double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  const Clock::time_point zero{std::chrono::hours(1)};
  for (const Row& row : table) {
    Pace pace;
    pace.shown(row.seconds[0], zero, zero);
    for (std::size_t i = 1; i < row.seconds.size(); ++i) {
      const Clock::time_point due = pace.due(row.seconds[i], 0.1, row.speed);
      EXPECT_NEAR(std::chrono::duration<double>(due - zero).count(), row.due[i], 1e-6)
          << row.what << " " << i;
      pace.shown(row.seconds[i], due, due + in(row.late[i]));
    }
  }
}

TEST(Pace, AfterAPauseOrAtALoopTheNextFollowsAnIntervalAfterTheLast) {
  const Pace::Clock::time_point zero{std::chrono::hours(1)};
  Pace pace;
  EXPECT_EQ(pace.due(5, 0.5, 1), Pace::Clock::time_point{}) << "nothing was shown: at once";
  pace.shown(5, zero, zero);
  pace.restart();
  EXPECT_EQ(pace.due(9, 0.5, 2), zero + std::chrono::milliseconds(250));
  // a loop, which starts at 0 again
  const Pace::Clock::time_point again = pace.due(0, 0.5, 1);
  EXPECT_EQ(again, zero + std::chrono::milliseconds(500));
  pace.shown(0, again, again);
  EXPECT_EQ(pace.due(0.5, 0.5, 1), again + std::chrono::milliseconds(500));
}

TEST(NaturalOrder, NumbersByTheirValue) {
  const std::vector<std::string> sorted{"",
                                        "a",
                                        "a1",
                                        "a1b",
                                        "a01b2",
                                        "a1b10",
                                        "a2",
                                        "a10",
                                        "a010b",
                                        "a99999999999999999999",
                                        "a100000000000000000000",
                                        "b-0001",
                                        "b-2",
                                        "b-00010"};
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    std::vector<std::string> names = sorted;
    std::shuffle(names.begin(), names.end(), random);
    std::sort(names.begin(), names.end(), natural_less);
    EXPECT_EQ(names, sorted);
  }
  for (const std::string& a : sorted) EXPECT_FALSE(natural_less(a, a));
}

TEST(Streams, WhichOfThemMayCome) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  write_string(folder / "broken.mp4", "no video");
  struct Row {
    std::string source;
    bool stream, may_come;
  };
  for (const Row& row :
       {Row{"camera:97", true, true}, Row{"camera:97:640x480", true, true}, Row{"/dev/video97", true, true},
        Row{"camera:front", true, false}, Row{"rtsp://nowhere/stream", true, true},
        Row{"http://nowhere/a.mp4", true, true}, Row{"file:///nowhere/a.mp4", true, false},
        Row{folder / "pipe", true, true}, Row{folder / "broken.mp4", true, false},
        Row{folder / "missing.mp4", true, false}, Row{folder / "missing.png", false, false},
        Row{"pattern:chart:fps=30", true, false}, Row{"gst:nosuch", true, false}}) {
    EXPECT_EQ(is_stream(row.source), row.stream) << row.source;
    EXPECT_EQ(may_come(row.source), row.may_come) << row.source;
  }
}

TEST(Camera, SourceIsTakenApart) {
  struct Case {
    const char* source;
    int number, w, h;
    double fps;
  };
  for (const Case& c : {Case{"camera:0", 0, 0, 0, 0}, Case{"camera:12:1280x720", 12, 1280, 720, 0},
                        Case{"camera:1:640x480:fps=60", 1, 640, 480, 60},
                        Case{"camera:2:fps=12.5", 2, 0, 0, 12.5}, Case{"/dev/video3", 3, 0, 0, 0}}) {
    const CameraRequest r = parse_camera(c.source);
    EXPECT_EQ(std::tuple(r.number, r.w, r.h, r.fps), std::tuple(c.number, c.w, c.h, c.fps)) << c.source;
  }
  for (const char* source :
       {"camera:", "camera:-1", "camera:x", "camera:0:", "camera:0:640", "camera:0:0x480",
        "camera:0:640x480x3", "camera:0:fps=0", "camera:0:fps=", "camera:1 "})
    EXPECT_TRUE(one_line_with(error_of([&] { parse_camera(source); }), {source, "expected camera:N"}));
}

TEST(Camera, NodesAreLookedAtBeforeTheLibrary) {
  const TemporaryFolder folder;
  write_string(folder / "video0", "no device");
  EXPECT_NE(camera_fault(folder / "video9").find("there is no such camera"), std::string::npos);
  EXPECT_NE(camera_fault(folder / "video0").find("is no device"), std::string::npos);
  EXPECT_NE(camera_fault("/dev/null").find("is no video device"), std::string::npos);
  EXPECT_TRUE(one_line_with(error_of([] { open_reader("camera:97"); }),
                            {"camera:97: /dev/video97: there is no such camera"}));
}

TEST(Camera, WhyItCannotBeOpened) {
  struct Row {
    int error;
    const char* words;
  };
  for (const Row& row :
       {Row{ENOENT, "there is no such camera"}, Row{ENODEV, "there is no such camera"},
        Row{ENXIO, "there is no such camera"},
        Row{EACCES, "no permission; your user has to be in the group \"video\""},
        Row{EPERM, "no permission; your user has to be in the group \"video\""},
        Row{EBUSY, "used by another program"}, Row{EIO, "cannot be opened: Input/output error"}})
    EXPECT_EQ(camera_open_fault("/dev/video3", row.error), std::string("/dev/video3: ") + row.words);
}

TEST(Camera, ListedByNumberWithNameAndReason) {
  const TemporaryFolder folder;
  for (const auto& [node, name] :
       {std::pair{"video10", "Tenth"}, {"video2", "Second"}, {"v4l-subdev0", "none"}}) {
    fs::create_directories(folder / (std::string("class/") + node));
    write_string(folder / (std::string("class/") + node + "/name"), std::string(name) + "\n");
  }
  const std::vector<CameraNode> cameras = list_cameras(folder / "class", folder / "dev");
  ASSERT_EQ(cameras.size(), 2u);
  EXPECT_EQ(cameras[0].number, 2);
  EXPECT_EQ(cameras[0].name, "Second");
  EXPECT_EQ(cameras[1].number, 10);
  EXPECT_NE(cameras[1].fault.find("video10: there is no such camera"), std::string::npos);
  EXPECT_TRUE(list_cameras(folder / "nothing", "/dev").empty());
}

}  // namespace
}  // namespace convscope
