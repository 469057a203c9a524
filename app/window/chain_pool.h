#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "app/window/results.h"
#include "kernels/chain.h"

namespace convscope {

/// Chains of one host runtime. Results on screen point into a chain's output, so the next computation takes a
/// chain that no result holds; two or three serve for ever, and nothing is copied. One thread; results may be
/// let go on any.
class ChainPool {
 public:
  ChainPool();

  /// Computes one frame and returns its maps. Throws Error. `times` receives the stages' times.
  std::shared_ptr<HostMaps> run(uint64_t number, const FramePtr&, std::shared_ptr<const PreparedOperation>,
                                const RegistryRow&, std::vector<FrameTimes>* times);
  /// Runs again up to `runs` times in a chain of its own, until stop() says so; the first of them, which may
  /// touch its memory for the first time, is not in the result.
  std::vector<FrameTimes> measure(int runs, const FramePtr&, std::shared_ptr<const PreparedOperation>,
                                  const RegistryRow&, const std::function<bool()>& stop);
  Runtime& runtime() { return *runtime_; }

 private:
  struct Entry {
    explicit Entry(std::shared_ptr<Runtime> r) : runtime(std::move(r)), chain(*runtime) {}
    std::shared_ptr<Runtime> runtime;
    Chain chain;
  };
  /// Chains that nothing holds, the longest unused first. Lent ones come back here, also after the pool.
  struct Free {
    std::mutex mutex;
    std::vector<std::unique_ptr<Entry>> entries;
  };
  /// A chain, until the last copy of it goes.
  std::shared_ptr<Entry> take();

  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<Free> free_;
};

}  // namespace convscope
