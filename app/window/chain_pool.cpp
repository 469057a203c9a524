#include "app/window/chain_pool.h"

#include <algorithm>
#include <atomic>

namespace convscope {

ChainPool::ChainPool() : runtime_(make_runtime(Target::cpu)) {}

std::shared_ptr<ChainPool::Entry> ChainPool::take() {
  const auto is_free = [](const std::shared_ptr<Entry>& e) { return e.use_count() == 1; };
  // beyond one spare, a free chain only holds memory
  while (std::count_if(entries_.begin(), entries_.end(), is_free) > 2) {
    entries_.erase(std::find_if(entries_.begin(), entries_.end(), is_free));
  }
  const auto found = std::find_if(entries_.begin(), entries_.end(), is_free);
  if (found == entries_.end()) return entries_.emplace_back(std::make_shared<Entry>(runtime_));
  // pairs with the release of the last reader's count: its reads are over before this chain is written
  std::atomic_thread_fence(std::memory_order_acquire);
  return *found;
}

std::shared_ptr<HostMaps> ChainPool::run(uint64_t number, const FramePtr& frame,
                                         std::shared_ptr<const PreparedOperation> prepared,
                                         const RegistryRow& row, std::vector<FrameTimes>* times) {
  const std::shared_ptr<Entry> entry = take();
  entry->chain.set(row, prepared->operation);
  runtime_->stages().collect();
  const LaunchLog log;
  entry->chain.run(frame->id, frame->pixels.data());
  runtime_->synchronise();
  *times = runtime_->stages().collect();
  auto maps = std::make_shared<HostMaps>();
  maps->number = number;
  maps->frame = frame;
  maps->prepared = std::move(prepared);
  maps->info = row.info;
  maps->values = entry->chain.output();
  maps->input = entry->chain.input();
  maps->keep = entry;
  maps->launches = log.entries();
  return maps;
}

std::vector<FrameTimes> ChainPool::measure(int runs, const FramePtr& frame,
                                           std::shared_ptr<const PreparedOperation> prepared,
                                           const RegistryRow& row, const std::function<bool()>& stop) {
  const std::shared_ptr<Entry> entry = take();
  entry->chain.set(row, prepared->operation);
  std::vector<FrameTimes> times;
  for (int i = 0; i <= runs && !stop(); ++i) {
    entry->chain.run(frame->id, frame->pixels.data());
    for (FrameTimes& t : runtime_->stages().collect()) {
      if (i > 0) times.push_back(std::move(t));
    }
  }
  return times;
}

}  // namespace convscope
