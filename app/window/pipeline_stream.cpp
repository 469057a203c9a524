// The part of the pipeline that follows a stream: which frame is next, and what is compared.
#include <algorithm>
#include <exception>

#include "app/window/pipeline.h"
#include "kernels/error.h"

namespace convscope {
namespace {

constexpr double kNumbersEvery = 2;  // seconds between comparisons whose numbers alone are looked at
constexpr double kNumbersRest = 9;   // and so many times what one takes: a tenth of the processor is theirs
// Part of the limit's interval by which a frame may come early: sources and limits of the same rate would
// otherwise lose every second frame.
constexpr double kEarly = 0.25;

}  // namespace

/// In step with the difference: both sides of the frame at hand are known, and on their way to the screen.
bool Pipeline::pair_done(const Results& results) const {
  if (!results.difference_fault.empty()) return true;
  return results.difference && results.difference->number == number_ && drawn_pair_ == difference_.serial();
}

FramePtr Pipeline::next_frame(const Settings& settings, Results& results, WantDifference want) {
  const FramePtr& newest = source_.frame();
  Flow& flow = results.flow;
  held_back_ = false;
  flow.live = newest && newest->live();
  frozen_ = flow.frozen = flow.live && settings.freeze;
  if (!flow.live) return newest;
  flow.newest = newest->sequence;
  if (asked_frame_ && asked_frame_->name == newest->name)
    flow.ledger.arrive(newest->sequence, seconds_of(newest->captured));
  flow.shown =
      results.shown && results.shown->frame->name == newest->name ? results.shown->frame->sequence : 0;
  const bool another = !asked_frame_ || !asked_frame_->live() || asked_frame_->name != newest->name;
  if (another || newest == asked_frame_) return newest;
  if (settings.freeze) return asked_frame_;
  const bool too_soon =
      settings.frame_limit > 0 && seconds_now() < taken_at_ + (1 - kEarly) / settings.frame_limit;
  const bool on_device = plan_.row && plan_.row->info.target == Target::cuda;
  held_back_ = on_device && device_ && !device_->ready(DeviceSide::a);
  if (too_soon || held_back_) return asked_frame_;
  if (want == WantDifference::picture && !pair_done(results)) return asked_frame_;
  return newest;
}

/// Maps of side A that a difference can be made of now: of the newest computation; of a stream whose numbers
/// alone are wanted, of any of its frames, and not often.
HostMapsPtr Pipeline::comparable(const Results& results, WantDifference want) {
  if (!results.shown || results.shown->number < settings_number_) return nullptr;
  const bool now_and_then = following() && want == WantDifference::numbers;
  if (now_and_then) {
    const double took = difference_.ended() - difference_.started();
    const double next = compared_at_ + std::max(kNumbersEvery, kNumbersRest * took);
    if (results.comparing || seconds_now() < next) return nullptr;
  } else if (results.shown->number != number_) {
    return nullptr;
  }
  if (results.shown->host) return results.shown->host;
  const bool newer =
      read_back_ && read_back_->prepared == plan_.prepared && read_back_->number > compared_number_;
  if (now_and_then && newer) return read_back_;
  read_back_shown();
  return nullptr;
}

/// The maps on screen are wanted in host memory too.
void Pipeline::read_back_shown() {
  if (device_ && !device_->reading_back()) device_->read_back(DeviceSide::a, false);
}

void Pipeline::request_difference(Settings& settings, Results& results, WantDifference want) {
  const HostMapsPtr a = comparable(results, want);
  if (!a) return;
  try {
    const RegistryRow& against = against_row(settings);
    if (!difference_.asked(a->number, against)) {
      if (const auto why = unavailable(against.info))
        throw Error(against.info.name + " is not available: " + *why);
      if (const auto why = against.make()->refuses(plan_.problem(), plan_.weights())) {
        throw Error(against.info.name + " refuses: " + *why);
      }
      if (against.info.target == Target::cuda) make_device();
      compared_at_ = seconds_now();
      compared_number_ = a->number;
      difference_.request(results, a, against, device_.get());
    }
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

std::optional<ViewedPlanes> Pipeline::value_planes(const Results& results) {
  if (!results.shown) return std::nullopt;
  const Shown& shown = *results.shown;
  ViewedPlanes planes;
  planes.precision = shown.info.precision;
  planes.serial = shown.number;
  planes.frame = shown.frame->id;
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
