#include "app/window/chain_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace convscope {

ChainPool::ChainPool() : runtime_(make_runtime(Target::cpu)), free_(std::make_shared<Free>()) {}

std::shared_ptr<ChainPool::Entry> ChainPool::take() {
  std::unique_ptr<Entry> entry;
  std::vector<std::unique_ptr<Entry>> gone;  // their memory is freed without the lock
  {
    const std::lock_guard lock(free_->mutex);
    std::vector<std::unique_ptr<Entry>>& entries = free_->entries;
    // beyond one spare, a free chain only holds memory
    const auto spare = entries.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(entries.size(), 2));
    std::move(entries.begin(), spare, std::back_inserter(gone));
    entries.erase(entries.begin(), spare);
    if (!entries.empty()) {
      entry = std::move(entries.back());
      entries.pop_back();
    }
  }
  if (!entry) entry = std::make_unique<Entry>(runtime_);
  const auto give_back = [free = free_](Entry* lent) {
    std::unique_ptr<Entry> back(lent);
    const std::lock_guard lock(free->mutex);
    free->entries.push_back(std::move(back));
  };
  return {entry.release(), give_back};
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
