#pragma once
// Bias and activation as a pass of its own, for strategies whose sum is a library's.

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"

namespace convscope::TARGET {
namespace {

struct EpiloguePassConfig {
  static constexpr int kThreads = 256;
  static constexpr int kValues = 4;  // of a thread, a block's width apart: four loads in flight
  static constexpr int64_t kBlockValues = int64_t{kThreads} * kValues;
};

/// Blocks are numbered along a plane, then over the maps, then over the images.
struct EpiloguePassGrid {
  Divisor tiles, maps;
  int64_t plane;
};

/// `bias`: one value a map, or nullptr.
template <class T>
__global__ void epilogue_pass_kernel(EpiloguePassGrid g, Activation activation, const T* bias, T* planes) {
  uint32_t block = blockIdx.x;
  const int64_t first = g.tiles.take(block) * EpiloguePassConfig::kBlockValues + threadIdx.x;
  T* const plane = planes + static_cast<int64_t>(block) * g.plane;
  const T* const map_bias = bias == nullptr ? nullptr : bias + g.maps.take(block);
  CONVSCOPE_UNROLL
  for (int v = 0; v < EpiloguePassConfig::kValues; ++v) {
    const int64_t at = first + v * EpiloguePassConfig::kThreads;
    if (at < g.plane) plane[at] = finish(plane[at], map_bias, activation);
  }
}

inline int64_t epilogue_pass_blocks(const ConvShape& s) {
  return ceil_div(s.out_h() * s.out_w(), EpiloguePassConfig::kBlockValues) * s.c_out * s.n;
}

/// Over the whole output in place. The caller times it.
template <class T>
void launch_epilogue_pass(const char* name, const ConvShape& s, Activation activation, const T* bias,
                          T* out) {
  const int64_t plane = s.out_h() * s.out_w();
  TARGET::launch(
      name, epilogue_pass_kernel<T>, dim3(static_cast<unsigned>(epilogue_pass_blocks(s))),
      dim3(EpiloguePassConfig::kThreads), 0,
      EpiloguePassGrid{Divisor(ceil_div(plane, EpiloguePassConfig::kBlockValues)), Divisor(s.c_out), plane},
      activation, bias, out);
}

}  // namespace
}  // namespace convscope::TARGET
