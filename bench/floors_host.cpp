// Compiled with -ffp-contract=fast (bench/CMakeLists.txt): the vectors' multiply and add become FMAs where
// the processor has them.
#include "bench/floors_host.h"

#include <atomic>
#include <cstring>

#include "kernels/parallel.h"

namespace convscope::bench {
namespace {

/// Two units with a latency of four or five cycles need ten chains; sixteen vector registers hold twelve and
/// the factor.
constexpr int kChains = 12;
constexpr int kInner = 64;

template <class T>
struct Vector {
  typedef T type __attribute__((vector_size(32)));
};

template <class T>
[[gnu::noinline]] T multiply_add_chains(int64_t steps, T factor) {
  using V = typename Vector<T>::type;
  V chains[kChains];
  for (int k = 0; k < kChains; ++k) chains[k] = V{} + static_cast<T>(k);
  const V f = V{} + factor;
  for (int64_t i = 0; i < steps * kInner; ++i) {
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) chains[k] = chains[k] * f + f;
  }
  T sum = 0;
  for (const V& chain : chains) sum += chain[0];
  return sum;
}

template <class T>
double multiply_add_everywhere(int64_t steps) {
  const int threads = thread_count();
  std::atomic<T> total = 0;  // what nobody reads the compiler leaves out
  parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) total = total + multiply_add_chains<T>(steps, static_cast<T>(0.5));
  });
  constexpr double kLanes = 32 / sizeof(T);
  return total >= 0 ? static_cast<double>(steps) * kInner * kChains * kLanes * threads : 0;
}

}  // namespace

void copy_on_host(void* to, const void* from, std::size_t bytes) {
  constexpr int64_t kSmallest = int64_t{1} << 18;
  const auto count = static_cast<int64_t>(bytes);
  const int64_t grain = std::max(kSmallest, (count / thread_count() + 63) / 64 * 64);
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                static_cast<std::size_t>(end - begin));
  });
}

double multiply_add_on_host(Precision precision, int64_t steps) {
  return precision == Precision::fp64 ? multiply_add_everywhere<double>(steps)
                                      : multiply_add_everywhere<float>(steps);
}

}  // namespace convscope::bench
