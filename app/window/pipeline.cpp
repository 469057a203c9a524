#include "app/window/pipeline.h"

#include <exception>
#include <utility>

#include "app/window/computed_settings.h"
#include "kernels/error.h"

namespace convscope {
namespace {

constexpr int kMeasuredRuns = 20;
constexpr double kRowsEvery = 0.25;  // seconds between looks at the strategies' times in a stream

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
  // every row is asked whether it refuses: too dear for each frame of a stream
  if (!following() || seconds_now() > rows_at_ + kRowsEvery) refresh_rows(results);
}

void Pipeline::refresh_rows(Results& results) {
  rows_at_ = seconds_now();
  results.rows = rows_.rows(plan_.problem(), plan_.weights(), plan_.row->info.precision);
}

void Pipeline::collect_maps(Settings& settings, Results& results) {
  for (MapsDelivery& d : maps_worker_->collect()) {
    if (!d.error.empty()) {
      results.measuring = false;
      if (d.number < settings_number_) continue;
      if (const Settings* good = results.shown ? settings_of(results.shown->number) : nullptr) valid_ = *good;
      refuse(settings, results, d.error);
      continue;
    }
    forget_before(d.number);
    const bool comparable = d.number >= first_number_;
    const bool first = d.maps && comparable && std::exchange(first_due_, false);
    if (first && !d.maps->frame->live() && !d.times.empty()) first_ms_ = d.times.back().total_ms();
    if (d.maps && !d.times.empty()) {
      results.flow.ledger.compute(d.maps->frame->id, d.started, d.started, d.ended, d.times.back().stages);
    }
    if (d.maps) show(results, d.maps);
    if (comparable) {
      for (const FrameTimes& t : d.times) add_times(results, t, first);
    }
    if (d.warm) results.measuring = false;
  }
  const uint64_t wanted = following() ? settings_number_ : number_;
  results.computing = number_ != 0 && (!results.shown || results.shown->number < wanted);
}

Pipeline::Plan Pipeline::make_plan(const Settings& settings, const Frame& frame) const {
  Plan plan;
  PreparedOperation prepared = make_operation(settings, frame);
  // edited weights began as those on screen, and keep their names
  if (settings.edited_weights && plan_.prepared && plan_.prepared->labels.size() == prepared.labels.size()) {
    prepared.labels = plan_.prepared->labels;
  }
  plan.prepared = std::make_shared<const PreparedOperation>(std::move(prepared));
  const ChosenStrategy chosen = chosen_strategy(settings, plan.prepared->operation);
  plan.row = chosen.row;
  plan.note = chosen.note;
  const StrategyInfo& info = plan.row->info;
  if (const auto why = unavailable(info)) {
    throw Error(info.name + " on " + to_string(info.target) + " is not available: " + *why);
  }
  if (const auto why = plan.row->make()->refuses(plan.problem(), plan.weights()))
    throw Error(info.name + " refuses: " + *why);
  return plan;
}

/// Settings that came together with another source, as a session's do, are not judged by the frame of the
/// source before: they wait until the new one has opened or failed, or until they are changed again.
void Pipeline::request_source(Settings& settings, Results& results) {
  const SourceRequest source{settings.source, settings.chw, settings.rate};
  const bool another = source_of_settings_ != source;
  source_of_settings_ = source;
  source_.request(settings, results);
  if (another && results.opening && asked_ && !same_computation(*asked_, settings)) {
    held_ = computed_part(settings);
  } else if (held_ && (!results.opening || !same_computation(*held_, settings))) {
    held_.reset();
  }
}

void Pipeline::update(Settings& settings, Results& results, WantDifference want) {
  const bool was_held = held_.has_value();
  request_source(settings, results);
  // why the source that they came with could not be opened is to be read, not what becomes of them without it
  const std::optional<Fault> source_fault =
      was_held && !held_ && results.fault && results.fault->key == "source" ? results.fault : std::nullopt;
  compute(settings, results, want);
  if (source_fault) results.fault = source_fault;
}

void Pipeline::compute(Settings& settings, Results& results, WantDifference want) {
  const FramePtr frame = next_frame(settings, results, want);
  if (!frame) return;
  const bool same_settings = held_ || (asked_ && same_computation(*asked_, settings));
  const bool alike = asked_frame_ && plan_.prepared && frame->live() &&
                     frame->layout == asked_frame_->layout && frame->images == asked_frame_->images;
  if (same_settings && alike && frame != asked_frame_) {
    follow(frame, settings, results);
  } else if (!held_ && (!same_settings || frame != asked_frame_)) {
    try {
      start(make_plan(settings, *frame), frame, settings, results);
    } catch (const std::exception& e) {
      refuse(settings, results, e.what());
    }
  }
  if (!following() && results.shown && results.shown->number == number_ && !results.shown->host)
    read_back_shown();
  if (want != WantDifference::no && !held_) request_difference(settings, results, want);
  if (!results.shown || results.shown->number != number_) return;
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

void Pipeline::start(Plan plan, const FramePtr& frame, Settings& settings, Results& results) {
  const bool switched = !plan_.row || plan_.row != plan.row || !(plan_.problem() == plan.problem());
  plan_ = std::move(plan);
  // what is wrong with a source stays until other settings are chosen, and not until its next frame
  const bool changed = asked_ && !same_computation(*asked_, settings);
  asked_ = valid_ = computed_part(settings);
  if (results.fault && (results.fault->key != "source" || changed) && results.shown) results.fault.reset();
  results.note = plan_.note;
  take(frame, results);
  settings_number_ = number_;
  requested_[number_] = *asked_;
  if (switched) {
    first_number_ = number_;
    first_due_ = true;
    results.timings.clear();
    first_ms_ = 0;
  }
  const ConvWeights& weights = plan_.prepared->operation.weights;
  results.weights = settings.convolution ? flipped(weights) : weights;
  refresh_rows(results);
  warm_left_ = 0;
  results.measuring = false;
  submit(settings, results);
  results.computing = plan_.row->info.target != Target::cuda;
}

void Pipeline::follow(const FramePtr& frame, Settings& settings, Results& results) {
  take(frame, results);
  submit(settings, results);
}

/// The frame becomes the one at hand, under the next number.
void Pipeline::take(const FramePtr& frame, Results& results) {
  if (frame != asked_frame_) {
    taken_at_ = seconds_now();
    if (asked_frame_ && asked_frame_->name != frame->name) results.flow.ledger.clear();
    if (frame->live()) {
      const bool goes_up = plan_.row->info.target == Target::cuda;
      results.flow.ledger.take(frame->id, frame->sequence, seconds_of(frame->captured), taken_at_,
                               goes_up ? frame->pixels.size() : 0);
    }
  }
  asked_frame_ = frame;
  source_.accept();
  ++number_;
}

/// The computation of the frame at hand, for the worker.
MapsRequest Pipeline::maps_request() const {
  MapsRequest request;
  request.number = number_;
  request.frame = asked_frame_;
  request.prepared = plan_.prepared;
  request.row = plan_.row;
  return request;
}

void Pipeline::submit(Settings& settings, Results& results) {
  if (plan_.row->info.target == Target::cuda) {
    run_on_device(settings, results);
    return;
  }
  maps_worker_->submit(maps_request());
}

const Settings* Pipeline::settings_of(uint64_t number) const {
  auto at = requested_.upper_bound(number);
  return at == requested_.begin() ? nullptr : &std::prev(at)->second;
}

void Pipeline::forget_before(uint64_t number) {
  auto at = requested_.upper_bound(number);
  if (at != requested_.begin()) requested_.erase(requested_.begin(), std::prev(at));
}

void Pipeline::measure(Results& results) {
  if (following() || !results.shown || results.shown->number != number_) return;
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
  MapsRequest request = maps_request();
  request.measure = runs;
  maps_worker_->submit(std::move(request));
}

}  // namespace convscope
