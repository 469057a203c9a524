// im2col_gemm and im2col_chunked beyond what every strategy is tested for: the limit on the matrix, chunks of
// images and of pixels, and the stages.

#include "kernels/timing.h"
#include "tests/conv_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

const RegistryRow& row_of(const char* name, Precision precision = Precision::fp32) {
  return *find_strategy(name, Target::emulated, precision);
}

TEST(Im2col, TheMatrixIsRefusedBeforeItIsMade) {  // C21
  ConvShape s;
  s.c_in = 3, s.h = 1080, s.w = 1920, s.k_h = s.k_w = 19, s.pad = {9, 9};
  const auto why = row_of("im2col_gemm").make()->refuses({s, {}, {}});
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("2245708800 values, 8.98 GB"), std::string::npos) << *why;
  const auto why_double = row_of("im2col_gemm", Precision::fp64).make()->refuses({s, {}, {}});
  ASSERT_TRUE(why_double);
  EXPECT_NE(why_double->find("17.97 GB"), std::string::npos) << *why_double;
  EXPECT_FALSE(row_of("im2col_chunked").make()->refuses({s, {}, {}}));
  s.k_h = s.k_w = 18, s.h = 1079, s.w = 1919;  // still 1080x1920 outputs, 2 015 539 200 values
  ASSERT_EQ(s.taps() * s.out_h() * s.out_w(), 2015539200);
  EXPECT_FALSE(row_of("im2col_gemm").make()->refuses({s, {}, {}}));
}

TEST(Im2col, SeparateRoundingIsRefused) {
  for (const char* name : {"im2col_gemm", "im2col_chunked"}) {
    const auto why = row_of(name).make()->refuses({{}, {}, Rounding::separate});
    ASSERT_TRUE(why) << name;
    EXPECT_NE(why->find("rounding=fused"), std::string::npos) << *why;
  }
}

struct Chunked {
  ConvShape shape;
  bool bias;
  Activation activation;
  std::vector<std::string> gemm_stages, chunked_stages;
};

ConvShape shape_of(int64_t n, int64_t c_in, int64_t h, int64_t w, int64_t c_out, int64_t k) {
  ConvShape s;
  s.n = n, s.c_in = c_in, s.h = h, s.w = w, s.c_out = c_out, s.k_h = s.k_w = k, s.pad = {k / 2, k / 2};
  return s;
}

/// Half of the emulated L2 is 4 MiB: what is in one chunk and what is in several follows from the shape.
std::vector<Chunked> chunk_cases() {
  const std::vector<std::string> whole = {"im2col", "gemm"}, activated = {"im2col", "gemm", "activation"};
  return {
      {shape_of(2, 3, 30, 40, 4, 3), true, Activation::none, whole, whole},  // all images at once
      {shape_of(40, 3, 100, 100, 4, 3),
       true,
       Activation::tanh,
       activated,
       {"im2col+gemm", "activation"}},                                                    // 3 images
      {shape_of(2, 3, 301, 407, 7, 3), false, Activation::none, whole, {"im2col+gemm"}},  // bands of pixels
      {shape_of(1, 64, 33, 37, 3, 31), true, Activation::relu, activated, {"im2col+gemm", "activation"}},
  };
}

template <class T>
void check_chunks() {
  const auto runtime = make_runtime(Target::emulated);
  for (const Chunked& c : chunk_cases()) {
    const auto in = random_values<T>(static_cast<std::size_t>(c.shape.input_size()), 7);
    const ConvWeights weights = random_weights(c.shape, 11, c.bias);
    const ConvProblem problem{c.shape, c.activation, Rounding::fused};
    const auto expected =
        run<T>(*runtime, *find_strategy("reference", Target::cpu, precision_of<T>()), problem, weights, in);
    std::vector<float> bound(expected.size());
    error_bound(c.shape, weights, precision_of<T>(), in.data(), bound.data());
    for (const bool chunked : {false, true}) {
      const auto strategy = row_of(chunked ? "im2col_chunked" : "im2col_gemm", precision_of<T>()).make();
      strategy->prepare(problem, weights);
      std::vector<T> out(expected.size(), std::numeric_limits<T>::quiet_NaN());
      HostStages stages;
      stages.begin_frame(1);
      strategy->launch(in.data(), out.data(), stages);
      stages.end_frame();
      // two roundings more for tanh
      const Comparison d = compare<T>(out, expected, bound, {2 * std::numeric_limits<T>::epsilon(), 1});
      EXPECT_TRUE(d.pass) << strategy->info().id() << " " << describe(c.shape) << ": " << d.worst_a << " for "
                          << d.worst_b << " at " << d.worst_index;
      std::vector<std::string> names;
      const FrameTimes frame = stages.collect().at(0);
      for (const StageTime& t : frame.stages) names.push_back(t.name);
      EXPECT_EQ(names, chunked ? c.chunked_stages : c.gemm_stages) << describe(c.shape);
    }
  }
}

TEST(Im2col, ChunksOfImagesAndOfPixelsFp32) { check_chunks<float>(); }
TEST(Im2col, ChunksOfImagesAndOfPixelsFp64) { check_chunks<double>(); }

TEST(Im2col, ObjectsAndLaunchesAreApart) {
  // the matrix of one frame must not show in the next, nor one object's in another's
  ConvShape s = shape_of(1, 2, 9, 9, 2, 3);
  HostStages stages;
  const auto first = row_of("im2col_gemm").make(), second = row_of("im2col_gemm").make();
  first->prepare({s, {}, {}}, constant_weights(s, 1));
  second->prepare({s, {}, {}}, constant_weights(s, 10));
  std::vector<float> out(static_cast<std::size_t>(s.output_size()));
  for (const float value : {1.0f, 2.0f}) {
    const std::vector<float> in(static_cast<std::size_t>(s.input_size()), value);
    first->launch(in.data(), out.data(), stages);
    EXPECT_EQ(out[10], 18 * value);  // y 1, x 1: all nine taps of two channels are inside
    second->launch(in.data(), out.data(), stages);
    EXPECT_EQ(out[10], 180 * value);
  }
}

}  // namespace
}  // namespace convscope
