// The kernels for tensor cores, from their own source, on emulated tensor cores: every index of theirs is
// tested where no GPU is.

#include "tests/emulated_tensor_cores.h"
// the kernels follow the target they are compiled for
#include "kernels/strategies/implicit_gemm_tensor.cuh"
#include "kernels/strategies/implicit_gemm_wgmma.cuh"
#include "tests/tensor_testing.h"

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

TEST(TensorCores, CasesReachBothKernels) {
  int by_wgmma = 0, by_mma = 0;
  for (const ConvCase& c : tensor_cases()) {
    for (const bool parts : {false, true}) {
      const auto wgmma = emulated::make_implicit_gemm_wgmma(tf32().info, parts);
      ++(wgmma->refuses({c.shape, c.activation, Rounding::fused}) ? by_mma : by_wgmma);
    }
  }
  EXPECT_GE(by_wgmma, 12);
  EXPECT_GE(by_mma, 12);
}

TEST(TensorCores, StayWithinTheStatedError) {
  const auto runtime = make_runtime(Target::emulated);
  check_tensor_bounds(*runtime, {tf32(), split()}, tensor_cases());
  check_tensor_bounds(*runtime, {tf32(), split()}, conv_cases(3000, 1));
}

TEST(TensorCores, IdentityOf4097) {
  const auto runtime = make_runtime(Target::emulated);
  check_identity_of_4097(*runtime, tf32(), 4096);
  check_identity_of_4097(*runtime, split(), 4097);
}

TEST(TensorCores, NonfiniteValuesReachExactlyTheirNeighbours) {
  const auto runtime = make_runtime(Target::emulated);
  for (const int64_t c_in : {1, 3, 8, 19}) {
    for (const int64_t c_out : {1, 70}) {
      check_nonfinite(*runtime, tf32(), c_in, c_out);
      check_nonfinite(*runtime, split(), c_in, c_out);
    }
  }
}

TEST(TensorCores, RefuseInWords) {
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

TEST(TensorCores, PartsOfAValueAddUp) {
  for (const float v : random_values<float>(10000, 3)) {
    const Tf32Parts parts = tf32_parts(v);
    EXPECT_EQ(rounded_to_tf32(parts.big), parts.big);
    EXPECT_LE(std::fabs(static_cast<double>(parts.big) - v), 0x1p-11 * std::fabs(v)) << v;
    EXPECT_LE(std::fabs(static_cast<double>(parts.big) + parts.small - v), 0x1p-22 * std::fabs(v)) << v;
  }
}

}  // namespace
}  // namespace convscope
