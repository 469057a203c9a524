// Frames of a stream through a chain: every number drawn in a frame comes back from its result, and what is
// wrong with them is found.

#include <gtest/gtest.h>

#include <cstring>

#include "app/cli/stream_run.h"
#include "app/operation.h"
#include "app/overlap.h"
#include "app/read_ahead.h"
#include "tests/app_testing.h"
#include "tests/live_testing.h"

namespace convscope {
namespace {

using testing::error_of;

/// Numbered frames; what is drawn may be spoilt on purpose.
class Numbered final : public FrameReader {
 public:
  using Number = std::function<std::optional<uint32_t>(int64_t index, int band)>;  // nothing: no band
  Numbered(int64_t w, int64_t h, int64_t frames, Number number)
      : w_(w), h_(h), frames_(frames), number_(std::move(number)) {
    info_.kind = "pattern";
    info_.frames = frames;
  }
  const ReaderInfo& info() const override { return info_; }

 protected:
  std::shared_ptr<Frame> next(FramePool& pool) override {
    if (index_ == frames_) return nullptr;
    const std::size_t row = static_cast<std::size_t>(w_) * 3;
    auto frame = pool.take(row * static_cast<std::size_t>(h_));
    frame->layout = {.type = PixelType::u8, .w = w_, .h = h_, .channels = 3, .planes = 3, .reverse = true};
    frame->index = index_;
    auto* pixels = reinterpret_cast<uint8_t*>(frame->pixels.data());
    std::memset(pixels, static_cast<int>(40 + index_ % 100), row * static_cast<std::size_t>(h_));
    std::vector<uint8_t> drawn(row * static_cast<std::size_t>(h_));
    for (int band = 0; band < barcode::kBands; ++band) {
      const std::optional<uint32_t> number = number_(index_, band);
      if (!number) continue;
      barcode::draw(*number, w_, h_, 3, drawn.data());
      const barcode::Rows rows = barcode::rows_of(band, h_);
      std::memcpy(pixels + static_cast<std::size_t>(rows.first) * row,
                  drawn.data() + static_cast<std::size_t>(rows.first) * row,
                  static_cast<std::size_t>(rows.last - rows.first) * row);
    }
    ++index_;
    return frame;
  }

 private:
  ReaderInfo info_;
  int64_t w_, h_, frames_, index_ = 0;
  Number number_;
};

std::unique_ptr<FrameReader> good_frames(int64_t w, int64_t h, int64_t frames) {
  return std::make_unique<Numbered>(w, h, frames,
                                    [](int64_t i, int) { return static_cast<uint32_t>(i + 70000); });
}

StreamSource source_of(std::function<std::unique_ptr<FrameReader>()> open) {
  return {"source", std::move(open)};
}
StreamSource good_source(int64_t w, int64_t h, int64_t frames) {
  return source_of([=] { return good_frames(w, h, frames); });
}

Settings settings_with(std::initializer_list<const char*> assignments) {
  Settings settings;
  set(settings, "target=emulated");
  for (const char* assignment : assignments) set(settings, assignment);
  return settings;
}

TEST(Stream, EveryNumberComesBack) {
  constexpr uint64_t kFrames = 12;  // more than are on their way at once
  struct Row {
    const char* what;
    std::vector<const char*> settings;
    int64_t w, h;
    const char* read_from;  // empty: any map
  };
  const Row table[] = {
      {"workload A, small", {"bank=random", "kernel=3", "stride=2", "pad=valid"}, 640, 360, ""},
      {"fp64", {"bank=random", "kernel=3", "precision=fp64"}, 400, 240, ""},
      {"edges sum to nothing", {"bank=sobel"}, 400, 240, "the input planes"},
      {"a border of its own", {"bank=random", "kernel=5", "border=reflect", "pad=same"}, 640, 200, ""},
      {"a border, and edges", {"bank=sobel", "border=wrap"}, 480, 200, "the input planes"},
      {"a kernel wider than a block", {"bank=random", "kernel=9"}, 200, 120, "the input planes"},
      {"onednn", {"strategy=onednn", "target=cpu", "bank=random", "activation=relu"}, 640, 360, ""},
      {"sigmoid", {"bank=random", "activation=sigmoid"}, 400, 240, ""},
  };
  for (const Row& row : table) {
    Settings settings = settings_with({});
    for (const char* assignment : row.settings) set(settings, assignment);
    const StreamReport r = run_stream(good_source(row.w, row.h, kFrames), settings, {60, 0});
    ASSERT_TRUE(r.barcode) << row.what;
    EXPECT_EQ(r.barcode->checked, kFrames) << row.what;
    EXPECT_TRUE(r.barcode->good()) << row.what << ": " << r.barcode->first_fault;
    EXPECT_TRUE(r.good()) << row.what;
    EXPECT_EQ(r.counts.computed, kFrames) << row.what;
    EXPECT_EQ(r.counts.dropped, 0u) << row.what;
    if (*row.read_from) {
      EXPECT_EQ(r.read_from, row.read_from) << row.what;
    } else {
      EXPECT_TRUE(r.read_from.starts_with("map ")) << row.what << ": " << r.read_from;
    }
  }
}

TEST(Stream, SpoiltFramesAreFound) {
  struct Row {
    const char* what;
    Numbered::Number number;
    uint64_t torn, twice, skipped;
    const char* words;
  };
  const Row table[] = {
      {"the lower half of frame 5 is of frame 4",
       [](int64_t i, int band) { return static_cast<uint32_t>(i == 5 && band == 2 ? 4 : i); }, 1, 0, 0,
       "frame 6: torn: 5 at the top"},
      {"the same, and the top of frame 5 is destroyed",
       [](int64_t i, int band) -> std::optional<uint32_t> {
         if (i == 5 && band == 0) return std::nullopt;
         return static_cast<uint32_t>(i == 5 && band == 2 ? 4 : i);
       },
       1, 0, 0, "frame 6: torn: none at the top, 5 in the middle, 4 at the bottom"},
      {"frame 7 is frame 6 again", [](int64_t i, int) { return static_cast<uint32_t>(i >= 7 ? i - 1 : i); },
       0, 1, 0, "frame 8: number 6 came twice"},
      {"number 3 is left out", [](int64_t i, int) { return static_cast<uint32_t>(i >= 3 ? i + 1 : i); }, 0, 0,
       1, "frame 4: number 4 follows 2, 1 frames later"},
  };
  for (const Row& row : table) {
    const StreamReport r =
        run_stream(source_of([&] { return std::make_unique<Numbered>(400, 240, 12, row.number); }),
                   settings_with({"bank=random"}), {60, 0});
    ASSERT_TRUE(r.barcode) << row.what;
    EXPECT_EQ(r.barcode->torn, row.torn) << row.what;
    EXPECT_EQ(r.barcode->twice, row.twice) << row.what;
    EXPECT_EQ(r.barcode->skipped, row.skipped) << row.what;
    EXPECT_EQ(r.barcode->wrong, 0u) << row.what;
    EXPECT_TRUE(r.barcode->first_fault.starts_with(row.words)) << row.what << ": " << r.barcode->first_fault;
    EXPECT_FALSE(r.good()) << row.what;
  }
}

/// Results that are not of their frame: the check is asked about a frame that the chain has not run.
TEST(Stream, AStaleResultIsWrong) {
  const auto runtime = make_runtime(Target::emulated);
  Chain chain(*runtime);
  BarcodeCheck check(*runtime);
  FramePool pool;
  const auto reader = good_frames(400, 240, 2);
  const FramePtr first = reader->read(pool), second = reader->read(pool);
  const Settings settings = settings_with({"bank=random"});
  chain.set(chosen_row(settings), make_operation(settings, *first).operation);
  chain.run(first->id, first->pixels.data());
  check.enqueue(chain, *first);
  check.enqueue(chain, *second);
  check.collect(true);
  EXPECT_EQ(check.counts().checked, 2u);
  EXPECT_EQ(check.counts().wrong, 1u);
  EXPECT_EQ(check.counts().first_fault, "frame 2: the result shows number 70000, the source 70001");
}

TEST(Stream, LimitsEndIt) {
  EXPECT_EQ(run_stream(good_source(400, 240, 1000), settings_with({}), {60, 7}).counts.computed, 7u);
  const StreamReport timed = run_stream(good_source(400, 240, 1000000), settings_with({}), {1.5, 0});
  EXPECT_GT(timed.counts.computed, 1u);
  EXPECT_LT(timed.counts.computed, 1000000u);
  EXPECT_GE(timed.seconds, 1.5);
  EXPECT_LT(timed.seconds, 5);
  EXPECT_NE(error_of([] {
              run_stream(good_source(400, 240, 0), settings_with({}), {60, 0});
            }).find("before its first"),
            std::string::npos);
}

/// Frames of numbers until `at`, then whatever `then` does.
StreamSource source_that(uint32_t at, std::function<std::shared_ptr<Frame>()> then) {
  return source_of([=] {
    return std::make_unique<testing::FakeReader>(
        testing::file_info(1000, 30), [=](FramePool& pool, uint32_t n, ReaderInfo&) {
          return n < at ? testing::numbered_frame(pool, n, 64, 48) : then();
        });
  });
}

TEST(Stream, ASourceThatHangsKeepsNeitherTheLimitNorTheReport) {
  const auto gate = std::make_shared<testing::Gate>();
  const StreamReport r = run_stream(source_that(3,
                                                [=]() -> std::shared_ptr<Frame> {
                                                  gate->wait();
                                                  return nullptr;
                                                }),
                                    settings_with({}), {0.5, 0});
  EXPECT_EQ(r.counts.computed, 3u);
  EXPECT_GT(r.silent_seconds, 0);
  EXPECT_FALSE(r.interrupted);
  EXPECT_EQ(r.fault, "");
  EXPECT_EQ(r.source.kind, "video");
  gate->open();  // the read that was left behind ends without harm
}

TEST(Stream, WhatGivesNothingSaysFromWhere) {
  const auto gate = std::make_shared<testing::Gate>();
  const auto hangs = [=]() -> std::shared_ptr<Frame> {
    gate->wait();
    return nullptr;
  };
  const StreamSource never_opens = source_of([=] {
    gate->wait();
    return good_frames(64, 48, 1);
  });
  EXPECT_EQ(error_of([&] { run_stream(never_opens, settings_with({}), {.seconds = 60, .patience = 0.1}); }),
            "source: could not be opened for 0.1 seconds");
  EXPECT_EQ(error_of([&] {
              run_stream(source_that(0, hangs), settings_with({}), {0.1, 0});
            }),
            "source: no frame came for 0.1 seconds");
  EXPECT_EQ(error_of([] {
              run_stream(source_of([]() -> std::unique_ptr<FrameReader> { throw Error("p: is no pipe"); }),
                         settings_with({}), {60, 0});
            }),
            "p: is no pipe");
  gate->open();
}

TEST(Stream, WhatBreaksOffIsReportedAsFarAsItCame) {
  const StreamReport lost =
      run_stream(source_that(4, []() -> std::shared_ptr<Frame> { throw Error("source: unplugged?"); }),
                 settings_with({}), {60, 0});
  EXPECT_EQ(lost.fault, "source: unplugged?");
  EXPECT_EQ(lost.counts.computed, 4u);
  EXPECT_FALSE(lost.good());

  std::stop_source stop;
  // five frames are taken before the tenth is read: four wait at most
  const StreamReport interrupted = run_stream(source_that(10,
                                                          [&]() -> std::shared_ptr<Frame> {
                                                            stop.request_stop();
                                                            return nullptr;
                                                          }),
                                              settings_with({}), {.seconds = 60, .stop = stop.get_token()});
  EXPECT_TRUE(interrupted.interrupted);
  EXPECT_GE(interrupted.counts.computed, 5u);
  EXPECT_FALSE(interrupted.good());
}

TEST(Overlap, OfIntervalsWorkedOutByHand) {
  struct Row {
    const char* what;
    std::vector<FrameTimes> frames;
    double upload, kernel, both, hidden;
  };
  const auto frame = [](double up, double up_ms, double kernel, double kernel_ms) {
    return FrameTimes{1, {{"upload", up_ms, up}, {"direct", kernel_ms, kernel}}};
  };
  const Row table[] = {
      {"one after the other", {frame(0, 4, 4, 1), frame(5, 4, 9, 1)}, 8, 2, 0, 0},
      {"kernels beside the next upload",
       {frame(0, 4, 4, 1), frame(4, 4, 8, 1), frame(8, 4, 12, 1)},
       12,
       3,
       2,
       2 / 3.0},
      {"uploads beside long kernels",
       {frame(0, 1, 1, 5), frame(1, 1, 6, 5), frame(6, 1, 11, 5)},
       3,
       15,
       2,
       2 / 3.0},
      {"half of a kernel", {frame(0, 2, 2, 2), frame(3, 2, 5, 2)}, 4, 4, 1, 0.25},
      {"nothing uploaded", {FrameTimes{1, {{"direct", 3, 0}}}}, 0, 3, 0, 0},
  };
  for (const Row& row : table) {
    Overlap overlap;
    for (const FrameTimes& f : row.frames) overlap.add(f);
    EXPECT_NEAR(overlap.upload_ms(), row.upload, 1e-9) << row.what;
    EXPECT_NEAR(overlap.kernel_ms(), row.kernel, 1e-9) << row.what;
    EXPECT_NEAR(overlap.both_ms(), row.both, 1e-9) << row.what;
    EXPECT_NEAR(overlap.hidden(), row.hidden, 1e-9) << row.what;
  }
}

}  // namespace
}  // namespace convscope
