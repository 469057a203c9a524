#include "app/window/pipeline.h"

#include <exception>

#include "app/window/computed_settings.h"
#include "kernels/error.h"

namespace convscope {
namespace {

constexpr int kWarmRunsOnDevice = 10;
constexpr int kMeasuredRuns = 20;

}  // namespace

Pipeline::Pipeline(std::function<void()> wake)
    : source_(wake), maps_worker_(make_maps_worker(wake)), difference_(wake) {}

void Pipeline::describe_machine(Results& results) const {
  results.banks = load_banks(&results.bank_faults);
  results.host_device = make_runtime(Target::cpu)->device_name();
  results.cuda_reason = cuda_unavailable().value_or("");
  results.cuda_device = cuda_versions().device;
}

void Pipeline::collect(Settings& settings, Results& results) {
  source_.collect(settings, results);
  collect_maps(settings, results);
  collect_device(settings, results);
  try {
    difference_.collect(results, device_.get());
  } catch (const std::exception& e) {
    difference_failed(settings, results, e.what());
  }
}

void Pipeline::show(Results& results, HostMapsPtr maps) {
  if (results.shown && results.shown->number > maps->number) return;
  results.shown = Shown{maps->number, maps->frame, maps->prepared, maps->info, maps};
}

void Pipeline::add_times(Results& results, const FrameTimes& times, bool first) {
  results.timings.add(times, first);
  rows_.add(plan_.row->info, plan_.problem(), times);
  refresh_rows(results);
}

void Pipeline::refresh_rows(Results& results) {
  results.rows = rows_.rows(plan_.problem(), plan_.weights(), plan_.row->info.precision);
}

void Pipeline::collect_maps(Settings& settings, Results& results) {
  for (MapsDelivery& d : maps_worker_->collect()) {
    if (!d.error.empty()) {
      results.measuring = false;
      if (d.number != number_) continue;
      if (results.shown) {
        if (const auto at = requested_.find(results.shown->number); at != requested_.end())
          valid_ = at->second;
      }
      refuse(settings, results, d.error);
      continue;
    }
    if (d.maps) show(results, d.maps);
    requested_.erase(requested_.begin(), requested_.lower_bound(d.number));
    const bool comparable = d.number >= first_number_;
    if (d.maps && d.number == first_number_ && !d.times.empty()) first_ms_ = d.times.back().total_ms();
    if (comparable) {
      for (const FrameTimes& t : d.times) add_times(results, t, d.number == first_number_ && !d.warm);
    }
    if (d.warm) results.measuring = false;
  }
  results.computing = number_ != 0 && (!results.shown || results.shown->number != number_);
}

void Pipeline::collect_device(Settings& settings, Results& results) {
  if (!device_) return;
  try {
    DeviceSide::Slot slot;
    while (std::shared_ptr<HostMaps> maps = device_->poll(&slot)) {
      if (slot == DeviceSide::b) {
        difference_.receive(results, std::move(maps), *device_);
      } else if (maps->number == number_) {
        show(results, std::move(maps));
      }
    }
    for (const DeviceSide::Times& t : device_->collect_times()) {
      if (t.times.frame == 0) {
        for (const StageTime& stage : t.times.stages) results.timings.add(stage.name, stage.ms);
      } else if (t.slot == DeviceSide::a) {
        add_times(results, t.times, t.first);
      } else {
        results.against_timings.add(t.times, results.against_timings.rows().empty());
      }
    }
    if (warm_left_ > 0 && device_->runtime().idle()) {
      device_->run_again(DeviceSide::a);
      --warm_left_;
      results.measuring = warm_left_ > 0;
    }
  } catch (const std::exception& e) {
    device_failed(settings, results, e.what());
  }
}

Pipeline::Plan Pipeline::make_plan(const Settings& settings) const {
  Plan plan;
  PreparedOperation prepared = make_operation(settings, *source_.frame());
  // edited weights began as those on screen, and keep their names
  if (settings.edited_weights && plan_.prepared && plan_.prepared->labels.size() == prepared.labels.size()) {
    prepared.labels = plan_.prepared->labels;
  }
  plan.prepared = std::make_shared<const PreparedOperation>(std::move(prepared));
  plan.row = &chosen_row(settings);
  const StrategyInfo& info = plan.row->info;
  if (const auto why = unavailable(info)) {
    throw Error(info.name + " on " + to_string(info.target) + " is not available: " + *why);
  }
  if (const auto why = plan.row->make()->refuses(plan.problem(), plan.weights()))
    throw Error(info.name + " refuses: " + *why);
  return plan;
}

void Pipeline::update(Settings& settings, Results& results, bool want_difference) {
  source_.request(settings, results);
  if (!source_.frame()) return;
  const bool same = asked_ && asked_frame_ == source_.frame() && *asked_ == computed_part(settings);
  if (!same) {
    try {
      start(make_plan(settings), settings, results);
    } catch (const std::exception& e) {
      refuse(settings, results, e.what());
    }
  }
  if (!results.shown || results.shown->number != number_) return;
  if (want_difference) request_difference(settings, results);
  // times mean something only while nothing else computes
  if (first_ms_ > 0 && !results.comparing && results.shown->host) {
    measure_host(results, warm_runs(std::exchange(first_ms_, 0)));
  }
}

void Pipeline::refuse(Settings& settings, Results& results, const std::string& text) {
  if (source_.frame() != asked_frame_ && source_.reject(settings, results)) {
    results.fault = Fault{"source", text};
    return;
  }
  const Settings back = valid_.value_or(Settings{});
  const std::string key = changed_key(computed_part(settings), computed_part(back));
  results.fault = Fault{key, text};
  restore_computed_part(settings, back);
  if (key.empty()) {
    // what was valid no longer is, or the defaults fail on this picture: leave it until something changes
    if (settings.target == Target::cuda && cuda_unavailable()) settings.target.reset();
    asked_ = computed_part(settings);
    asked_frame_ = source_.frame();
  }
}

void Pipeline::start(Plan plan, Settings& settings, Results& results) {
  const bool switched = !plan_.row || plan_.row != plan.row || !(plan_.problem() == plan.problem());
  plan_ = std::move(plan);
  asked_ = valid_ = computed_part(settings);
  if (results.fault && (results.fault->key != "source" || source_.frame() == asked_frame_) && results.shown) {
    results.fault.reset();
  }
  asked_frame_ = source_.frame();
  source_.accept();
  ++number_;
  requested_[number_] = *asked_;
  if (switched) {
    first_number_ = number_;
    results.timings.clear();
    first_ms_ = 0;
  }
  const ConvWeights& weights = plan_.prepared->operation.weights;
  results.weights = settings.convolution ? flipped(weights) : weights;
  refresh_rows(results);
  warm_left_ = 0;
  results.measuring = false;
  if (plan_.row->info.target == Target::cuda) {
    run_on_device(settings, results);
    return;
  }
  MapsRequest request;
  request.number = number_;
  request.frame = asked_frame_;
  request.prepared = plan_.prepared;
  request.row = plan_.row;
  maps_worker_->submit(std::move(request));
  results.computing = true;
}

void Pipeline::run_on_device(Settings& settings, Results& results) {
  try {
    if (!device_) device_ = std::make_unique<DeviceSide>();
    const bool first = number_ == first_number_;
    device_->run(DeviceSide::a, number_, asked_frame_, plan_.prepared, *plan_.row, first);
    results.shown = Shown{number_, asked_frame_, plan_.prepared, plan_.row->info, nullptr};
    results.computing = false;
    requested_.erase(requested_.begin(), requested_.lower_bound(number_));
    device_->read_back(DeviceSide::a, false);
    if (first) warm_left_ = kWarmRunsOnDevice;
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
    device_.reset();
    difference_.forget();
    if (settings.target == Target::cuda) settings.target.reset();
    if (settings.against_target == Target::cuda) settings.against_target.reset();
    results.shown.reset();
    asked_.reset();
    valid_.reset();
    return;
  }
  if (const auto at = requested_.find(results.shown ? results.shown->number : 0); at != requested_.end()) {
    valid_ = at->second;
  } else {
    valid_.reset();
  }
  refuse(settings, results, text);
}

void Pipeline::request_difference(Settings& settings, Results& results) {
  try {
    const RegistryRow& against = against_row(settings);
    if (const auto why = unavailable(against.info))
      throw Error(against.info.name + " is not available: " + *why);
    if (const auto why = against.make()->refuses(plan_.problem(), plan_.weights())) {
      throw Error(against.info.name + " refuses: " + *why);
    }
    if (against.info.target == Target::cuda && !device_) device_ = std::make_unique<DeviceSide>();
    difference_.request(results, against, device_.get());
    good_against_ = settings;
  } catch (const std::exception& e) {
    difference_failed(settings, results, e.what());
  }
}

void Pipeline::difference_failed(Settings& settings, Results& results, const std::string& text) {
  results.comparing = false;
  if (device_ && cuda_unavailable()) {
    device_failed(settings, results, text);
    return;
  }
  const bool changed =
      settings.against != good_against_.against || settings.against_target != good_against_.against_target;
  if (changed) {
    settings.against = good_against_.against;
    settings.against_target = good_against_.against_target;
    results.fault = Fault{"against", text};
  } else {
    results.difference_fault = text;
  }
}

void Pipeline::measure(Results& results) {
  if (!results.shown || results.shown->number != number_) return;
  if (plan_.row->info.target == Target::cuda) {
    warm_left_ = kMeasuredRuns;
    results.measuring = true;
    return;
  }
  measure_host(results, kMeasuredRuns);
}

void Pipeline::measure_host(Results& results, int runs) {
  if (runs < 1) return;
  results.measuring = true;
  MapsRequest request;
  request.number = number_;
  request.frame = asked_frame_;
  request.prepared = plan_.prepared;
  request.row = plan_.row;
  request.measure = runs;
  maps_worker_->submit(std::move(request));
}

std::optional<ViewedPlanes> Pipeline::value_planes(const Results& results) {
  if (!results.shown) return std::nullopt;
  const Shown& shown = *results.shown;
  ViewedPlanes planes;
  planes.precision = shown.info.precision;
  planes.serial = shown.number;
  if (shown.info.target == Target::cuda) {
    if (!device_) return std::nullopt;
    planes.runtime = &device_->runtime();
    planes.planes.a = device_->output(DeviceSide::a);
  } else {
    planes.planes.a = shown.host->values;
    planes.keep = {shown.host};
  }
  return planes;
}

std::optional<ViewedPlanes> Pipeline::difference_planes(const Results& results) {
  return difference_.planes(results, device_.get());
}

}  // namespace convscope
