// The race without its window: worker, table and files.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/window/race_side.h"
#include "app/window/race_table.h"
#include "kernels/error.h"
#include "tests/live_testing.h"
#include "tests/window/race_testing.h"

namespace convscope {
namespace {

using testing::comes;
using testing::some_race;

std::vector<std::string> names(const std::vector<RaceRow>& rows) {
  std::vector<std::string> all;
  for (const RaceRow& row : rows) all.push_back(row.entry->info.name);
  return all;
}

TEST(RaceTable, NumbersOfARow) {
  const bench::RaceState state = some_race();
  const std::vector<RaceRow> rows = race_table(state, "slow/cpu/fp32", RaceColumn::time, false);
  const RaceRow& first = rows[0];
  ASSERT_EQ(first.entry->info.name, "first");
  EXPECT_DOUBLE_EQ(*first.gb_s, 20) << "1 MB in 50 us";
  EXPECT_DOUBLE_EQ(*first.gflop_s, 160) << "8 MFLOP in 50 us";
  EXPECT_DOUBLE_EQ(*first.of_floor, 0.5) << "the copy took 25 us";
  EXPECT_DOUBLE_EQ(*first.speed_up, 8) << "400 us against 50 us";
  EXPECT_FALSE(rows[2].of_floor) << "no copy was timed on the emulated target";
  const auto without = race_table(state, "nobody/cpu/fp32", RaceColumn::time, false);
  EXPECT_FALSE(without[0].speed_up) << "the shown strategy did not race";
}

TEST(RaceTable, RowsThatCannotBeToldApartShareARank) {
  const bench::RaceState state = some_race();
  const auto rows = race_table(state, "", RaceColumn::time, false);
  ASSERT_EQ(names(rows), (std::vector<std::string>{"first", "tied", "other", "slow", "waiting", "refused"}));
  const int ranks[] = {1, 1, 3, 4};
  const bool tied[] = {true, true, false, false};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(rows[static_cast<std::size_t>(i)].rank, ranks[i]) << i;
    EXPECT_EQ(rows[static_cast<std::size_t>(i)].tied, tied[i]) << i;
  }
  EXPECT_FALSE(rows[4].rank);
}

TEST(RaceTable, SortsByEachColumnAndKeepsRowsWithoutTimeLast) {
  struct Case {
    RaceColumn column;
    bool descending;
    std::vector<std::string> first;
  };
  const Case cases[] = {{RaceColumn::time, true, {"slow", "other", "tied", "first"}},
                        {RaceColumn::strategy, false, {"first", "other", "slow", "tied"}},
                        {RaceColumn::strategy, true, {"tied", "slow", "other", "first"}},
                        {RaceColumn::target, false, {"other", "first", "tied", "slow"}},
                        {RaceColumn::spread, false, {"other", "tied", "first", "slow"}},
                        {RaceColumn::bandwidth, true, {"first", "tied", "other", "slow"}},
                        {RaceColumn::arithmetic, false, {"slow", "other", "tied", "first"}},
                        {RaceColumn::floor, true, {"first", "tied", "slow", "other"}},
                        // NaN is the largest error
                        {RaceColumn::error, true, {"other", "slow", "first", "tied"}}};
  const bench::RaceState state = some_race();
  for (const Case& c : cases) {
    std::vector<std::string> expected = c.first;
    expected.insert(expected.end(), {"waiting", "refused"});
    EXPECT_EQ(names(race_table(state, "", c.column, c.descending)), expected)
        << race_column_text(c.column).name << (c.descending ? ", descending" : "");
  }
}

TEST(RaceTable, ErrorsOverTheirBoundAreMarked) {
  const bench::RaceState state = some_race();
  for (const RaceRow& row : race_table(state, "", RaceColumn::time, false)) {
    const std::string& name = row.entry->info.name;
    EXPECT_EQ(row.over_bound, name == "slow" || name == "other") << name;
  }
}

TEST(RaceFiles, HoldTheRowsAndReadBack) {
  const bench::RaceState state = some_race();
  const auto rows = race_table(state, "slow/cpu/fp32", RaceColumn::time, false);
  const auto json = nlohmann::json::parse(race_json(state, rows, "noise", "slow/cpu/fp32"));
  ASSERT_EQ(json["rows"].size(), 6U);
  EXPECT_EQ(json["of"], "noise");
  EXPECT_EQ(json["speed_up_against"], "slow/cpu/fp32");
  EXPECT_EQ(json["rows"][0]["strategy"], "first");
  EXPECT_EQ(json["rows"][0]["speed_up"], 8.0);
  EXPECT_EQ(json["rows"][0]["approximation"], "rank-1 approximation, keeps 90.0 %");
  EXPECT_TRUE(json["rows"][1]["approximation"].is_null());
  EXPECT_EQ(json["rows"][2]["bound_fraction"], "nan");
  EXPECT_EQ(json["rows"][5]["refused"], state.entries[4].refused);
  EXPECT_EQ(json["targets"]["cpu"]["copy_us"], 25.0);
  const std::string csv = race_csv(rows);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 7) << "a header and six rows";
  EXPECT_NE(csv.find("\"takes 3x3 kernels alone, \"\"5x5\"\" is asked for\"\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",\"rank-1 approximation, keeps 90.0 %\","), std::string::npos) << csv;
  const std::string header = csv.substr(0, csv.find('\n'));
  const std::string line =
      csv.substr(csv.find("waiting"), csv.find('\n', csv.find("waiting")) - csv.find("waiting"));
  EXPECT_EQ(std::count(line.begin(), line.end(), ','), std::count(header.begin(), header.end(), ','));
}

TEST(RaceRows, AutomaticIsTheShownTargetAndTheLibrariesOfTheCpu) {
  const auto ids = [](const RaceRows& rows, const StrategyInfo& shown) {
    std::vector<std::string> all;
    for (const RegistryRow* row : racing_rows(rows, shown)) all.push_back(row->info.id());
    return all;
  };
  const StrategyInfo direct = find_strategy("direct", Target::emulated, Precision::fp32)->info;
  const StrategyInfo reference = find_strategy("reference", Target::cpu, Precision::fp64)->info;
  const auto has = [](const std::vector<std::string>& all, const std::string& id) {
    return std::find(all.begin(), all.end(), id) != all.end();
  };
  const auto automatic = ids({}, direct);
  EXPECT_TRUE(has(automatic, "direct/emulated/fp32"));
  EXPECT_TRUE(has(automatic, "tiled/emulated/fp32"));
  EXPECT_TRUE(has(automatic, "onednn/cpu/fp32"));
  EXPECT_FALSE(has(automatic, "reference/cpu/fp32"));
  EXPECT_FALSE(has(automatic, "direct/emulated/fp64"));
  EXPECT_EQ(ids({.automatic = false}, direct), std::vector<std::string>{"direct/emulated/fp32"})
      << "the shown one races always";
  EXPECT_TRUE(has(ids({.automatic = false, .plain = true}, direct), "scalar/cpu/fp32"));
  EXPECT_TRUE(has(ids({}, reference), "reference/cpu/fp64"));
}

/// A race that reports when told to, and ends when told to stop or to finish.
struct FakeRace {
  std::atomic<int> begun{0}, stopped{0};
  std::atomic<bool> finish{false};
  RaceWorker::Race race() {
    return [this](const bench::RaceRequest& request,
                  const std::function<void(const bench::RaceState&)>& report, std::stop_token stop) {
      ++begun;
      bench::RaceState state;
      for (const RegistryRow* row : request.rows) {
        state.entries.push_back({});
        state.entries.back().info = row->info;
      }
      while (!stop.stop_requested() && !finish) {
        ++state.done;
        report(state);
        std::this_thread::yield();
      }
      stopped += stop.stop_requested();
      state.finished = !stop.stop_requested();
      report(state);
      return state;
    };
  }
};

bench::RaceRequest request_of(const char* name) {
  bench::RaceRequest request;
  request.rows = {find_strategy(name, Target::emulated, Precision::fp32)};
  return request;
}

TEST(RaceWorker, ReportsOfTheRaceAskedForLastAlone) {
  FakeRace fake;
  std::atomic<int> woken{0};
  RaceWorker worker(fake.race(), [&] { ++woken; });
  const char* strategies[] = {"direct", "tiled", "looped"};
  for (uint64_t id = 1; id <= 30; ++id) {
    worker.start(id, request_of(strategies[id % 3]));
    // sometimes at once, sometimes when it runs
    if (id % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (const auto report = worker.collect()) {
      EXPECT_EQ(report->id, id);
      if (!report->state.entries.empty()) {
        EXPECT_EQ(report->state.entries[0].info.name, strategies[id % 3]);
      }
      EXPECT_FALSE(report->ended) << "nobody ended race " << id;
    }
  }
  fake.finish = true;
  std::optional<RaceReport> last;
  ASSERT_TRUE(comes(
      [&] {
        if (auto report = worker.collect()) last = std::move(report);
        return last && last->ended;
      },
      20));
  EXPECT_EQ(last->id, 30U);
  EXPECT_TRUE(last->state.finished);
  EXPECT_GT(woken, 0);
}

TEST(RaceWorker, CancellingKeepsWhatWasMeasured) {
  FakeRace fake;
  RaceWorker worker(fake.race(), [] {});
  worker.start(7, request_of("direct"));
  ASSERT_TRUE(comes([&] { return fake.begun == 1; }, 20));
  worker.cancel();
  std::optional<RaceReport> last;
  ASSERT_TRUE(comes(
      [&] {
        if (auto report = worker.collect()) last = std::move(report);
        return last && last->ended;
      },
      20));
  EXPECT_EQ(last->id, 7U);
  EXPECT_EQ(last->state.entries.size(), 1U);
  EXPECT_FALSE(last->state.finished);
  EXPECT_EQ(fake.stopped, 1);
}

TEST(RaceWorker, AFaultIsSaidAndTheNextRaceRuns) {
  std::atomic<bool> fail{true};
  FakeRace fake;
  fake.finish = true;
  const RaceWorker::Race good = fake.race();
  RaceWorker worker(
      [&](const auto& request, const auto& report, std::stop_token stop) {
        if (fail) throw Error("no device");
        return good(request, report, std::move(stop));
      },
      [] {});
  std::optional<RaceReport> last;
  const auto ended = [&] {
    if (auto report = worker.collect()) last = std::move(report);
    return last && last->ended;
  };
  worker.start(1, request_of("direct"));
  ASSERT_TRUE(comes(ended, 20));
  EXPECT_EQ(last->error, "no device");
  last.reset();
  fail = false;
  worker.start(2, request_of("direct"));
  ASSERT_TRUE(comes(ended, 20));
  EXPECT_EQ(last->error, "");
  EXPECT_EQ(last->id, 2U);
}

TEST(RaceWorker, EndsWhileARaceRuns) {
  FakeRace fake;
  {
    RaceWorker worker(fake.race(), [] {});
    worker.start(1, request_of("direct"));
    ASSERT_TRUE(comes([&] { return fake.begun == 1; }, 20));
  }
  EXPECT_EQ(fake.stopped, 1);
}

Results shown_noise() {
  Results results;
  auto frame = std::make_shared<Frame>();
  frame->id = 5;
  frame->name = "pattern:noise:4x4";
  frame->pixels = Pixels(std::vector<std::byte>(48));
  PreparedOperation prepared;
  prepared.operation.problem.shape = {.c_in = 3, .h = 4, .w = 4, .c_out = 2, .k_h = 3, .k_w = 3};
  results.shown = Shown{1, frame, std::make_shared<const PreparedOperation>(prepared),
                        find_strategy("direct", Target::emulated, Precision::fp32)->info, nullptr};
  return results;
}

TEST(RaceSide, ResultsAgeWithWhatIsShown) {
  FakeRace fake;
  fake.finish = true;
  Results results = shown_noise();
  RaceSide side([] {}, fake.race());
  side.start({}, results);
  ASSERT_TRUE(comes(
      [&] {
        side.collect(results);
        return !results.race.running;
      },
      20));
  EXPECT_EQ(results.race.age, RaceAge::current);
  EXPECT_EQ(results.race.source, "pattern:noise:4x4");
  EXPECT_GT(results.race.rows.size(), 3U);

  Results next = results;
  auto frame = std::make_shared<Frame>(*results.shown->frame);
  frame->id = 6;
  next.shown->frame = frame;
  side.collect(next);
  EXPECT_EQ(next.race.age, RaceAge::other_frame);

  Results equal = results;
  equal.shown->prepared = std::make_shared<const PreparedOperation>(*results.shown->prepared);
  side.collect(equal);
  EXPECT_EQ(equal.race.age, RaceAge::current) << "the same operation, made again";

  Results flipped = results;
  PreparedOperation prepared = *results.shown->prepared;
  prepared.operation.problem.rounding = Rounding::separate;
  flipped.shown->prepared = std::make_shared<const PreparedOperation>(prepared);
  side.collect(flipped);
  EXPECT_EQ(flipped.race.age, RaceAge::other_operation);

  Results precise = results;
  precise.shown->info.precision = Precision::fp64;
  side.collect(precise);
  EXPECT_EQ(precise.race.age, RaceAge::other_operation);
}

TEST(RaceSide, NothingShownIsSaid) {
  FakeRace fake;
  Results results;
  RaceSide side([] {}, fake.race());
  side.start({}, results);
  EXPECT_FALSE(results.race.running);
  EXPECT_NE(results.race.error.find("nothing to race"), std::string::npos) << results.race.error;
  side.cancel(results);
  side.collect(results);
}

}  // namespace
}  // namespace convscope
