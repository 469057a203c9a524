// Every strategy of the emulated and cpu targets against the reference, by iterating the registry: a new
// strategy is tested by being registered.

#include <memory>

#include "tests/strategy_checks.h"

namespace convscope {
namespace {

using namespace convscope::testing;

#if defined(__SANITIZE_ADDRESS__)
constexpr int64_t kLargest = 10000;  // the sanitizers take ten times as long
#else
constexpr int64_t kLargest = 1920 * 1080;
#endif

Rows host_rows(Precision precision) {
  Rows rows;
  for (const RegistryRow& row : registry()) {
    if (row.info.target != Target::cuda && row.info.precision == precision && row.info.name != "reference") {
      rows.push_back(&row);
    }
  }
  return rows;
}

TEST(Strategies, MatchReferenceFp32) {
  check_against_reference<float>(*make_runtime(Target::emulated), host_rows(Precision::fp32),
                                 conv_cases(kLargest), 101);
}
TEST(Strategies, MatchReferenceFp64) {
  check_against_reference<double>(*make_runtime(Target::emulated), host_rows(Precision::fp64),
                                  conv_cases(20000, 1), 101);
}
TEST(Strategies, SumsOfOnes) {
  check_sums_of_ones(*make_runtime(Target::emulated), host_rows(Precision::fp32));
}
TEST(Strategies, OneNanReachesExactlyItsNeighbours) {
  check_one_nan(*make_runtime(Target::emulated), host_rows(Precision::fp32));
}
TEST(Strategies, ActivationsOnExtremes) {
  check_activations_on_extremes(*make_runtime(Target::emulated), host_rows(Precision::fp32));
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
