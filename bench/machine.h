#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "kernels/runtime.h"

namespace convscope::bench {

/// Several launches that are timed together, so that the clock's resolution does not show.
class Batch {
 public:
  virtual ~Batch() = default;
  /// Runs them and waits; microseconds a launch.
  virtual double run() = 0;
};

/// How the launches of a batch reach a GPU: one after the other through the stream, as a program does, or as
/// one graph recorded before, which costs the host nothing. The host knows no difference.
enum class Submission { stream, graph };

/// One memory space with its clock and its micro-benchmarks, for one thread, which it must be made and
/// destroyed on. On cuda it gives the thread a stream of its own, which waits for no other's.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual Runtime& runtime() = 0;

  /// What inputs must exceed to come from memory: the L2 cache of the device, the last of a processor.
  virtual std::size_t cache_bytes() const = 0;
  /// Whether a kernel is started on another processor, which has its price.
  virtual bool has_launches() const = 0;

  // Enqueued, as strategies are:
  /// Copies within the machine's memory as fast as it can.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// The same by the vendor's own call; false where copy() is that already.
  virtual bool vendor_copy(void* to, const void* from, std::size_t bytes) = 0;
  /// A kernel that does nothing, where has_launches().
  virtual void launch_empty() = 0;
  /// Independent multiply-adds on every core for some time proportional to `steps`; answers how many.
  virtual double multiply_add(Precision, int64_t steps) = 0;
  /// Every byte becomes 0xff, which makes every value NaN.
  virtual void poison(void* data, std::size_t bytes) = 0;

  /// A batch of enqueue(0) ... enqueue(count - 1).
  virtual std::unique_ptr<Batch> batch(int count, std::function<void(int)> enqueue, Submission) = 0;
};

/// The machine of a target; emulated and cpu share the host's. Throws Error where it is unavailable.
std::unique_ptr<Machine> make_machine(Target);

/// Takes no times, so that launches can be recorded into a graph.
class NoStages final : public Stages {
 public:
  void begin_frame(uint64_t) override {}
  void end_frame() override {}
  void begin(const char*) override {}
  void end() override {}
  std::vector<FrameTimes> collect() override { return {}; }
};

}  // namespace convscope::bench
