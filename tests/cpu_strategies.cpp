// The cpu target on cases with known answers; its life, stages and refusals.
#include <numeric>

#include "tests/cpu_testing.h"

namespace convscope {
namespace {

using namespace convscope::cpu_testing;

struct KnownCase {
  const char* name;
  ConvShape shape;
  std::vector<double> weights, in, expected;
  Activation activation = Activation::none;
};

std::vector<KnownCase> known_cases() {
  const std::vector<double> image{1, 2, 3, 4, 5, 6, 7, 8, 9}, box(9, 1.0), row5(5, 1.0);
  const ConvShape square{1, 1, 3, 3, 1, 3, 3, {1, 1}, {1, 1}};
  const double nan = kNan<double>;
  return {
      {"C12 correlation", square, {1, 0, 0, 0, 0, 0, 0, 0, 0}, image, {0, 0, 0, 0, 1, 2, 0, 4, 5}},
      {"C12 true convolution",
       square,
       flipped(weights_of(square, {1, 0, 0, 0, 0, 0, 0, 0, 0})).values,
       image,
       {5, 6, 0, 8, 9, 0, 0, 0, 0}},
      {"C13 no padding", {1, 1, 1, 4, 1, 1, 2}, {1, 10}, {1, 2, 3, 4}, {21, 32, 43}},
      {"C13 both anchors", {1, 1, 1, 4, 1, 1, 2, {1, 1}, {0, 1}}, {1, 10}, {1, 2, 3, 4}, {10, 21, 32, 43, 4}},
      {"C14 zero", {1, 1, 1, 5, 1, 1, 5, {1, 1}, {0, 2}}, row5, {1, 2, 3, 4, 5}, {6, 10, 15, 14, 12}},
      {"C18", {1, 1, 1, 4, 1, 1, 3, {1, 1}, {0, 1}}, {1, 1, 1}, {0, 0, 0, 1}, {0, 0, 1, 1}},
      {"C4 identity",
       square,
       {0, 0, 0, 0, 1, 0, 0, 0, 0},
       std::vector<double>(9, 4097),
       std::vector<double>(9, 4097)},
      {"C9 ReLU",
       {1, 1, 1, 6, 1, 1, 1},
       {1},
       {nan, -1, 0, 2, kInf, -kInf},
       {nan, 0, 0, 2, kInf, 0},
       Activation::relu},
      {"C10 tanh",
       {1, 1, 1, 9, 1, 1, 1},
       {1},
       {44, 45, 89, 100, -100, 2295, kInf, -kInf, nan},
       {1, 1, 1, 1, -1, 1, 1, -1, nan},
       Activation::tanh},
      {"sigmoid",
       {1, 1, 1, 6, 1, 1, 1},
       {1},
       {0, 100, -1000, kInf, -kInf, nan},
       {0.5, 1, 0, 1, 0, nan},
       Activation::sigmoid},
      {"padded zeros count: 0 * Inf",
       {1, 1, 1, 3, 1, 1, 3, {1, 1}, {0, 1}},
       {kInf, 1, 1},
       {1, 1, 1},
       {nan, kInf, kInf}},
      {"a zero weight counts: 0 * Inf", {1, 1, 1, 3, 1, 1, 2}, {0, 1}, {1, kInf, 1}, {kInf, nan}},
      {"pad beyond the kernel",
       {1, 1, 1, 1, 1, 1, 2, {1, 1}, {0, 4}},
       {1, 10},
       {3},
       {0, 0, 0, 30, 3, 0, 0, 0}},
      {"stride beyond the kernel",
       {1, 1, 1, 9, 1, 1, 2, {1, 4}},
       {1, 10},
       {1, 2, 3, 4, 5, 6, 7, 8, 9},
       {21, 65}},
      {"dilation", {1, 1, 1, 5, 1, 1, 3, {1, 1}, {0, 0}, {1, 2}}, {1, 10, 100}, {1, 2, 3, 4, 5}, {531}},
      {"channels, maps and batch",
       {2, 2, 1, 1, 2, 1, 1},
       {1, 10, 100, 1000},
       {1, 2, 3, 4},
       {21, 2100, 43, 4300}},
  };
}

template <class T>
void check_known_cases() {
  for (const KnownCase& c : known_cases()) {
    SCOPED_TRACE(c.name);
    for_each_strategy<T>([&](const std::string& name, Rounding rounding) {
      expect_same(run<T>(name, {c.shape, c.activation, rounding}, weights_of(c.shape, c.weights),
                         {c.in.begin(), c.in.end()}),
                  {c.expected.begin(), c.expected.end()});
    });
  }
}
TEST(Known, Fp32) { check_known_cases<float>(); }
TEST(Known, Fp64) { check_known_cases<double>(); }

TEST(Known, C5RoundingShows) {
  const ConvShape s{1, 1, 1, 2, 1, 1, 2};
  const ConvWeights w = weights_of(s, {-(1 + 0x1p-11), 1 + 0x1p-12});
  const std::vector<float> in{1, 1 + 0x1p-12f};
  EXPECT_EQ(run("scalar", {s, Activation::none, Rounding::separate}, w, in)[0], 0.0f);
  EXPECT_EQ(run("scalar", {s, Activation::none, Rounding::fused}, w, in)[0], 0x1p-24f);
  EXPECT_EQ(run("reference", {s, Activation::none, Rounding::fused}, w, in)[0], 0x1p-24f);
}

TEST(Known, C6OrderShows) {
  const ConvShape s{1, 1, 1, 3, 1, 1, 3, {1, 1}, {0, 1}};
  const std::vector<float> in{1e8f, 1, -1e8f};
  EXPECT_EQ(run("reference", {s}, ones(s), in)[1], 1.0f);
  EXPECT_EQ(run("scalar", {s}, ones(s), in)[1], 0.0f);
}

TEST(Known, C8OneNanReachesNine) {
  const ConvShape s{1, 1, 32, 32, 1, 3, 3, {1, 1}, {1, 1}};
  std::vector<float> in(32 * 32, 1.0f);
  in[10 * 32 + 10] = kNan<float>;
  for_each_strategy<float>([&](const std::string& name, Rounding rounding) {
    const auto out = run(name, {s, Activation::none, rounding}, ones(s), in);
    for (int y = 0; y < 32; ++y)
      for (int x = 0; x < 32; ++x)
        EXPECT_EQ(std::isnan(out[static_cast<std::size_t>(y * 32 + x)]),
                  std::abs(y - 10) <= 1 && std::abs(x - 10) <= 1)
            << y << "," << x;
  });
}

template <class T>
void check_ones() {
  const std::pair<int64_t, int64_t> sizes[] = {{1, 1}, {5, 5}, {5, 7}, {17, 33}, {1000, 1000}, {1080, 1920}};
  for (const auto& [h, w] : sizes) {
    const ConvShape s{1, 1, h, w, 1, 3, 3, {1, 1}, {1, 1}};
    for_each_strategy<T>([&, h = h, w = w](const std::string& name, Rounding rounding) {
      SCOPED_TRACE(::testing::Message() << h << "x" << w);
      const auto out = run(name, {s, Activation::none, rounding}, ones(s),
                           std::vector<T>(static_cast<std::size_t>(h * w), T(1)));
      int64_t sum = 0;
      for (int64_t y = 0; y < h; ++y)
        for (int64_t x = 0; x < w; ++x) {
          const int64_t rows = 3 - (y == 0) - (y == h - 1), columns = 3 - (x == 0) - (x == w - 1);
          const T value = out[static_cast<std::size_t>(y * w + x)];
          ASSERT_EQ(value, static_cast<T>(rows * columns)) << y << "," << x;
          sum += static_cast<int64_t>(value);
        }
      EXPECT_EQ(sum, (3 * h - 2) * (3 * w - 2));
    });
  }
}
TEST(Known, C11C19OnesFp32) { check_ones<float>(); }
TEST(Known, C11C19OnesFp64) { check_ones<double>(); }

TEST(Known, C20OneWideAndTall) {
  const ConvShape s{1, 1, 524281, 1, 1, 3, 1, {1, 1}, {1, 0}};
  for_each_strategy<float>([&](const std::string& name, Rounding rounding) {
    const auto out = run(name, {s, Activation::none, rounding}, ones(s), std::vector<float>(524281, 1.0f));
    EXPECT_EQ(std::accumulate(out.begin(), out.end(), int64_t{0}), 1572841);
  });
}

TEST(Life, PreparedAgainAndLaunchedAgain) {
  const ConvShape first{1, 1, 3, 3, 1, 3, 3, {1, 1}, {2, 2}}, second{2, 1, 2, 4, 1, 2, 1, {1, 1}, {0, 1}};
  for_each_strategy<float>([&](const std::string& name, Rounding rounding) {
    const auto strategy = make(name, Precision::fp32);
    for (const ConvShape& s : {first, second, first}) {
      const ConvProblem problem{s, Activation::none, rounding};
      strategy->prepare(problem, ones(s));
      for (const float scale : {1.0f, 3.0f}) {
        std::vector<float> in(static_cast<std::size_t>(s.input_size()));
        std::iota(in.begin(), in.end(), scale);
        expect_same(launch(*strategy, s, in), exact(problem, ones(s), in));
      }
    }
  });
}

TEST(Life, StagesAreNamedForTheStrategy) {
  const ConvShape s{1, 3, 16, 16, 16, 3, 3, {1, 1}, {1, 1}};
  const std::vector<float> in(static_cast<std::size_t>(s.input_size()), 1.0f);
  for_each_strategy<float>([&](const std::string& name, Rounding rounding) {
    const auto strategy = make(name, Precision::fp32);
    strategy->prepare({s, Activation::relu, rounding}, ones(s));
    std::vector<float> out(static_cast<std::size_t>(s.output_size()));
    HostStages stages;
    stages.begin_frame(1);
    strategy->launch(in.data(), out.data(), stages);
    stages.end_frame();
    const auto frames = stages.collect();
    ASSERT_EQ(frames.size(), 1u);
    int named = 0;
    for (const StageTime& stage : frames[0].stages) {
      EXPECT_EQ(stage.name.substr(0, name.size()), name);
      EXPECT_GT(stage.ms, 0);
      named += stage.name == name;
    }
    EXPECT_EQ(named, 1);
  });
}

TEST(Refusals, InWords) {
  EXPECT_FALSE(make("onednn", Precision::fp64)) << "oneDNN has no fp64 convolution";
  const ConvShape s;
  const auto onednn = make("onednn", Precision::fp32);
  EXPECT_EQ(onednn->refuses({s, Activation::none, Rounding::separate}).value_or("(takes it)"),
            "oneDNN uses fused multiply-add; choose rounding=fused");
  EXPECT_TRUE(onednn->refuses({{1, 1, 1LL << 16, 1LL << 16}, Activation::none, Rounding::fused}).has_value());
  const ConvShape too_small{1, 1, 2, 2, 1, 3, 3};
  struct Case {
    ConvProblem problem;
    ConvWeights weights;
    const char* expected;
  };
  const Case cases[] = {
      {{too_small}, ones(too_small), "a 3x3 kernel covers 3x3 pixels, the padded input is 2x2"},
      {{s}, {1, 1, 1, 1, {}, {}}, "there are 0 weights, expected 1 (1x1x1x1)"},
      {{s}, {1, 1, 1, 1, {1}, {1, 2}}, "there are 2 bias values, expected 1 (one a map) or none"},
  };
  for (const char* name : {"reference", "scalar", "onednn"})
    for (const Case& c : cases) {
      try {
        make(name, Precision::fp32)->prepare(c.problem, c.weights);
        ADD_FAILURE() << name << " prepared: " << c.expected;
      } catch (const Error& e) {
        EXPECT_STREQ(e.what(), c.expected) << name;
      }
    }
  try {
    onednn->prepare({s, Activation::none, Rounding::separate}, ones(s));
    ADD_FAILURE() << "prepared";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "onednn refuses: oneDNN uses fused multiply-add; choose rounding=fused");
  }
}

}  // namespace
}  // namespace convscope
