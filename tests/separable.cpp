// `separable` on banks of rank 1, which the suites over all strategies rarely have, and what it refuses;
// `looped`, whose launches are counted.

#include <algorithm>
#include <functional>

#include "tests/separable_cases.h"

namespace convscope {
namespace {

using namespace convscope::testing;

template <class T>
void check_against_reference(const std::vector<ConvCase>& cases) {
  constexpr Precision precision = precision_of<T>();
  const auto runtime = make_runtime(Target::emulated);
  const RegistryRow& row = *find_strategy("separable", Target::emulated, precision);
  double worst = 0;
  for (const ConvCase& c : cases) {
    const auto in = random_values<T>(static_cast<std::size_t>(c.shape.input_size()), 7);
    const ConvWeights weights = rank_one_weights(c.shape, 11, c.bias);
    const auto expected = run<T>(*runtime, *find_strategy("reference", Target::cpu, precision),
                                 {c.shape, c.activation, Rounding::fused}, weights, in);
    std::vector<float> bound(expected.size());
    error_bound(c.shape, weights, precision, in.data(), bound.data());
    for (const Rounding rounding : {Rounding::fused, Rounding::separate}) {
      const ConvProblem problem{c.shape, c.activation, rounding};
      ASSERT_EQ(row.make()->refuses(problem, weights).value_or(""), "") << c;
      const Comparison d = compare<T>(run<T>(*runtime, row, problem, weights, in), expected, bound,
                                      {0, row.make()->error_bounds(problem)});
      ASSERT_TRUE(d.pass) << to_string(rounding) << ": " << c << ": " << d.over_tolerance
                          << " values over the bound, worst " << d.worst_a << " for " << d.worst_b << " at "
                          << d.worst_index;
      worst = std::max(worst, d.max_bound_fraction);
    }
  }
  ::testing::Test::RecordProperty("worst_bound_fraction", std::to_string(worst));
  EXPECT_GT(worst, 0);  // an order of its own: some value differs
}

TEST(SeparableStrategy, MatchesReferenceOverTheTableFp32) {
  check_against_reference<float>(conv_cases(20000));
}
TEST(SeparableStrategy, MatchesReferenceOverTheTableFp64) {
  check_against_reference<double>(conv_cases(20000));
}
TEST(SeparableStrategy, MatchesReferenceOnLongKernelsFp32) {
  check_against_reference<float>(separable_cases());
}
TEST(SeparableStrategy, MatchesReferenceOnLongKernelsFp64) {
  check_against_reference<double>(separable_cases());
}

TEST(SeparableStrategy, OneDimensionIsOnePassInTheOrderOfDirect) {
  const auto runtime = make_runtime(Target::emulated);
  for (const ConvShape& s : {ConvShape{2, 3, 20, 600, 2, 1, 31, {1, 1}, {0, 15}, {1, 1}},
                             ConvShape{2, 3, 1, 6000, 2, 1, 8, {1, 1}, {0, 4}, {1, 1}},
                             ConvShape{2, 3, 20, 600, 2, 1, 7, {2, 3}, {0, 2}, {1, 2}},
                             ConvShape{2, 1, 600, 20, 3, 31, 1, {1, 1}, {15, 0}, {1, 1}}}) {
    const auto in = random_values<float>(static_cast<std::size_t>(s.input_size()), 3);
    const ConvWeights weights = random_weights(s, 5, true);
    for (const Rounding rounding : {Rounding::fused, Rounding::separate}) {
      const ConvProblem problem{s, Activation::none, rounding};
      EXPECT_TRUE(same_bits(
          run<float>(*runtime, *find_strategy("separable", Target::emulated, Precision::fp32), problem,
                     weights, in),
          run<float>(*runtime, *find_strategy("scalar", Target::cpu, Precision::fp32), problem, weights, in)))
          << describe(s) << " " << to_string(rounding);
    }
  }
}

TEST(SeparableStrategy, RefusesWithTheWorstKernelEverywhere) {
  const auto runtime = make_runtime(Target::emulated);
  ConvShape s;
  s.h = s.w = 8, s.c_out = 2, s.k_h = s.k_w = 3, s.pad = {1, 1};
  ConvWeights weights = constant_weights(s, 1);
  const std::vector<double> laplacian = {0, 1, 0, 1, -4, 1, 0, 1, 0};
  std::copy(laplacian.begin(), laplacian.end(), weights.values.begin() + 9);
  const std::string why = "filter 1, channel 0 has rank 2; rank 1 keeps 99.0 % of its energy";
  const RegistryRow& row = *find_strategy("separable", Target::emulated, Precision::fp32);
  const ConvProblem problem{s, {}, {}};
  const auto strategy = row.make();
  EXPECT_FALSE(strategy->refuses(problem));  // the shape alone is welcome
  EXPECT_EQ(strategy->refuses(problem, weights).value_or("(taken)"), why);
  EXPECT_FALSE(strategy->refuses(problem, constant_weights(s, 1)));  // and asked again, of other weights
  EXPECT_EQ(strategy->refuses(problem, weights).value_or("(taken)"), why);
  const auto message = [](const std::function<void()>& act) {
    try {
      act();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("(no error)");
  };
  EXPECT_EQ(message([&] { strategy->prepare(problem, weights); }), "separable refuses: " + why);
  Operation op;
  op.pixels = {PixelType::u8, 8, 8, 1, 1, false, false, false};
  op.problem = problem;
  op.weights = weights;
  Chain chain(*runtime);
  EXPECT_EQ(message([&] { chain.set(row, op); }), "separable refuses: " + why);
}

TEST(SeparableStrategy, TwoKernelsGiveTheBitsOfOne) {
  const auto runtime = make_runtime(Target::emulated);
  ConvShape wide{1, 2, 40, 2600, 2, 5, 3, {1, 1}, {0, 0}, {1, 1200}};
  const ConvWeights weights = rank_one_weights(wide, 3, true);
  const auto in = random_values<float>(static_cast<std::size_t>(wide.input_size()), 3);
  // the same convolution of columns gathered from the image: columns x, x + 1200, x + 2400 side by side
  ConvShape narrow = wide;
  narrow.w = 3 * 200, narrow.stride.x = 3, narrow.dilation.x = 1;
  std::vector<float> gathered;
  for (int64_t row = 0; row < 2 * wide.h; ++row)
    for (int64_t x = 0; x < 200; ++x)
      for (int64_t j = 0; j < 3; ++j)
        gathered.push_back(in[static_cast<std::size_t>(row * wide.w + x + j * 1200)]);
  ASSERT_EQ(wide.out_w(), 200);
  ASSERT_EQ(narrow.out_w(), 200);
  const RegistryRow& row = *find_strategy("separable", Target::emulated, Precision::fp32);
  EXPECT_TRUE(same_bits(run<float>(*runtime, row, {wide, {}, {}}, weights, in),
                        run<float>(*runtime, row, {narrow, {}, {}}, weights, gathered)));
  const auto stages = [&](const ConvShape& s) {
    const auto strategy = row.make();
    strategy->prepare({s, {}, {}}, weights);
    std::vector<float> out(static_cast<std::size_t>(s.output_size()));
    runtime->stages().collect();
    runtime->stages().begin_frame(1);
    strategy->launch(s.w == wide.w ? in.data() : gathered.data(), out.data(), runtime->stages());
    runtime->stages().end_frame();
    std::vector<std::string> names;
    const auto frames = runtime->stages().collect();
    for (const StageTime& t : frames.at(0).stages) names.push_back(t.name);
    return names;
  };
  EXPECT_EQ(stages(narrow), (std::vector<std::string>{"separable"}));
  EXPECT_EQ(stages(wide), std::vector<std::string>{"separable, down+along"});
}

TEST(LoopedStrategy, IsOneStageAndRefusesToHoldUpTheWindow) {
  const auto runtime = make_runtime(Target::emulated);
  ConvShape s;
  s.n = 2, s.c_in = 3, s.c_out = 4, s.h = s.w = 9, s.k_h = s.k_w = 3;
  const auto strategy = find_strategy("looped", Target::emulated, Precision::fp32)->make();
  strategy->prepare({s, {}, {}}, constant_weights(s, 1));
  const std::vector<float> in(static_cast<std::size_t>(s.input_size()), 1.0f);
  std::vector<float> out(static_cast<std::size_t>(s.output_size()));
  runtime->stages().begin_frame(1);
  strategy->launch(in.data(), out.data(), runtime->stages());
  runtime->stages().end_frame();
  const auto frames = runtime->stages().collect();
  ASSERT_EQ(frames.at(0).stages.size(), 1u);
  EXPECT_EQ(frames[0].stages[0].name, "looped");
  EXPECT_EQ(out, std::vector<float>(out.size(), 27.0f));

  s.n = 256, s.c_in = 256, s.c_out = 512;
  const auto why = strategy->refuses({s, {}, {}});
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("33554432 launches"), std::string::npos) << *why;
  EXPECT_THROW(strategy->prepare({s, {}, {}}, constant_weights(s, 1)), Error);
}

}  // namespace
}  // namespace convscope
