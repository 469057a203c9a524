// The main() of suites that need a CUDA device: exits 77 (skipped) where there is none.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/runtime.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (const auto why = convscope::cuda_unavailable()) {
    fmt::print("skipped: {}\n", *why);
    return 77;
  }
  return RUN_ALL_TESTS();
}
