// The log of launches: what is recorded, and that what strategies say of their launches is what they do.

#include "kernels/launch_log.h"

#include "tests/conv_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

std::vector<LaunchLog::Entry> launches_of(const RegistryRow& row, const ConvProblem& problem) {
  const ConvShape& s = problem.shape;
  const auto runtime = make_runtime(row.info.target);
  const std::vector<float> in(static_cast<std::size_t>(s.input_size()), 1.0f);
  std::vector<float> out(static_cast<std::size_t>(s.output_size()));
  const auto strategy = row.make();
  strategy->prepare(problem, constant_weights(s, 1));
  const LaunchLog log;
  strategy->launch(in.data(), out.data(), runtime->stages());
  return log.entries();
}

int64_t threads(const LaunchRecord& r) {
  int64_t product = 1;
  for (int i = 0; i < 3; ++i) product *= r.grid[i] * r.block[i];
  return product;
}

std::vector<ConvShape> shapes() {
  std::vector<ConvShape> all(4);
  all[0].h = all[0].w = 1;
  all[1].n = 2, all[1].c_in = 3, all[1].h = 33, all[1].w = 65, all[1].c_out = 5;
  all[2].c_in = 3, all[2].h = 120, all[2].w = 257, all[2].c_out = 16;
  all[3].n = 3, all[3].c_in = 2, all[3].h = 17, all[3].w = 40, all[3].c_out = 40;
  for (ConvShape& s : all) s.k_h = s.k_w = 3, s.pad = {1, 1};
  return all;
}

TEST(LaunchLog, CoversTheOutputsAndAgreesWithTheCost) {
  struct Kernel {
    const char* strategy;
    int outputs;       // of a thread at most
    double a_product;  // launches that the log sees for each that the cost counts
  };
  const Kernel table[] = {{"direct", 1, 1},
                          {"looped", 1, 1},
                          {"tiled", 16, 1},
                          {"direct_constant", 16, 1},
                          {"separable", 256, 1},
                          {"register_tiled", 256, 1},
                          {"implicit_gemm", 128, 1},
                          {"winograd_f2", 128, 1},
                          {"winograd_f4", 128, 1},
                          {"im2col_gemm", 1000, 0.5},  // the products are a library's
                          {"im2col_chunked", 1000, 0.5}};
  for (const Kernel& k : table) {
    const RegistryRow& row = *find_strategy(k.strategy, Target::emulated, Precision::fp32);
    for (const ConvShape& s : shapes()) {
      SCOPED_TRACE(row.info.id() + " " + describe(s));
      const ConvProblem problem{s, Activation::none, Rounding::fused};
      const auto entries = launches_of(row, problem);
      ASSERT_FALSE(entries.empty());
      int64_t all_threads = 0;
      double count = 0;
      for (const LaunchLog::Entry& e : entries) {
        EXPECT_FALSE(e.record.kernel.empty());
        EXPECT_FALSE(e.record.compiled);
        EXPECT_LE(e.record.shared_bytes, 232448u);
        all_threads += threads(e.record) * e.count;
        count += static_cast<double>(e.count);
      }
      EXPECT_GE(all_threads * k.outputs, s.output_size());
      EXPECT_EQ(count, k.a_product * row.make()->cost(problem, constant_weights(s, 1)).launches);
    }
  }
}

TEST(LaunchLog, LoopedIsOneEntryOfAllItsLaunches) {
  const RegistryRow& row = *find_strategy("looped", Target::emulated, Precision::fp32);
  for (const ConvShape& s : shapes()) {
    const auto entries = launches_of(row, {s, Activation::none, Rounding::fused});
    ASSERT_EQ(entries.size(), 1u) << describe(s);
    EXPECT_EQ(entries[0].count, s.n * s.c_out * s.c_in) << describe(s);
    EXPECT_EQ(entries[0].record.kernel, "looped");
    EXPECT_GE(threads(entries[0].record), s.out_h() * s.out_w()) << describe(s);
  }
}

TEST(LaunchLog, BelongsToItsThreadAndItsTime) {
  EXPECT_EQ(LaunchLog::current(), nullptr);
  {
    const LaunchLog log;
    EXPECT_EQ(LaunchLog::current(), &log);
  }
  EXPECT_EQ(LaunchLog::current(), nullptr);
}

TEST(LaunchLog, AsksForTheKernelOnceForLaunchesThatAreAlike) {
  LaunchLog log;
  int asked = 0;
  const auto complete = [&asked](LaunchRecord& r) {
    ++asked;
    r.shared_bytes += 100;  // static
    r.compiled = LaunchRecord::Compiled{};
  };
  for (int i = 0; i < 5; ++i) log.add({"a", {2, 1, 1}, {32, 1, 1}, 8, {}}, complete);
  log.add({"a", {3, 1, 1}, {32, 1, 1}, 8, {}}, complete);
  log.add({"a", {2, 1, 1}, {32, 1, 1}, 108, {}}, complete);
  log.add({"b", {2, 1, 1}, {32, 1, 1}, 8, {}}, complete);
  EXPECT_EQ(asked, 4);
  ASSERT_EQ(log.entries().size(), 4u);
  EXPECT_EQ(log.entries()[0].count, 5);
  EXPECT_EQ(log.entries()[0].record.shared_bytes, 108u);
  EXPECT_TRUE(log.entries()[0].record.compiled);
}

}  // namespace
}  // namespace convscope
