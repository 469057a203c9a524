// A source as it is played: paused, stepped, looped, at its end; and anything asked of it in any order.
#include <random>

#include "tests/app_testing.h"
#include "tests/live_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

TEST(LiveSource, EndOfAFileWithAndWithoutLoop) {
  for (const bool loop : {false, true}) {
    SCOPED_TRACE(loop ? "loop" : "once");
    LiveOptions options;
    options.loop = loop;
    const auto start = Clock::now();
    LiveSource source([] { return fake_file(10, 50); }, [] {}, options);
    if (loop) {
      ASSERT_TRUE(comes([&] { return source.status().read >= 26; }, 10));
      EXPECT_GE(seconds_since(start), 0.499) << "25 intervals of 20 ms: the loop wins no time";
      EXPECT_TRUE(is(source, LiveState::playing));
      EXPECT_LT(source.status().index, 10);
      continue;
    }
    ASSERT_TRUE(comes([&] { return is(source, LiveState::ended); }, 5));
    EXPECT_EQ(source.status().read, 10u);
    EXPECT_EQ(number_of(*source.take_newest()), 9u) << "the last frame stays to be taken";
    source.play();
    ASSERT_TRUE(comes([&] { return source.status().read == 20; }, 5)) << "from the start";
  }
}

TEST(LiveSource, AFileWithoutFramesIsNoEndlessLoop) {
  LiveSource source([] { return fake_file(0, 50); }, [] {});
  ASSERT_TRUE(comes([&] { return is(source, LiveState::lost) || is(source, LiveState::failed); }, 3));
  EXPECT_TRUE(one_line_with(source.status().message, {"no frame is in it"}));
}

TEST(LiveSource, PauseStepSeekAndSpeed) {
  LiveOptions options;
  options.playing = false;
  LiveSource source([] { return fake_file(100, 25); }, [] {}, options);
  FramePtr frame = next_frame(source);
  ASSERT_TRUE(frame) << "the first frame is shown though it is paused";
  EXPECT_EQ(number_of(*frame), 0u);
  nap(0.2);
  EXPECT_EQ(source.take_newest(), nullptr);
  EXPECT_TRUE(is(source, LiveState::paused));
  struct Case {
    int64_t step, seek;
    uint32_t index;
  };
  for (const Case& c :
       {Case{1, -1, 1}, Case{1, -1, 2}, Case{-1, -1, 1}, Case{0, 50, 50}, Case{-1, -1, 49}, Case{10, -1, 59},
        Case{-100, -1, 0}, Case{0, 5000, 99}, Case{1, -1, 99}, Case{0, 7, 7}}) {
    SCOPED_TRACE("step " + std::to_string(c.step) + " seek " + std::to_string(c.seek));
    if (c.step != 0) source.step(c.step);
    if (c.seek >= 0) source.seek(c.seek);
    frame = next_frame(source);
    if (c.step == 1 && c.index == 99 && !frame) continue;  // there is none beyond the last
    ASSERT_TRUE(frame);
    EXPECT_EQ(number_of(*frame), c.index);
    EXPECT_EQ(source.status().index, c.index);
  }
  for (const double speed : {1.0, 3.0, 0.5}) {
    SCOPED_TRACE(speed);
    source.set_speed(speed);
    const auto start = Clock::now();
    source.seek(10);
    ASSERT_TRUE(comes([&] { return source.status().index == 10; }, 3));
    source.play();
    int64_t shown = 0;
    ASSERT_TRUE(comes([&] { return (shown = source.status().index - 10) >= 10; }, 10));
    EXPECT_GE(seconds_since(start), static_cast<double>(shown) / (25 * speed) - 0.001) << "faster than set";
    source.pause();
  }
}

TEST(LiveSource, AFrozenCameraShowsThePresentAfterwards) {
  LiveSource source([] { return fake_camera(100); }, [] {});
  ASSERT_TRUE(next_frame(source));
  source.pause();
  nap(0.1);
  source.take_newest();
  const uint64_t read = source.status().read;
  nap(0.5);
  EXPECT_EQ(source.take_newest(), nullptr);
  EXPECT_EQ(source.status().read, read);
  source.step(1);
  const FramePtr frame = next_frame(source);
  ASSERT_TRUE(frame);
  EXPECT_GT(number_of(*frame), read + 5) << "an old frame was kept";
  EXPECT_TRUE(is(source, LiveState::paused));
}

/// Whatever is asked of whatever source in whatever order: the calls return at once, frames come in order.
TEST(LiveSource, RandomFaultsAndCommands) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    LiveOptions options;
    options.retry_seconds = 0.01;
    options.stall_seconds = 0.05;
    options.retry_failed = true;
    std::atomic<unsigned> opened{0};
    LiveSource source(
        [&, seed]() -> std::unique_ptr<FrameReader> {
          const auto random = std::make_shared<std::mt19937>(seed * 1000 + ++opened);
          if ((*random)() % 4 == 0) throw Error("cannot be opened");
          const bool live = (*random)() % 2 == 0;
          return std::make_unique<FakeReader>(
              live ? camera_info(200) : file_info(30, 200),
              [random](FramePool& pool, uint32_t n, ReaderInfo&) -> std::shared_ptr<Frame> {
                const auto dice = (*random)() % 100;
                if (dice < 2) throw Error("lost");
                if (dice < 4) nap(0.1);
                if (dice < 8 || n >= 30) return nullptr;
                nap(0.001);
                return numbered_frame(pool, n, 8 + dice, 4);
              });
        },
        [] {}, options);
    std::mt19937 random(seed);
    uint64_t last_sequence = 0, last_id = 0;
    double slowest = 0;
    for (const auto start = Clock::now(); seconds_since(start) < 0.6;) {
      const auto call = Clock::now();
      switch (random() % 16) {
        case 0:
          source.pause();
          break;
        case 1:
        case 2:
          source.play();
          break;
        case 3:
          source.step(static_cast<int64_t>(random() % 7) - 3);
          break;
        case 4:
          source.seek(static_cast<int64_t>(random() % 60) - 10);
          break;
        case 5:
          source.set_loop(random() % 2 == 0);
          break;
        case 6:
          source.set_speed(0.5 + random() % 8);
          break;
        case 7:
          if (random() % 6 == 0) source.reopen();
          break;
        default:
          break;
      }
      const LiveStatus s = source.status();
      EXPECT_LE(s.dropped, s.read);
      if (const FramePtr f = source.take_newest()) {
        EXPECT_GT(f->sequence, last_sequence);
        EXPECT_GT(f->id, last_id);
        EXPECT_EQ(f->pixels.size(), f->layout.bytes());
        last_sequence = f->sequence;
        last_id = f->id;
      }
      slowest = std::max(slowest, seconds_since(call));
      nap(0.002);
    }
    EXPECT_LT(slowest, 0.3) << "a call waited";
  }
}

}  // namespace
}  // namespace convscope
