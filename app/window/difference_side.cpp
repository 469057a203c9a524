#include "app/window/difference_side.h"

#include "kernels/error.h"

namespace convscope {

void DifferenceSide::request(Results& results, const RegistryRow& against, DeviceSide* device) {
  const Shown& shown = *results.shown;
  if (!shown.host) return;
  if (asked_number_ == shown.number && asked_against_ == against.info.id()) return;
  asked_number_ = shown.number;
  asked_against_ = against.info.id();
  b_by_device_ = false;
  results.difference_fault.clear();
  results.comparing = true;
  if (against.info.target != Target::cuda) {
    submit(results, &against, nullptr, device);
    return;
  }
  if (!device) throw Error(against.info.name + " is not available on cuda");
  device->run(DeviceSide::b, shown.number, shown.frame, shown.prepared, against, false);
  b_by_device_ = true;
  // the bound needs the input planes in host memory; a host side has them already
  device->read_back(DeviceSide::b, shown.info.target == Target::cuda);
}

void DifferenceSide::submit(const Results& results, const RegistryRow* row, HostMapsPtr b,
                            DeviceSide* device) {
  const Shown& shown = *results.shown;
  DifferenceRequest request;
  request.number = shown.number;
  request.a = shown.host;
  request.row = row;
  request.b = std::move(b);
  if (shown.info.target == Target::cuda && device) {
    const Operation& operation = shown.prepared->operation;
    if (row) request.pinned_b = device->pinned(output_bytes(operation, shown.info.precision));
    request.pinned_bound = device->pinned(output_bytes(operation, Precision::fp32));
  }
  worker_->submit(std::move(request));
}

void DifferenceSide::receive(Results& results, std::shared_ptr<HostMaps> b, DeviceSide& device) {
  const bool current = results.shown && b->number == asked_number_ && results.shown->number == asked_number_;
  if (current && b->info.id() == asked_against_) submit(results, nullptr, std::move(b), &device);
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
    if (!d.times.empty()) {
      const std::string run =
          d.result.b->info.id() + " " + describe(d.result.b->prepared->operation.problem.shape);
      const bool switched = std::exchange(timed_, run) != run;
      if (switched) results.against_timings.clear();
      for (const FrameTimes& t : d.times) results.against_timings.add(t, switched);
    }
    on_device_ = false;
    if (d.result.a->info.target == Target::cuda && device) {
      const Operation& operation = d.result.a->prepared->operation;
      if (d.pinned_b) device->upload_b(d.pinned_b, output_bytes(operation, d.result.a->info.precision));
      device->upload_bound(d.pinned_bound, output_bytes(operation, Precision::fp32));
      on_device_ = true;
    }
    results.difference = std::move(d.result);
    ++serial_;
  }
}

std::optional<ViewedPlanes> DifferenceSide::planes(const Results& results, DeviceSide* device) const {
  if (!results.difference || !results.shown) return std::nullopt;
  const DifferenceResult& d = *results.difference;
  if (d.number != results.shown->number || d.a->frame->id != d.b->frame->id) return std::nullopt;
  ViewedPlanes planes;
  planes.precision = d.a->info.precision;
  planes.serial = serial_;
  if (d.a->info.target == Target::cuda) {
    if (!device || !on_device_) return std::nullopt;
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
