// The strategies that rest on CUDA's libraries, on a device: im2col_gemm and im2col_chunked (cuBLAS), fft
// (cuFFT) and cuDNN's. They are held against the reference; no other target has their arithmetic. Exits 77
// (skipped) where there is no device; a library that is missing is said, and its rows are left out.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "tests/strategy_checks.h"

namespace convscope {
namespace {

using namespace convscope::testing;

bool is_library_row(const StrategyInfo& info) {
  return info.target == Target::cuda &&
         (info.name.starts_with("im2col") || info.name == "fft" || info.name.starts_with("cudnn"));
}

std::vector<const RegistryRow*> library_rows(Precision precision) {
  std::vector<const RegistryRow*> rows;
  for (const RegistryRow& row : registry()) {
    if (!is_library_row(row.info) || row.info.precision != precision) continue;
    if (const auto why = unavailable(row.info)) {
      fmt::print("left out: {}: {}\n", row.info.id(), *why);
      continue;
    }
    rows.push_back(&row);
  }
  return rows;
}

/// The result, or nothing where the strategy refuses before or while it prepares.
template <class T>
std::optional<std::vector<T>> run_or_refuse(Runtime& device, const RegistryRow& row,
                                            const ConvProblem& problem, const ConvWeights& weights,
                                            const std::vector<T>& in, std::string& why) {
  if (const auto refused = row.make()->refuses(problem, weights)) {
    why = *refused;
    return std::nullopt;
  }
  try {
    return run<T>(device, row, problem, weights, in);
  } catch (const Error& e) {
    why = e.what();
    if (!why.starts_with(row.info.name + " refuses: ")) throw;
    return std::nullopt;
  }
}

/// Skipped where no library is to be had.
class GpuLibraries : public ::testing::Test {
 protected:
  void SetUp() override {
    if (library_rows(Precision::fp32).empty()) GTEST_SKIP() << "no library of CUDA's";
  }
};

template <class T>
void check_libraries(const std::vector<ConvCase>& cases) {
  struct Count {
    int ran = 0, refused = 0;
    double worst_share = 0;  // of what the strategy states
    double seconds = 0;      // to ask, plan, run and copy
    std::string last_refusal;
  };
  std::map<std::string, Count> counts;
  const auto host = make_runtime(Target::emulated), device = make_runtime(Target::cuda);
  const RegistryRow& reference = *find_strategy("reference", Target::cpu, precision_of<T>());
  const auto rows = library_rows(precision_of<T>());
  for (const ConvCase& c : cases) {
    const auto in = random_values<T>(static_cast<std::size_t>(c.shape.input_size()), 7);
    const ConvWeights weights = random_weights(c.shape, 11, c.bias);
    const ConvProblem problem{c.shape, c.activation, Rounding::fused};
    const auto expected = run<T>(*host, reference, problem, weights, in);
    BoundsWithin<T> bounds(c.shape, weights, in);
    for (const RegistryRow* row : rows) {
      Count& count = counts[row->info.name];
      const auto start = std::chrono::steady_clock::now();
      const auto result = run_or_refuse<T>(*device, *row, problem, weights, in, count.last_refusal);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      count.seconds += took.count();
      if (took.count() > 2) {
        fmt::print("{}: {}: {:.1f} s{}\n", row->info.id(), describe(c.shape), took.count(),
                   result ? "" : ", refused");
        std::fflush(stdout);
      }
      if (!result) {
        EXPECT_FALSE(count.last_refusal.empty());
        ++count.refused;
        continue;
      }
      ++count.ran;
      const auto strategy = row->make();
      const Comparison d = bounds.compare_with(expected, *result, *strategy, problem);
      count.worst_share = std::max(count.worst_share, d.max_bound_fraction / strategy->error_bounds(problem));
      EXPECT_TRUE(d.pass) << row->info.id() << ": " << c << ": " << d.over_tolerance << " values over, worst "
                          << d.worst_a << " for " << d.worst_b << " at " << d.worst_index << ", "
                          << d.max_bound_fraction << " bounds";
    }
  }
  for (const auto& [name, count] : counts) {
    fmt::print("{:28} {}: {} ran, {} refused, {:.2f} s, at most {:.3f} of the stated error{}{}\n", name,
               to_string(precision_of<T>()), count.ran, count.refused, count.seconds, count.worst_share,
               count.refused > 0 ? "; " : "", count.last_refusal);
    // what has no limits takes every case; cuDNN's `best` has an algorithm for each
    if (name.starts_with("im2col") || name == "fft" || name == "cudnn") {
      EXPECT_EQ(count.refused, 0) << name;
    }
  }
}

TEST_F(GpuLibraries, MatchReferenceFp32) { check_libraries<float>(conv_cases(20000)); }
TEST_F(GpuLibraries, MatchReferenceFp64) { check_libraries<double>(conv_cases(20000, 1)); }

std::vector<ConvCase> large_cases() {
  std::vector<ConvCase> cases;
  const auto add = [&cases](int64_t n, int64_t c_in, int64_t h, int64_t w, int64_t c_out, int64_t k,
                            int64_t stride, int64_t dilation) {
    ConvCase c;
    ConvShape& s = c.shape;
    s.n = n, s.c_in = c_in, s.h = h, s.w = w, s.c_out = c_out, s.k_h = s.k_w = k, s.stride = {stride, stride};
    s.dilation = {dilation, dilation}, s.pad = {dilation * (k / 2), dilation * (k / 2)}, c.bias = true;
    cases.push_back(c);
  };
  add(1, 3, 1080, 1920, 16, 3, 2, 1);
  add(1, 3, 1080, 1920, 16, 3, 1, 2);
  add(1, 1, 1080, 1920, 1, 31, 1, 1);
  add(70, 40, 14, 14, 33, 3, 1, 1);  // many small images, several chunks of them
  add(1, 130, 57, 61, 65, 7, 1, 1);  // columns longer than wide
  add(300, 1, 7, 5, 2, 3, 1, 1);
  ConvCase line;  // 1-D
  line.shape.w = 1 << 20, line.shape.k_w = 31, line.shape.pad = {0, 15};
  cases.push_back(line);
  std::swap(line.shape.h, line.shape.w), std::swap(line.shape.k_h, line.shape.k_w), line.shape.pad = {15, 0};
  cases.push_back(line);
  return cases;
}
/// One test a shape, so that the time of each shows. The reference and the bounds of all take 5 s on 2 cores.
class GpuLibrariesLarge : public GpuLibraries, public ::testing::WithParamInterface<int> {};
TEST_P(GpuLibrariesLarge, ShapeMatchesReference) {
  const ConvCase c = large_cases()[static_cast<std::size_t>(GetParam())];
  fmt::print("{}\n", describe(c.shape));
  check_libraries<float>({c});
}
INSTANTIATE_TEST_SUITE_P(Cases, GpuLibrariesLarge,
                         ::testing::Range(0, static_cast<int>(large_cases().size())));

TEST_F(GpuLibraries, Tf32IsNeverOnSilently) {  // C4
  ConvShape s;
  s.c_in = 32, s.h = s.w = 64, s.c_out = 64, s.k_h = s.k_w = 3, s.pad = {1, 1};
  ConvWeights identity = constant_weights(s, 0);
  for (int64_t o = 0; o < s.c_out; ++o) identity.at(o, o % s.c_in, 1, 1) = 1;
  const std::vector<float> in(static_cast<std::size_t>(s.input_size()), 4097.0f);
  const auto device = make_runtime(Target::cuda);
  for (const RegistryRow* row : library_rows(Precision::fp32)) {
    std::string why;
    const auto out = run_or_refuse<float>(*device, *row, {s, {}, {}}, identity, in, why);
    if (!out) continue;
    const auto strategy = row->make();
    // what only adds products is exact; what transforms them is off by less than the 1 that TF32 costs
    const float allowed = strategy->error_reach({s, {}, {}}) > 0 ? 0.25f : 0.0f;
    int rounded = 0, wrong = 0;
    for (const float v : *out) {
      rounded += v == 4096.0f;
      wrong += !(std::fabs(v - 4097.0f) <= allowed);
    }
    if (row->info.name == "cudnn_tf32") {
      EXPECT_EQ(rounded, wrong) << row->info.id();
      fmt::print("{}: {} of {} values are 4096\n", row->info.id(), rounded, out->size());
    } else {
      EXPECT_EQ(wrong, 0) << row->info.id();
    }
  }
}

TEST_F(GpuLibraries, SumsOfOnes) {  // C11, C19, C20
  const auto device = make_runtime(Target::cuda);
  for (const Ones& o : kSumsOfOnes) {
    const ConvShape s = o.shape();
    const std::vector<float> in(static_cast<std::size_t>(s.input_size()), 1.0f);
    for (const RegistryRow* row : library_rows(Precision::fp32)) {
      std::string why;
      const auto out = run_or_refuse<float>(*device, *row, {s, {}, {}}, constant_weights(s, 1), in, why);
      if (!out) continue;
      EXPECT_EQ(sum_of_ones(*out, *row->make(), {s, {}, {}}), o.sum) << row->info.id() << " " << describe(s);
    }
  }
}

TEST_F(GpuLibraries, OneNan) {  // C8
  ConvShape s;
  s.h = s.w = 32, s.k_h = s.k_w = 3, s.pad = {1, 1};
  std::vector<float> in(32 * 32, 1.0f);
  in[10 * 32 + 10] = std::numeric_limits<float>::quiet_NaN();
  const auto device = make_runtime(Target::cuda);
  for (const RegistryRow* row : library_rows(Precision::fp32)) {
    std::string why;
    const auto out = run_or_refuse<float>(*device, *row, {s, {}, {}}, constant_weights(s, 1), in, why);
    if (!out) continue;
    EXPECT_TRUE(nan_spreads(*out, 32, 10, row->make()->error_reach({s, {}, {}}))) << row->info.id();
    if (row->info.name == "fft") {
      EXPECT_EQ(std::count_if(out->begin(), out->end(), [](float v) { return std::isnan(v); }), 1024);
    }
  }
}

TEST_F(GpuLibraries, FourierDoesNotWrapAround) {  // C18
  ConvShape s;
  s.w = 4, s.k_w = 3, s.pad = {0, 1};
  const auto device = make_runtime(Target::cuda);
  for (const RegistryRow* row : library_rows(Precision::fp32)) {
    std::string why;
    const auto out =
        run_or_refuse<float>(*device, *row, {s, {}, {}}, constant_weights(s, 1), {0, 0, 0, 1}, why);
    if (!out) continue;
    const float expected[] = {0, 0, 1, 1};
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NEAR((*out)[i], expected[i], 5e-7f) << row->info.id() << " " << i;
  }
}

TEST_F(GpuLibraries, FourierSpectraThatDoNotFitAreRefused) {
  ConvShape s;
  // 2 TB of spectra, in fewer blocks than a grid has
  s.c_in = 512, s.c_out = 256, s.h = 1080, s.w = 1920, s.k_h = s.k_w = 3, s.pad = {1, 1};
  const RegistryRow& row = *find_strategy("fft", Target::cuda, Precision::fp32);
  if (unavailable(row.info)) GTEST_SKIP();
  const auto why = row.make()->refuses({s, {}, {}});
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("of device memory"), std::string::npos) << *why;
}

TEST_F(GpuLibraries, ActivationsOfWhatOnlyAdds) {  // C9, C10
  ConvShape s;
  s.w = 6;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto device = make_runtime(Target::cuda);
  for (const RegistryRow* row : library_rows(Precision::fp32)) {
    if (row->make()->error_reach({s, {}, {}}) > 0) continue;  // a NaN would be in every value
    const auto expect = [&](Activation a, const std::vector<float>& in, const std::vector<float>& expected) {
      std::string why;
      const auto out = run_or_refuse<float>(*device, *row, {s, a, {}}, constant_weights(s, 1), in, why);
      if (out) {
        EXPECT_TRUE(same_bits(*out, expected)) << row->info.id() << " " << to_string(a);
      }
    };
    expect(Activation::relu, {nan, -1, 0, 2, -1e30f, 1e30f}, {nan, 0, 0, 2, 0, 1e30f});
    expect(Activation::tanh, {44, 45, 89, 100, -100, 2295}, {1, 1, 1, 1, -1, 1});
  }
}

}  // namespace
}  // namespace convscope
