// What strategies ask of the machine, against sums worked out by hand for small shapes.

#include "kernels/strategies/costs.h"

#include "tests/conv_testing.h"

namespace convscope {
namespace {

/// 1x2x4x5 -> 3, 3x3, pad 1: 40 input values, 54 weights, 60 outputs of 18 products.
ConvShape small_shape() {
  ConvShape s;
  s.c_in = 2, s.h = 4, s.w = 5, s.c_out = 3, s.k_h = s.k_w = 3, s.pad = {1, 1};
  return s;
}

/// 2x1x7x6 -> 2, 1x3, stride 2,1: 84 input values, 6 weights, 64 outputs of 3 products.
ConvShape row_shape() {
  ConvShape s;
  s.n = 2, s.h = 7, s.w = 6, s.c_out = 2, s.k_w = 3, s.stride = {2, 1};
  return s;
}

/// 1x256x4x4 -> 8, 3x3, pad 1: 2304 weights and a bias a map are 9220 bytes; 32 000 bytes take three maps.
ConvShape deep_shape() {
  ConvShape s;
  s.c_in = 256, s.h = s.w = 4, s.c_out = 8, s.k_h = s.k_w = 3, s.pad = {1, 1};
  return s;
}

/// Of rank 1, without a bias.
ConvWeights ones(const ConvShape& s) {
  return {s.c_out, s.c_in, s.k_h, s.k_w, std::vector<double>(static_cast<std::size_t>(s.weight_size()), 1),
          {}};
}

struct Expected {
  const char* strategy;
  ConvShape shape;
  Precision precision;
  double bytes, multiply_adds, launches;
  Activation activation = Activation::none;
};

TEST(Costs, OfTheRowsAreWhatTheirAlgorithmsMove) {
  const ConvShape small = small_shape(), row = row_shape(), deep = deep_shape();
  constexpr auto fp32 = Precision::fp32, fp64 = Precision::fp64;
  const Expected table[] = {
      {"direct", small, fp32, 4 * (40 + 54 + 60), 1080, 1},
      {"direct", row, fp64, 8 * (84 + 6 + 64), 192, 1},
      {"tiled", small, fp32, 4 * (40 + 54 + 60), 1080, 1},
      {"implicit_gemm", small, fp32, 4 * (40 + 54 + 60), 1080, 1},
      // six launches read a plane of 20, nine times a plane of sums is written or read
      {"looped", small, fp32, 4 * (6 * 20 + 54 + 9 * 20), 1080, 6},
      {"looped", row, fp64, 8 * (4 * 42 + 2 * 6 + 4 * 16), 192, 4},
      {"direct_constant", small, fp32, 4 * (40 + 54 + 60), 1080, 1},
      {"direct_constant", deep, fp32, 4 * (4 * 4096 + 18432 + 128), 128 * 2304, 4},  // pairs of maps
      {"register_tiled", small, fp32, 4 * (40 + 54 + 60), 1080, 1},
      {"register_tiled", deep, fp32, 4 * (3 * 4096 + 18432 + 128), 128 * 2304, 3},
      {"im2col_gemm", small, fp32, 4 * (40 + 54 + 60 + 2 * 18 * 20), 1080, 2},
      {"im2col_gemm", small, fp32, 4 * (40 + 54 + 60 + 2 * 18 * 20 + 2 * 60), 1080, 3, Activation::relu},
      {"im2col_chunked", small, fp32, 4 * (40 + 54 + 60), 1080, 2},
      // down: 4 rows of 5 columns; along: 20 outputs; of 3 taps each, 6 pairs of a map and a channel
      {"separable", small, fp32, 4 * (40 + 36 + 60), 6 * (60 + 60), 1},
      {"separable", row, fp64, 8 * (84 + 8 + 64), 192, 1},
      // a tile: 8 lines of 4 additions a channel, 16 products a channel of 32 maps, 6 lines of 4 a map
      {"winograd_f2", small, fp32, 4 * (40 + 60 + 16 * 2 * 32), 6 * (2 * 8 * 4 + 16 * 2 * 32 + 6 * 4 * 32),
       1},
      {"winograd_f4", small, fp32, 4 * (40 + 60 + 36 * 2 * 32),
       2 * (2 * 12 * 14 + 36 * 2 * 32 + 10 * 10 * 32), 1},
      {"reference", small, fp64, 8 * (40 + 54 + 60), 1080, 1},
      {"onednn", small, fp32, 4 * (40 + 54 + 60), 1080, 1},
  };
  for (const Expected& e : table) {
    const bool cpu = find_strategy(e.strategy, Target::emulated, e.precision) == nullptr;
    const RegistryRow& found = *find_strategy(e.strategy, cpu ? Target::cpu : Target::emulated, e.precision);
    SCOPED_TRACE(found.info.id() + " " + describe(e.shape));
    const Cost cost = found.make()->cost({e.shape, e.activation, Rounding::fused}, ones(e.shape));
    EXPECT_EQ(cost.bytes, e.bytes);
    EXPECT_EQ(cost.multiply_adds, e.multiply_adds);
    EXPECT_EQ(cost.launches, e.launches);
    // whatever is not the plain sum says how it was counted
    const bool plain =
        e.bytes == bytes_of(e.precision) * static_cast<double>(e.shape.input_size() + e.shape.weight_size() +
                                                               e.shape.output_size()) &&
        e.launches == 1;
    EXPECT_TRUE(plain || !cost.note.empty());
  }
}

TEST(Costs, KnowTheWeights) {
  ConvShape s = small_shape();
  ConvWeights weights = ones(s);
  const ConvProblem up_to_3{s, Activation::none, Rounding::fused, 3};
  const auto separable = find_strategy("separable", Target::emulated, Precision::fp32)->make();
  EXPECT_EQ(separable->cost(up_to_3, weights).launches, 1) << "of rank 1, whatever rank is allowed";
  weights.values[4] = 2;  // rank 2
  EXPECT_EQ(separable->cost(up_to_3, weights).launches, 2);
  const auto onednn = find_strategy("onednn", Target::cpu, Precision::fp32)->make();
  for (const Activation activation :
       {Activation::none, Activation::relu, Activation::sigmoid, Activation::tanh}) {
    const bool apart = activation == Activation::relu || activation == Activation::sigmoid;
    EXPECT_EQ(onednn->cost({s, activation, Rounding::fused}, weights).launches, apart ? 2 : 1)
        << to_string(activation);
  }
}

TEST(Costs, OfWhatNeedsADevice) {
  const ConvShape s = small_shape();
  // planes of 5x6: 30 values, a spectrum of 20 complex ones
  const Cost fft = fft_cost(s, Precision::fp32, 4, 1);
  const double pad = 40 + 2 * 30, transforms = 5 * (30 + 40), product = 40 * (2 + 6 + 3), crop = 120;
  EXPECT_EQ(fft.bytes, 4 * (pad + transforms + product + crop));
  EXPECT_NEAR(fft.multiply_adds, 5 * 1.25 * 30 * 4.906890595608519 + 4 * 20 * 2 * 3, 1e-9);
  EXPECT_EQ(fft.launches, 5);
  EXPECT_EQ(split_cost(s, Precision::fp32).multiply_adds, 3 * 1080);
  // two tiles: 2 channels of 36 values written, 3 maps of 36 products; each read again; filters in two parts
  const Cost products = winograd_products_cost(s, Precision::fp32, 4);
  EXPECT_EQ(products.bytes, 4 * (40 + 60 + 2 * 2 * 36 * (2 + 3) + 2 * 36 * 6));
  EXPECT_EQ(products.multiply_adds, 2 * (2 * 12 * 14 + 3 * 36 * 6 + 3 * 10 * 10));
  EXPECT_EQ(products.launches, 3);
  EXPECT_EQ(library_cost(s, Precision::fp64, "cuDNN").bytes, 8 * (40 + 54 + 60));
  EXPECT_NE(library_cost(s, Precision::fp64, "cuDNN").note.find("cuDNN"), std::string::npos);
  // two passes in memory: each map reads the input, and writes and reads sums of 2 planes of 4x5
  const Cost passes = separable_cost(s, Precision::fp32, 1, 0);
  EXPECT_EQ(passes.bytes, 4 * (3 * (40 + 2 * 40) + 36 + 60));
  EXPECT_EQ(passes.launches, 6);
  // rank 2: the input is read and written twice over, and read so; twice the factors
  const Cost rank_2 = separable_cost(s, Precision::fp32, 2, 1);
  EXPECT_EQ(rank_2.bytes, 4 * (40 + 80 + 80 + 72 + 60));
  EXPECT_EQ(rank_2.multiply_adds, 2 * 720);
  EXPECT_EQ(rank_2.launches, 2);
  // three launches that make a map each: the input is read three times
  const Cost launches = separable_cost(s, Precision::fp32, 1, 3);
  EXPECT_EQ(launches.bytes, 4 * (3 * 40 + 36 + 60));
  EXPECT_EQ(launches.launches, 3);
}

}  // namespace
}  // namespace convscope
