#pragma once
// How a block of the winograd kernel is cut up.

#include <algorithm>
#include <cstddef>

namespace convscope {

/// F(kOutput x kOutput, 3x3) in type T, tiles of a block kTilesAcross wide. A warp owns one row of the
/// transformed tile's positions; its lanes are 8 in maps by 4 in tiles, each 4 maps by kTilesLane tiles of
/// every position in the row, so that the sums of a row end in one thread and half the output transform needs
/// no memory.
template <class T, int kOutput, int kTilesAcross>
struct WinogradConfig {
  static constexpr int kM = kOutput, kSide = kM + 2, kPositions = kSide * kSide;
  static constexpr int kThreads = 32 * kSide;
  static constexpr int kMaps = 32;                                    // of a block
  static constexpr int kTiles = sizeof(T) == 4 && kM == 2 ? 32 : 16;  // sums of a lane: 128 (F2) or 96 (F4)
  static constexpr int kTilesLane = kTiles / 4;
  static constexpr int kTilesX = kTilesAcross, kTilesY = kTiles / kTilesX;
  static constexpr int kChannels = 16;  // input channels in shared memory at a time
  static constexpr int kRows = kTilesY * kM + 2, kCols = kTilesX * kM + 2;  // input pixels under the tiles
  static constexpr int kRowsPass = std::min(kRows, kThreads / kCols);       // that the threads load at once
  static constexpr int kPasses = (kRows + kRowsPass - 1) / kRowsPass;
  /// Blocks that should be resident on a multiprocessor: the registers allow 3 of 4 warps and 2 of 6.
  static constexpr int kBlocks = sizeof(T) == 8 ? 1 : kM == 2 ? 3 : 2;

  // shared memory, in values: transformed tiles, then input pixels; after the sums, half-transformed results
  static constexpr int kPlane =
      (kRows * kCols + kM - 2) / kM * kM + 1;  // 1 modulo kM: channels in other banks
  static constexpr int kTransformed = kPositions * kChannels * kTiles;
  static constexpr int kResults = kSide * kM * kMaps * kTiles;
  static constexpr std::size_t kSharedBytes =
      sizeof(T) * std::max(kTransformed + kChannels * kPlane, kResults);

  static_assert(kTilesX >= 4 && 32 % kTilesX == 0,
                "four tiles of one row lie side by side, for 16-byte loads");
  static_assert(kTiles % kTilesX == 0 && kCols <= kThreads, "the block's tiles are a rectangle");
  static_assert(kPlane >= kRows * kCols && kPlane % kM == 1);
};

}  // namespace convscope
