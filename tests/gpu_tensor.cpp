// Strategies on the tensor cores of a device. Exits 77 (skipped) where there is no device that has them.

#include <fmt/format.h>

#include "tests/tensor_testing.h"
#include "tests/winograd_tensor_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

const RegistryRow& row_of(const char* name) { return *find_strategy(name, Target::cuda, Precision::fp32); }

std::vector<RegistryRow> rows() { return {row_of("implicit_gemm_tf32"), row_of("implicit_gemm_3xtf32")}; }

TEST(GpuTensor, StaysWithinTheStatedError) {
  const auto device = make_runtime(Target::cuda);
  check_tensor_bounds(*device, rows(), tensor_cases());
  check_tensor_bounds(*device, rows(), rows_cases());
  check_tensor_bounds(*device, rows(), conv_cases(20000));
}

TEST(GpuTensor, IdentityOf4097) {
  const auto device = make_runtime(Target::cuda);
  check_identity_of_4097(*device, row_of("implicit_gemm_tf32"), 4096);
  check_identity_of_4097(*device, row_of("implicit_gemm_3xtf32"), 4097);
  check_identity_of_4097(*device, row_of("implicit_gemm"), 4097);
}

TEST(GpuTensor, NonfiniteValuesReachExactlyTheirNeighbours) {
  const auto device = make_runtime(Target::cuda);
  for (const RegistryRow& row : rows()) {
    for (const int64_t c_in : {1, 3, 8, 19}) {
      for (const int64_t c_out : {1, 16, 70}) check_nonfinite(*device, row, c_in, c_out);
    }
  }
}

TEST(GpuTensor, ImagesOfTheBenchmark) {
  const auto device = make_runtime(Target::cuda);
  std::vector<ConvCase> cases(6);
  cases[0].shape = {1, 16, 1080, 1920, 32, 3, 3, {1, 1}, {1, 1}, {1, 1}};
  cases[1].shape = {4, 256, 14, 14, 512, 3, 3, {1, 1}, {1, 1}, {1, 1}};
  cases[2].shape = {1, 3, 1080, 1920, 16, 3, 3, {2, 2}, {0, 0}, {1, 1}};
  cases[3].shape = {1, 3, 1080, 1920, 16, 3, 3, {1, 1}, {1, 1}, {1, 1}};
  cases[4].shape = {1, 3, 1080, 1920, 16, 5, 5, {1, 1}, {2, 2}, {1, 1}};
  cases[5].shape = {1, 3, 1080, 1920, 16, 3, 3, {1, 1}, {2, 2}, {2, 2}};
  check_tensor_bounds(*device, rows(), cases);
}

/// Needs compute capability 9.0.
class GpuWinogradTensor : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = row().make()->refuses({winograd_tensor_cases()[0].shape, {}, {}})) {
      GTEST_SKIP() << *why;
    }
  }
  static const RegistryRow& row() { return row_of("winograd_f4_3xtf32"); }
  const std::unique_ptr<Runtime> device_ = make_runtime(Target::cuda);
};

TEST_F(GpuWinogradTensor, StaysWithinTheStatedError) {
  std::vector<ConvCase> cases = winograd_tensor_cases();
  cases.emplace_back().shape = {4, 256, 14, 14, 512, 3, 3, {1, 1}, {1, 1}, {1, 1}};
  cases.emplace_back().shape = {1, 16, 1080, 1920, 32, 3, 3, {1, 1}, {1, 1}, {1, 1}};
  check_winograd_bounds(*device_, row(), cases, Channels::apart);
  check_winograd_bounds(*device_, row(), cases, Channels::alike);
}

TEST_F(GpuWinogradTensor, IsExactWhereItsFractionsAre) {
  check_winograd_is_exact(*device_, row(), winograd_tensor_cases());
}

TEST_F(GpuWinogradTensor, NonfiniteValuesReachTheirTiles) { check_winograd_nonfinite(*device_, row()); }

TEST_F(GpuWinogradTensor, LaunchesDoNotShareWhatLiesBetween) { check_winograd_again(*device_, row()); }

}  // namespace
}  // namespace convscope

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const char* const needed = "implicit_gemm_tf32";
  const auto* const row =
      convscope::find_strategy(needed, convscope::Target::cuda, convscope::Precision::fp32);
  auto why = convscope::unavailable(row->info);
  if (!why) why = row->make()->refuses({});
  if (why) {
    fmt::print("skipped: {}\n", *why);
    return 77;
  }
  return RUN_ALL_TESTS();
}
