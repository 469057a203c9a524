#pragma once
// The two passes of `separable`: eight outputs of a thread slide over their values; and the pair of kernels
// with a scratch plane between them.

#include <algorithm>

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"
#include "kernels/strategies/four.cuh"

namespace convscope::TARGET {
namespace {

struct SeparableConfig {
  static constexpr int kLogRun = 3, kRun = 1 << kLogRun;  // neighbouring outputs of a thread
  static constexpr int kThreads = 256;
  static constexpr int kOutputs = kRun * kThreads;  // of a block
  static constexpr int kStep = 4;                   // taps that one load of 16 bytes brings
  static_assert(kRun % kStep == 0, "a run of outputs begins where four values can be loaded at once");
};

/// The outputs of a block and their shared memory. 64x32 outputs, wide and flat where there is no pass down;
/// other proportions where the maps are narrow or flat, so that no more threads idle than must.
struct SeparableTile {
  int log_x = 6;  // 2^log_x outputs across, the rest of kOutputs down
  int64_t columns = 0, pitch = 0, shared_bytes = 0;
  bool fits = false;  // in shared memory, and its positions in 32 bits

  SeparableTile() = default;
  SeparableTile(const ConvShape& s, std::size_t value_bytes, int64_t shared_limit)
      : log_x(s.k_h == 1 ? 9 : 6) {
    while (log_x > SeparableConfig::kLogRun && x() / 2 >= s.out_w()) --log_x;
    const int64_t least_y = s.k_h == 1 ? 1 : SeparableConfig::kRun;
    while (y() / 2 >= std::max(least_y, s.out_h()) && x() < s.out_w()) ++log_x;
    columns = (x() - 1) * s.stride.x + (s.k_w - 1) * s.dilation.x + 1;
    // whole chunks of 32 as skewed() has them, and the 3 values beyond the last tap that slide() may read
    pitch = ceil_div(columns + 3, 32) * 36;
    shared_bytes = pitch * y() * static_cast<int64_t>(value_bytes);
    const int64_t last_x = (s.out_w() + x()) * s.stride.x + (s.k_w - 1) * s.dilation.x,
                  last_y = (s.out_h() + y()) * s.stride.y + (s.k_h - 1) * s.dilation.y + 3;
    fits = shared_bytes <= shared_limit && std::max(last_x, last_y) < int64_t{1} << 31;
  }
  int64_t x() const { return int64_t{1} << log_x; }
  int64_t y() const { return int64_t{SeparableConfig::kOutputs} >> log_x; }
  int64_t blocks(const ConvShape& s) const {
    return ceil_div(s.out_w(), x()) * ceil_div(s.out_h(), y()) * s.c_out * s.n;
  }
};

/// Position in a row of shared memory. Four values are left out after every 32, so that threads 8 values
/// apart that load 4 each meet no bank twice.
CONVSCOPE_HOST_DEVICE int skewed(int x) { return x + x / 32 * 4; }

/// Values of one column of the image from a row on; beyond the edges zero. Not kGuarded: there are no edges.
template <class T, bool kGuarded>
class ImageColumn {
 public:
  __device__ __forceinline__ ImageColumn(const DeviceShape& s, const T* plane, int y, int x)
      : from_(plane + int64_t{y} * s.w + x), w_(s.w), y_(y), rows_(x >= 0 && x < s.w ? s.h : 0) {}
  __device__ __forceinline__ T operator()(int y) const {
    if (kGuarded && (y_ + y < 0 || y_ + y >= rows_)) return T(0);
    return read_only(from_ + int64_t{y} * w_);
  }
  __device__ __forceinline__ Four<T> quad(int y) const {
    return {{(*this)(y), (*this)(y + 1), (*this)(y + 2), (*this)(y + 3)}};
  }

 private:
  const T* from_;
  int w_, y_, rows_;
};

/// Values of one row of the tile from a column on, which is a multiple of 8 where quads are read.
template <class T>
struct TileRow {
  const T* row;
  int x;
  __device__ __forceinline__ T operator()(int i) const { return row[skewed(x + i)]; }
  __device__ __forceinline__ Four<T> quad(int i) const { return four(row + skewed(x + i)); }
};

/// sum[r] += taps[t] * values(r + t), t ascending. Reads up to 3 values beyond those that it uses.
template <Rounding R, class T, class Values>
__device__ __forceinline__ void slide(int taps, const T* tap, const Values& values,
                                      T (&sum)[SeparableConfig::kRun]) {
  constexpr int kRun = SeparableConfig::kRun, kStep = SeparableConfig::kStep;
  T window[kRun + kStep] = {};
  CONVSCOPE_UNROLL
  for (int i = 0; i < kRun; i += kStep) {
    const Four<T> next = values.quad(i);
    CONVSCOPE_UNROLL
    for (int j = 0; j < kStep; ++j) window[i + j] = next.v[j];
  }
  int t = 0;
  CONVSCOPE_UNROLL_BY(2)
  for (; t + kStep <= taps; t += kStep) {
    const Four<T> next = values.quad(t + kRun);
    const Four<T> quad = four(tap + t);
    CONVSCOPE_UNROLL
    for (int j = 0; j < kStep; ++j) window[kRun + j] = next.v[j];
    CONVSCOPE_UNROLL
    for (int j = 0; j < kStep; ++j) {
      CONVSCOPE_UNROLL
      for (int r = 0; r < kRun; ++r) sum[r] = mad<R>(window[r + j], quad.v[j], sum[r]);
    }
    CONVSCOPE_UNROLL
    for (int i = 0; i < kRun; ++i) window[i] = window[i + kStep];
  }
  const int rest = taps - t;
  if (rest == 0) return;
  if (rest > 1) {
    const Four<T> next = values.quad(t + kRun);
    CONVSCOPE_UNROLL
    for (int j = 0; j < kStep; ++j) window[kRun + j] = next.v[j];
  }
  const Four<T> last = four(tap + t);
  CONVSCOPE_UNROLL
  for (int j = 0; j < kStep - 1; ++j) {
    if (j < rest) {
      CONVSCOPE_UNROLL
      for (int r = 0; r < kRun; ++r) sum[r] = mad<R>(window[r + j], last.v[j], sum[r]);
    }
  }
}

/// sum[r] += taps[t] * values(r * stride + t * dilation), t ascending.
template <Rounding R, class T, class Values>
__device__ __forceinline__ void gather(int taps, int stride, int dilation, const T* tap, const Values& values,
                                       T (&sum)[SeparableConfig::kRun]) {
  for (int t = 0; t < taps; ++t) {
    const T weight = read_only(tap + t);
    CONVSCOPE_UNROLL
    for (int r = 0; r < SeparableConfig::kRun; ++r)
      sum[r] = mad<R>(values(r * stride + t * dilation), weight, sum[r]);
  }
}

/// How a block's number splits, and how many values the factors of a kernel take.
struct PassGrid {
  Divisor tiles, rows, channels;
};
struct PassTaps {
  int column, row;
};

/// Sums down every column of the image: scratch[image][channel][out_y][x]. `factors`: of one map.
template <class T, Rounding R>
__global__ void separable_down_kernel(DeviceShape s, PassGrid g, PassTaps taps, In<T> in, In<T> factors,
                                      Out<T> scratch) {
  uint32_t block = blockIdx.x;
  const int x = static_cast<int>(g.tiles.take(block) * SeparableConfig::kThreads + threadIdx.x);
  const int y = static_cast<int>(g.rows.take(block));
  if (x >= s.w) return;
  const uint32_t plane = block;  // image * c_in + channel
  const int channel = static_cast<int>(g.channels.take(block));
  const ImageColumn<T, true> column(s, in + plane * s.in_plane, y * s.stride_y - s.pad_y, x);
  T sum = 0;
  if (s.k_h == 1) {
    sum = column(0);
  } else {
    const T* const tap = factors + int64_t{channel} * (taps.column + taps.row);
    for (int i = 0; i < s.k_h; ++i) sum = mad<R>(column(i * s.dilation_y), read_only(tap + i), sum);
  }
  scratch[(int64_t{plane} * s.out_h + y) * s.w + x] = sum;
}

/// Sums along the rows of the scratch planes, channel after channel. `out`: the map's plane of image 0.
template <class T, Rounding R>
__global__ void separable_along_kernel(DeviceShape s, PassGrid g, PassTaps taps, Activation activation,
                                       In<T> scratch, In<T> factors, const T* bias, Out<T> out) {
  uint32_t block = blockIdx.x;
  const int x = static_cast<int>(g.tiles.take(block) * SeparableConfig::kThreads + threadIdx.x);
  const int y = static_cast<int>(g.rows.take(block));
  const int image = static_cast<int>(block);
  if (x >= s.out_w) return;
  const int first_x = x * s.stride_x - s.pad_x;
  T sum = 0;
  for (int c = 0; c < s.c_in; ++c) {
    const T* const row = scratch + ((int64_t{image} * s.c_in + c) * s.out_h + y) * s.w;
    const T* const tap = factors + int64_t{c} * (taps.column + taps.row) + taps.column;
    for (int j = 0; j < s.k_w; ++j) {
      const int in_x = first_x + j * s.dilation_x;
      const T value = in_x >= 0 && in_x < s.w ? read_only(row + in_x) : T(0);
      sum = mad<R>(value, read_only(tap + j), sum);
    }
  }
  out[int64_t{image} * s.c_out * s.out_plane + int64_t{y} * s.out_w + x] = finish(sum, bias, activation);
}

}  // namespace
}  // namespace convscope::TARGET
