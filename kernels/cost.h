#pragma once

#include <string>

namespace convscope {

/// What one convolution by a strategy asks of the machine: counted from the algorithm, not measured.
struct Cost {
  /// Bytes read from and written to main memory: every value as often as the algorithm sends it there, what a
  /// block or a cache-sized piece shares counted once.
  double bytes = 0;
  /// Multiply-adds carried out, transforms included.
  double multiply_adds = 0;
  /// Kernels started (calls of a library count as one where it does not say).
  double launches = 1;
  /// How they were counted, in a sentence for the user: "the column matrix of 27 values a pixel is written
  /// and read once". Empty: each input, weight and output value moves once.
  std::string note;
};

}  // namespace convscope
