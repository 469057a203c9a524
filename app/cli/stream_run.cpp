#include "app/cli/stream_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "app/operation.h"
#include "app/overlap.h"
#include "app/printable.h"
#include "app/quantile.h"
#include "app/read_ahead.h"
#include "app/seconds.h"
#include "kernels/error.h"

namespace convscope {
namespace {

/// The newest values, so many that a quantile no longer moves: a stream may run for hours.
class Samples {
 public:
  void add(double v) {
    if (values_.size() < kMost) {
      values_.push_back(v);
    } else {
      values_[next_++ % kMost] = v;
    }
  }
  bool empty() const { return values_.empty(); }
  double quantile(double q) const { return nearest_quantile(values_, q); }

 private:
  static constexpr std::size_t kMost = 1 << 17;
  std::vector<double> values_;
  std::size_t next_ = 0;
};

/// The chain, and what is known of the frames in it.
class Stream {
 public:
  Stream(const Settings& settings, const RegistryRow& row, bool named)
      : settings_(settings),
        row_(&row),
        named_(named),
        runtime_(make_runtime(row.info.target)),
        chain_(*runtime_),
        check_(*runtime_) {
    settings_.target = row.info.target;  // whatever takes its place computes in the same memory
  }

  const std::shared_ptr<Runtime>& runtime() { return runtime_; }

  void run(const FramePtr& frame) {
    if (!(frame->layout == layout_) || frame->images != images_ || !set_) prepare(*frame);
    if (on_their_way_.size() == kOnTheirWay) collect_one();
    const Pixels& pixels = frame->pixels;
    pinned_ &= pixels.pinned();
    bytes_ += runtime_->on_device() ? static_cast<double>(pixels.size()) : 0;
    const double taken = seconds_now();
    if (begun_ == 0) begun_ = seconds_of(frame->captured);
    counts_source(*frame);
    chain_.run(frame->id, HostPixels{pixels.data(), pixels.pinned(), frame});
    Way way{frame->id, seconds_of(frame->captured), taken, unused_marker()};
    way.computed->record();
    if (barcode_) check_.enqueue(chain_, *frame);
    on_their_way_.push_back(std::move(way));
    ++counts_.taken;
    collect_passed();
  }

  void finish() {
    while (!on_their_way_.empty()) collect_one();
    check_.collect(true);
    runtime_->synchronise();
    add_times();
  }

  uint64_t taken() const { return counts_.taken; }
  StreamReport report();

 private:
  static constexpr std::size_t kOnTheirWay = 8;  // as many as the ring of stage times holds
  struct Way {
    uint64_t id = 0;
    double captured = 0, taken = 0;
    std::unique_ptr<Marker> computed;
  };

  void prepare(const Frame& frame) {
    const PreparedOperation prepared = make_operation(settings_, frame);
    const ChosenStrategy chosen =
        named_ ? ChosenStrategy{row_, {}} : chosen_strategy(settings_, prepared.operation);
    chain_.set(*chosen.row, prepared.operation);
    row_ = chosen.row;
    note_ = chosen.note;
    layout_ = frame.layout;
    images_ = frame.images;
    shape_ = describe(prepared.operation.problem.shape);
    if (!set_) barcode_ = BarcodeCheck::has_barcode(frame);
    set_ = true;
  }

  std::unique_ptr<Marker> unused_marker() {
    if (markers_.empty()) return runtime_->make_marker();
    std::unique_ptr<Marker> marker = std::move(markers_.back());
    markers_.pop_back();
    return marker;
  }

  void counts_source(const Frame& frame) {
    if (counts_.taken == 0) first_sequence_ = frame.sequence, first_captured_ = seconds_of(frame.captured);
    if (counts_.taken > 0 && frame.sequence == last_sequence_) ++counts_.repeated;
    if (counts_.taken > 0 && frame.sequence < last_sequence_) ++counts_.back;
    last_sequence_ = frame.sequence;
    last_captured_ = seconds_of(frame.captured);
  }

  void collect_one() {
    on_their_way_.front().computed->wait();
    collect_passed();
  }

  void collect_passed() {
    while (!on_their_way_.empty() && on_their_way_.front().computed->passed()) {
      Way& way = on_their_way_.front();
      ended_ = seconds_now();
      ages_.add((ended_ - way.captured) * 1e3);
      ++counts_.computed;
      markers_.push_back(std::move(way.computed));
      on_their_way_.pop_front();
    }
    if (barcode_) check_.collect(false);
    add_times();
  }

  void add_times() {
    for (const FrameTimes& frame : runtime_->stages().collect()) {
      overlap_.add(frame);
      for (const StageTime& stage : frame.stages) {
        if (stage_ms_.find(stage.name) == stage_ms_.end()) stage_order_.push_back(stage.name);
        stage_ms_[stage.name].add(stage.ms);
      }
    }
  }

  Settings settings_;
  const RegistryRow* row_;
  const bool named_;  // what was asked for by name is that or nothing
  std::string note_;
  std::shared_ptr<Runtime> runtime_;
  Chain chain_;
  BarcodeCheck check_;
  PixelLayout layout_;
  int64_t images_ = 0;
  std::string shape_;
  bool set_ = false, barcode_ = false, pinned_ = true;
  std::deque<Way> on_their_way_;
  std::vector<std::unique_ptr<Marker>> markers_;
  FlowCounts counts_;
  uint64_t first_sequence_ = 0, last_sequence_ = 0;
  double first_captured_ = 0, last_captured_ = 0, begun_ = 0, ended_ = 0, bytes_ = 0;
  Samples ages_;
  Overlap overlap_;
  std::vector<std::string> stage_order_;
  std::map<std::string, Samples> stage_ms_;
};

StreamReport Stream::report() {
  StreamReport r;
  r.w = layout_.w, r.h = layout_.h;
  r.strategy = row_->info;
  r.note = note_;
  r.device = runtime_->device_name();
  r.shape = shape_;
  r.seconds = ended_ - begun_;
  const double came = last_captured_ - first_captured_;
  const uint64_t read = last_sequence_ - first_sequence_ + 1;
  counts_.dropped = read > counts_.computed ? read - counts_.computed : 0;
  if (came > 0) r.source_fps = static_cast<double>(read - 1) / came;
  if (r.seconds > 0) {
    r.processed_fps = static_cast<double>(counts_.computed) / r.seconds;
    r.upload_bytes_per_s = bytes_ / r.seconds;
    r.upload_busy = overlap_.upload_ms() / 1e3 / r.seconds;
  }
  r.counts = counts_;
  if (!ages_.empty()) r.age_median_ms = ages_.quantile(0.5), r.age_p95_ms = ages_.quantile(0.95);
  for (const std::string& name : stage_order_)
    r.stages.push_back({name, stage_ms_[name].quantile(0.5), stage_ms_[name].quantile(0.95)});
  r.upload_hidden = overlap_.hidden();
  r.pinned = runtime_->on_device() && pinned_;
  if (barcode_) r.barcode = check_.counts(), r.read_from = check_.read_from();
  return r;
}

ReadAhead::Clock::time_point in_seconds(double seconds) {
  return ReadAhead::Clock::now() + duration_of(seconds);
}

/// All frames within the limits; how it ended goes into the report.
void run_frames(ReadAhead& source, Stream& stream, const StreamLimits& limits, StreamReport& end) {
  const ReadAhead::Clock::time_point until = in_seconds(limits.seconds);
  try {
    while ((limits.frames == 0 || stream.taken() < limits.frames) && ReadAhead::Clock::now() < until) {
      const double asked = seconds_now();
      const FramePtr frame = source.take(until, limits.stop);
      if (!frame) {
        if (!source.ended()) end.silent_seconds = seconds_now() - asked;
        break;
      }
      stream.run(frame);
    }
  } catch (const std::exception& e) {
    if (stream.taken() == 0) throw;
    end.fault = first_line(e.what());
  }
  end.interrupted = limits.stop.stop_requested();
  if (end.interrupted) end.silent_seconds = 0;
}

std::string why_no_frame(const StreamReport& end, const StreamLimits& limits) {
  if (end.interrupted) return "interrupted before its first frame";
  return end.silent_seconds > 0 ? fmt::format("no frame came for {:g} seconds", limits.seconds)
                                : "ended before its first frame";
}

}  // namespace

StreamReport run_stream(const StreamSource& from, const Settings& settings, const StreamLimits& limits,
                        bool strategy_named) {
  const RegistryRow& row = chosen_row(settings);
  if (const auto why = unavailable(row.info))
    throw Error(
        fmt::format("{} is not available on target {}: {}", row.info.name, to_string(row.info.target), *why));
  Stream stream(settings, row, strategy_named);
  const auto pool = std::make_shared<FramePool>();
  if (stream.runtime()->on_device())
    pool->allocate_with(
        [runtime = stream.runtime()](std::size_t bytes) { return runtime->allocate_host(bytes); }, true);
  StreamReport end;
  ReaderInfo info;
  {
    ReadAhead source(from.open, pool);
    if (const auto opened = source.opened(in_seconds(limits.patience), limits.stop)) {
      info = *opened;
    } else {
      throw Error(limits.stop.stop_requested()
                      ? fmt::format("{}: interrupted before it was open", from.name)
                      : fmt::format("{}: could not be opened for {:g} seconds", from.name, limits.patience));
    }
    run_frames(source, stream, limits, end);
    if (stream.taken() == 0) throw Error(fmt::format("{}: {}", from.name, why_no_frame(end, limits)));
    stream.finish();
  }
  pool->allocate_with(nullptr, false);  // a read that was left behind may ask for memory once more
  StreamReport report = stream.report();
  report.source = info;
  report.interrupted = end.interrupted;
  report.fault = end.fault;
  report.silent_seconds = end.silent_seconds;
  return report;
}

}  // namespace convscope
