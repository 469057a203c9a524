// race(): what it keeps of good, slow, unwilling and wrong rows, and how it stops.
#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>
#include <thread>

#include "bench/approximation.h"
#include "bench/contender.h"
#include "bench/race.h"
#include "tests/bench_testing.h"

namespace convscope {
namespace {

using bench::race;
using bench::RaceRequest;
using bench::RaceState;
using bench_testing::made_row;
using bench_testing::request_of;

RaceState run(const RaceRequest& request) { return race(request, {}, {}); }

TEST(Race, EveryEmulatedRowOnASmallFrame) {
  std::vector<const RegistryRow*> rows;
  for (const RegistryRow& row : registry())
    if (row.info.target == Target::emulated && row.info.precision == Precision::fp32) rows.push_back(&row);
  ASSERT_GE(rows.size(), 5u);
  const RaceState state = run(request_of(24, 37, rows));
  ASSERT_TRUE(state.finished);
  EXPECT_EQ(state.done, state.total);
  ASSERT_EQ(state.entries.size(), rows.size());
  int timed = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bench::Entry& entry = state.entries[i];
    SCOPED_TRACE(entry.info.id());
    EXPECT_EQ(entry.info.id(), rows[i]->info.id());
    EXPECT_EQ(entry.time.runs == 0, !entry.refused.empty()) << entry.refused;
    if (!entry.refused.empty()) {
      EXPECT_EQ(entry.info.name, "separable") << entry.refused;  // the filters have rank 3
      continue;
    }
    ++timed;
    EXPECT_GE(entry.time.runs, 1);
    EXPECT_LE(entry.time.runs, 5);
    EXPECT_GT(entry.time.p10_us, 0);
    EXPECT_LE(entry.time.p10_us, entry.time.median_us);
    EXPECT_LE(entry.time.median_us, entry.time.p90_us);
    EXPECT_LE(entry.bound_fraction, entry.error_bounds);
    EXPECT_GE(entry.cost.bytes, 4.0 * (24 * 37 * 3 + 24 * 37 * 8));
    EXPECT_NE(entry.limit, "");
  }
  EXPECT_GE(timed, 5);
  const auto at = static_cast<std::size_t>(Target::emulated);
  EXPECT_EQ(state.copy[at].runs, 5);
  EXPECT_GT(state.copy[at].median_us, 0);
  EXPECT_GT(state.ceilings[at].copy_gb_s, 0.1);
  EXPECT_GT(state.ceilings[at].fma_gflop_s, 0.1);
  EXPECT_EQ(state.ceilings[at].launch_us, 0);
  EXPECT_EQ(state.copy[static_cast<std::size_t>(Target::cuda)].runs, 0);
}

TEST(Race, SlowRefusingAndWrongRows) {
  const RegistryRow rows[] = {
      made_row("good", {}),
      made_row("slow", {.sleep_ms = 150}),
      made_row("slowest", {.sleep_ms = 700}),
      made_row("unwilling", {.refusal = "only on Sundays"}),
      made_row("unprepared", {.prepare_fault = "needs 8.98 GB, 3.10 GB are free"}),
      made_row("one value", {.after = [](const float*, float* out) { out[(5 * 20 + 3) * 30 + 7] += 0.01f; }}),
      made_row("one unwritten",
               {.after = [](const float*, float* out) { out[0] = std::numeric_limits<float>::quiet_NaN(); }}),
      {{"absent", Target::emulated, Precision::fp32, ""}, {}}};
  std::vector<const RegistryRow*> pointers;
  for (const RegistryRow& row : rows) pointers.push_back(&row);
  const RaceState state = run(request_of(20, 30, pointers));
  ASSERT_TRUE(state.finished);
  EXPECT_EQ(state.done, state.total);
  const auto& e = state.entries;
  EXPECT_EQ(e[0].time.runs, 5);
  // of half a second: three, or two where the machine wakes the sleeper late
  EXPECT_GE(e[1].time.runs, 2);
  EXPECT_LE(e[1].time.runs, 3);
  EXPECT_EQ(e[2].time.runs, 1);  // the first run has taken longer than all may
  for (const int slow : {1, 2}) {
    const double least = slow == 1 ? 150e3 : 700e3;
    EXPECT_GE(e[slow].time.median_us, least);
  }
  EXPECT_EQ(e[3].refused, "only on Sundays");
  EXPECT_EQ(e[4].refused, "needs 8.98 GB, 3.10 GB are free");
  EXPECT_TRUE(e[5].refused.starts_with("wrong: 1 of 4800 values over 1 error bounds")) << e[5].refused;
  EXPECT_NE(e[5].refused.find("image 0, map 5, row 3, column 7"), std::string::npos) << e[5].refused;
  EXPECT_NE(e[6].refused.find("1 not finite"), std::string::npos) << e[6].refused;
  EXPECT_NE(e[7].refused, "");
  for (int i = 3; i < 8; ++i) EXPECT_EQ(e[i].time.runs, 0) << e[i].info.name << " has a time";
}

/// Filters that no constant memory holds, kernels that nothing transforms: a row refuses, or says what it
/// costs.
TEST(Race, EveryRowIsAskedAboutShapesThatManyRefuse) {
  ConvShape deep, long_row, dilated;
  deep.c_in = 18, deep.h = deep.w = 40, deep.k_h = deep.k_w = 31;
  long_row.w = 5000, long_row.k_w = 4500;
  dilated.h = dilated.w = 9, dilated.k_h = dilated.k_w = 3, dilated.dilation = {4, 4};
  for (const ConvShape& s : {deep, long_row, dilated}) {
    const ConvWeights weights{
        s.c_out, s.c_in, s.k_h, s.k_w, std::vector<double>(static_cast<std::size_t>(s.weight_size()), 1),
        {1}};
    for (const RegistryRow& row : registry()) {
      SCOPED_TRACE(row.info.id() + " " + describe(s));
      bench::Contender contender(row);
      contender.ask({s, Activation::relu, Rounding::fused}, weights);
      EXPECT_EQ(contender.runs(), contender.entry.refused.empty());
      if (contender.runs()) {
        EXPECT_GE(contender.entry.cost.launches, 1);
      }
    }
  }
}

TEST(Race, AStopKeepsWhatWasMeasured) {
  const RegistryRow first = made_row("first", {}), second = made_row("second", {}, Target::cpu);
  const RaceRequest request = request_of(16, 16, {&first, &second});
  std::stop_source stop;
  int after_stop = 0;
  const RaceState state = race(
      request,
      [&](const RaceState& so_far) {
        after_stop += stop.stop_requested();
        if (so_far.entries[1].time.runs == 2) stop.request_stop();
      },
      stop.get_token());
  EXPECT_FALSE(state.finished);
  EXPECT_LT(state.done, state.total);
  EXPECT_LE(after_stop, 2) << "it went on";
  EXPECT_GE(state.entries[0].time.runs, 2);
  EXPECT_LT(state.entries[0].time.runs, 5);
  EXPECT_EQ(state.entries[1].time.runs, 2);

  std::stop_source at_once;
  at_once.request_stop();
  const RaceState nothing = race(request, {}, at_once.get_token());
  EXPECT_FALSE(nothing.finished);
  EXPECT_EQ(nothing.entries[0].time.runs, 0);
}

TEST(Race, TheRowsSeeThePaddedPlanes) {
  std::vector<float> seen;
  const RegistryRow spy =
      made_row("spy", {.after = [&](const float* in, float*) { seen.assign(in, in + 3 * 4 * 5); }});
  const RaceState state = run(request_of(2, 3, {&spy}, {1, 1, 1, 1, Border::replicate}));
  ASSERT_EQ(state.entries[0].refused, "");
  ASSERT_EQ(seen.size(), 60u);
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 5; ++x) {
        const int row = std::clamp(y - 1, 0, 1), column = std::clamp(x - 1, 0, 2);
        const int pixel = ((row * 3 + column) * 3 + c) * 31 % 251;
        EXPECT_FLOAT_EQ(seen[static_cast<std::size_t>((c * 4 + y) * 5 + x)], static_cast<float>(pixel) / 255)
            << c << " " << y << " " << x;
      }
}

TEST(Race, WhatCannotBeRaced) {
  const RegistryRow row = made_row("row", {});
  RegistryRow fp64 = row;
  fp64.info.precision = Precision::fp64;
  const auto error_of = [](const RaceRequest& request) -> std::string {
    try {
      run(request);
    } catch (const Error& e) {
      return e.what();
    }
    return "(no error)";
  };
  EXPECT_NE(error_of(request_of(8, 8, {})).find("no strategy"), std::string::npos);
  EXPECT_NE(error_of(request_of(8, 8, {&row, &fp64})).find("one precision"), std::string::npos);
  RaceRequest short_frame = request_of(8, 8, {&row});
  short_frame.pixels = std::make_shared<std::vector<std::byte>>(8 * 8 * 3 - 1);
  EXPECT_EQ(error_of(short_frame), "the frame has 191 bytes, expected 192");
  RaceRequest too_small = request_of(8, 8, {&row});
  auto op = std::make_shared<Operation>(*too_small.operation);
  op->problem.shape.h = 0;
  too_small.operation = op;
  EXPECT_NE(error_of(too_small), "(no error)");
  EXPECT_NE(error_of(RaceRequest{}), "(no error)");
}

/// Every kernel 3 a b^T + 1 b a^T of the unit vectors a and b, which are at right angles: singular values 3
/// and 1, rank 1 keeps 9/10. `terms`: the first so many of the two.
ConvWeights of_rank_two(int terms) {
  constexpr double a[3] = {0.7071067811865476, 0, -0.7071067811865476};
  constexpr double b[3] = {0.5773502691896258, 0.5773502691896258, 0.5773502691896258};
  ConvWeights w{8, 3, 3, 3, {}, {}};
  for (int kernel = 0; kernel < 8 * 3; ++kernel)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) w.values.push_back(3 * a[i] * b[j] + (terms > 1 ? b[i] * a[j] : 0));
  return w;
}

RaceRequest request_of_rank(int64_t rank, const std::vector<const RegistryRow*>& rows) {
  RaceRequest request = request_of(20, 30, rows);
  auto op = std::make_shared<Operation>(*request.operation);
  op->problem.separable_rank = rank;
  op->weights = of_rank_two(2);
  request.operation = op;
  return request;
}

TEST(Race, AnApproximationIsSaidAndCheckedAgainstWhatItStates) {
  const RegistryRow* const separable = find_strategy("separable", Target::emulated, Precision::fp32);
  const RegistryRow* const direct = find_strategy("direct", Target::emulated, Precision::fp32);
  // what the registry's row would be if it computed the kernels as they are, and the sums of rank 1
  const RegistryRow whole = made_row("separable", {}),
                    truncated = made_row("separable", {.weights = of_rank_two(1)}),
                    other = made_row("tiled", {.weights = of_rank_two(1)});
  struct Case {
    int64_t rank;
    const RegistryRow* row;
    const char *approximation, *refused;
  };
  constexpr const char* kWords = "rank-1 approximation, keeps 90.0 % of the filters' energy";
  const Case cases[] = {{0, separable, "", "filter 0, channel 0 has rank 2"},
                        {1, separable, kWords, ""},
                        {2, separable, "", ""},
                        {9, separable, "", ""},
                        {1, direct, "", ""},
                        {1, &truncated, kWords, ""},
                        {1, &whole, kWords, "wrong: "},
                        {2, &whole, "", ""},
                        {2, &truncated, "", "wrong: "},
                        {1, &other, "", "wrong: "}};
  for (const Case& c : cases) {
    SCOPED_TRACE("rank " + std::to_string(c.rank) + ", " + c.row->info.id() + ", case " +
                 std::to_string(&c - cases));
    const bench::Entry entry = run(request_of_rank(c.rank, {direct, c.row})).entries[1];
    EXPECT_EQ(entry.approximation.substr(0, std::string(c.approximation).size()), c.approximation);
    EXPECT_EQ(entry.approximation.empty(), std::string(c.approximation).empty()) << entry.approximation;
    EXPECT_TRUE(entry.refused.starts_with(c.refused)) << entry.refused;
    EXPECT_EQ(entry.refused.empty(), std::string(c.refused).empty()) << entry.refused;
    EXPECT_EQ(entry.time.runs > 0, entry.refused.empty());
    if (entry.refused.empty()) {
      EXPECT_LE(entry.bound_fraction, entry.error_bounds);
    }
  }
}

TEST(Race, TheKernelsOfAnApproximationAreItsLargestTerms) {
  for (const Precision precision : {Precision::fp32, Precision::fp64}) {
    const auto found = bench::approximation_of(*request_of_rank(1, {}).operation, precision).weights.values;
    const auto expected = of_rank_two(1).values;
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], precision == Precision::fp32 ? 1e-6 : 1e-13) << i;
    EXPECT_EQ(bench::approximation_of(*request_of_rank(2, {}).operation, precision).words, "");
  }
}

TEST(Race, TwoRacesAtOnce) {  // a window's race beside another's
  const RegistryRow row = made_row("row", {});
  const RaceRequest request = request_of(40, 40, {&row});
  RaceState states[2];
  {
    std::jthread other([&] { states[1] = run(request); });
    states[0] = run(request);
  }
  for (const RaceState& state : states) EXPECT_EQ(state.entries[0].time.runs, 5);
}

}  // namespace
}  // namespace convscope
