// The sizes of `fft`: a circular correlation of that size, in integers, must equal the linear one at every
// output whose window meets the image.

#include "kernels/strategies/fft_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace convscope {
namespace {

TEST(FftPlan, SmoothSizes) {
  const std::pair<int64_t, int64_t> table[] = {{1, 1},       {2, 2},          {11, 12},     {13, 14},
                                               {121, 125},   {211, 216},      {1087, 1120}, {1111, 1120},
                                               {1951, 1960}, {524281, 524288}};
  for (const auto& [least, size] : table) EXPECT_EQ(smooth_size(least), size) << least;
}

/// The outputs of one axis by a correlation of period `size`; `plain`: of no period at all.
std::vector<int64_t> correlate(int64_t in, int64_t k, int64_t dilation, int64_t stride, int64_t pad,
                               int64_t out, int64_t size, bool plain) {
  std::vector<int64_t> results;
  for (int64_t o = 0; o < out; ++o) {
    int64_t sum = 0;
    for (int64_t i = 0; i < k; ++i) {
      int64_t at = o * stride - pad + i * dilation;
      if (!plain) at = ((at % size) + size) % size;
      if (at >= 0 && at < in) sum += (at + 1) * (at + 7) * (i + 3);  // no two sums alike by chance
    }
    results.push_back(sum);
  }
  return results;
}

TEST(FftPlan, NothingWrapsAround) {  // C18 among them: in 4, k 3, pad 1
  int checked = 0;
  for (const int64_t in : {1, 2, 4, 7, 12}) {
    for (const int64_t k : {1, 2, 3, 5}) {
      for (const int64_t dilation : {1, 2, 4}) {
        for (const int64_t stride : {1, 2, 3, 7}) {
          for (const int64_t pad : {0, 1, 2, 5, 20}) {
            const int64_t out = conv_output_size(in, k, stride, pad, dilation),
                          extent = kernel_extent(k, dilation);
            if (out == 0) continue;
            const int64_t size = circular_size(in, extent, stride, pad, out);
            const auto linear = correlate(in, k, dilation, stride, pad, out, 0, true);
            const auto circular = correlate(in, k, dilation, stride, pad, out, size, false);
            for (int64_t o = 0; o < out; ++o) {
              const int64_t lag = o * stride - pad;
              if (lag <= -extent || lag >= in) {  // misses the image; the crop makes a zero of it
                EXPECT_EQ(linear[static_cast<std::size_t>(o)], 0);
                continue;
              }
              ASSERT_EQ(circular[static_cast<std::size_t>(o)], linear[static_cast<std::size_t>(o)])
                  << "in " << in << " k " << k << " dilation " << dilation << " stride " << stride << " pad "
                  << pad << " size " << size << " output " << o;
              ++checked;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(checked, 3000);
}

TEST(FftPlan, OneLessWouldWrap) {
  // the size is the least: with one value less some output of C18's kind changes
  for (const int64_t in : {4, 7, 12}) {
    const int64_t size = circular_size(in, 3, 1, 1, in);
    EXPECT_EQ(size, in + 1);
    EXPECT_NE(correlate(in, 3, 1, 1, 1, in, size - 1, false), correlate(in, 3, 1, 1, 1, in, 0, true)) << in;
  }
}

TEST(FftPlan, PlanesOfOneAxis) {
  ConvShape s;
  EXPECT_EQ(fft_plane(s).reals(), 2);  // 1x1 with a 1x1 kernel
  s.h = 524281, s.k_h = 3, s.pad = {1, 0};
  EXPECT_EQ(fft_plane(s).w, 1);
  EXPECT_EQ(fft_plane(s).complexes(), 524288 / 2 + 1);
  std::swap(s.h, s.w), std::swap(s.k_h, s.k_w), s.pad = {0, 1};
  EXPECT_EQ(fft_plane(s).h, 1);
  EXPECT_EQ(fft_plane(s).complexes(), 524288 / 2 + 1);
}

}  // namespace
}  // namespace convscope
