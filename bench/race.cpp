#include "bench/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>

#include "bench/approximation.h"
#include "bench/ceilings.h"
#include "bench/contender.h"
#include "bench/limit.h"
#include "bench/series.h"
#include "kernels/error.h"

namespace convscope::bench {
namespace {

/// The machine of one memory space with the frame's planes in it.
struct Track {
  std::unique_ptr<Machine> machine;
  Ceilings ceilings;
  std::string fault;  // why it is not there
  std::unique_ptr<Buffer> in, out, copy_from, copy_to;
  Series copy;
};

struct Runner {
  explicit Runner(const RegistryRow& row) : contender(row), heeds_rank(bench::heeds_rank(row.info)) {}
  Contender contender;
  bool heeds_rank;
  Track* track = nullptr;
  Series series;
};

/// One race, from its request to the end.
class Race {
 public:
  Race(const RaceRequest& request, const std::function<void(const RaceState&)>& report, std::stop_token stop)
      : request_(request),
        operation_(*request.operation),
        precision_(request.rows.front()->info.precision),
        approximation_(approximation_of(operation_, precision_)),
        pace_{request.rounds, request.most_seconds_a_row},
        report_(report),
        stop_(std::move(stop)) {}

  RaceState run() {
    for (const RegistryRow* row : request_.rows) {
      Runner& runner = runners_.emplace_back(*row);
      if (runner.heeds_rank) runner.contender.entry.approximation = approximation_.words;
      runner.contender.ask(operation_.problem, operation_.weights);
    }
    state_.entries.resize(runners_.size());
    state_.total = static_cast<int>(runners_.size()) * (1 + request_.rounds);
    const bool any = std::any_of(runners_.begin(), runners_.end(),
                                 [](const Runner& runner) { return runner.contender.runs(); });
    if (any) {
      tell("the frame's planes", 0);
      make_planes();
      open_tracks();
      prove_all();
      run_rounds();
    }
    state_.finished = !stop_.stop_requested();
    if (state_.finished) state_.done = state_.total;
    tell("", 0);
    return state_;
  }

 private:
  std::size_t bytes_in() const { return bytes_of_values(operation_.problem.shape.input_size()); }
  std::size_t bytes_out() const { return bytes_of_values(operation_.problem.shape.output_size()); }
  std::size_t bytes_of_values(int64_t count) const {
    return static_cast<std::size_t>(count) * bytes_of(precision_);
  }

  /// The input planes, once, by the stages that every frame goes through.
  void make_planes() {
    const auto runtime = make_runtime(Target::cpu);
    const Operation& op = operation_;
    const int64_t images = op.problem.shape.n;
    planes_ = runtime->allocate(bytes_in());
    if (op.border.none()) {
      runtime->unpack(op.pixels, images, request_.pixels->data(), precision_, planes_->data());
    } else {
      const int64_t planes = images * op.pixels.planes;
      const auto bare = runtime->allocate(bytes_of_values(planes * op.pixels.h * op.pixels.w));
      runtime->unpack(op.pixels, images, request_.pixels->data(), precision_, bare->data());
      runtime->pad(op.border, planes, op.pixels.h, op.pixels.w, precision_, bare->data(), planes_->data());
    }
  }

  /// What must come of the planes by this runner; made with the first that asks.
  Expected& expected(const Runner& runner) {
    const bool other = !runner.contender.entry.approximation.empty();
    std::optional<Expected>& result = other ? of_approximation_ : of_operation_;
    if (!result) {
      tell("what the reference makes of the planes", 0);
      result.emplace(operation_.problem, other ? approximation_.weights : operation_.weights, precision_,
                     planes_->data());
    }
    return *result;
  }

  /// A machine for each memory space that a row wants, with its floors.
  void open_tracks() {
    for (Runner& runner : runners_) {
      if (!runner.contender.runs() || stop_.stop_requested()) continue;
      const Target target = runner.contender.entry.info.target;
      Track& track = tracks_[target == Target::cuda];
      if (!track.machine && track.fault.empty()) {
        try {
          open(track, target);
        } catch (const Error& e) {
          track = {};
          track.fault = e.what();
        }
      }
      if (!track.machine) {
        runner.contender.refuse(track.fault);
        continue;
      }
      runner.track = &track;
      state_.ceilings[static_cast<std::size_t>(target)] = track.ceilings;
    }
  }

  void open(Track& track, Target target) {
    tell(fmt::format("what {} can do at best", target == Target::cuda ? "the device" : "the host"), 0);
    track.machine = make_machine(target);
    track.ceilings = measure_ceilings(*track.machine, precision_);
    Runtime& runtime = track.machine->runtime();
    track.in = runtime.allocate(bytes_in());
    track.out = runtime.allocate(bytes_out());
    runtime.upload(track.in->data(), planes_->data(), bytes_in());
    const std::size_t half = std::max<std::size_t>((bytes_in() + bytes_out()) / 2 / 16 * 16, 16);
    track.copy_from = runtime.allocate(half);
    track.copy_to = runtime.allocate(half);
    track.machine->poison(track.copy_from->data(), half);
    const auto copy = [&track, half](int) {
      track.machine->copy(track.copy_to->data(), track.copy_from->data(), half);
    };
    track.machine->batch(1, copy, Submission::stream)->run();  // first touch
    const double first_us = track.machine->batch(1, copy, Submission::stream)->run();
    track.copy = Series(*track.machine, pace_, hot_launches(first_us), Submission::stream, first_us, copy);
  }

  void prove_all() {
    for (Runner& runner : runners_) {
      if (stop_.stop_requested()) return;
      Contender& contender = runner.contender;
      Expected* const truth = contender.runs() ? &expected(runner) : nullptr;
      tell(contender.entry.info.id() + ", the first run and its check", 1);
      if (truth == nullptr) {
        skip(request_.rounds);
        continue;
      }
      Track& track = *runner.track;
      contender.prove(*track.machine, operation_.problem, operation_.weights, track.in->data(),
                      track.out->data(), *truth);
      attempt(runner, [&] {
        runner.series =
            Series(*track.machine, pace_, hot_launches(contender.first_us()), Submission::stream,
                   contender.first_us(), [&](int) { contender.launch(track.in->data(), track.out->data()); });
      });
      skip(request_.rounds - (contender.runs() ? runner.series.rounds() : 0));
    }
  }

  void run_rounds() {
    for (int round = -kWarmUpRounds; round < request_.rounds; ++round) {
      for (Track& track : tracks_) {
        if (!track.machine || !track.copy.wants(round) || stop_.stop_requested()) continue;
        track.copy.warm();
        track.copy.step(round);
      }
      for (Runner& runner : runners_) {
        if (stop_.stop_requested()) return;
        if (!runner.contender.runs() || !runner.series.wants(round)) continue;
        tell(fmt::format("{}, round {} of {}", runner.contender.entry.info.id(), std::max(round + 1, 1),
                         request_.rounds),
             round < 0 ? 0 : 1);
        attempt(runner, [&] {
          runner.series.warm();
          runner.series.step(round);
        });
      }
    }
  }

  /// What fails takes its own row out and nothing else.
  template <class Work>
  void attempt(Runner& runner, const Work& work) {
    if (!runner.contender.runs()) return;
    try {
      work();
    } catch (const Error& e) {
      runner.contender.refuse(e.what());
    } catch (const std::bad_alloc&) {
      runner.contender.refuse("needs more memory than is to be had");
    }
  }

  void skip(int rounds) { state_.total -= rounds; }

  /// What is about to be done, and how many steps that is.
  void tell(const std::string& doing, int steps) {
    gather();
    state_.doing = doing;
    if (report_) report_(state_);
    state_.done += steps;
  }

  /// Copies what is known so far into the state.
  void gather() {
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      Runner& runner = runners_[i];
      Entry& entry = runner.contender.entry;
      if (runner.contender.runs() && runner.track != nullptr) {
        entry.time = runner.series.timing();
        if (entry.time.runs > 0)
          entry.limit = limit_of(entry.time.median_us, entry.cost, runner.track->ceilings);
        state_.copy[static_cast<std::size_t>(entry.info.target)] = runner.track->copy.timing();
      }
      state_.entries[i] = entry;
    }
  }

  const RaceRequest& request_;
  const Operation& operation_;
  const Precision precision_;
  const Approximation approximation_;  // of the runners that heed the rank
  const Pace pace_;
  const std::function<void(const RaceState&)>& report_;
  const std::stop_token stop_;
  RaceState state_;
  std::unique_ptr<Buffer> planes_;
  std::optional<Expected> of_operation_, of_approximation_;
  std::array<Track, 2> tracks_;  // the host's, the device's; before what runs on them
  std::vector<Runner> runners_;
};

void validate(const RaceRequest& request) {
  if (request.rows.empty()) throw Error("nothing to race: no strategy is chosen");
  if (!request.operation || !request.pixels) throw Error("nothing to race: there is no frame");
  const Operation& op = *request.operation;
  if (auto why = fault(op.problem.shape)) throw Error(*why);
  if (auto why = fault(op.weights, op.problem.shape)) throw Error(*why);
  const std::size_t bytes = op.pixels.bytes() * static_cast<std::size_t>(op.problem.shape.n);
  if (request.pixels->size() != bytes)
    throw Error(fmt::format("the frame has {} bytes, expected {}", request.pixels->size(), bytes));
  if (request.rounds < 1) throw Error(fmt::format("rounds={}: expected at least 1", request.rounds));
  for (const RegistryRow* row : request.rows) {
    if (row->info.precision != request.rows.front()->info.precision)
      throw Error(fmt::format("a race is in one precision, and {} and {} differ",
                              request.rows.front()->info.id(), row->info.id()));
  }
}

}  // namespace

RaceState race(const RaceRequest& request, const std::function<void(const RaceState&)>& report,
               std::stop_token stop) {
  validate(request);
  return Race(request, report, std::move(stop)).run();
}

}  // namespace convscope::bench
