#pragma once
// Four neighbouring values, moved at once.

namespace convscope::TARGET {
namespace {

/// Aligned to 16 bytes, which floats fill.
template <class T>
struct alignas(16) Four {
  T v[4];
};
template <class T>
__device__ __forceinline__ Four<T> four(const T* p) {
  return *reinterpret_cast<const Four<T>*>(p);
}

}  // namespace
}  // namespace convscope::TARGET
