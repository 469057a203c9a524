#pragma once
// The emulated target: kernels written in CUDA C++ run on CPU threads, block by block, one fiber for each
// CUDA thread that waits at a barrier. This header gives the host compiler the few words of CUDA that the
// kernels use.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/error.h"
#include "kernels/parallel.h"
#include "kernels/strategy.h"
#include "kernels/targets/device_common.h"

#define TARGET emulated
#define CONVSCOPE_EMULATED 1
#define __global__
#define __device__ inline
#define __forceinline__
#define __launch_bounds__(...)
// A struct that the kernel takes in constant memory; here the launch's own.
#define CONVSCOPE_CONSTANT(...) const __VA_ARGS__&
// The loop over maps is vectorised as it stands; unrolling all around it serves the registers of a GPU.
#define CONVSCOPE_UNROLL
// Where the sums would otherwise stay in memory: tiled takes half the time.
#define CONVSCOPE_UNROLL_MAPS _Pragma("GCC unroll 16")
#define CONVSCOPE_UNROLL_BY(n)
#define CONVSCOPE_LAUNCH_BOUNDS(threads, blocks)

namespace convscope::emulated {

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

class BlockRunner;

/// The built-in variables of the CUDA thread that this CPU thread is running.
struct ThreadState {
  struct Index {
    unsigned x, y, z;
  };
  Index thread, block, block_dim, grid_dim;
  std::byte* shared;
  BlockRunner* runner;
};
extern constinit thread_local ThreadState thread_state;

#define threadIdx (::convscope::emulated::thread_state.thread)
#define blockIdx (::convscope::emulated::thread_state.block)
#define blockDim (::convscope::emulated::thread_state.block_dim)
#define gridDim (::convscope::emulated::thread_state.grid_dim)

/// Waits until every thread of the block is here. A block of which some threads return first is a fault of
/// the kernel: the launch throws Error.
void __syncthreads();
/// Waits until the group's threads, `threads` neighbours, are here; groups are numbered from 0, and every
/// thread of the block comes equally often. Here all groups wait together.
inline void sync_group(int, int) { __syncthreads(); }

/// The block's dynamic shared memory, filled with NaN patterns before each block as a reminder that it holds
/// nothing.
template <class T>
T* shared_memory() {
  return reinterpret_cast<T*>(thread_state.shared);
}

/// What a kernel takes its buffers as.
template <class T>
using In = const T* __restrict;
template <class T>
using Out = T* __restrict;

template <Rounding R, class T>
inline T mad(T a, T b, T acc) {
  if constexpr (R == Rounding::fused) {
    return std::fma(a, b, acc);
  } else {
    return a * b + acc;  // -ffp-contract=off keeps these two roundings
  }
}

template <class T>
inline T read_only(const T* p) {
  return *p;
}

/// Reads four neighbours where `inside`; zeros elsewhere.
inline void load4_or_zero(const float* from, bool inside, float (&to)[4]) {
  for (int i = 0; i < 4; ++i) to[i] = inside ? from[i] : 0.0f;
}

/// Reads two or four neighbours.
template <class T>
inline void read_only2(const T* from, T& a, T& b) {
  a = from[0], b = from[1];
}
template <class T>
inline void read_only4(const T* from, T (&to)[4]) {
  for (int i = 0; i < 4; ++i) to[i] = from[i];
}

/// Writes four neighbours.
template <class T>
inline void store4(T* to, T a, T b, T c, T d) {
  to[0] = a, to[1] = b, to[2] = c, to[3] = d;
}

/// Writes a lane's share of a warp's kRuns * 32 neighbours: values[k] to to[32 * k + lane].
template <int kRuns, class T>
inline void store_lines(T* to, int lane, const T (&values)[kRuns]) {
  for (int k = 0; k < kRuns; ++k) to[32 * k + lane] = values[k];
}

/// Copies 16 bytes into shared memory, at once; zeros where not `inside`.
template <class T>
inline void copy_async16(T* to, const T* from, bool inside) {
  if (inside) {
    std::memcpy(to, from, 16);
  } else {
    std::memset(to, 0, 16);
  }
}
inline void copy_async_commit() {}
template <int>
inline void copy_async_wait() {}

inline uint32_t float_bits(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
inline float float_of_bits(uint32_t bits) {
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
inline int64_t ordered_bits(double v) {
  int64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits < 0 ? static_cast<int64_t>(INT64_MIN) - bits : bits;
}
inline int64_t ordered_bits(float v) {
  const auto bits = static_cast<int32_t>(float_bits(v));
  return bits < 0 ? static_cast<int64_t>(INT32_MIN) - bits : bits;
}

/// Largest shared memory of a block, as compute capability 9.0 has it.
inline std::size_t max_shared_bytes() { return 232448; }
inline constexpr std::size_t kDefaultSharedBytes = 49152;
/// What a CPU core's caches hold, about, where the device has its L2.
inline std::size_t l2_bytes() { return std::size_t{8} << 20; }

void run_grid(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, void (*call)(const void*),
              const void* arguments);

/// Runs a kernel over the grid; returns when it is done.
template <class... P, class... A>
void launch(const char* name, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
            A&&... arguments) {
  struct Call {
    void (*kernel)(P...);
    std::tuple<P...> arguments;
  } const call{kernel, std::tuple<P...>(static_cast<P>(arguments)...)};
  run_grid(
      name, grid, block, shared_bytes,
      [](const void* p) {
        const auto* c = static_cast<const Call*>(p);
        std::apply(c->kernel, c->arguments);
      },
      &call);
}

/// Permits a kernel more than 48 KiB of shared memory; here nothing is in the way.
template <class... P>
void allow_shared_bytes(void (*)(P...), std::size_t) {}

/// Blocks of a kernel that the target runs at once: few, so that some take several tiles, as on a device.
template <class... P>
int64_t resident_blocks(void (*)(P...), int, std::size_t) {
  return 64;
}

/// Move-only memory of the target, as cuda_check.h has it for the device.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// Throws Error with the size asked for.
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  void* get() const { return data_; }

 private:
  void* data_ = nullptr;
};

/// Values in the target's memory, for a strategy's weights.
template <class T>
class DeviceArray {
 public:
  void assign(const std::vector<T>& values) { values_ = values; }
  const T* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<T> values_;
};

}  // namespace convscope::emulated
