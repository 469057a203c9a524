// Winograd on a device: against the reference, and against the emulated target bit for bit. Exits 77
// (skipped) where there is no device.

#include "tests/gpu_testing.h"
#include "tests/winograd_cases.h"

namespace convscope {
namespace {

using namespace convscope::testing;

const std::vector<std::string> kNames(std::begin(kWinogradNames), std::end(kWinogradNames));

TEST(GpuWinograd, EqualsEmulatedBitForBitFp32) {
  BitForBit<float>(kNames).check(winograd_cases(largest_wanted()), 101);
}
TEST(GpuWinograd, EqualsEmulatedBitForBitFp64) {
  BitForBit<double>(kNames).check(winograd_cases(largest_wanted()), 101);
}

/// F4 in double takes more shared memory than older devices have; nothing else is a reason.
TEST(GpuWinograd, RefusesForSharedMemoryAlone) {
  ConvShape s;
  s.h = s.w = 32, s.k_h = s.k_w = 3;
  for (const char* name : kWinogradNames) {
    for (const Precision precision : {Precision::fp32, Precision::fp64}) {
      const auto why = find_strategy(name, Target::cuda, precision)->make()->refuses({s, {}, {}});
      if (why) {
        EXPECT_NE(why->find("shared memory"), std::string::npos) << *why;
      }
    }
  }
}

}  // namespace
}  // namespace convscope
