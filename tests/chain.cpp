// Pixels to feature maps through unpack, pad and a strategy; refusals leave the last picture whole.

#include "kernels/chain.h"

#include "tests/conv_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

/// A row of 8-bit grey pixels, taken as they are, and taps, with the border made by the pad stage.
Operation row_operation(const std::vector<uint8_t>& row, const std::vector<double>& taps, PadAmounts border) {
  Operation op;
  op.pixels = {PixelType::u8, static_cast<int64_t>(row.size()), 1, 1, 1, false, false, false};
  op.border = border;
  ConvShape& s = op.problem.shape;
  s.w = static_cast<int64_t>(row.size()) + border.left + border.right;
  s.k_w = static_cast<int64_t>(taps.size());
  op.weights = {1, 1, 1, s.k_w, taps, {}};
  return op;
}

std::vector<float> outputs(const Chain& chain) {
  const auto* p = static_cast<const float*>(chain.output());
  return {p, p + chain.operation().problem.shape.output_size()};
}

TEST(Chain, BordersThroughEveryHostStrategy) {  // C13, C14
  struct Row {
    std::vector<uint8_t> pixels;
    std::vector<double> taps;
    PadAmounts border;
    std::vector<float> expected;
  };
  const std::vector<double> five(5, 1.0);
  const Row table[] = {
      {{1, 2, 3, 4}, {1, 10}, {0, 0, 1, 0, Border::zero}, {10, 21, 32, 43}},
      {{1, 2, 3, 4}, {1, 10}, {0, 0, 0, 1, Border::zero}, {21, 32, 43, 4}},
      {{1, 2, 3, 4}, {1, 10}, {}, {21, 32, 43}},
      {{1, 2, 3, 4, 5}, five, {0, 0, 2, 2, Border::zero}, {6, 10, 15, 14, 12}},
      {{1, 2, 3, 4, 5}, five, {0, 0, 2, 2, Border::replicate}, {8, 11, 15, 19, 22}},
      {{1, 2, 3, 4, 5}, five, {0, 0, 2, 2, Border::reflect}, {9, 11, 15, 19, 21}},
      {{1, 2, 3, 4, 5}, five, {0, 0, 2, 2, Border::reflect_101}, {11, 12, 15, 18, 19}},
      {{1, 2, 3, 4, 5}, five, {0, 0, 2, 2, Border::wrap}, {15, 15, 15, 15, 15}},
  };
  const auto runtime = make_runtime(Target::emulated);
  uint64_t frame = 0;
  for (const RegistryRow& row : registry()) {
    if (row.info.target == Target::cuda || row.info.precision == Precision::fp64) continue;
    Chain chain(*runtime);
    for (const Row& r : table) {
      const Operation op = row_operation(r.pixels, r.taps, r.border);
      if (row.make()->refuses(op.problem, op.weights)) {
        // a row of taps is a 1-D kernel: only what is made for 3x3 has a reason
        EXPECT_TRUE(row.info.name.starts_with("winograd")) << row.info.id();
        continue;
      }
      chain.set(row, op);
      chain.run(++frame, r.pixels.data());
      EXPECT_EQ(outputs(chain), r.expected) << row.info.id();
    }
  }
}

TEST(Chain, AFailedSetKeepsTheLastPicture) {
  const auto runtime = make_runtime(Target::emulated);
  Chain chain(*runtime);
  const std::vector<uint8_t> row = {1, 2, 3, 4};
  const RegistryRow& direct = *find_strategy("direct", Target::emulated, Precision::fp32);
  const Operation good = row_operation(row, {1, 10}, {});
  chain.set(direct, good);
  chain.run(1, row.data());

  Operation bad = good;
  bad.problem.shape.dilation.x = 9;
  EXPECT_THROW(chain.set(direct, bad), Error);
  bad = good;
  bad.weights.values.pop_back();
  EXPECT_THROW(chain.set(direct, bad), Error);
  bad = good;
  bad.problem.shape.w = 5;
  EXPECT_THROW(chain.set(direct, bad), Error);
  Operation separate = good;
  separate.problem.rounding = Rounding::separate;
  try {
    chain.set(*find_strategy("onednn", Target::cpu, Precision::fp32), separate);
    ADD_FAILURE() << "onednn took separate rounding";
  } catch (const Error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("onednn refuses: ")) << e.what();
  }
  EXPECT_EQ(chain.operation(), good);
  EXPECT_EQ(outputs(chain), (std::vector<float>{21, 32, 43}));
}

TEST(Chain, UnavailableRowsSayWhy) {
  if (!cuda_unavailable()) GTEST_SKIP() << "a CUDA device is here";
  const auto runtime = make_runtime(Target::emulated);
  Chain chain(*runtime);
  const RegistryRow* row = find_strategy("direct", Target::cuda, Precision::fp32);
  ASSERT_NE(row, nullptr);  // listed in every build
  try {
    chain.set(*row, row_operation({1}, {1}, {}));
    ADD_FAILURE() << "ran without a device";
  } catch (const Error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("direct is not available: ")) << e.what();
  }
  EXPECT_THROW(make_runtime(Target::cuda), Error);
}

TEST(Chain, StagesAreTimedByFrame) {
  const auto runtime = make_runtime(Target::emulated);
  Chain chain(*runtime);
  const std::vector<uint8_t> row(1000, 1);
  chain.set(*find_strategy("direct", Target::emulated, Precision::fp32),
            row_operation(row, {1}, {0, 0, 1, 1, Border::wrap}));
  chain.run(41, row.data());
  chain.run(42, row.data());
  const auto frames = runtime->stages().collect();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[1].frame, 42u);
  std::vector<std::string> names;
  for (const StageTime& t : frames[1].stages) {
    names.push_back(t.name);
    EXPECT_GT(t.ms, 0);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"unpack", "pad", "direct"}));
  EXPECT_TRUE(runtime->stages().collect().empty());
}

TEST(Chain, ImpossibleMemoryIsASentence) {  // C1: and 5x5 ones still give 169
  const auto runtime = make_runtime(Target::emulated);
  EXPECT_THROW(runtime->allocate(std::size_t{1} << 60), Error);
  try {
    runtime->allocate(std::size_t{1} << 46);  // 70 TB: the allocator would hand them out
    ADD_FAILURE() << "70 TB were allocated";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("are free"), std::string::npos) << e.what();
  }
  Chain chain(*runtime);
  Operation op;
  op.pixels = {PixelType::u8, 5, 5, 1, 1, false, false, false};
  ConvShape& s = op.problem.shape;
  s.h = s.w = 5, s.k_h = s.k_w = 3, s.pad = {1, 1};
  op.weights = constant_weights(s, 1);
  const std::vector<uint8_t> ones(25, 1);
  chain.set(*find_strategy("tiled", Target::emulated, Precision::fp32), op);
  chain.run(1, ones.data());
  double sum = 0;
  for (const float v : outputs(chain)) sum += v;
  EXPECT_EQ(sum, 169);
}

}  // namespace
}  // namespace convscope
