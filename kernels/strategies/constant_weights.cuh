#pragma once
// Weights as a parameter of the kernel, which CUDA keeps in constant memory (bank 0): one read serves a warp
// whose threads all want the same weight, and no launch can find another's weights there.

#include <vector>

#include "kernels/shape.h"

namespace convscope::TARGET {

/// Of the 32 764 bytes that a kernel's parameters may take since CUDA 12.1.
inline constexpr int64_t kConstantBytes = 32000;

/// [group of maps][taps, then the bias][map in group]. Aligned, so that two are read at once.
template <class T, int kCount>
struct alignas(16) ConstantWeights {
  T values[kCount];
};

/// Bytes of a group of `maps` maps.
template <class T>
int64_t constant_group_bytes(const ConvShape& s, int64_t maps) {
  return (s.taps() + 1) * maps * static_cast<int64_t>(sizeof(T));
}

/// Maps of one launch, in groups of `maps`; of a shape that refuses_constant() takes, at least one group.
template <class T>
int64_t constant_maps_a_launch(const ConvShape& s, int64_t maps) {
  return kConstantBytes / constant_group_bytes<T>(s, maps) * maps;
}

template <class T>
int64_t constant_launches(const ConvShape& s, int64_t maps) {
  return ceil_div(s.c_out, constant_maps_a_launch<T>(s, maps));
}

/// The maps that one launch makes, and their weights.
template <class T>
struct ConstantPass {
  int64_t first_map, last_map;
  std::vector<T> weights;
};

/// All maps in as few launches as the constant memory allows, in groups of `maps`. Lanes without a map are
/// zeros; a bias that is not there is -0, which adds nothing to any value, not even to -0.
template <class T>
std::vector<ConstantPass<T>> constant_passes(const ConvShape& s, const ConvWeights& w, int64_t maps) {
  const int64_t taps = s.taps(), maps_a_pass = constant_maps_a_launch<T>(s, maps);
  std::vector<ConstantPass<T>> passes;
  for (int64_t first = 0; first < s.c_out; first += maps_a_pass) {
    const int64_t last = first + maps_a_pass < s.c_out ? first + maps_a_pass : s.c_out;
    std::vector<T> values(static_cast<std::size_t>(ceil_div(last - first, maps) * maps * (taps + 1)), T(0));
    for (int64_t map = first; map < last; ++map) {
      T* const to = values.data() + (map - first) / maps * (taps + 1) * maps + (map - first) % maps;
      for (int64_t tap = 0; tap < taps; ++tap) {
        to[tap * maps] = static_cast<T>(w.values[static_cast<std::size_t>(map * taps + tap)]);
      }
      to[taps * maps] = w.bias.empty() ? -T(0) : static_cast<T>(w.bias[static_cast<std::size_t>(map)]);
    }
    passes.push_back({first, last, std::move(values)});
  }
  return passes;
}

/// A filter that fits in no launch, in words; nullopt where one fits.
template <class T>
std::optional<std::string> refuses_constant(const ConvShape& s) {
  const int64_t bytes = constant_group_bytes<T>(s, 1);
  if (bytes <= kConstantBytes) return std::nullopt;
  return "one filter of " + std::to_string(s.taps()) + " weights and its bias take " + std::to_string(bytes) +
         " bytes, the constant memory of a launch's parameters has " + std::to_string(kConstantBytes);
}

template <class T, int kCount>
ConstantWeights<T, kCount> constant_weights(const std::vector<T>& values) {
  ConstantWeights<T, kCount> w{};
  for (std::size_t i = 0; i < values.size(); ++i) w.values[i] = values[i];
  return w;
}

}  // namespace convscope::TARGET
