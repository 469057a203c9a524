#pragma once
// F(4x4,3x3) as matrix products in memory: how many tiles, the products as a convolution, its weights.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/strategies/implicit_gemm_wgmma_plan.h"
#include "kernels/strategies/winograd_limits.h"
#include "kernels/targets/host_runtime.h"

namespace convscope {

/// M[p] = U[p] V[p] for each position p of a transformed tile: maps x channels times channels x tiles. That
/// is a 1x1 convolution of 36 images, each with weights of its own, whose pixels are the tiles.
struct WinogradProductsPlan {
  static constexpr int kM = 4, kPositions = 36;
  static constexpr int kThreads = 256;                     // of a block of the transforms, a tile each
  static constexpr int64_t kMostBytes = int64_t{1} << 34;  // of what lies in memory between the kernels

  int64_t across = 0, down = 0;  // tiles along an image's axes
  int64_t tiles = 0, pitch = 0;  // of all images; and empty ones, which fill the last block
  ConvShape products;

  explicit WinogradProductsPlan(const ConvShape& s)
      : across(ceil_div(s.out_w(), kM)), down(ceil_div(s.out_h(), kM)), tiles(s.n * across * down) {
    // rows of pixels are as long as to fill whole blocks, which have a run of outputs in each of `rows`
    const int64_t rows = wgmma_tiles(wgmma_maps(s.c_out), true);
    pitch = ceil_div(tiles, rows * WgmmaPlan::kRun) * rows * WgmmaPlan::kRun;
    products.n = kPositions, products.c_in = s.c_in, products.c_out = s.c_out;
    products.h = rows, products.w = pitch / rows;
  }

  int64_t transformed_size() const { return kPositions * products.c_in * pitch; }
  int64_t products_size() const { return kPositions * products.c_out * pitch; }
};

/// U = G g G^T of every map and channel, in the order of the product's kernel, one position after the other.
/// `transformed`: of a filter's nine taps the 36 values.
template <class Transform>
std::vector<float> winograd_products_weights(const WinogradProductsPlan& plan, const WgmmaPlan& kernel,
                                             const ConvWeights& w, const Transform& transformed) {
  constexpr int64_t kPositions = WinogradProductsPlan::kPositions;
  const int64_t filters = w.c_out * w.c_in;
  std::vector<double> values(static_cast<std::size_t>(kPositions * filters));
  for (int64_t f = 0; f < filters; ++f) {
    const std::vector<double> u = transformed(w.values.data() + f * 9);
    for (int64_t p = 0; p < kPositions; ++p) {
      values[static_cast<std::size_t>(p * filters + f)] = u[static_cast<std::size_t>(p)];
    }
  }
  std::vector<float> all;
  for (int64_t p = 0; p < kPositions; ++p) {
    const auto first = values.begin() + p * filters;
    const ConvWeights position{w.c_out, w.c_in, 1, 1, {first, first + filters}, {}};
    const std::vector<float> ordered = kernel.weights(plan.products, position);
    all.insert(all.end(), ordered.begin(), ordered.end());
  }
  return all;
}

/// Where they are not to be had in memory or not for the kernel.
inline std::optional<std::string> refuses_winograd_products(const ConvShape& s, int64_t shared_limit) {
  if (auto why = refuses_winograd(s)) return why;
  if (auto why = refuses_size(s, 1)) return why;
  const WinogradProductsPlan plan(s);
  const int64_t tile_bytes = 4 * WinogradProductsPlan::kPositions * (s.c_in + s.c_out);
  if (plan.pitch > WinogradProductsPlan::kMostBytes / tile_bytes) {
    const double bytes = static_cast<double>(tile_bytes) * static_cast<double>(plan.pitch);
    return "transformed tiles and products would take " + readable_bytes(static_cast<std::size_t>(bytes)) +
           " of memory; they may take at most " + readable_bytes(WinogradProductsPlan::kMostBytes) +
           " (winograd_f4 never holds them)";
  }
  if (s.c_in < 3 || s.c_out < 9)
    return "makes at least 9 maps of at least 3 channels; here are " + std::to_string(s.c_out) + " of " +
           std::to_string(s.c_in);
  if (auto why = refuses_wgmma(plan.products, true, shared_limit)) return "its products: " + *why;
  return refuses_size(
      s, plan.pitch / WinogradProductsPlan::kThreads * std::max(s.c_in, s.c_out));  // of the transforms
}

}  // namespace convscope
