#pragma once
// Planes repeated in memory: a kernel of rank r is r kernels of rank 1 over r copies of its channel, so that
// what takes channels takes ranks.

#include "kernels/strategies/device_strategy.h"

namespace convscope::TARGET {
namespace {

struct RepeatConfig {
  static constexpr int kThreads = 256, kValues = 4;  // of a thread
  static int64_t tiles(int64_t plane) { return ceil_div(plane, kThreads * kValues); }
};

/// A block copies a stretch of one plane `times` times.
template <class T>
__global__ void repeat_planes_kernel(Divisor tiles, int64_t plane, int times, In<T> in, Out<T> out) {
  uint32_t block = blockIdx.x;
  const int64_t first =
      int64_t{tiles.take(block)} * RepeatConfig::kThreads * RepeatConfig::kValues + threadIdx.x;
  const T* const from = in + int64_t{block} * plane;
  T* const to = out + int64_t{block} * times * plane;
  for (int v = 0; v < RepeatConfig::kValues; ++v) {
    const int64_t at = first + v * RepeatConfig::kThreads;
    if (at >= plane) return;
    const T value = read_only(from + at);
    for (int t = 0; t < times; ++t) to[t * plane + at] = value;
  }
}

template <class T>
void launch_repeat_planes(const char* name, int64_t planes, int64_t plane, int64_t times, const T* in,
                          T* out) {
  const int64_t tiles = RepeatConfig::tiles(plane);
  TARGET::launch(name, repeat_planes_kernel<T>, dim3(static_cast<unsigned>(tiles * planes)),
                 dim3(RepeatConfig::kThreads), 0, Divisor(tiles), plane, static_cast<int>(times), in, out);
}

}  // namespace
}  // namespace convscope::TARGET
