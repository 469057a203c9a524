// C3: with every device hidden, the cuda rows say why they cannot run and the others go on. A program of its
// own: CUDA reads the variable once.

#include <cstdlib>

#include "tests/conv_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

TEST(NoDevice, CudaRowsSayWhyAndTheOthersCompute) {
  const auto why = cuda_unavailable();
  ASSERT_TRUE(why.has_value());
  EXPECT_FALSE(why->empty());
  EXPECT_THROW(make_runtime(Target::cuda), Error);
  EXPECT_TRUE(cuda_versions().device.empty());
  const auto runtime = make_runtime(Target::emulated);
  ConvShape s;
  s.h = s.w = 5, s.k_h = s.k_w = 3, s.pad = {1, 1};
  int cuda_rows = 0, ran = 0;
  for (const RegistryRow& row : registry()) {
    if (row.info.target == Target::cuda) {
      EXPECT_EQ(unavailable(row.info), why) << row.info.id();
      ++cuda_rows;
    } else if (row.info.precision == Precision::fp32) {
      double sum = 0;
      for (const float v :
           run<float>(*runtime, row, {s, {}, {}}, constant_weights(s, 1), std::vector<float>(25, 1)))
        sum += v;
      EXPECT_EQ(sum, 169) << row.info.id();
      ++ran;
    }
  }
  EXPECT_GT(cuda_rows, 0);
  EXPECT_GT(ran, 0);
}

}  // namespace
}  // namespace convscope

int main(int argc, char** argv) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
