// The emulated target itself: barriers, shared memory, launch limits, and faults of kernels.

#include "kernels/targets/emulated.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

namespace convscope::emulated {
namespace {

__global__ void reverse_kernel(In<int> in, Out<int> out) {
  int* const shared = shared_memory<int>();
  const unsigned i = threadIdx.z * blockDim.y * blockDim.x + threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned count = blockDim.x * blockDim.y * blockDim.z;
  shared[i] = in[blockIdx.x * count + i];
  __syncthreads();
  const int other = shared[count - 1 - i];
  __syncthreads();
  shared[i] = other + 1;
  __syncthreads();
  out[blockIdx.x * count + i] = shared[i];
}

TEST(Emulated, BarriersOrderSharedMemory) {
  for (const dim3 block : {dim3(1), dim3(33), dim3(8, 4, 2), dim3(1024)}) {
    const unsigned count = block.x * block.y * block.z;
    std::vector<int> in(count * 50), out(in.size());
    std::iota(in.begin(), in.end(), 0);
    launch("reverse", reverse_kernel, dim3(50), block, count * sizeof(int), in.data(), out.data());
    for (unsigned b = 0; b < 50; ++b) {
      for (unsigned i = 0; i < count; ++i) ASSERT_EQ(out[b * count + i], in[b * count + count - 1 - i] + 1);
    }
  }
}

__global__ void indices_kernel(Out<int> out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  ++out[block * blockDim.x * blockDim.y * blockDim.z + thread];
}

TEST(Emulated, EveryThreadOfEveryBlockRunsOnce) {
  std::vector<int> out(5 * 4 * 3 * 2 * 3 * 4);
  launch("indices", indices_kernel, dim3(5, 4, 3), dim3(2, 3, 4), 0, out.data());
  EXPECT_EQ(out, std::vector<int>(out.size(), 1));
}

__global__ void unequal_kernel(int waiting) {
  if (static_cast<int>(threadIdx.x) < waiting) __syncthreads();
}
__global__ void unequal_later_kernel(int waiting) {
  __syncthreads();
  if (static_cast<int>(threadIdx.x) >= waiting) __syncthreads();
}

TEST(Emulated, ABarrierThatSomeThreadsNeverReachIsAFault) {
  for (const int waiting : {1, 31, 63}) {
    EXPECT_THROW(launch("unequal", unequal_kernel, dim3(3), dim3(64), 0, waiting), Error) << waiting;
    EXPECT_THROW(launch("unequal", unequal_later_kernel, dim3(3), dim3(64), 0, waiting), Error) << waiting;
  }
  launch("unequal", unequal_kernel, dim3(3), dim3(64), 0, 64);  // and the target goes on
  launch("unequal", unequal_kernel, dim3(3), dim3(64), 0, 0);
}

__global__ void stale_kernel(Out<float> out) { out[blockIdx.x] = shared_memory<float>()[threadIdx.x]; }

TEST(Emulated, SharedMemoryHoldsNothingAtFirst) {
  std::vector<float> out(100, 0);
  launch("stale", stale_kernel, dim3(100), dim3(1), 64, out.data());
  for (const float v : out) EXPECT_TRUE(std::isnan(v));
}

TEST(Emulated, LaunchLimitsAreThoseOfCuda) {
  std::vector<int> out(4096);
  EXPECT_THROW(launch("threads", indices_kernel, dim3(1), dim3(1025), 0, out.data()), Error);
  EXPECT_THROW(launch("threads", indices_kernel, dim3(0), dim3(32), 0, out.data()), Error);
  EXPECT_THROW(launch("threads", indices_kernel, dim3(1, 65536), dim3(1), 0, out.data()), Error);
  EXPECT_THROW(launch("shared", indices_kernel, dim3(1), dim3(1), max_shared_bytes() + 1, out.data()), Error);
}

TEST(Emulated, TwoCpuThreadsLaunchAtOnce) {
  std::atomic<int> wrong{0};
  const auto work = [&wrong] {
    std::vector<int> in(256 * 20), out(in.size());
    std::iota(in.begin(), in.end(), 0);
    for (int turn = 0; turn < 20; ++turn) {
      launch("reverse", reverse_kernel, dim3(20), dim3(256), 1024, in.data(), out.data());
      for (unsigned i = 0; i < 256; ++i) wrong += out[i] != static_cast<int>(256 - i);
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Divisor, DividesAsTheProcessorDoes) {
  for (const uint32_t d : {1u, 2u, 3u, 5u, 7u, 60u, 127u, 128u, 1919u, 65535u, 65537u, 1000003u, 2147483647u}) {
    const Divisor divisor(d);
    for (const uint32_t n : {0u, 1u, d - 1, d, 2 * (d / 2) + 1, 12345678u, 2147483646u, 2147483647u}) {
      if (n > 2147483647u) continue;
      uint32_t rest = n;
      EXPECT_EQ(divisor.take(rest), n % d) << n << " / " << d;
      EXPECT_EQ(rest, n / d) << n << " / " << d;
    }
  }
}

}  // namespace
}  // namespace convscope::emulated
