#pragma once

#include <memory>
#include <vector>

#include "bench/machine.h"
#include "bench/workloads.h"

namespace convscope::bench {

/// The input and output planes of a workload in one machine's memory, in as many sets as streaming takes, and
/// memory for copies of as many bytes.
class Planes {
 public:
  Planes(Machine&, const ConvShape&, Precision, const std::vector<std::byte>& input, bool streaming);

  int sets() const { return static_cast<int>(in_.size()); }
  void* in(int set) const { return in_[static_cast<std::size_t>(set)]->data(); }
  void* out(int set) const { return out_[static_cast<std::size_t>(set)]->data(); }
  void* copy_from(int set) const { return copy_from_[static_cast<std::size_t>(set)]->data(); }
  void* copy_to(int set) const { return copy_to_[static_cast<std::size_t>(set)]->data(); }
  std::size_t copied() const { return copied_; }  // read, and as many written
  std::size_t out_bytes() const { return out_bytes_; }

 private:
  std::vector<std::unique_ptr<Buffer>> in_, out_, copy_from_, copy_to_;
  std::size_t copied_, out_bytes_;
};

}  // namespace convscope::bench
