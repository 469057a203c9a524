#pragma once
// Winograd's transforms F(4x4,3x3) as kernels of their own, around matrix products in memory. Tiles of all
// images are counted through; position p of 36 has a matrix of channels by tiles, whose rows have room for
// empty tiles.

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/four.cuh"
#include "kernels/strategies/tensor_values.cuh"
#include "kernels/strategies/winograd_products_plan.h"
#include "kernels/strategies/winograd_transform.cuh"

namespace convscope::TARGET {
namespace {

struct WinogradPassConfig {
  static constexpr int kThreads = WinogradProductsPlan::kThreads;
  static constexpr int kM = WinogradProductsPlan::kM, kSide = kM + 2, kPositions = kSide * kSide;
  static_assert(kPositions == WinogradProductsPlan::kPositions);
  /// Outputs of a warp's tiles on their way out: [row][tile][column].
  static constexpr int kStage = kM * 32 * kM;
  static constexpr std::size_t kSharedBytes = sizeof(float) * kStage * kThreads / 32;
};

/// Tiles along an image's axes, and their number in all images; `pitch`: and the empty ones.
struct WinogradTiles {
  Divisor across, down, blocks;  // blocks: of one channel or map
  int count;
  int64_t pitch;
};

__device__ __forceinline__ TilePlace place_of_tile(const WinogradTiles& g, int tile) {
  constexpr int kM = WinogradPassConfig::kM;
  return convscope::place_of_tile(static_cast<uint32_t>(tile), g.across, kM, g.down, kM);
}

/// B^T d B of a tile and channel a thread, [position][channel][tile]; empty tiles are zeros. Neighbouring
/// lanes have neighbouring tiles, so that each of a warp's 36 stores is a line.
__global__ void __launch_bounds__(WinogradPassConfig::kThreads)
    winograd_input_kernel(DeviceShape s, WinogradTiles g, In<float> in, Out<float> transformed) {
  using C = WinogradPassConfig;
  uint32_t block = blockIdx.x;
  const int tile = static_cast<int>(g.blocks.take(block) * C::kThreads + threadIdx.x);
  const int channel = static_cast<int>(block);
  const TilePlace at = place_of_tile(g, tile);
  const int first_y = at.y - s.pad_y, first_x = at.x - s.pad_x;
  const float* row =
      in + (int64_t{at.image} * s.c_in + channel) * s.in_plane + int64_t{first_y} * s.w + first_x;
  float d[C::kPositions];
  CONVSCOPE_UNROLL
  for (int i = 0; i < C::kSide; ++i, row += s.w) {
    const bool inside = tile < g.count && first_y + i >= 0 && first_y + i < s.h;
    CONVSCOPE_UNROLL
    for (int j = 0; j < C::kSide; ++j) {
      d[i * C::kSide + j] = inside && first_x + j >= 0 && first_x + j < s.w ? read_only(row + j) : 0.0f;
    }
  }
  CONVSCOPE_UNROLL
  for (int j = 0; j < C::kSide; ++j) transform_input<C::kM, C::kSide, Rounding::fused>(d + j);
  CONVSCOPE_UNROLL
  for (int i = 0; i < C::kSide; ++i) transform_input<C::kM, 1, Rounding::fused>(d + i * C::kSide);
  float* to = transformed + channel * g.pitch + tile;
  CONVSCOPE_UNROLL
  for (int p = 0; p < C::kPositions; ++p, to += s.c_in * g.pitch) *to = d[p];
}

/// A^T m A of a tile's 36 products `step` apart: [row][column].
__device__ __forceinline__ void transform_products(
    const float* products, int64_t step, float (&outputs)[WinogradPassConfig::kM][WinogradPassConfig::kM]) {
  using C = WinogradPassConfig;
  float rows[C::kSide][C::kM];
  CONVSCOPE_UNROLL
  for (int i = 0; i < C::kSide; ++i) {
    float m[C::kSide];
    CONVSCOPE_UNROLL
    for (int j = 0; j < C::kSide; ++j, products += step) m[j] = read_only(products);
    transform_output<C::kM, Rounding::fused>(m, rows[i]);
  }
  CONVSCOPE_UNROLL
  for (int j = 0; j < C::kM; ++j) {
    float m[C::kSide], column[C::kM];
    CONVSCOPE_UNROLL
    for (int i = 0; i < C::kSide; ++i) m[i] = rows[i][j];
    transform_output<C::kM, Rounding::fused>(m, column);
    CONVSCOPE_UNROLL
    for (int i = 0; i < C::kM; ++i) outputs[i][j] = column[i];
  }
}

/// A thread transforms the products of a tile and map; a warp writes its tiles' outputs through shared
/// memory, neighbouring lanes to neighbouring pixels of a row.
__global__ void __launch_bounds__(WinogradPassConfig::kThreads)
    winograd_output_kernel(DeviceShape s, WinogradTiles g, Activation activation, In<float> products,
                           const float* bias, Out<float> out) {
  using C = WinogradPassConfig;
  uint32_t block = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int warp_tile = static_cast<int>(g.blocks.take(block)) * C::kThreads + thread - lane;
  const int map = static_cast<int>(block);
  float* const stage = shared_memory<float>() + thread / 32 * C::kStage;
  float outputs[C::kM][C::kM];
  transform_products(products + map * g.pitch + warp_tile + lane, s.c_out * g.pitch, outputs);
  CONVSCOPE_UNROLL
  for (int i = 0; i < C::kM; ++i) {
    Four<float> row;
    CONVSCOPE_UNROLL
    for (int j = 0; j < C::kM; ++j) row.v[j] = outputs[i][j];
    *reinterpret_cast<Four<float>*>(stage + i * 32 * C::kM + lane * C::kM) = row;
  }
  sync_warp();
  const float own_bias = bias == nullptr ? -0.0f : bias[map];  // -0 changes no sum
  CONVSCOPE_UNROLL_BY(1)
  for (int part = 0; part < C::kM; ++part) {
    const int tile = warp_tile + part * 8 + lane / C::kM;
    const TilePlace at = place_of_tile(g, tile);
    const int x = at.x + lane % C::kM;
    if (tile >= g.count || x >= s.out_w) continue;
    float* to = out + (int64_t{at.image} * s.c_out + map) * s.out_plane + int64_t{at.y} * s.out_w + x;
    CONVSCOPE_UNROLL
    for (int i = 0; i < C::kM; ++i, to += s.out_w) {
      float v = stage[i * 32 * C::kM + part * 32 + lane];
      if (sees_nothing(s, at.y + i, x)) v = 0.0f;
      v += own_bias;
      if (activation != Activation::none) v = activate_apart(v, activation);
      if (at.y + i < s.out_h) *to = v;
    }
  }
}

}  // namespace
}  // namespace convscope::TARGET
