#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "app/window/results.h"
#include "kernels/chain.h"

namespace convscope {

/// What runs on the CUDA device, all of it enqueued from the render thread and never waited for.
/// Slot a is the picture, slot b the side it is compared with.
class DeviceSide {
 public:
  enum Slot { a = 0, b = 1 };
  struct Times {
    Slot slot;
    bool first;
    uint64_t number;  // of the computation, as given to run()
    StrategyInfo info;
    FrameTimes times;  // frame 0: stages outside of a chain (view, download), of no computation
  };

  /// Throws Error where unavailable() has a reason.
  DeviceSide()
      : runtime_(make_runtime(Target::cuda)),
        chains_{Chain(*runtime_), Chain(*runtime_)},
        transferred_(runtime_->make_marker()),
        uploaded_(runtime_->make_marker()) {}

  /// Enqueues one frame. `first`: the first run after a switch. Throws Error.
  void run(Slot, uint64_t number, const FramePtr&, std::shared_ptr<const PreparedOperation>,
           const RegistryRow&, bool first);
  /// Whether run() would not wait for the upload of the frame before last.
  bool ready(Slot slot) const { return chains_[slot].ready(); }
  /// Enqueues the slot's last frame again.
  void run_again(Slot);

  /// Asks for the slot's newest maps in host memory; poll() hands them over. Throws Error.
  void read_back(Slot, bool with_input);
  /// Maps whose way to the host has ended, one at a time; never waits.
  std::shared_ptr<HostMaps> poll(Slot*);
  bool reading_back() const {
    return transfer_.has_value() || wanted_[a].has_value() || wanted_[b].has_value();
  }

  /// Page-locked host memory of at least this size that nobody holds.
  std::shared_ptr<Buffer> pinned(std::size_t bytes);
  /// Sends side B and the bound up for the view; null keeps what chain b holds.
  void upload_b(std::shared_ptr<Buffer> values, std::size_t bytes);
  void upload_bound(std::shared_ptr<Buffer> values, std::size_t bytes);
  const void* uploaded_b() const { return b_ ? b_->data() : nullptr; }
  const float* uploaded_bound() const { return bound_ ? static_cast<const float*>(bound_->data()) : nullptr; }

  const void* output(Slot slot) const { return chains_[slot].output(); }
  Runtime& runtime() { return *runtime_; }
  std::vector<Times> collect_times();
  bool times_pending() const { return !launched_.empty(); }

 private:
  struct Job {
    uint64_t number = 0;
    FramePtr frame;
    std::shared_ptr<const PreparedOperation> prepared;
    StrategyInfo info;
  };
  struct Transfer {
    Slot slot;
    std::shared_ptr<HostMaps> maps;
  };
  struct Launched {
    Slot slot;
    bool first;
    uint64_t frame, number;
    StrategyInfo info;
  };
  void run_chain(Slot, const FramePtr&);
  void begin_transfer();
  void upload(std::unique_ptr<Buffer>& target, std::shared_ptr<Buffer> values, std::size_t bytes);

  // The order matters: buffers and chains go before the runtime whose memory they hold.
  std::unique_ptr<Runtime> runtime_;
  Chain chains_[2];
  Job jobs_[2];
  std::optional<bool> wanted_[2];  // a read-back asked for; with its input or without
  std::optional<Transfer> transfer_;
  std::unique_ptr<Marker> transferred_, uploaded_;  // after transfer_, and after what in_flight_ holds
  std::vector<std::shared_ptr<Buffer>> pinned_;
  std::unique_ptr<Buffer> b_, bound_;
  std::vector<std::shared_ptr<Buffer>> in_flight_;  // uploads that may still read them
  std::deque<Launched> launched_;                   // frames whose times are not known yet, in order
};

}  // namespace convscope
