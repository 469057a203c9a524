#include "bench/planes.h"

#include <algorithm>

namespace convscope::bench {
namespace {

/// Sets that together are eight times the last cache; two at least, so that no launch finds its own inputs.
/// At most 64: a workload for which those are too few is over before memory matters.
int streaming_sets(const Machine& machine, std::size_t bytes) {
  constexpr std::size_t kMost = std::size_t{2} << 30;  // of memory
  const std::size_t wanted = std::min(8 * machine.cache_bytes(), kMost) / bytes + 1;
  return static_cast<int>(std::clamp<std::size_t>(wanted, 2, 64));
}

}  // namespace

Planes::Planes(Machine& machine, const ConvShape& s, Precision precision, const std::vector<std::byte>& input,
               bool streaming) {
  const std::size_t bytes = least_bytes(s, precision);
  out_bytes_ = static_cast<std::size_t>(s.output_size()) * bytes_of(precision);
  copied_ = std::max<std::size_t>(bytes / 2 / 16 * 16, 16);
  Runtime& runtime = machine.runtime();
  const int sets = streaming ? streaming_sets(machine, bytes) : 1;
  for (int i = 0; i < sets; ++i) {
    in_.push_back(runtime.allocate(input.size()));
    out_.push_back(runtime.allocate(out_bytes_));
    copy_from_.push_back(runtime.allocate(copied_));
    copy_to_.push_back(runtime.allocate(copied_));
    runtime.upload(in_.back()->data(), input.data(), input.size());
    machine.poison(copy_from_.back()->data(), copied_);
    machine.poison(copy_to_.back()->data(), copied_);
    machine.poison(out_.back()->data(), out_bytes_);
  }
  runtime.synchronise();
}

}  // namespace convscope::bench
