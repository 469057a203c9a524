#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/shape.h"

namespace convscope::bench {

/// A convolution that is timed.
struct Workload {
  std::string name, about;
  ConvShape shape;
  bool rank_one = false;   // filters that `separable` takes
  bool also_fp64 = false;  // timed in fp64 too where no precision is asked for
};

/// A to D, G1, G15 and L are those of the peers' script (cuDNN through PyTorch), so that both can be timed in
/// one call; S17, 1D and G31 are what separable filters and Fourier transforms are for.
std::vector<Workload> workloads();

/// Filters with a bias, the same on every machine.
ConvWeights weights_of(const Workload&);
/// Input planes from -1 to 1, likewise.
std::vector<std::byte> input_of(const Workload&, Precision);

/// Bytes that any way of computing it must move: each input value read, each output value written.
std::size_t least_bytes(const ConvShape&, Precision);

}  // namespace convscope::bench
