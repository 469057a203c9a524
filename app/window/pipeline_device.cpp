// The part of the pipeline that works on the CUDA device.
#include <exception>
#include <utility>

#include "app/window/pipeline.h"

namespace convscope {
namespace {

constexpr int kWarmRunsOnDevice = 10;

}  // namespace

/// The device, and streams that write their frames into memory which it reads by itself.
void Pipeline::make_device() {
  if (device_) return;
  device_ = std::make_unique<DeviceSide>();
  // a runtime of their own, because the source's thread may outlive the device side
  const std::shared_ptr<Runtime> memory = make_runtime(Target::cuda);
  source_.pool().allocate_with([memory](std::size_t bytes) { return memory->allocate_host(bytes); }, true);
}

/// Times that were not measured on the host: the end of the work is when it is seen here.
void Pipeline::add_device_times(Results& results, const DeviceSide::Times& t) {
  if (t.times.frame == 0) {
    for (const StageTime& stage : t.times.stages) results.timings.add(stage.name, stage.ms);
    return;
  }
  if (t.slot == DeviceSide::b) {
    if (difference_.timed(t.number, t.info))
      results.against_timings.add(t.times, results.against_timings.rows().empty());
    return;
  }
  // frames of the strategy or problem before may still have been on their way
  if (t.number >= first_number_) add_times(results, t.times, t.first);
  const double now = seconds_now();
  double after_upload = 0;
  for (const StageTime& stage : t.times.stages) after_upload += stage.name == "upload" ? 0 : stage.ms;
  results.flow.ledger.compute(t.times.frame, 0, now - after_upload / 1e3, now, t.times.stages);
}

void Pipeline::collect_device(Settings& settings, Results& results) {
  if (!device_) return;
  try {
    DeviceSide::Slot slot;
    while (std::shared_ptr<HostMaps> maps = device_->poll(&slot)) {
      if (slot == DeviceSide::b) {
        difference_.receive(std::move(maps), *device_);
      } else {
        if (results.shown && maps->number == results.shown->number) results.shown->host = maps;
        read_back_ = std::move(maps);
      }
    }
    for (const DeviceSide::Times& t : device_->collect_times()) add_device_times(results, t);
    if (warm_left_ > 0 && device_->runtime().idle()) {
      device_->run_again(DeviceSide::a);
      --warm_left_;
      results.measuring = warm_left_ > 0;
    }
  } catch (const std::exception& e) {
    device_failed(settings, results, e.what());
  }
}

void Pipeline::run_on_device(Settings& settings, Results& results) {
  try {
    make_device();
    const bool first = std::exchange(first_due_, false);
    std::optional<LaunchLog> log;  // of the first run alone, whose time is kept apart
    if (first) log.emplace();
    device_->run(DeviceSide::a, number_, asked_frame_, plan_.prepared, *plan_.row, first);
    if (log) results.launches = {plan_.row->info.id(), plan_.problem(), own_kernels(log->entries())};
    results.shown = Shown{number_, asked_frame_, plan_.prepared, plan_.row->info, nullptr};
    results.computing = false;
    forget_before(number_);
    // of a stream only what the difference asks for: all maps of each frame would keep the bus busy
    if (!following()) device_->read_back(DeviceSide::a, false);
    if (first && !asked_frame_->live()) warm_left_ = kWarmRunsOnDevice;
  } catch (const std::exception& e) {
    device_failed(settings, results, e.what());
  }
}

void Pipeline::device_failed(Settings& settings, Results& results, const std::string& text) {
  warm_left_ = 0;
  results.measuring = false;
  if (const auto why = cuda_unavailable(); why && device_) {
    // lost for this run of the program: the same strategy goes on elsewhere
    results.cuda_reason = *why;
    results.fault = Fault{"target", text};
    source_.pool().allocate_with(nullptr, false);
    device_.reset();
    difference_.forget();
    if (settings.target == Target::cuda) settings.target.reset();
    if (settings.against_target == Target::cuda) settings.against_target.reset();
    results.shown.reset();
    read_back_.reset();
    asked_.reset();
    valid_.reset();
    return;
  }
  if (const Settings* good = results.shown ? settings_of(results.shown->number) : nullptr) {
    valid_ = *good;
  } else {
    valid_.reset();
  }
  refuse(settings, results, text);
}

}  // namespace convscope
