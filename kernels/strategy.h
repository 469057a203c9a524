#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kernels/cost.h"
#include "kernels/shape.h"
#include "kernels/timing.h"

namespace convscope {

/// Where a strategy runs. `cuda`: the GPU. `emulated`: the same kernel source on CPU threads, block by block.
/// `cpu`: ordinary CPU code. emulated and cpu share host memory.
enum class Target { cuda, emulated, cpu };

const char* to_string(Target);
std::optional<Target> parse_target(const std::string&);

/// What identifies a strategy in lists, settings and results.
struct StrategyInfo {
  std::string name;  // "direct"
  Target target = Target::cpu;
  Precision precision = Precision::fp32;
  std::string idea;        // one sentence for the user
  std::string id() const;  // "direct/cuda/fp32"
};

/// One way of computing a convolution. Life: refuses() -> prepare() -> launch() any number of times.
/// An object is bound to one thread at a time, and launches of one target share one stream.
class Strategy {
 public:
  virtual ~Strategy() = default;

  const StrategyInfo& info() const { return info_; }

  /// Why this strategy cannot compute the (valid) problem, in words for the user; nullopt where it can.
  virtual std::optional<std::string> refuses(const ConvProblem&) const { return std::nullopt; }

  /// The same with these (valid) weights: a strategy may take the shape and not the filters.
  std::optional<std::string> refuses(const ConvProblem& problem, const ConvWeights& weights) const {
    if (auto why = refuses(problem)) return why;
    return refuses_weights(problem, weights);
  }

  /// How many error bounds (error_bound() in compare.h) a result may be off: more than one where the
  /// strategy computes something else than the sum of products and rounds on the way.
  virtual double error_bounds(const ConvProblem&) const { return 1; }

  /// How far beyond a value's own window, in pixels, others disturb it: with the rounding errors of their
  /// pixels, and with their NaN and Inf. More than none where a strategy transforms a tile as a whole. Such a
  /// strategy is held to the error bound of that reach.
  virtual int64_t error_reach(const ConvProblem&) const { return 0; }

  /// What a launch asks of the machine, of a problem and weights that are not refused. Of the algorithm, so
  /// that it is known before prepare().
  virtual Cost cost(const ConvProblem&, const ConvWeights&) const;

  /// Allocates, plans and uploads the weights, which are not refused; untimed. Throws Error where memory or a
  /// library says no.
  virtual void prepare(const ConvProblem&, const ConvWeights&) = 0;

  /// Enqueues one convolution of `in` (n x c_in x h x w) into `out` (n x c_out x out_h x out_w), both in the
  /// target's memory, aligned to 16 bytes, of info().precision. Times its kernels as stages. Never allocates,
  /// never synchronises.
  virtual void launch(const void* in, void* out, Stages&) = 0;

 protected:
  explicit Strategy(StrategyInfo info) : info_(std::move(info)) {}

  /// Why not these weights, of a problem that refuses() takes.
  virtual std::optional<std::string> refuses_weights(const ConvProblem&, const ConvWeights&) const {
    return std::nullopt;
  }

 private:
  StrategyInfo info_;
};

}  // namespace convscope
