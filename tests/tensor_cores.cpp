// The kernels for tensor cores, from their own source, on emulated tensor cores: every index of theirs is
// tested where no GPU is.

#include "tests/emulated_tensor_cores.h"
// the kernels follow the target they are compiled for
#include "kernels/strategies/implicit_gemm_tensor.cuh"
#include "kernels/strategies/implicit_gemm_wgmma.cuh"
#include "tests/tensor_testing.h"

#include <map>
#include <utility>

namespace convscope {
namespace {

using namespace convscope::testing;

RegistryRow row_of(const char* name, std::unique_ptr<Strategy> (*make)(StrategyInfo)) {
  const StrategyInfo info{name, Target::emulated, Precision::fp32, "emulated tensor cores"};
  RegistryRow row{info, {}};
  row.make = [make, info] { return make(info); };
  return row;
}

const RegistryRow& tf32() {
  static const RegistryRow row = row_of("implicit_gemm_tf32", emulated::make_implicit_gemm_tf32);
  return row;
}
const RegistryRow& split() {
  static const RegistryRow row = row_of("implicit_gemm_3xtf32", emulated::make_implicit_gemm_3xtf32);
  return row;
}

/// Runs tests once on wgmma and once on mma.sync.
class TensorCores : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { emulated::has_warpgroups = GetParam(); }
  void TearDown() override { emulated::has_warpgroups = true; }
};
INSTANTIATE_TEST_SUITE_P(Kernels, TensorCores, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "wgmma" : "mma"; });

TEST_P(TensorCores, StayWithinTheStatedError) {
  const auto runtime = make_runtime(Target::emulated);
  check_tensor_bounds(*runtime, {tf32(), split()}, tensor_cases());
  check_tensor_bounds(*runtime, {tf32(), split()}, conv_cases(3000, 1));
}

TEST_P(TensorCores, IdentityOf4097) {
  const auto runtime = make_runtime(Target::emulated);
  check_identity_of_4097(*runtime, tf32(), 4096);
  check_identity_of_4097(*runtime, split(), 4097);
}

TEST_P(TensorCores, NonfiniteValuesReachExactlyTheirNeighbours) {
  const auto runtime = make_runtime(Target::emulated);
  for (const int64_t c_in : {1, 3, 8, 19}) {
    for (const int64_t c_out : {1, 27, 70}) {
      check_nonfinite(*runtime, tf32(), c_in, c_out);
      check_nonfinite(*runtime, split(), c_in, c_out);
    }
  }
}

TEST(TensorCoresPlan, CasesReachEveryForm) {
  std::map<std::pair<int64_t, bool>, int> reached;  // maps, linear
  int several_chunks = 0, several_turns = 0, odd = 0, more_than_fetched = 0;
  for (const ConvCase& c : tensor_cases()) {
    if (refuses_wgmma(c.shape, true, 227 * 1024)) continue;
    const WgmmaPlan p = wgmma_plan(c.shape, true);
    ++reached[{p.maps, p.linear}];
    // a chunk is fetched in one turn and stored in another
    EXPECT_GE(p.turns(), p.chunks > 1 ? 2 * p.chunks : 1) << c;
    several_chunks += p.chunks > 2, several_turns += p.steps > p.stage_steps;
    odd += p.quads_of_taps(c.shape).size() % 2;
    more_than_fetched += p.positions * p.quads > p.fetched * WgmmaPlan::kThreads;
  }
  for (const int64_t maps : {16, 32, 64, 96, 128}) {
    for (const bool linear : {false, true}) EXPECT_GE((reached[{maps, linear}]), 1) << maps << " " << linear;
  }
  EXPECT_GE(several_chunks, 3);
  EXPECT_GE(several_turns, 3);
  EXPECT_GE(odd, 3);
  EXPECT_GE(more_than_fetched, 1);
}

TEST(TensorCoresPlan, RefuseInWords) {
  ConvShape s;
  s.h = s.w = 400, s.k_h = s.k_w = 31, s.dilation = {12, 12};
  const auto why = split().make()->refuses({s, {}, {}});
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("bytes of shared memory"), std::string::npos) << *why;
  s.dilation = {1, 1};
  EXPECT_FALSE(split().make()->refuses({s, {}, Rounding::fused}));
  const auto rounding = split().make()->refuses({s, {}, Rounding::separate});
  ASSERT_TRUE(rounding);
  EXPECT_NE(rounding->find("rounding=fused"), std::string::npos) << *rounding;
}

TEST(TensorCoresPlan, PartsOfAValueAddUp) {
  for (const float v : random_values<float>(10000, 3)) {
    const Tf32Parts parts = tf32_parts(v);
    EXPECT_EQ(rounded_to_tf32(parts.big), parts.big);
    EXPECT_LE(std::fabs(static_cast<double>(parts.big) - v), 0x1p-11 * std::fabs(v)) << v;
    EXPECT_LE(std::fabs(static_cast<double>(parts.big) + parts.small - v), 0x1p-22 * std::fabs(v)) << v;
    const Tf32Parts weight = tf32_parts_of_weight(v, true);
    EXPECT_EQ(rounded_to_tf32(weight.big), weight.big);
    EXPECT_EQ(rounded_to_tf32(weight.small), weight.small);
    EXPECT_LE(std::fabs(static_cast<double>(weight.big) + weight.small - v), 0x1p-21 * std::fabs(v)) << v;
    EXPECT_TRUE(v == 0 ? weight.small == 0 : weight.small * v > 0 || std::fabs(v) < 0x1p-10f) << v;
  }
}

}  // namespace
}  // namespace convscope
