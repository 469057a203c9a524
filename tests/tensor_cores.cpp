// The kernels for tensor cores, from their own source, on emulated tensor cores: every index of theirs is
// tested where no GPU is.

#include "tests/emulated_tensor_cores.h"
// the kernels follow the target they are compiled for
#include "kernels/strategies/implicit_gemm_rows.cuh"
#include "kernels/strategies/implicit_gemm_tensor.cuh"
#include "kernels/strategies/implicit_gemm_wgmma.cuh"
#include "tests/tensor_testing.h"

#include <array>
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

/// The kernel for few taps alone.
const RegistryRow& rows_tf32() {
  static const RegistryRow row = row_of("implicit_gemm_tf32", [](StrategyInfo info) {
    return emulated::make_implicit_gemm_rows(std::move(info), false);
  });
  return row;
}
const RegistryRow& rows_split() {
  static const RegistryRow row = row_of("implicit_gemm_3xtf32", [](StrategyInfo info) {
    return emulated::make_implicit_gemm_rows(std::move(info), true);
  });
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
    for (const int64_t c_out : {1, 16, 27, 70}) {
      check_nonfinite(*runtime, tf32(), c_in, c_out);
      check_nonfinite(*runtime, split(), c_in, c_out);
    }
  }
}

TEST(TensorCoresRows, StayWithinTheStatedError) {
  check_tensor_bounds(*make_runtime(Target::emulated), {rows_tf32(), rows_split()}, rows_cases());
}

/// A value that TF32 rounds to infinity is one, and a NaN stays NaN whatever its bits are.
TEST(TensorCoresRows, ValuesAtTheEndsOfTheRange) {
  ConvShape s;
  s.c_out = 16, s.h = 5, s.w = 8, s.k_h = s.k_w = 3, s.pad = {1, 1};
  ConvWeights identity = constant_weights(s, 0);
  for (int64_t map = 0; map < s.c_out; ++map) identity.at(map, 0, 1, 1) = 1;
  const auto runtime = make_runtime(Target::emulated);
  const auto at_centre = [&](float v) {
    std::vector<float> in(static_cast<std::size_t>(s.input_size()), 0.0f);
    in[2 * 8 + 3] = v;
    return run<float>(*runtime, rows_split(), {s, {}, {}}, identity, in)[2 * 8 + 3];
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(at_centre(std::numeric_limits<float>::max()), kInfinity);
  EXPECT_EQ(at_centre(-kInfinity), -kInfinity);
  EXPECT_EQ(at_centre(0x1.ffdfp127f), 0x1.ffdfp127f);
  for (const uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xffc00000u}) {
    EXPECT_TRUE(std::isnan(at_centre(emulated::float_of_bits(bits)))) << std::hex << bits;
  }
}

TEST(TensorCoresPlan, RowsAreDividedWithoutRest) {
  std::map<std::array<int64_t, 3>, int> reached;  // stride, rows, whether outputs are stored by fours
  for (const ConvCase& c : rows_cases()) {
    const auto why = refuses_rows(c.shape, 99 * 1024);
    ASSERT_FALSE(why) << c << ": " << *why;
    RowsPlan p = rows_plan(c.shape);
    ++reached[{p.stride, c.shape.k_h, c.shape.out_w() % 4 == 0}];
    for (const int64_t warps : {1, 7, 500, 5000}) {
      for (const int64_t about : {1, 12, 48}) {
        p.divide(c.shape, warps, about);
        const int64_t height = ceil_div(c.shape.out_h(), p.step);
        const int64_t interleaved = p.interleaved(c.shape);
        EXPECT_EQ(p.bands % interleaved, 0) << c;
        EXPECT_GE(p.bands / interleaved * p.rows, height) << c;
        EXPECT_LT((p.bands / interleaved - 1) * p.rows, height) << c;
        EXPECT_LE(p.bands, c.shape.out_h() + interleaved) << c;
      }
    }
  }
  EXPECT_EQ(reached.size(), 8u) << "a kernel that no case reaches";
}

TEST(TensorCoresPlan, CasesReachEveryForm) {
  std::map<std::pair<int64_t, bool>, int> reached;  // maps, linear
  int several_chunks = 0, several_turns = 0, odd = 0, more_than_fetched = 0;
  for (const ConvCase& c : tensor_cases()) {
    if (!refuses_rows(c.shape, 227 * 1024) || refuses_wgmma(c.shape, true, 227 * 1024)) continue;
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
