// The window's workers without the window: what they hand over while frames come, requests change and results
// are let go on other threads. Run under the thread sanitizer too (tests/threads.cmake).
#include <gtest/gtest.h>

#include <algorithm>

#include "app/window/difference_worker.h"
#include "app/window/maps_worker.h"
#include "app/window/race_worker.h"
#include "app/window/source_loader.h"
#include "app/window/view_worker.h"
#include "tests/live_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

using Numbers = NewestWorker<int, int>;

TEST(NewestWorker, OfWhatWaitsOnlyTheNewestIsDone) {
  Gate gate;
  std::atomic<int> begun{0}, wakes{0};
  std::vector<int> seen;  // the worker's, until it has ended
  std::vector<int> delivered;
  {
    Numbers worker(
        [&](int& request, Numbers::Sink& sink) {
          ++begun;
          if (request == 0) gate.wait();
          seen.push_back(request);
          EXPECT_EQ(sink.superseded(), request == 0) << request;
          sink.deliver(10 * request);
        },
        [&] { ++wakes; });
    worker.submit(0);
    ASSERT_TRUE(comes([&] { return begun == 1; }, 5));
    for (int i = 1; i <= 5; ++i) worker.submit(i);
    EXPECT_TRUE(worker.busy());
    gate.open();
    ASSERT_TRUE(comes([&] { return !worker.busy(); }, 5));
    delivered = worker.collect();
    EXPECT_TRUE(worker.collect().empty());
  }
  EXPECT_EQ(seen, (std::vector<int>{0, 5}));
  EXPECT_EQ(delivered, (std::vector<int>{0, 50}));
  EXPECT_EQ(wakes, 4) << "after each delivery, and at rest";
}

TEST(NewestWorker, EndsWithARequestThatHasNotBegun) {
  Gate gate;
  std::atomic<int> begun{0};
  std::thread opener;
  {
    Numbers worker(
        [&](int&, Numbers::Sink& sink) {
          ++begun;
          gate.wait();
          while (!sink.superseded()) nap(0.001);
        },
        [] {});
    worker.submit(1);
    ASSERT_TRUE(comes([&] { return begun == 1; }, 5));
    worker.submit(2);
    opener = std::thread([&] { nap(0.05), gate.open(); });
  }
  opener.join();
  EXPECT_EQ(begun, 1) << "what waited when the worker ended was begun";
}

/// A camera whose frames go through maps, view, difference and thumbnail as the window has them, each on its
/// thread, with results shared between all of them.
class Flow {
 public:
  Flow() {
    set(settings_, "strategy=direct");
    set(settings_, "target=emulated");
    set(settings_, "bank=identity");
    set(settings_, "kernel=3");
  }

  /// True while frames are missing to so many of each kind.
  bool step(std::size_t wanted) {
    if (const FramePtr frame = source_.take_newest()) submit(frame);
    for (MapsDelivery& d : maps_->collect()) take(std::move(d));
    for (ViewDelivery& d : views_->collect()) take(d);
    for (DifferenceDelivery& d : differences_->collect()) take(std::move(d));
    for (const auto& thumbnail : thumbnails_->collect()) small_ += thumbnail->width == 48;
    return std::min({shown_, seen_, compared_, small_}) < wanted;
  }
  void expect_good() const { EXPECT_EQ(faults_, std::vector<std::string>{}); }

 private:
  static constexpr int kW = 48, kH = 20;

  void submit(const FramePtr& frame) {
    if (!prepared_) prepared_ = std::make_shared<const PreparedOperation>(make_operation(settings_, *frame));
    maps_->submit({++number_, frame, prepared_, &chosen_row(settings_)});
    thumbnails_->submit(frame);
  }

  void take(MapsDelivery d) {
    if (!check(d.error.empty(), "maps: " + d.error)) return;
    const HostMapsPtr maps = std::move(d.maps);
    check(maps->frame->id > last_frame_, "maps of an older frame");
    last_frame_ = maps->frame->id;
    // the filter "identity" hands the picture on, and its first pixels are its number
    for (int x = 0; x < 6; ++x) {
      const double pixel = std::to_integer<int>(maps->frame->pixels[static_cast<std::size_t>(x)]);
      check(std::abs(maps->value(0, 0, x) - pixel / 255) < 1e-6, "maps of another frame's pixels");
    }
    ++shown_;
    const ViewLayout layout{.view_w = kW,
                            .view_h = kH,
                            .cell_w = kW,
                            .cell_h = kH,
                            .pitch_x = kW,
                            .pitch_y = kH,
                            .plane_w = kW,
                            .plane_h = kH};
    views_->submit({.layout = layout,
                    .serial = maps->number,
                    .frame = number_of(*maps->frame),
                    .planes = {maps->values},
                    .keep = {maps}});
    DifferenceRequest difference;
    difference.number = maps->number;
    difference.a = maps;
    difference.row = find_strategy("reference", Target::cpu, Precision::fp32);
    differences_->submit(std::move(difference));
  }

  void take(const ViewDelivery& d) {
    if (!check(d.error.empty(), "view: " + d.error)) return;
    uint32_t number = 0;
    for (int x = 0; x < 4; ++x)
      number |= static_cast<uint32_t>(std::lround(255 * d.pixels[static_cast<std::size_t>(x)])) << (8 * x);
    check(number == d.job.frame, "a view of another frame");
    ++seen_;
  }

  void take(DifferenceDelivery d) {
    if (!check(d.error.empty(), "difference: " + d.error)) return;
    check(d.result.a->frame->id == d.result.b->frame->id, "a difference of two frames");
    check(d.result.comparison.pass && d.result.comparison.count == kW * kH, "sides that differ");
    last_ = std::move(d.result);  // let go by this thread, with its maps
    ++compared_;
  }

  bool check(bool good, const std::string& otherwise) {
    if (!good) faults_.push_back(otherwise);
    return good;
  }

  std::atomic<int> wakes_{0};
  const std::function<void()> wake_ = [this] { ++wakes_; };
  Settings settings_;
  std::shared_ptr<const PreparedOperation> prepared_;
  uint64_t number_ = 0, last_frame_ = 0;
  std::size_t shown_ = 0, seen_ = 0, compared_ = 0, small_ = 0;
  DifferenceResult last_;
  std::vector<std::string> faults_;
  std::unique_ptr<ViewWorker> views_ = make_view_worker(wake_);
  std::unique_ptr<DifferenceWorker> differences_ = make_difference_worker(wake_);
  std::unique_ptr<ThumbnailWorker> thumbnails_ = make_thumbnail_worker(wake_);
  std::unique_ptr<MapsWorker> maps_ = make_maps_worker(wake_);
  LiveSource source_{[] {
                       return std::make_unique<FakeReader>(camera_info(500),
                                                           [](FramePool& pool, uint32_t number, ReaderInfo&) {
                                                             nap(0.002);
                                                             return numbered_frame(pool, number, kW, kH);
                                                           });
                     },
                     wake_};
};

TEST(Workers, AStreamThroughMapsViewDifferenceAndThumbnail) {
  Flow flow;
  EXPECT_TRUE(comes([&] { return !flow.step(200); }, 60)) << "frames were lost on the way";
  flow.expect_good();
}

TEST(Workers, EndWhileFramesAreOnTheirWay) {
  for (int i = 0; i < 8; ++i) {
    Flow flow;
    comes([&] { return !flow.step(static_cast<std::size_t>(i)); }, 20);
    flow.expect_good();
  }
}

/// Races of a small frame, one after the other, some given up.
TEST(Workers, RacesReplaceEachOther) {
  FramePool pool;
  const std::shared_ptr<Frame> frame = numbered_frame(pool, 7, 32, 16);
  Settings settings;
  set(settings, "bank=identity");
  const auto prepared = std::make_shared<const PreparedOperation>(make_operation(settings, *frame));
  std::atomic<int> wakes{0};
  RaceWorker worker(bench::race, [&] { ++wakes; });
  std::optional<RaceReport> last;
  for (uint64_t id = 1; id <= 6; ++id) {
    bench::RaceRequest request;
    request.operation = {prepared, &prepared->operation};
    const std::span<const std::byte> pixels = frame->pixels;
    request.pixels = std::make_shared<const std::vector<std::byte>>(pixels.begin(), pixels.end());
    request.rows = {find_strategy("direct", Target::emulated, Precision::fp32),
                    find_strategy("scalar", Target::cpu, Precision::fp32)};
    request.rounds = 2;
    request.most_seconds_a_row = 0.05;
    worker.start(id, std::move(request));
    if (id % 3 == 2) worker.cancel();
    if (id % 2 == 1) nap(0.02);
  }
  EXPECT_TRUE(comes(
      [&] {
        if (auto report = worker.collect()) last = std::move(report);
        return last && last->id == 6 && last->ended;
      },
      30));
  ASSERT_TRUE(last && last->ended);
  EXPECT_EQ(last->error, "");
  ASSERT_EQ(last->state.entries.size(), 2U);
  for (const bench::Entry& entry : last->state.entries) EXPECT_GT(entry.time.runs, 0) << entry.refused;
  EXPECT_GT(wakes, 0);
}

}  // namespace
}  // namespace convscope
