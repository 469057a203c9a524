#include "app/window/difference_side.h"

#include "app/ledger.h"
#include "kernels/error.h"

namespace convscope {

void DifferenceSide::request(Results& results, const HostMapsPtr& a, const RegistryRow& against,
                             DeviceSide* device) {
  a_ = a;
  asked_at_ = seconds_now();
  asked_number_ = a->number;
  asked_against_ = against.info.id();
  b_by_device_ = false;
  const std::string run = asked_against_ + " " + describe(a->prepared->operation.problem.shape);
  if (std::exchange(timed_, run) != run) {
    results.against_timings.clear();
    timed_from_ = a->number;
  }
  results.difference_fault.clear();
  results.comparing = true;
  if (against.info.target != Target::cuda) {
    submit(&against, nullptr, device);
    return;
  }
  if (!device) throw Error(against.info.name + " is not available on cuda");
  device->run(DeviceSide::b, a->number, a->frame, a->prepared, against, false);
  b_by_device_ = true;
  // the bound needs the input planes in host memory; a host side has them already
  device->read_back(DeviceSide::b, a->info.target == Target::cuda);
}

void DifferenceSide::submit(const RegistryRow* row, HostMapsPtr b, DeviceSide* device) {
  DifferenceRequest request;
  request.number = a_->number;
  request.a = a_;
  request.row = row;
  request.b = std::move(b);
  if (a_->info.target == Target::cuda && device) {
    const Operation& operation = a_->prepared->operation;
    if (row) request.pinned_b = device->pinned(output_bytes(operation, a_->info.precision));
    request.pinned_bound = device->pinned(output_bytes(operation, Precision::fp32));
  }
  worker_->submit(std::move(request));
}

void DifferenceSide::receive(std::shared_ptr<HostMaps> b, DeviceSide& device) {
  if (a_ && b->number == asked_number_ && b->info.id() == asked_against_)
    submit(nullptr, std::move(b), &device);
}

void DifferenceSide::collect(Results& results, DeviceSide* device) {
  for (DifferenceDelivery& d : worker_->collect()) {
    if (d.result.number != asked_number_) continue;
    if (d.error.empty() && d.result.b->info.id() != asked_against_) continue;  // of the side B before
    results.comparing = false;
    if (!d.error.empty()) {
      results.difference_fault = d.error;
      continue;
    }
    for (const FrameTimes& t : d.times)
      results.against_timings.add(t, results.against_timings.rows().empty());
    on_device_ = false;
    started_ = asked_at_, ended_ = seconds_now();
    const bool viewed = results.shown && results.shown->number == d.result.number;
    if (viewed && d.result.a->info.target == Target::cuda && device) {
      const Operation& operation = d.result.a->prepared->operation;
      if (d.pinned_b) device->upload_b(d.pinned_b, output_bytes(operation, d.result.a->info.precision));
      device->upload_bound(d.pinned_bound, output_bytes(operation, Precision::fp32));
      on_device_ = true;
    }
    results.difference = std::move(d.result);
    results.difference->serial = ++serial_;
  }
}

std::optional<ViewedPlanes> DifferenceSide::planes(const Results& results, DeviceSide* device) const {
  if (!results.difference || !results.shown) return std::nullopt;
  const DifferenceResult& d = *results.difference;
  if (d.a->prepared != results.shown->prepared || d.a->frame->id != d.b->frame->id) return std::nullopt;
  const bool device_holds_a = d.number == results.shown->number;  // later frames take its place there
  ViewedPlanes planes;
  planes.precision = d.a->info.precision;
  planes.serial = serial_;
  planes.frame = d.a->frame->id;
  if (d.a->info.target == Target::cuda) {
    if (!device || !on_device_ || !device_holds_a) return std::nullopt;
    planes.runtime = &device->runtime();
    const void* b = d.b->info.target == Target::cuda ? device->output(DeviceSide::b) : device->uploaded_b();
    if (d.b->info.target == Target::cuda && !b_by_device_) return std::nullopt;
    planes.planes = {device->output(DeviceSide::a), b, device->uploaded_bound()};
  } else {
    planes.planes = {d.a->values, d.b->values, d.bound->data()};
    planes.keep = {d.a, d.b, d.bound};
  }
  return planes;
}

}  // namespace convscope
