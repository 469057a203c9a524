// Every strategy of the emulated and cpu targets against the reference, by iterating the registry: a new
// strategy is tested by being registered.

#include <memory>

#include "tests/conv_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

#if defined(__SANITIZE_ADDRESS__)
constexpr int64_t kLargest = 10000;  // the sanitizers take ten times as long
#else
constexpr int64_t kLargest = 1920 * 1080;
#endif

std::vector<const RegistryRow*> host_rows(Precision precision) {
  std::vector<const RegistryRow*> rows;
  for (const RegistryRow& row : registry()) {
    if (row.info.target != Target::cuda && row.info.precision == precision && row.info.name != "reference") {
      rows.push_back(&row);
    }
  }
  return rows;
}

template <class T>
void check_against_reference(const std::vector<ConvCase>& cases) {
  constexpr Precision precision = precision_of<T>();
  const auto runtime = make_runtime(Target::emulated);
  const RegistryRow& reference = *find_strategy("reference", Target::cpu, precision);
  int ran = 0;
  for (const ConvCase& c : cases) {
    const auto in = random_values<T>(static_cast<std::size_t>(c.shape.input_size()), 7);
    const ConvWeights weights = random_weights(c.shape, 11, c.bias);
    const auto expected = run<T>(*runtime, reference, {c.shape, c.activation, Rounding::fused}, weights, in);
    BoundsWithin<T> bounds(c.shape, weights, in);
    for (const RegistryRow* row : host_rows(precision)) {
      for (const Rounding rounding : {Rounding::fused, Rounding::separate}) {
        const ConvProblem problem{c.shape, c.activation, rounding};
        if (auto why = row->make()->refuses(problem, weights)) {
          EXPECT_FALSE(why->empty());
          continue;
        }
        const auto result = run<T>(*runtime, *row, problem, weights, in);
        const Comparison d = bounds.compare_with(expected, result, *row->make(), problem);
        ASSERT_TRUE(d.pass) << row->info.id() << " " << to_string(rounding) << ": " << c << ": "
                            << d.over_tolerance << " values over the bound, worst " << d.worst_a << " for "
                            << d.worst_b << " at " << d.worst_index;
        ++ran;
      }
    }
  }
  EXPECT_GT(ran, 100);
}

TEST(Strategies, MatchReferenceFp32) { check_against_reference<float>(conv_cases(kLargest)); }
TEST(Strategies, MatchReferenceFp64) { check_against_reference<double>(conv_cases(20000, 1)); }

TEST(Strategies, SumsOfOnes) {  // C11, C19, C20: exact in every strategy
  struct Ones {
    int64_t h, w, k_h, k_w, pad_y, pad_x;
    int64_t sum;
  };
  const Ones table[] = {
      {1, 1, 3, 3, 1, 1, 1},           {5, 5, 3, 3, 1, 1, 169},           {5, 7, 3, 3, 1, 1, 247},
      {17, 33, 3, 3, 1, 1, 4753},      {1000, 1000, 3, 3, 1, 1, 8988004}, {1080, 1920, 3, 3, 1, 1, 18644404},
      {524281, 1, 3, 1, 1, 0, 1572841}};
  const auto runtime = make_runtime(Target::emulated);
  for (const Ones& o : table) {
    ConvShape s;
    s.h = o.h, s.w = o.w, s.k_h = o.k_h, s.k_w = o.k_w, s.pad = {o.pad_y, o.pad_x};
    const std::vector<float> in(static_cast<std::size_t>(s.input_size()), 1.0f);
    for (const RegistryRow* row : host_rows(Precision::fp32)) {
      const ConvProblem problem{s, {}, Rounding::fused};
      const auto strategy = row->make();
      if (strategy->refuses(problem)) continue;
      const auto out = run<float>(*runtime, *row, problem, constant_weights(s, 1), in);
      EXPECT_EQ(sum_of_ones(out, strategy->error_bounds(problem)), o.sum)
          << row->info.id() << " " << describe(s);
    }
  }
}

TEST(Strategies, OneNanReachesExactlyItsNeighbours) {  // C8
  ConvShape s;
  s.h = s.w = 32, s.k_h = s.k_w = 3, s.pad = {1, 1};
  std::vector<float> in(32 * 32, 1.0f);
  in[10 * 32 + 10] = std::numeric_limits<float>::quiet_NaN();
  const auto runtime = make_runtime(Target::emulated);
  for (const RegistryRow* row : host_rows(Precision::fp32)) {
    const auto out = run<float>(*runtime, *row, {s, {}, Rounding::fused}, constant_weights(s, 1), in);
    EXPECT_TRUE(nan_spreads(out, 32, 10, row->make()->error_reach({s, {}, {}}))) << row->info.id();
  }
}

TEST(Strategies, RoundingIsAsAsked) {  // C5
  ConvShape s;
  s.w = 2, s.k_w = 2;
  const std::vector<float> in = {1.0f, 1.0f + 0x1p-12f};
  const ConvWeights weights{1, 1, 1, 2, {-(1.0 + 0x1p-11), 1.0 + 0x1p-12}, {}};
  const auto runtime = make_runtime(Target::emulated);
  for (const char* name : {"direct", "looped", "tiled", "direct_constant", "implicit_gemm"}) {
    const RegistryRow& row = *find_strategy(name, Target::emulated, Precision::fp32);
    EXPECT_EQ(run<float>(*runtime, row, {s, {}, Rounding::fused}, weights, in)[0], 0x1p-24f) << name;
    EXPECT_EQ(run<float>(*runtime, row, {s, {}, Rounding::separate}, weights, in)[0], 0.0f) << name;
  }
}

TEST(Strategies, KernelsOfOneOrderAgreeBitForBit) {
  const auto runtime = make_runtime(Target::emulated);
  for (const ConvCase& c : conv_cases(20000, 1)) {
    const auto in = random_values<float>(static_cast<std::size_t>(c.shape.input_size()), 3);
    const ConvWeights weights = random_weights(c.shape, 5, c.bias);
    for (const Rounding rounding : {Rounding::fused, Rounding::separate}) {
      const ConvProblem problem{c.shape, c.activation, rounding};
      const auto scalar =
          run<float>(*runtime, *find_strategy("scalar", Target::cpu, Precision::fp32), problem, weights, in);
      for (const char* name : {"direct", "looped", "tiled", "direct_constant", "implicit_gemm"}) {
        const RegistryRow& row = *find_strategy(name, Target::emulated, Precision::fp32);
        ASSERT_TRUE(same_bits(run<float>(*runtime, row, problem, weights, in), scalar)) << name << ": " << c;
      }
    }
  }
}

TEST(Strategies, ActivationsOnExtremes) {  // C9, C10
  ConvShape s;
  s.w = 6;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto runtime = make_runtime(Target::emulated);
  for (const RegistryRow* row : host_rows(Precision::fp32)) {
    if (row->make()->refuses({s, {}, {}})) continue;
    const auto apply = [&](Activation a, const std::vector<float>& in) {
      return run<float>(*runtime, *row, {s, a, Rounding::fused}, constant_weights(s, 1), in);
    };
    EXPECT_TRUE(
        same_bits(apply(Activation::relu, {nan, -1, 0, 2, -0x1p100f, 0x1p100f}), {nan, 0, 0, 2, 0, 0x1p100f}))
        << row->info.id();
    EXPECT_TRUE(same_bits(apply(Activation::tanh, {44, 45, 89, 100, -100, 2295}), {1, 1, 1, 1, -1, 1}))
        << row->info.id();
    EXPECT_TRUE(same_bits(apply(Activation::sigmoid, {0, 100, 2295, 0, 100, 0}), {0.5f, 1, 1, 0.5f, 1, 0.5f}))
        << row->info.id();
    EXPECT_EQ(apply(Activation::sigmoid, {-2295, 0, 0, 0, 0, 0})[0], 0.0f) << row->info.id();
  }
}

TEST(Strategies, LargeKernelsAndDilations) {
  const auto runtime = make_runtime(Target::emulated);
  struct Large {
    int64_t c_in, c_out, k_h, k_w, dilation;
  };
  // 31x31 of 3 channels takes 11 532 bytes a filter; 64 filters of 3x11x11 (92 928 bytes) exceed constant
  // memory (C22)
  const Large table[] = {{1, 1, 31, 31, 1}, {3, 16, 31, 31, 1}, {3, 64, 7, 7, 1}, {3, 64, 11, 11, 1},
                         {1, 2, 31, 1, 2},  {1, 2, 1, 31, 3},   {2, 5, 9, 9, 5},  {1, 1, 31, 31, 12}};
  for (const Large& l : table) {
    ConvShape s;
    s.c_in = l.c_in, s.c_out = l.c_out, s.h = 40, s.w = 45, s.k_h = l.k_h, s.k_w = l.k_w;
    s.dilation = {l.dilation, l.dilation};
    s.pad = {l.dilation * (l.k_h / 2), l.dilation * (l.k_w / 2)};
    const auto in = random_values<float>(static_cast<std::size_t>(s.input_size()), 1);
    const ConvWeights weights = random_weights(s, 2, true);
    const ConvProblem problem{s, Activation::none, Rounding::fused};
    const auto expected =
        run<float>(*runtime, *find_strategy("reference", Target::cpu, Precision::fp32), problem, weights, in);
    std::vector<float> bound(expected.size());
    error_bound(s, weights, Precision::fp32, in.data(), bound.data());
    for (const RegistryRow* row : host_rows(Precision::fp32)) {
      if (auto why = row->make()->refuses(problem, weights)) {
        if (row->info.name == "separable") {  // random kernels are not; 1-D ones are as they stand
          EXPECT_GT(std::min(l.k_h, l.k_w), 1) << *why;
          EXPECT_NE(why->find(" has rank "), std::string::npos) << *why;
          continue;
        }
        if (row->info.name.starts_with("winograd")) {
          EXPECT_NE(why->find("made for 3x3 kernels"), std::string::npos) << *why;
          continue;
        }
        // only the tile of a kernel spread over 361 pixels has a reason to be too large
        EXPECT_TRUE(row->info.name == "tiled" || row->info.name == "register_tiled") << *why;
        EXPECT_EQ(l.dilation, 12);
        EXPECT_NE(why->find("bytes of shared memory"), std::string::npos) << *why;
        continue;
      }
      EXPECT_TRUE(compare<float>(run<float>(*runtime, *row, problem, weights, in), expected, bound,
                                 {0, row->make()->error_bounds(problem)})
                      .pass)
          << row->info.id() << " " << describe(s);
    }
  }
}

TEST(Strategies, ConstantMemoryRefusesAFilterThatDoesNotFit) {
  ConvShape s;
  s.c_in = 64, s.h = s.w = 31, s.k_h = s.k_w = 31;
  const auto why =
      find_strategy("direct_constant", Target::emulated, Precision::fp32)->make()->refuses({s, {}, {}});
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("246020 bytes"), std::string::npos) << *why;  // (64 * 961 + 1) * 4
}

TEST(Strategies, ObjectsDoNotShareConstantMemory) {
  // What one strategy left in constant memory must not serve the other.
  ConvShape s;
  s.w = 8;
  const auto runtime = make_runtime(Target::emulated);
  const RegistryRow& row = *find_strategy("direct_constant", Target::emulated, Precision::fp32);
  const auto first = row.make(), second = row.make();
  first->prepare({s, {}, {}}, constant_weights(s, 2));
  second->prepare({s, {}, {}}, constant_weights(s, 3));
  const std::vector<float> in(8, 1.0f);
  std::vector<float> out(8);
  for (int turn = 0; turn < 2; ++turn) {
    first->launch(in.data(), out.data(), runtime->stages());
    EXPECT_EQ(out, std::vector<float>(8, 2.0f));
    second->launch(in.data(), out.data(), runtime->stages());
    EXPECT_EQ(out, std::vector<float>(8, 3.0f));
  }
}

}  // namespace
}  // namespace convscope
