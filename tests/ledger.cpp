// The account of a stream's frames, from times that are told.

#include "app/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/frame_cost.h"

namespace convscope {
namespace {

/// A source of 30 frames a second, every second one taken, computed in 20 ms, shown 10 ms later; the window
/// swaps 60 times a second.
Ledger every_second_frame(int frames) {
  Ledger ledger;
  double swap = 1000;
  uint64_t visible = 0;
  for (int i = 0; i < frames; ++i) {
    const double captured = 1000 + i / 30.0;
    if (i % 2 == 0) {
      const auto id = static_cast<uint64_t>(i + 10);
      ledger.take(id, static_cast<uint64_t>(i + 1), captured, captured + 0.002, 6000);
      ledger.compute(id, captured + 0.005, captured + 0.006, captured + 0.025, {});
    }
    for (; swap < captured + 1 / 30.0; swap += 1 / 60.0) {
      if (swap > captured + 0.033 && i % 2 == 0) visible = static_cast<uint64_t>(i + 10);
      ledger.show(visible, swap - 0.001, swap);
    }
    ledger.tick(captured);
  }
  return ledger;
}

TEST(Ledger, RatesOfAStreamThatIsReadAtHalfItsRate) {
  const Ledger ledger = every_second_frame(300);
  const FlowRates r = ledger.rates(1000 + 299 / 30.0);
  EXPECT_NEAR(r.source_fps, 30, 0.6) << "dropped frames count for the source";
  EXPECT_NEAR(r.processed_fps, 15, 0.6);
  EXPECT_NEAR(r.upload_bytes_per_s, 15 * 6000, 15 * 6000 * 0.05);
  EXPECT_NEAR(r.window_fps, 60, 1);
  EXPECT_EQ(ledger.counts().taken, 150u);
  EXPECT_EQ(ledger.counts().computed, 150u);
  EXPECT_EQ(ledger.counts().dropped, 149u) << "the gaps between 150 frames";
  EXPECT_EQ(ledger.counts().back, 0u);
  ASSERT_EQ(ledger.history().size(), 9u) << "a point each full second of 9.97";
  for (const FlowPoint& p : ledger.history()) EXPECT_NEAR(static_cast<double>(p.dropped), 15, 1) << p.at;
}

/// Frozen, or in step with a slow difference: the source goes on.
TEST(Ledger, TheSourcesRateCountsWhatNobodyTakes) {
  Ledger ledger;
  ledger.take(1, 1, 100, 100, 0);
  for (uint64_t i = 2; i <= 300; ++i) {
    if (i % 3 == 0) continue;  // the next one shows that it has been there
    const double at = 100 + static_cast<double>(i - 1) / 30;
    ledger.arrive(i, at);
    ledger.arrive(i, at);
    EXPECT_NEAR(ledger.rates(at + 0.01).source_fps, 30, 0.5) << i;
  }
  EXPECT_EQ(ledger.counts().taken, 1u);
  EXPECT_EQ(ledger.rates(100 + 299 / 30.0 + 10).source_fps, 0) << "it has ceased";
  ledger.arrive(1, 200);
  ledger.arrive(2, 200.1);
  EXPECT_NEAR(ledger.rates(200.15).source_fps, 10, 1e-6) << "opened anew";
}

/// Whatever a frame takes: at any time in between the rate is that of the frames.
TEST(Ledger, SlowFramesHaveTheirRate) {
  for (const double interval : {0.8, 1.0, 1.7, 2.5, 7.0}) {
    Ledger ledger;
    for (uint64_t i = 1; i <= 12; ++i) {
      const double at = 50 + static_cast<double>(i) * interval;
      ledger.take(i, i, at - 0.5, at - 0.4, 1000);
      ledger.compute(i, at - 0.3, at - 0.2, at, {});
      ledger.show(i, at, at + 0.01);
      if (i < 4) continue;
      for (const double part : {0.05, 0.3, 0.6, 0.95}) {
        const FlowRates r = ledger.rates(at + part * interval);
        EXPECT_NEAR(r.processed_fps, 1 / interval, 1e-6) << interval << " s and " << part << " of them later";
        EXPECT_NEAR(r.displayed_fps, 1 / interval, 1e-6) << interval << " " << part;
        EXPECT_NEAR(r.upload_bytes_per_s, 1000 / interval, 1e-3) << interval << " " << part;
        ASSERT_TRUE(r.age_median_ms) << interval << " " << part;
        EXPECT_NEAR(*r.age_median_ms, 510, 1e-6);
      }
    }
    const FlowRates late = ledger.rates(50 + 13.5 * interval + 2);
    EXPECT_LT(late.processed_fps, 1 / interval) << "overdue";
    const FlowRates over = ledger.rates(50 + 12 * interval + 3.1 * interval + 2);
    EXPECT_EQ(over.processed_fps, 0);
    EXPECT_EQ(over.upload_bytes_per_s, 0);
    EXPECT_FALSE(over.age_median_ms);
  }
}

/// Minimised for a minute: its dropped frames are not those of a second.
TEST(Ledger, APointOfTheHistorySaysHowLongItIs) {
  Ledger ledger;
  const auto run = [&](uint64_t sequence) {
    const double at = 1000 + static_cast<double>(sequence) / 30;
    ledger.take(sequence, sequence, at, at, 1);
    ledger.compute(sequence, at, at, at + 0.001, {});
    ledger.tick(at + 0.002);
  };
  for (uint64_t i = 1; i <= 100; ++i) run(i);
  for (uint64_t i = 1900; i <= 1999; ++i) run(i);
  double seconds = 0;
  uint64_t dropped = 0;
  for (const FlowPoint& p : ledger.history()) {
    EXPECT_GE(p.seconds, 1);
    EXPECT_LE(p.dropped_fps(), 30.1) << p.at;
    seconds += p.seconds, dropped += p.dropped;
  }
  EXPECT_EQ(dropped, 1799u);
  EXPECT_GT(seconds, 63);
  EXPECT_LE(seconds, 1999 / 30.0);
}

TEST(Ledger, ShownRepeatedAndBack) {
  struct Row {
    const char* what;
    std::vector<uint64_t> swaps;
    uint64_t shown, repeated, back;
  };
  const Row table[] = {{"each once", {1, 2, 3}, 3, 0, 0}, {"each twice", {1, 1, 2, 2, 3, 3}, 3, 3, 0},
                       {"one left out", {1, 3}, 2, 0, 0}, {"an old one again", {1, 2, 1}, 2, 0, 1},
                       {"none yet", {0, 0, 1}, 1, 0, 0},  {"one that nobody took", {9}, 0, 0, 0}};
  for (const Row& row : table) {
    Ledger ledger;
    for (uint64_t id = 1; id <= 3; ++id) {
      ledger.take(id, id, 10 + static_cast<double>(id), 10.5 + static_cast<double>(id), 1);
      ledger.compute(id, 11 + static_cast<double>(id), 11 + static_cast<double>(id),
                     12 + static_cast<double>(id), {});
    }
    double now = 20;
    for (const uint64_t id : row.swaps) ledger.show(id, now, now + 0.1), now += 1;
    EXPECT_EQ(ledger.counts().shown, row.shown) << row.what;
    EXPECT_EQ(ledger.counts().repeated, row.repeated) << row.what;
    EXPECT_EQ(ledger.counts().back, row.back) << row.what;
  }
}

TEST(Ledger, AgeIsFromCaptureToTheFirstSwap) {
  Ledger ledger;
  for (uint64_t i = 1; i <= 20; ++i) {
    const double captured = 50 + static_cast<double>(i) * 0.05;
    ledger.take(i, i, captured, captured, 0);
    ledger.compute(i, captured, captured, captured + 0.001, {});
    // ages of 1, 2, ... 20 ms
    ledger.show(i, captured, captured + static_cast<double>(i) * 1e-3);
    ledger.show(i, captured, captured + 0.04);
  }
  const FlowRates r = ledger.rates(51.05);
  ASSERT_TRUE(r.age_median_ms && r.age_p95_ms);
  EXPECT_NEAR(*r.age_median_ms, 10.5, 0.51);
  EXPECT_NEAR(*r.age_p95_ms, 19, 0.01);
}

TEST(Ledger, KeepsNoMoreThanItSays) {
  Ledger ledger;
  for (uint64_t i = 1; i <= Ledger::kFrames + 1000; ++i) {
    const double at = static_cast<double>(i) * 0.05;
    ledger.take(i, i, at, at, 1);
    ledger.compute(i, at, at, at + 0.01, {});
    ledger.show(i, at, at + 0.02);
    ledger.tick(at);
  }
  EXPECT_EQ(ledger.frames().size(), Ledger::kFrames);
  EXPECT_EQ(ledger.history().size(), Ledger::kPoints);
  const std::string csv = ledger.frames_csv();
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), Ledger::kFrames + 1);
  EXPECT_TRUE(ledger.history_csv().starts_with("second,span_s,source_fps,"))
      << ledger.history_csv().substr(0, 40);
}

TEST(Ledger, CsvHasOneFrameALine) {
  Ledger ledger;
  ledger.take(7, 3, 100, 100.001, 12);
  ledger.compute(7, 100.002, 100.003, 100.004, {});
  ledger.view(7, 100.0045, 100.005);
  ledger.show(7, 100.006, 100.0085);
  ledger.take(8, 5, 100.033, 100.034, 12);
  EXPECT_EQ(
      ledger.frames_csv(),
      "frame,sequence,captured_s,taken_s,started_s,uploaded_s,computed_s,viewed_s,shown_s,age_ms,bytes\n"
      "7,3,0.000000,0.001000,0.002000,0.003000,0.004000,0.005000,0.008500,8.500,12\n"
      "8,5,0.033000,0.034000,,,,,,,12\n");
}

/// Segments of a frame add up to its time; what they are is worked out by hand.
TEST(FrameCost, SegmentsAddUpToTheFrame) {
  struct Row {
    const char* what;
    FrameRecord frame;
    double interop_ms;
    std::vector<std::pair<std::string, double>> expected;
  };
  const auto record = [](double started, double computed, double drawn, double shown,
                         std::vector<StageTime> stages) {
    FrameRecord f;
    f.id = 1, f.captured = 10, f.taken = 10;
    f.started = 10 + started / 1e3, f.uploaded = f.started, f.computed = 10 + computed / 1e3;
    f.drawn = 10 + drawn / 1e3, f.shown = 10 + shown / 1e3;
    f.stages = std::move(stages);
    return f;
  };
  const auto viewed = [](FrameRecord f, double from, double to) {
    f.view_started = 10 + from / 1e3, f.viewed = 10 + to / 1e3;
    return f;
  };
  const auto compared = [](FrameRecord f, double from, double to) {
    f.compare_started = 10 + from / 1e3, f.compared = 10 + to / 1e3;
    return f;
  };
  const std::vector<StageTime> host{{"unpack", 3, 0}, {"onednn", 6.5, 3}};
  const Row table[] = {
      {"through a worker: 4 ms in the slot, 1 for the view worker, 2 for the window's frame",
       viewed(record(4, 14, 22, 30, host), 15, 20),
       0,
       {{"wait", 7}, {"unpack", 3}, {"onednn", 6.5}, {"view", 5}, {"draw", 8}, {"other", 0.5}}},
      {"in step with the difference: 1 ms until it is asked for, 1 until it is viewed",
       viewed(compared(record(4, 14, 52, 60, host), 15, 45), 46, 50),
       0,
       {{"wait", 8},
        {"unpack", 3},
        {"onednn", 6.5},
        {"difference", 30},
        {"view", 4},
        {"draw", 8},
        {"other", 0.5}}},
      {"on the device: 0.2 ms behind the kernels of the frame before",
       record(1, 2, 2, 5, {{"upload", 0.126, 100}, {"unpack", 0.02, 100.326}, {"direct", 0.03, 100.346}}),
       0.08,
       {{"wait", 1.2},
        {"upload", 0.126},
        {"unpack", 0.02},
        {"direct", 0.03},
        {"interop", 0.08},
        {"draw", 2.92},
        {"other", 0.624}}},
      {"kernels that run while the window draws",
       record(1, 6, 2, 5, {{"direct", 3, 0}}),
       0,
       {{"wait", 1}, {"direct", 3}, {"draw", 1}}},
      {"kernels that run on after the swap are cut at it",
       record(1, 8, 2, 5, {{"direct", 6, 0}}),
       0.1,
       {{"wait", 1}, {"direct", 4}}},
      {"so are kernels that were waited for",
       record(1, 9, 2, 5, {{"upload", 1, 0}, {"direct", 2, 6}}),
       0,
       {{"wait", 4}, {"upload", 1}}},
      {"a difference that came after the frame was shown does not count",
       compared(record(0, 4, 4, 6, {{"direct", 4, 0}}), 5, 50),
       0,
       {{"direct", 4}, {"draw", 2}}},
  };
  for (const Row& row : table) {
    const auto segments = cost_of(row.frame, row.interop_ms);
    for (std::size_t i = 0; i < std::min(segments.size(), row.expected.size()); ++i) {
      EXPECT_EQ(segments[i].name, row.expected[i].first) << row.what;
      EXPECT_NEAR(segments[i].ms, row.expected[i].second, 1e-6) << row.what << ": " << segments[i].name;
    }
    // clocks are doubles of seconds: a remainder of nanoseconds may be left
    for (std::size_t i = row.expected.size(); i < segments.size(); ++i)
      EXPECT_LT(segments[i].ms, 1e-6) << row.what;
    EXPECT_GE(segments.size(), row.expected.size()) << row.what;
    EXPECT_NEAR(total_ms(segments), age_ms(row.frame), 1e-6) << row.what;
  }
  FrameRecord unseen;
  unseen.computed = 1;
  EXPECT_TRUE(cost_of(unseen, 0).empty());
}

}  // namespace
}  // namespace convscope
