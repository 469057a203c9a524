// `separable` on floats in rows of whole quads: in every bit what plain loops give in the stated order, down,
// along, then the next channel, and what the kernels for every shape give.

#include <cmath>
#include <limits>

#include "kernels/launch_log.h"
#include "kernels/separable_filters.h"
#include "tests/separable_cases.h"

namespace convscope {
namespace {

using namespace convscope::testing;

float multiply_add(Rounding rounding, float a, float b, float sum) {
  if (rounding == Rounding::fused) return std::fma(a, b, sum);
  const float product = a * b;
  return product + sum;
}

/// Of stride and dilation 1.
class PlainPasses {
 public:
  PlainPasses(const ConvCase& c, const ConvWeights& w, const std::vector<float>& in, Rounding rounding)
      : s_(c.shape), w_(w), in_(in), rounding_(rounding), f_(separate_filters(w, Precision::fp32)) {
    for (int64_t image = 0; image < s_.n; ++image)
      for (int64_t o = 0; o < s_.c_out; ++o) add_map(image, o, c.activation);
  }
  std::vector<float> out;

 private:
  float pixel(int64_t plane, int64_t y, int64_t x) const {
    if (y < 0 || y >= s_.h || x < 0 || x >= s_.w) return 0;
    return in_[static_cast<std::size_t>((plane * s_.h + y) * s_.w + x)];
  }
  float factor(const std::vector<double>& of, int64_t at) const {
    return static_cast<float>(of[static_cast<std::size_t>(at)]);
  }
  void add_map(int64_t image, int64_t o, Activation activation) {
    std::vector<float> sums(static_cast<std::size_t>(s_.out_h() * s_.out_w()), 0.0f);
    for (int64_t c = 0; c < s_.c_in; ++c) {
      const int64_t pair = o * s_.c_in + c, plane = image * s_.c_in + c;
      for (int64_t y = 0; y < s_.out_h(); ++y) {
        std::vector<float> row;
        for (int64_t x = -s_.pad.x; x < s_.w + s_.pad.x; ++x) row.push_back(down(pair, plane, y, x));
        for (int64_t x = 0; x < s_.out_w(); ++x) {
          float& sum = sums[static_cast<std::size_t>(y * s_.out_w() + x)];
          for (int64_t j = 0; j < s_.k_w; ++j)
            sum = multiply_add(rounding_, row[static_cast<std::size_t>(x + j)],
                               factor(f_.rows, pair * s_.k_w + j), sum);
        }
      }
    }
    for (float v : sums) {
      if (!w_.bias.empty()) v += static_cast<float>(w_.bias[static_cast<std::size_t>(o)]);
      if (activation == Activation::relu && v < 0) v = 0;
      out.push_back(v);
    }
  }
  float down(int64_t pair, int64_t plane, int64_t y, int64_t x) const {
    if (s_.k_h == 1) return pixel(plane, y - s_.pad.y, x);
    float sum = 0;
    for (int64_t i = 0; i < s_.k_h; ++i)
      sum = multiply_add(rounding_, pixel(plane, y - s_.pad.y + i, x), factor(f_.columns, pair * s_.k_h + i),
                         sum);
    return sum;
  }

  ConvShape s_;
  const ConvWeights& w_;
  const std::vector<float>& in_;
  Rounding rounding_;
  SeparableFilters f_;
};

/// Values of which some are not finite, at the corners and where tiles meet.
std::vector<float> broken_values(const ConvShape& s) {
  auto in = random_values<float>(static_cast<std::size_t>(s.input_size()), 7);
  in.front() = std::numeric_limits<float>::infinity();
  in.back() = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = 241; i < in.size(); i += 2003) in[i] = std::numeric_limits<float>::quiet_NaN();
  return in;
}

struct Outputs {
  std::vector<float> out;
  int64_t threads = 0, launches = 0;
};

/// From and to memory that begins `askew` values after a multiple of 16 bytes.
Outputs run_at(const ConvProblem& p, const ConvWeights& weights, const std::vector<float>& values,
               std::size_t askew) {
  const auto runtime = make_runtime(Target::emulated);
  const auto strategy = find_strategy("separable", Target::emulated, Precision::fp32)->make();
  strategy->prepare(p, weights);
  std::vector<float> in(values.size() + 8), out(static_cast<std::size_t>(p.shape.output_size()) + 8, 12345.f);
  const auto aligned = [](std::vector<float>& v) {
    return v.data() + (16 - reinterpret_cast<std::uintptr_t>(v.data()) % 16) % 16 / sizeof(float);
  };
  float *const from = aligned(in) + askew, *const to = aligned(out) + askew;
  std::copy(values.begin(), values.end(), from);
  const LaunchLog log;
  strategy->launch(from, to, runtime->stages());
  Outputs run;
  run.out.assign(to, to + p.shape.output_size());
  EXPECT_EQ(to[p.shape.output_size()], 12345.f) << "written beyond the end";
  for (const LaunchLog::Entry& e : log.entries()) {
    run.threads = e.record.block[0];
    run.launches += e.count;
  }
  EXPECT_EQ(static_cast<double>(run.launches), askew == 0 ? strategy->cost(p, weights).launches : 1);
  return run;
}

TEST(SeparableQuads, GivesTheBitsOfPlainLoops) {
  for (const ConvCase& c : quads_cases()) {
    const ConvWeights weights = rank_one_weights(c.shape, 11, c.bias);
    const auto in = broken_values(c.shape);
    for (const Rounding rounding : {Rounding::fused, Rounding::separate}) {
      SCOPED_TRACE(describe(c.shape) + " " + to_string(rounding));
      // of sigmoid and tanh the last bit is the library's
      const bool smooth = c.activation == Activation::sigmoid || c.activation == Activation::tanh;
      const Activation activation = smooth ? Activation::none : c.activation;
      const Outputs run = run_at({c.shape, activation, rounding}, weights, in, 0);
      EXPECT_NE(run.threads, 256) << "not the kernel over quads";
      const PlainPasses expected({c.shape, c.bias, activation}, weights, in, rounding);
      ASSERT_TRUE(same_bits(run.out, expected.out));
    }
  }
}

TEST(SeparableQuads, GivesTheBitsOfTheKernelsForEveryShape) {
  for (const ConvCase& c : quads_cases()) {
    SCOPED_TRACE(describe(c.shape));
    const ConvProblem problem{c.shape, c.activation, Rounding::fused};
    const ConvWeights weights = rank_one_weights(c.shape, 11, c.bias);
    const auto in = broken_values(c.shape);
    const Outputs askew = run_at(problem, weights, in, 1);
    EXPECT_EQ(askew.threads, 256) << "quads that are not aligned";
    ASSERT_TRUE(same_bits(run_at(problem, weights, in, 0).out, askew.out));
  }
}

TEST(SeparableQuads, LeavesTheOtherShapesToTheOtherKernels) {
  const ConvShape taken{1, 1, 30, 256, 1, 5, 5, {1, 1}, {2, 2}, {1, 1}};
  struct Case {
    const char* what;
    ConvShape shape;
  } table[] = {
      {"rows of no whole quads", taken}, {"stride", taken},     {"dilation", taken},
      {"a narrow image", taken},         {"a wide row", taken}, {"taps beyond the constants", taken}};
  table[0].shape.w = 257;
  table[1].shape.stride = {1, 2};
  table[2].shape.dilation = {2, 1};
  table[3].shape.w = 60;
  table[4].shape.k_w = 131, table[4].shape.pad.x = 65;
  table[5].shape.c_in = 100;
  const auto threads = [](const ConvShape& s) {
    const auto in = random_values<float>(static_cast<std::size_t>(s.input_size()), 3);
    return run_at({s, {}, {}}, rank_one_weights(s, 11, false), in, 0).threads;
  };
  EXPECT_EQ(threads(taken), 64);
  for (const Case& c : table) EXPECT_EQ(threads(c.shape), 256) << c.what;
}

}  // namespace
}  // namespace convscope
