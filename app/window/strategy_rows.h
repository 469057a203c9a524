#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/window/results.h"

namespace convscope {

/// The strategy list: which rows can run the problem at hand, and what they took when they last did.
class StrategyRows {
 public:
  /// The rows of a precision for a problem and its weights, with the reason of each that cannot run it.
  std::vector<StrategyRow> rows(const ConvProblem&, const ConvWeights&, Precision);
  /// Records a run's own stages: without transfers, unpack and pad.
  void add(const StrategyInfo&, const ConvProblem&, const FrameTimes&);

 private:
  struct Measured {
    ConvProblem problem;
    std::vector<double> ms;
  };
  std::map<std::string, std::unique_ptr<Strategy>> probes_;  // asked for refusals only, never prepared
  std::map<std::string, Measured> measured_;
};

}  // namespace convscope
