#include "bench/workloads.h"

#include <cstring>
#include <random>

namespace convscope::bench {
namespace {

ConvShape shape_1080p(int64_t c_in, int64_t c_out, int64_t kernel, int64_t stride, int64_t pad,
                      int64_t dilation = 1) {
  return {1, c_in, 1080, 1920, c_out, kernel, kernel, {stride, stride}, {pad, pad}, {dilation, dilation}};
}

template <class T>
std::vector<T> random_values(int64_t count, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& v : values) v = static_cast<T>(static_cast<double>(bits() >> 11) * 0x1p-52 - 1.0);
  return values;
}

template <class T>
std::vector<std::byte> random_bytes(int64_t count, uint64_t seed) {
  const std::vector<T> values = random_values<T>(count, seed);
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

std::vector<Workload> workloads() {
  return {{"A", "1x3x1080x1920 -> 16, 3x3, stride 2, valid", shape_1080p(3, 16, 3, 2, 0), false, true},
          {"B", "1x3x1080x1920 -> 16, 3x3, same", shape_1080p(3, 16, 3, 1, 1)},
          {"B5", "1x3x1080x1920 -> 16, 5x5, same", shape_1080p(3, 16, 5, 1, 2)},
          {"Bd2", "1x3x1080x1920 -> 16, 3x3, dilation 2, same", shape_1080p(3, 16, 3, 1, 2, 2)},
          {"C", "1x16x1080x1920 -> 32, 3x3, same", shape_1080p(16, 32, 3, 1, 1)},
          {"D", "256x256x14x14 -> 512, 3x3, same", {256, 256, 14, 14, 512, 3, 3, {1, 1}, {1, 1}, {1, 1}}},
          {"G1", "1x1x1080x1920 -> 1, 3x3, same", shape_1080p(1, 1, 3, 1, 1)},
          {"G15", "1x1x1080x1920 -> 1, 15x15, same", shape_1080p(1, 1, 15, 1, 7)},
          {"G31", "1x1x1080x1920 -> 1, 31x31, same", shape_1080p(1, 1, 31, 1, 15)},
          {"S17", "1x1x1080x1920 -> 1, 17x17 of rank 1, same", shape_1080p(1, 1, 17, 1, 8), true},
          {"1D", "2^24 values, 31 taps, same", {1, 1, 1, 1 << 24, 1, 1, 31, {1, 1}, {0, 15}, {1, 1}}},
          {"L", "32x3x227x227 -> 96, 5x5, same", {32, 3, 227, 227, 96, 5, 5, {1, 1}, {2, 2}, {1, 1}}}};
}

ConvWeights weights_of(const Workload& workload) {
  const ConvShape& s = workload.shape;
  const auto values = random_values<float>(s.weight_size(), 11);
  const auto bias = random_values<float>(s.c_out, 12);
  ConvWeights weights{
      s.c_out, s.c_in, s.k_h, s.k_w, {values.begin(), values.end()}, {bias.begin(), bias.end()}};
  if (!workload.rank_one) return weights;
  for (int64_t i = 0; i < s.weight_size(); ++i) {  // sixteenths, whose products are exact
    const int64_t row = i / s.k_w % s.k_h, column = i % s.k_w, kernel = i / (s.k_h * s.k_w);
    weights.values[static_cast<std::size_t>(i)] = static_cast<double>((row * 5 + kernel) % 13 - 6) / 16 *
                                                  (static_cast<double>(column * 3 % 17 - 8) / 16);
  }
  return weights;
}

std::vector<std::byte> input_of(const Workload& workload, Precision precision) {
  const int64_t count = workload.shape.input_size();
  return precision == Precision::fp64 ? random_bytes<double>(count, 5) : random_bytes<float>(count, 5);
}

std::size_t least_bytes(const ConvShape& s, Precision precision) {
  return static_cast<std::size_t>(s.input_size() + s.output_size()) * bytes_of(precision);
}

}  // namespace convscope::bench
