// winograd_f4_3xtf32, from its own source, on emulated tensor cores.

#include "tests/emulated_tensor_cores.h"
// the kernels follow the target they are compiled for
#include "kernels/strategies/winograd_f4_3xtf32.cuh"
#include "tests/winograd_tensor_testing.h"

#include <set>

namespace convscope {
namespace {

using namespace convscope::testing;

const RegistryRow& row() {
  static const RegistryRow row = [] {
    const StrategyInfo info{"winograd_f4_3xtf32", Target::emulated, Precision::fp32, "emulated tensor cores"};
    RegistryRow r{info, {}};
    r.make = [info] { return emulated::make_winograd_f4_3xtf32(info); };
    return r;
  }();
  return row;
}

TEST(WinogradTensorCores, StaysWithinTheStatedError) {
  const auto runtime = make_runtime(Target::emulated);
  check_winograd_bounds(*runtime, row(), winograd_tensor_cases(), Channels::apart);
  check_winograd_bounds(*runtime, row(), winograd_tensor_cases(), Channels::alike);
}

TEST(WinogradTensorCores, IsExactWhereItsFractionsAre) {
  check_winograd_is_exact(*make_runtime(Target::emulated), row(), winograd_tensor_cases());
}

TEST(WinogradTensorCores, NonfiniteValuesReachTheirTiles) {
  check_winograd_nonfinite(*make_runtime(Target::emulated), row());
}

TEST(WinogradTensorCores, LaunchesDoNotShareWhatLiesBetween) {
  check_winograd_again(*make_runtime(Target::emulated), row());
}

TEST(WinogradTensorCores, CasesReachEveryFormOfTheProduct) {
  std::set<int64_t> maps;
  int several_chunks = 0, several_strips = 0, full = 0;
  for (const ConvCase& c : winograd_tensor_cases()) {
    const WinogradProductsPlan plan(c.shape);
    const WgmmaPlan p = wgmma_plan(plan.products, true);
    // a block is of one position's product, and full
    EXPECT_FALSE(p.linear) << c;
    EXPECT_EQ(p.strips * p.bands * p.outputs(), plan.pitch) << c;
    EXPECT_GE(plan.pitch, plan.tiles) << c;
    EXPECT_LT(plan.pitch - plan.tiles, p.outputs()) << c;
    maps.insert(p.maps);
    several_chunks += p.chunks > 2, several_strips += p.strips > 1, full += plan.pitch == plan.tiles;
  }
  EXPECT_EQ(maps, (std::set<int64_t>{16, 32, 64, 96, 128}));
  EXPECT_GE(several_chunks, 3);
  EXPECT_GE(several_strips, 3);
  EXPECT_GE(full, 1);
}

TEST(WinogradTensorCores, RefusesInWords) {  // C17, C21
  struct Refusal {
    int64_t c_in, side, c_out, k_h, k_w;
    Axes stride, dilation;
    Rounding rounding;
    const char* words;
  };
  constexpr auto fused = Rounding::fused;
  const Refusal table[] = {{8, 20, 16, 5, 5, {1, 1}, {1, 1}, fused, "made for 3x3 kernels, not for 5x5"},
                           {8, 20, 16, 3, 1, {1, 1}, {1, 1}, fused, "made for 3x3 kernels, not for 3x1"},
                           {8, 20, 16, 3, 3, {2, 2}, {1, 1}, fused, "stride 1 only, not 2"},
                           {8, 20, 16, 3, 3, {1, 1}, {1, 2}, fused, "dilation 1 only, not 1,2"},
                           {8, 20, 16, 3, 3, {1, 1}, {1, 1}, Rounding::separate, "choose rounding=fused"},
                           {2, 20, 16, 3, 3, {1, 1}, {1, 1}, fused, "16 of 2"},
                           {8, 20, 8, 3, 3, {1, 1}, {1, 1}, fused, "8 of 8"},
                           // 2000 x 2000 tiles of 36 values in 67 planes: 9 648 000 000 values
                           {3, 8002, 64, 3, 3, {1, 1}, {1, 1}, fused, "would take 38.59 GB of memory"},
                           {3, 2000000000, 64, 3, 3, {1, 1}, {1, 1}, fused, "of memory"}};
  for (const Refusal& r : table) {
    ConvShape s;
    s.c_in = r.c_in, s.h = s.w = r.side, s.c_out = r.c_out, s.k_h = r.k_h, s.k_w = r.k_w;
    s.stride = r.stride, s.dilation = r.dilation;
    const ConvProblem problem{s, {}, r.rounding};
    const auto why = row().make()->refuses(problem);
    ASSERT_TRUE(why) << describe(s);
    EXPECT_NE(why->find(r.words), std::string::npos) << *why;
    if (s.h > 20) continue;
    EXPECT_THROW(row().make()->prepare(problem, constant_weights(s, 1)), Error) << describe(s);
  }
  emulated::has_warpgroups = false;
  EXPECT_EQ(row().make()->refuses({}).value_or(""), "taken away");
  emulated::has_warpgroups = true;
}

}  // namespace
}  // namespace convscope
