#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "kernels/timing.h"

namespace convscope {

/// Times of the stages over the last frames; the first run after a switch is kept apart, because it pays for
/// things (page faults, cold caches, clocks) that later ones do not.
class TimingTable {
 public:
  static constexpr std::size_t kWindow = 120;

  struct Row {
    std::string stage;
    bool counted = true;  // part of the total: false for stages outside of the frame's chain
    std::optional<double> first{};
    std::deque<double> ms{};  // the newest at the back, at most kWindow
    std::optional<double> last() const;
    std::optional<double> quantile(double q) const;
  };

  void clear() { rows_.clear(), total_ = Row{"total"}; }
  /// The stages of one frame. `first`: the first after a switch.
  void add(const FrameTimes&, bool first);
  /// One stage outside of the chain (interop, view, draw, download).
  void add(const std::string& stage, double ms, bool first = false);

  const std::vector<Row>& rows() const { return rows_; }
  const Row& total() const { return total_; }

 private:
  Row& row(const std::string& stage, bool counted);

  std::vector<Row> rows_;
  Row total_{"total"};
};

}  // namespace convscope
