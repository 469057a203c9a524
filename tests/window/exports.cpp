// Exports of maps: what is written, by whom, and what is said of it.
#include "tests/app_testing.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/npy.h"
#include "app/window/maps_export.h"

namespace convscope {
namespace {

using namespace convscope::testing;

/// Two maps of 4 x 5 as `strategy` is said to have made them.
HostMapsPtr maps_of(const std::string& strategy, float first) {
  PreparedOperation prepared;
  prepared.operation.problem.shape = {.c_in = 1, .h = 4, .w = 5, .c_out = 2, .k_h = 1, .k_w = 1};
  prepared.labels = {"first", "second"};
  prepared.approximation = "rank-1 approximation, keeps 97.3 % of the filters' energy";
  auto values = std::make_shared<std::vector<float>>(40);
  for (std::size_t i = 0; i < values->size(); ++i) (*values)[i] = first + static_cast<float>(i);
  HostMaps maps;
  maps.number = 7;
  maps.prepared = std::make_shared<const PreparedOperation>(prepared);
  maps.info = {strategy, Target::cpu, Precision::fp32, ""};
  maps.values = values->data();
  maps.keep = values;
  return std::make_shared<const HostMaps>(maps);
}

DifferenceResult difference_of(const HostMapsPtr& a, const HostMapsPtr& b) {
  DifferenceResult d;
  d.number = 7;
  d.a = a;
  d.b = b;
  d.comparison.max_abs = 0.5;
  return d;
}

/// What is said of the export that runs.
std::string said(MapsExport& exports) {
  for (int i = 0; i < 60'000; ++i) {
    if (const auto words = exports.collect()) return *words;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return "(nothing)";
}

/// Stands for a disk that takes its time.
class SlowWrite {
 public:
  MapsExport::Write function() {
    return [this](const std::string&, std::span<const OutputFile>) {
      std::unique_lock lock(mutex_);
      ++begun_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return open_; });
    };
  }
  void wait_until_begun() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return begun_ > 0; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  int begun() {
    const std::lock_guard lock(mutex_);
    return begun_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int begun_ = 0;
  bool open_ = false;
};

TEST(MapsExport, WritesWhatTheDialogPromises) {
  const TemporaryFolder folder;
  const HostMapsPtr a = maps_of("direct", 1), b = maps_of("scalar", 1.5F);
  MapsExport exports([] {});
  exports.start({folder / "out", a, difference_of(a, b), Settings{}, "{}\n"});
  EXPECT_EQ(said(exports), "exported to " + folder / "out");
  EXPECT_FALSE(exports.collect()) << "it is said once";
  const NpyArray maps = read_npy(folder / "out/maps.npy");
  EXPECT_EQ(maps.shape, (std::vector<int64_t>{1, 2, 4, 5}));
  EXPECT_EQ(maps.values().back(), 40);
  for (const char* picture : {"maps.png", "difference.png"})
    EXPECT_GT(std::filesystem::file_size(folder / (std::string("out/") + picture)), 100u) << picture;
  EXPECT_EQ(read_string(folder / "out/window.json"), "{}\n");

  exports.start({folder / "alone", a, {}, Settings{}, "{}\n"});
  EXPECT_EQ(said(exports), "exported to " + folder / "alone");
  EXPECT_FALSE(std::filesystem::exists(folder / "alone/difference.png"));
}

TEST(MapsExport, TitlesNameAnApproximation) {
  const HostMapsPtr direct = maps_of("direct", 0), separable = maps_of("separable", 0);
  EXPECT_EQ(maps_title(*direct), "direct/cpu/fp32");
  const std::string title = "separable/cpu/fp32, rank-1 approximation, keeps 97.3 % of the filters' energy";
  EXPECT_EQ(maps_title(*separable), title);
  EXPECT_EQ(difference_title(difference_of(separable, direct)), title + " - direct/cpu/fp32: max error 0.5");
  EXPECT_EQ(difference_title(difference_of(direct, separable)),
            "direct/cpu/fp32 - " + title + ": max error 0.5");
}

TEST(MapsExport, FaultsComeAsOneLine) {
  const TemporaryFolder folder;
  write_string(folder / "file", "x");
  MapsExport exports([] {});
  exports.start({folder / "file", maps_of("direct", 0), {}, Settings{}, "{}"});
  EXPECT_TRUE(one_line_with(said(exports), {folder / "file: this folder cannot be made"}));
}

TEST(MapsExport, OneAtATimeAndNobodyWaitsForIt) {
  SlowWrite disk;
  MapsExport exports([] {}, disk.function());
  exports.start({"first", maps_of("direct", 0), {}, Settings{}, "{}"});
  disk.wait_until_begun();
  EXPECT_FALSE(exports.collect());
  const std::string fault = error_of([&] {
    exports.start({"second", maps_of("direct", 0), {}, Settings{}, "{}"});
  });
  EXPECT_TRUE(one_line_with(fault, {"second", "is not finished"}));
  disk.open();
  EXPECT_EQ(said(exports), "exported to first");
  EXPECT_EQ(disk.begun(), 1);
}

TEST(MapsExport, AShortOneIsFinishedWhenTheWindowIsClosed) {
  const TemporaryFolder folder;
  {
    MapsExport exports([] {});
    exports.start({folder / "out", maps_of("direct", 0), {}, Settings{}, "{}"});
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "out/maps.npy"));
}

TEST(MapsExport, AWriteThatHangsIsLeftBehindWhenTheWindowIsClosed) {
  const auto disk = std::make_shared<SlowWrite>();
  const auto woken = std::make_shared<std::atomic<int>>(0);
  {
    MapsExport exports([woken] { ++*woken; },
                       [disk](const std::string& folder, std::span<const OutputFile> files) {
                         disk->function()(folder, files);
                       });
    exports.start({"out", maps_of("direct", 0), {}, Settings{}, "{}"});
    disk->wait_until_begun();
    ::testing::internal::CaptureStderr();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "an export was not finished\n");
  disk->open();
  for (int i = 0; i < 60'000 && disk.use_count() > 1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(disk.use_count(), 1) << "the thread ended, and let go";
  EXPECT_EQ(*woken, 0) << "whom it would have woken is gone";
}

}  // namespace
}  // namespace convscope
