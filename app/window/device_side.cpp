#include "app/window/device_side.h"

#include <algorithm>
#include <atomic>

#include "app/window/difference_worker.h"

namespace convscope {

void DeviceSide::run(Slot slot, uint64_t number, const FramePtr& frame,
                     std::shared_ptr<const PreparedOperation> prepared, const RegistryRow& row, bool first) {
  chains_[slot].set(row, prepared->operation);
  run_chain(slot, frame);
  launched_.push_back({slot, first, frame->id, number, row.info});
  jobs_[slot] = {number, frame, std::move(prepared), row.info};
}

void DeviceSide::run_chain(Slot slot, const FramePtr& frame) {
  const Pixels& pixels = frame->pixels;
  chains_[slot].run(frame->id, HostPixels{pixels.data(), pixels.pinned(), frame});
}

void DeviceSide::run_again(Slot slot) {
  run_chain(slot, jobs_[slot].frame);
  const Job& job = jobs_[slot];
  launched_.push_back({slot, false, job.frame->id, job.number, job.info});
}

void DeviceSide::read_back(Slot slot, bool with_input) {
  wanted_[slot] = with_input;
  if (!transfer_) begin_transfer();
}

void DeviceSide::begin_transfer() {
  const Slot slot = wanted_[a] ? a : b;
  if (!wanted_[slot]) return;
  const bool with_input = *wanted_[slot];
  wanted_[slot].reset();
  const Job& job = jobs_[slot];
  const Operation& operation = job.prepared->operation;
  const std::size_t bytes = output_bytes(operation, job.info.precision);
  const std::size_t input_bytes =
      with_input
          ? static_cast<std::size_t>(operation.problem.shape.input_size()) * bytes_of(job.info.precision)
          : 0;
  const std::shared_ptr<Buffer> memory = pinned(bytes + input_bytes);
  auto* host = static_cast<std::byte*>(memory->data());

  Stages& stages = runtime_->stages();
  stages.begin_frame(0);
  {
    const StageTimer timer(stages, "download");
    runtime_->download_async(host, chains_[slot].output(), bytes);
  }
  if (with_input) runtime_->download_async(host + bytes, chains_[slot].input(), input_bytes);
  stages.end_frame();
  transferred_->record();
  auto maps = std::make_shared<HostMaps>();
  maps->number = job.number;
  maps->frame = job.frame;
  maps->prepared = job.prepared;
  maps->info = job.info;
  maps->values = host;
  maps->input = with_input ? host + bytes : nullptr;
  maps->keep = memory;
  transfer_ = Transfer{slot, std::move(maps)};
}

std::shared_ptr<HostMaps> DeviceSide::poll(Slot* slot) {
  if (!in_flight_.empty() && uploaded_->passed()) in_flight_.clear();
  if (!transfer_ || !transferred_->passed()) return nullptr;
  *slot = transfer_->slot;
  std::shared_ptr<HostMaps> maps = std::move(transfer_->maps);
  transfer_.reset();
  begin_transfer();
  return maps;
}

std::shared_ptr<Buffer> DeviceSide::pinned(std::size_t bytes) {
  const auto is_free = [](const std::shared_ptr<Buffer>& p) { return p.use_count() == 1; };
  const auto fits = [&](const std::shared_ptr<Buffer>& p) { return is_free(p) && p->bytes() >= bytes; };
  const auto found = std::find_if(pinned_.begin(), pinned_.end(), fits);
  if (found != pinned_.end()) {
    // pairs with the release of the last reader's count: its reads are over before this memory is written
    std::atomic_thread_fence(std::memory_order_acquire);
    return *found;
  }
  // free ones are too small: page-locked memory is dear, so they go
  std::erase_if(pinned_, is_free);
  return pinned_.emplace_back(runtime_->allocate_host(bytes));
}

void DeviceSide::upload(std::unique_ptr<Buffer>& target, std::shared_ptr<Buffer> values, std::size_t bytes) {
  if (!target || target->bytes() < bytes) target = runtime_->allocate(bytes);
  runtime_->upload(target->data(), values->data(), bytes);
  in_flight_.push_back(std::move(values));
  uploaded_->record();
}

void DeviceSide::upload_b(std::shared_ptr<Buffer> values, std::size_t bytes) {
  upload(b_, std::move(values), bytes);
}

void DeviceSide::upload_bound(std::shared_ptr<Buffer> values, std::size_t bytes) {
  upload(bound_, std::move(values), bytes);
}

std::vector<DeviceSide::Times> DeviceSide::collect_times() {
  std::vector<Times> known;
  for (FrameTimes& t : runtime_->stages().collect()) {
    Times times{a, false, 0, {}, std::move(t)};
    // a frame that found no place in the ring of events has no time
    while (times.times.frame != 0 && !launched_.empty() && launched_.front().frame != times.times.frame) {
      launched_.pop_front();
    }
    if (times.times.frame != 0 && !launched_.empty()) {
      const Launched& of = launched_.front();
      times.slot = of.slot;
      times.first = of.first;
      times.number = of.number;
      times.info = of.info;
      launched_.pop_front();
    }
    known.push_back(std::move(times));
  }
  // with nothing in flight, whatever is still expected has no time
  if (!launched_.empty() && runtime_->idle()) launched_.clear();
  return known;
}

}  // namespace convscope
