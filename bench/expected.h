#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kernels/compare.h"
#include "kernels/runtime.h"

namespace convscope::bench {

/// How much of a result is compared at most.
struct CheckLimits {
  double multiply_adds = 0;  // of the reference; 0: what this machine does in a few seconds
  int64_t values = int64_t{40} << 20;
};

/// The reference's result of one problem and the judge of others' results. Where the whole would take long,
/// some planes stand for it: complete ones, of images and maps chosen at random, the first and the last among
/// them.
class Expected {
 public:
  /// `in`: the input planes, in host memory. Throws Error.
  Expected(const ConvProblem&, const ConvWeights&, Precision, const void* in, const CheckLimits& = {});

  struct Verdict {
    bool good = false;
    double bound_fraction = 0;  // largest |difference| in error bounds, where both are finite
    std::string fault;          // what is wrong, in words
  };
  /// Of a result in the runtime's memory: within `error_bounds` of the reference, the bound taken over
  /// `reach` (Strategy::error_bounds, error_reach); NaN and Inf where the reference has them and nowhere
  /// else.
  Verdict judge(Runtime&, const void* out, double error_bounds, int64_t reach);

  int64_t checked() const { return sample_.output_size(); }
  int64_t values() const { return whole_.output_size(); }

 private:
  template <class T>
  Verdict judge_values(Runtime&, const void* out, double error_bounds, int64_t reach);
  std::span<const float> bound_within(int64_t reach);
  bool complete() const { return sample_ == whole_; }
  std::string place(int64_t index) const;

  ConvShape whole_, sample_;
  ConvProblem problem_;  // of the sample
  ConvWeights weights_;
  Precision precision_;
  std::vector<int64_t> images_, maps_;  // the chosen
  std::vector<std::byte> in_, values_, found_;
  const void* input_;  // in_, or the caller's where it is complete
  std::map<int64_t, std::vector<float>> bounds_;
};

}  // namespace convscope::bench
