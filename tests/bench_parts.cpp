// The parts of the benchmark that are arithmetic: statistics, limits, workloads, and what a check samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "bench/expected.h"
#include "bench/limit.h"
#include "bench/series.h"
#include "bench/statistics.h"
#include "bench/workloads.h"
#include "kernels/error.h"
#include "kernels/registry.h"

namespace convscope::bench {
namespace {

TEST(BenchStatistics, Percentiles) {
  struct Row {
    std::vector<double> values;
    double p10, median, p90;
  };
  const Row table[] = {{{7}, 7, 7, 7},
                       {{3, 1}, 1.2, 2, 2.8},
                       {{5, 1, 3}, 1.4, 3, 4.6},
                       {{10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, 1, 5, 9},
                       {{1, 1, 1, 1, 100}, 1, 1, 60.4}};
  for (const Row& row : table) {
    const Timing t = timing_of(row.values);
    EXPECT_DOUBLE_EQ(t.p10_us, row.p10);
    EXPECT_DOUBLE_EQ(t.median_us, row.median);
    EXPECT_DOUBLE_EQ(t.p90_us, row.p90);
    EXPECT_EQ(t.runs, static_cast<int>(row.values.size()));
  }
  EXPECT_EQ(timing_of({}).runs, 0);
}

TEST(BenchStatistics, Ties) {
  struct Row {
    Timing a, b;
    bool tied;
  };
  const Timing never{};
  const Row table[] = {{{10, 9, 11, 5}, {10.5, 9.5, 11.5, 5}, true},
                       {{10, 9, 11, 5}, {12, 11, 13, 5}, true},  // they touch
                       {{10, 9, 11, 5}, {12, 11.1, 13, 5}, false},
                       {{10, 9, 11, 5}, {10, 9.9, 10.1, 5}, true},
                       {{10, 9, 11, 5}, never, false},
                       {never, never, false}};
  for (const Row& row : table) {
    EXPECT_EQ(tied(row.a, row.b), row.tied) << row.a.median_us << " " << row.b.median_us;
    EXPECT_EQ(tied(row.b, row.a), row.tied) << row.b.median_us << " " << row.a.median_us;
  }
}

TEST(BenchLimit, Names) {
  const Ceilings machine{1000, 10000, 2, ""};  // 10^12 bytes and 10^13 flop a second
  struct Row {
    const char* what;
    double us;
    Cost cost;
    double memory, arithmetic, launches;
    const char* limit;
  };
  const Row table[] = {
      {"a copy", 100, {90e6, 1e6, 1, ""}, 0.9, 0.002, 0.02, "memory (90 % of the copy's rate)"},
      {"many products", 100, {10e6, 400e6, 1, ""}, 0.1, 0.8, 0.02, "arithmetic (80 % of the FMA rate)"},
      {"both", 100, {70e6, 350e6, 1, ""}, 0.7, 0.7, 0.02, "memory (70 % of the copy's rate)"},
      {"small", 2.5, {1e3, 1e3, 1, ""}, 0.0004, 0.00008, 0.8, "launches (1 of 2 us)"},
      {"looped", 250, {1e6, 1e6, 100, ""}, 0.004, 0.0008, 0.8, "launches (100 of 2 us)"},
      {"slow",
       1000,
       {90e6, 400e6, 1, ""},
       0.09,
       0.08,
       0.002,
       "neither memory nor arithmetic (9 % of the copy's rate, 8 % of the FMA rate)"},
      {"tensor cores",
       100,
       {30e6, 2000e6, 1, ""},
       0.3,
       4,
       0.02,
       "neither memory nor arithmetic (30 % of the copy's rate, 4.0 times the FMA rate, so not by that "
       "route)"},
      {"tensor cores that wait for memory",
       100,
       {80e6, 2000e6, 1, ""},
       0.8,
       4,
       0.02,
       "memory (80 % of the copy's rate)"}};
  for (const Row& row : table) {
    SCOPED_TRACE(row.what);
    const Shares s = shares_of(row.us, row.cost, machine);
    EXPECT_NEAR(s.memory, row.memory, 1e-9);
    EXPECT_NEAR(s.arithmetic, row.arithmetic, 1e-9);
    EXPECT_NEAR(s.launches, row.launches, 1e-9);
    EXPECT_EQ(limit_of(row.us, row.cost, machine), row.limit);
  }
  const Shares nothing = shares_of(0, table[0].cost, machine);
  EXPECT_EQ(nothing.memory + nothing.arithmetic + nothing.launches, 0);
}

TEST(BenchWorkloads, ShapesAreThoseOfThePeers) {
  struct Row {
    const char* name;
    int64_t n, c_in, h, w, c_out, out_h, out_w, bytes, multiply_adds;
  };
  // worked out apart from this program: bytes = 4 (input + output)
  const Row table[] = {{"A", 1, 3, 1080, 1920, 16, 539, 959, 57964864, 223301232},
                       {"B", 1, 3, 1080, 1920, 16, 1080, 1920, 157593600, 895795200},
                       {"B5", 1, 3, 1080, 1920, 16, 1080, 1920, 157593600, 2488320000},
                       {"Bd2", 1, 3, 1080, 1920, 16, 1080, 1920, 157593600, 895795200},
                       {"C", 1, 16, 1080, 1920, 32, 1080, 1920, 398131200, 9555148800},
                       {"D", 256, 256, 14, 14, 512, 14, 14, 154140672, 59190018048},
                       {"G1", 1, 1, 1080, 1920, 1, 1080, 1920, 16588800, 18662400},
                       {"G15", 1, 1, 1080, 1920, 1, 1080, 1920, 16588800, 466560000},
                       {"G31", 1, 1, 1080, 1920, 1, 1080, 1920, 16588800, 1992729600},
                       {"S17", 1, 1, 1080, 1920, 1, 1080, 1920, 16588800, 599270400},
                       {"1D", 1, 1, 1, 16777216, 1, 1, 16777216, 134217728, 520093696},
                       {"L", 32, 3, 227, 227, 96, 227, 227, 652975488, 11872281600}};
  const std::vector<Workload> all = workloads();
  ASSERT_EQ(all.size(), std::size(table));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Row& row = table[i];
    const ConvShape& s = all[i].shape;
    SCOPED_TRACE(row.name);
    EXPECT_EQ(all[i].name, row.name);
    EXPECT_FALSE(fault(s));
    EXPECT_EQ(s.n, row.n);
    EXPECT_EQ(s.c_in, row.c_in);
    EXPECT_EQ(s.h, row.h);
    EXPECT_EQ(s.w, row.w);
    EXPECT_EQ(s.c_out, row.c_out);
    EXPECT_EQ(s.out_h(), row.out_h);
    EXPECT_EQ(s.out_w(), row.out_w);
    EXPECT_EQ(static_cast<int64_t>(least_bytes(s, Precision::fp32)), row.bytes);
    EXPECT_EQ(s.multiply_adds(), row.multiply_adds);
  }
}

TEST(BenchWorkloads, FiltersAndInputs) {
  for (const Workload& workload : workloads()) {
    SCOPED_TRACE(workload.name);
    const ConvWeights weights = weights_of(workload);
    EXPECT_FALSE(fault(weights, workload.shape));
    EXPECT_EQ(static_cast<int64_t>(weights.bias.size()), workload.shape.c_out);
    // `separable` takes those that say so, and lines, and no others
    const auto separable = find_strategy("separable", Target::emulated, Precision::fp32)->make();
    const bool line = workload.shape.k_h == 1;
    EXPECT_EQ(!separable->refuses({workload.shape, Activation::none, Rounding::fused}, weights),
              workload.rank_one || line);
  }
  Workload small{"small", "", {2, 3, 4, 5, 1, 1, 1, {1, 1}, {0, 0}, {1, 1}}};
  for (const Precision precision : {Precision::fp32, Precision::fp64}) {
    const std::vector<std::byte> bytes = input_of(small, precision);
    ASSERT_EQ(bytes.size(), 120 * bytes_of(precision));
    EXPECT_EQ(bytes, input_of(small, precision));
  }
}

TEST(BenchSeries, HotLaunches) {
  const std::pair<double, int> table[] = {{0, 32}, {1, 32}, {10, 20}, {99, 2}, {150, 1}, {1e6, 1}};
  for (const auto& [us, launches] : table) EXPECT_EQ(hot_launches(us), launches) << us;
}

/// 5 images, 7 maps of 1x1 filters that copy: output value = image * 100 + map + pixel / 16.
struct Sampled {
  ConvProblem problem{{5, 1, 2, 3, 7, 1, 1, {1, 1}, {0, 0}, {1, 1}}, Activation::none, Rounding::fused};
  ConvWeights weights{7, 1, 1, 1, std::vector<double>(7, 1.0), {0, 1, 2, 3, 4, 5, 6}};
  std::vector<float> in, out;
  Sampled() {
    for (int image = 0; image < 5; ++image)
      for (int pixel = 0; pixel < 6; ++pixel)
        in.push_back(static_cast<float>(image) * 100 + static_cast<float>(pixel) / 16);
    for (int image = 0; image < 5; ++image)
      for (int map = 0; map < 7; ++map)
        for (int pixel = 0; pixel < 6; ++pixel)
          out.push_back(in[static_cast<std::size_t>(image * 6 + pixel)] + static_cast<float>(map));
  }
};

TEST(BenchExpected, SamplesOfPlanes) {
  struct Row {
    CheckLimits limits;
    int64_t most;  // values
  };
  const Sampled s;
  const auto runtime = make_runtime(Target::cpu);
  const Row table[] = {{{}, 210},          {{0, 210}, 210}, {{0, 209}, 209},
                       {{100, 1000}, 100}, {{0, 60}, 60},   {{1, 1}, 6}};
  for (const Row& row : table) {
    SCOPED_TRACE(row.most);
    Expected expected(s.problem, s.weights, Precision::fp32, s.in.data(), row.limits);
    EXPECT_EQ(expected.values(), 210);
    EXPECT_LE(expected.checked(), row.most);
    EXPECT_GE(expected.checked(), std::min<int64_t>(row.most / 2, 6));
    EXPECT_EQ(expected.checked() % 6, 0) << "planes are complete";
    const auto right = expected.judge(*runtime, s.out.data(), 1, 0);
    EXPECT_TRUE(right.good) << right.fault;
    // one wrong value in each plane in turn: exactly the checked planes must notice
    int64_t noticed = 0;
    for (std::size_t plane = 0; plane < 35; ++plane) {
      std::vector<float> wrong = s.out;
      wrong[plane * 6 + 4] += 1;
      const auto verdict = expected.judge(*runtime, wrong.data(), 1, 0);
      if (verdict.good) continue;
      ++noticed;
      const std::string place =
          "image " + std::to_string(plane / 7) + ", map " + std::to_string(plane % 7) + ", row 1, column 1";
      EXPECT_NE(verdict.fault.find(place), std::string::npos) << verdict.fault << " is not at " << place;
    }
    EXPECT_EQ(noticed * 6, expected.checked());
  }
}

TEST(BenchExpected, NonFiniteValues) {
  Sampled s;
  s.in[8] = std::numeric_limits<float>::quiet_NaN();  // image 1, pixel 2
  for (std::size_t map = 0; map < 7; ++map) s.out[(7 + map) * 6 + 2] = s.in[8];
  const auto runtime = make_runtime(Target::cpu);
  Expected expected(s.problem, s.weights, Precision::fp32, s.in.data());
  EXPECT_TRUE(expected.judge(*runtime, s.out.data(), 1, 0).good);
  for (const std::size_t at :
       {std::size_t{7 * 6 + 3}, std::size_t{0}}) {  // one more, where the reference has none
    std::vector<float> wrong = s.out;
    wrong[at] = s.in[8];
    EXPECT_FALSE(expected.judge(*runtime, wrong.data(), 1, 0).good) << at;
    EXPECT_FALSE(expected.judge(*runtime, wrong.data(), 1e9, 0).good) << at;
  }
  std::vector<float> finite = s.out;
  finite[7 * 6 + 2] = 0;  // a NaN swallowed
  EXPECT_FALSE(expected.judge(*runtime, finite.data(), 1, 0).good);
  EXPECT_FALSE(expected.judge(*runtime, finite.data(), 1, 3).good);
}

/// A filter of zeros: where the reference has 0, a strategy that mixes pixels may have 0 * Inf.
TEST(BenchExpected, NonFiniteValuesUnderAFilterOfZeros) {
  ConvProblem problem;
  problem.shape.h = problem.shape.w = 5, problem.shape.c_out = 2;
  const ConvWeights weights{2, 1, 1, 1, {0, 1}, {}};
  std::vector<float> in(25, 1.0f), out(50, 0.0f);
  in[12] = std::numeric_limits<float>::infinity();
  std::copy(in.begin(), in.end(), out.begin() + 25);
  for (const std::size_t i : {6, 7, 8, 11, 12, 13, 16, 17, 18})
    out[i] = std::numeric_limits<float>::quiet_NaN();
  const auto runtime = make_runtime(Target::cpu);
  Expected expected(problem, weights, Precision::fp32, in.data());
  const Expected::Verdict within = expected.judge(*runtime, out.data(), 1, 1);
  EXPECT_TRUE(within.good) << within.fault;
  EXPECT_FALSE(expected.judge(*runtime, out.data(), 1, 0).good) << "without a reach only its own pixel";
  out[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(expected.judge(*runtime, out.data(), 1, 1).good) << "beyond the reach";
}

}  // namespace
}  // namespace convscope::bench
