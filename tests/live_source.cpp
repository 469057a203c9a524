// Every fault of a live source (C25), made up: what is shown, how soon, and that nobody ever waits.
#include "app/live/live_source.h"

#include <sys/resource.h>

#include "tests/app_testing.h"
#include "tests/live_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

TEST(LiveSource, StallIsShownWithinTwoSecondsAndEndsByItself) {
  std::atomic<int> wakes{0};
  LiveSource source([] { return fake_camera(50, [](uint32_t n) { return n == 10 ? 3.5 : 0.0; }); },
                    [&] { ++wakes; });
  ASSERT_TRUE(comes([&] { return source.status().read >= 10; }, 5));
  const auto silence = Clock::now();
  EXPECT_TRUE(is(source, LiveState::playing));
  source.take_newest();
  nap(0.1);
  const int before = wakes;
  ASSERT_TRUE(comes([&] { return wakes > before; }, 3)) << "nobody was told of the stall";
  EXPECT_LT(seconds_since(silence), 2);
  EXPECT_TRUE(is(source, LiveState::stalled));
  EXPECT_TRUE(one_line_with(source.status().message, {"no new frame since", "open it again"}));
  EXPECT_EQ(source.take_newest(), nullptr);
  ASSERT_TRUE(comes([&] { return is(source, LiveState::playing); }, 4));
  EXPECT_EQ(source.status().message, "");
}

TEST(LiveSource, TheSamePictureForEverIsAStall) {
  LiveSource source(
      [] {
        return std::make_unique<FakeReader>(camera_info(), [](FramePool& pool, uint32_t, ReaderInfo&) {
          nap(0.03);
          return numbered_frame(pool, 5);
        });
      },
      [] {});
  const auto start = Clock::now();
  ASSERT_TRUE(comes([&] { return is(source, LiveState::stalled); }, 3));
  EXPECT_LT(seconds_since(start), 2);
  EXPECT_TRUE(one_line_with(source.status().message, {"the same picture since", "none differs"}));
}

TEST(LiveSource, EqualFramesOfAFileAreNoStall) {
  LiveOptions options;
  options.stall_seconds = 1;
  LiveSource source(
      [] {
        return std::make_unique<FakeReader>(file_info(1000, 50), [](FramePool& pool, uint32_t, ReaderInfo&) {
          return numbered_frame(pool, 5);
        });
      },
      [] {}, options);
  for (const auto start = Clock::now(); seconds_since(start) < 2; nap(0.01))
    ASSERT_FALSE(is(source, LiveState::stalled));
}

TEST(LiveSource, LostIsSaidAndItComesBackByItself) {
  std::atomic<int> opened{0};
  LiveOptions options;
  options.retry_seconds = 0.3;
  LiveSource source(
      [&]() -> std::unique_ptr<FrameReader> {
        const int time = ++opened;
        if (time == 2 || time == 3) throw Error("camera:7: there is no such camera");
        return std::make_unique<FakeReader>(camera_info(),
                                            [time](FramePool& pool, uint32_t number, ReaderInfo&) {
                                              nap(0.01);
                                              if (time == 1 && number == 20)
                                                throw Error("camera:7: no frame comes any more; unplugged?");
                                              return numbered_frame(pool, number);
                                            });
      },
      [] {}, options);
  ASSERT_TRUE(comes([&] { return is(source, LiveState::lost); }, 3));
  EXPECT_TRUE(one_line_with(source.status().message, {"unplugged?", "trying again every 0.3 seconds"}));
  const uint64_t read = source.status().read;
  ASSERT_TRUE(comes([&] { return opened == 2; }, 2));
  EXPECT_TRUE(is(source, LiveState::lost)) << "while it is being tried again";
  ASSERT_TRUE(comes([&] { return is(source, LiveState::playing); }, 3));
  ASSERT_TRUE(comes([&] { return source.status().read > read; }, 3));
  EXPECT_EQ(opened, 4);
  EXPECT_GT(next_frame(source)->sequence, read) << "the count goes on";
}

TEST(LiveSource, RealRateAndSizeAreShownBesideTheClaimedOnes) {
  struct Case {
    double claimed, real;
    int64_t w, h;
  };
  for (const Case& c : {Case{30, 4, 16, 8}, Case{30, 90, 16, 8}, Case{30, 30, 24, 5}}) {
    SCOPED_TRACE(std::to_string(c.real) + " fps, " + std::to_string(c.w));
    LiveSource source(
        [&] {
          ReaderInfo info = camera_info(c.claimed);
          info.w = 16, info.h = 8;
          // by a clock of its own, as a sensor has one: naps add up
          return std::make_unique<FakeReader>(
              info, [&, start = Clock::now()](FramePool& pool, uint32_t number, ReaderInfo&) {
                std::this_thread::sleep_until(start + std::chrono::duration<double>((number + 1) / c.real));
                return numbered_frame(pool, number, c.w, c.h);
              });
        },
        [] {});
    nap(1);
    // a machine that is busy elsewhere may deliver in bursts for a while
    LiveStatus s;
    EXPECT_TRUE(comes(
        [&] {
          s = source.status();
          return std::abs(s.measured_fps - c.real) < 0.2 * c.real && s.state == LiveState::playing;
        },
        6))
        << s.measured_fps << " measured, " << to_string(s.state) << " " << s.message;
    EXPECT_EQ(s.info.fps, c.claimed);
    EXPECT_EQ(s.w, c.w);
    EXPECT_EQ(s.h, c.h);
  }
}

TEST(LiveSource, SizeMayChangeInMidStream) {
  LiveSource source(
      [] {
        return std::make_unique<FakeReader>(camera_info(),
                                            [](FramePool& pool, uint32_t number, ReaderInfo& info) {
                                              nap(0.02);
                                              info.note = number < 5 ? "" : "changed";
                                              return numbered_frame(pool, number, number < 5 ? 16 : 40, 8);
                                            });
      },
      [] {});
  bool small = false, large = false;
  comes(
      [&] {
        if (const FramePtr f = source.take_newest()) {
          EXPECT_EQ(f->pixels.size(), f->layout.bytes());
          EXPECT_EQ(f->layout.w, number_of(*f) < 5 ? 16 : 40);
          (f->layout.w == 16 ? small : large) = true;
        }
        return small && large;
      },
      5);
  EXPECT_TRUE(small && large);
  EXPECT_EQ(source.status().w, 40);
  EXPECT_EQ(source.status().info.note, "changed");
}

TEST(LiveSource, OnlyTheNewestIsKeptAndTheRestIsCounted) {
  constexpr uint32_t kFrames = 20;
  const auto gate = std::make_shared<Gate>();
  LiveSource source(
      [=] {
        return std::make_unique<FakeReader>(camera_info(), [=](FramePool& pool, uint32_t n, ReaderInfo&) {
          if (n == kFrames) gate->wait();
          return numbered_frame(pool, n);
        });
      },
      [] {});
  ASSERT_TRUE(comes([&] { return source.status().read == kFrames; }, 5));
  EXPECT_EQ(source.status().dropped, kFrames - 1);
  const FramePtr frame = source.take_newest();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->sequence, kFrames);
  EXPECT_EQ(source.take_newest(), nullptr);
  EXPECT_EQ(source.status().dropped, kFrames - 1) << "one that was taken is not dropped";
  gate->open();
}

/// Frames so large that looking whether they repeat takes its time.
TEST(LiveSource, AFrameThatIsCountedIsThereToBeTaken) {
  const auto allowed = std::make_shared<std::atomic<uint32_t>>(0);
  LiveSource source(
      [=] {
        return std::make_unique<FakeReader>(camera_info(), [=](FramePool& pool, uint32_t n, ReaderInfo&) {
          while (n >= *allowed) nap(0.001);
          return numbered_frame(pool, 5, 4000, 4000);
        });
      },
      [] {});
  for (uint32_t n = 1; n <= 6; ++n) {
    *allowed = n;
    while (source.status().read < n) std::this_thread::yield();
    const FramePtr frame = source.take_newest();
    ASSERT_TRUE(frame) << "frame " << n;
    EXPECT_EQ(frame->sequence, n);
  }
  EXPECT_EQ(source.status().dropped, 0u);
  *allowed = UINT32_MAX;  // the read that goes on comes to its end
}

TEST(LiveSource, OpeningThatFailsIsToldAndTriedAgainWhenAsked) {
  for (const bool retry : {false, true}) {
    SCOPED_TRACE(retry);
    std::atomic<int> opened{0};
    LiveOptions options;
    options.retry_failed = retry;
    options.retry_seconds = 0.1;
    LiveSource source(
        [&]() -> std::unique_ptr<FrameReader> {
          if (++opened < 3) throw std::runtime_error("a.mp4: No such file\nand where in the library");
          return fake_file(5, 50);
        },
        [] {}, options);
    if (retry) {
      ASSERT_TRUE(comes([&] { return source.status().read > 0; }, 3));
      continue;
    }
    ASSERT_TRUE(comes([&] { return is(source, LiveState::failed); }, 3));
    EXPECT_EQ(source.status().message, "a.mp4: No such file");
    nap(0.4);
    EXPECT_EQ(opened, 1);
    source.reopen();
    ASSERT_TRUE(comes([&] { return opened == 2 && is(source, LiveState::failed); }, 3));
    source.reopen();
    ASSERT_TRUE(comes([&] { return source.status().read > 0; }, 3));
  }
}

TEST(LiveSource, AReadThatNeverReturnsHoldsNobodyUp) {
  const auto gate = std::make_shared<Gate>();
  const auto left = std::make_shared<std::atomic<bool>>(false);
  std::atomic<int> wakes{0};
  auto source = std::make_unique<LiveSource>(
      [=] {
        return std::make_unique<FakeReader>(camera_info(), [=](FramePool& pool, uint32_t n, ReaderInfo&) {
          if (n == 3) gate->wait();
          if (n > 3) *left = true;
          return numbered_frame(pool, n);
        });
      },
      [&] { ++wakes; });
  ASSERT_TRUE(comes([&] { return source->status().read == 3; }, 3));
  FramePtr kept = source->take_newest();
  auto start = Clock::now();
  source->close();
  EXPECT_LT(seconds_since(start), 0.5) << "close() waited";
  EXPECT_FALSE(source->closed());
  source.reset();
  EXPECT_LT(seconds_since(start), 1.5) << "the destructor waited longer than a second";
  EXPECT_EQ(number_of(*kept), 2u) << "frames outlive their source";
  const int before = wakes;
  gate->open();  // the thread that was left behind comes to its end without harm
  nap(0.2);
  EXPECT_EQ(wakes, before) << "woken after close()";
  EXPECT_FALSE(*left) << "it went on reading";
}

TEST(LiveSource, OpenAgainLeavesAHangingReadBehind) {
  const auto gate = std::make_shared<Gate>();
  std::atomic<int> opened{0};
  {
    LiveSource source(
        [&, gate] {
          const int time = ++opened;
          return std::make_unique<FakeReader>(camera_info(), [=](FramePool& pool, uint32_t n, ReaderInfo&) {
            if (time == 1 && n == 5) gate->wait();
            nap(0.01);
            return numbered_frame(pool, n + 100 * static_cast<uint32_t>(time));
          });
        },
        [] {});
    ASSERT_TRUE(comes([&] { return is(source, LiveState::stalled); }, 4));
    const auto start = Clock::now();
    source.reopen();
    EXPECT_LT(seconds_since(start), 0.5);
    ASSERT_TRUE(comes([&] { return is(source, LiveState::playing) && source.status().read > 8; }, 3));
    EXPECT_GE(number_of(*next_frame(source)), 200u);
    gate->open();
  }
  EXPECT_EQ(opened, 2);
}

TEST(LiveSource, AStalledSourceCostsNothing) {
  const auto gate = std::make_shared<Gate>();
  LiveSource source(
      [=] {
        return std::make_unique<FakeReader>(camera_info(), [=](FramePool& pool, uint32_t n, ReaderInfo&) {
          if (n > 0) gate->wait();
          return numbered_frame(pool, n);
        });
      },
      [] {});
  ASSERT_TRUE(comes([&] { return is(source, LiveState::stalled); }, 3));
  const auto cpu = [] {
    rusage use{};
    ::getrusage(RUSAGE_SELF, &use);
    return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
  };
  const double before = cpu();
  nap(2);
  EXPECT_LT(cpu() - before, 0.1 * 2);
  gate->open();
}

}  // namespace
}  // namespace convscope
