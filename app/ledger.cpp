#include "app/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "app/quantile.h"

namespace convscope {
namespace {

/// The frames, newest first, that came to this point of their way after `since`; with `last` the last one
/// that did whenever it was.
template <class Use>
void each_since(double since, const std::deque<FrameRecord>& frames, double FrameRecord::*point, bool last,
                const Use& use) {
  for (auto f = frames.rbegin(); f != frames.rend(); ++f) {
    if (!((*f).*point > 0)) continue;
    // frames are computed and shown in their order: all before this one are older too
    if ((*f).*point <= since && !last) break;
    use(*f);
    last = false;
  }
}

}  // namespace

void Ledger::clear() { *this = Ledger(); }

FrameRecord* Ledger::find(uint64_t id) {
  const auto at = std::lower_bound(frames_.begin(), frames_.end(), id,
                                   [](const FrameRecord& f, uint64_t wanted) { return f.id < wanted; });
  return at != frames_.end() && at->id == id ? &*at : nullptr;
}

void Ledger::arrive(uint64_t sequence, double captured) {
  if (arrived_ == sequence) return;
  if (arrived_ && sequence < *arrived_) {
    source_.clear();
    arrived_.reset();
  }
  source_.add(captured, sequence - arrived_.value_or(0));
  arrived_ = sequence;
}

void Ledger::take(uint64_t id, uint64_t sequence, double captured, double now, std::size_t bytes) {
  if (!frames_.empty() && frames_.back().id >= id) return;  // the same frame, computed once more
  if (!frames_.empty() && sequence <= frames_.back().sequence) {
    // the source was opened anew, and counts from the start
    counts_ = {};
    computed_sequence_ = point_dropped_ = 0;
    frames_.clear();
  }
  if (frames_.size() == kFrames) frames_.pop_front();
  arrive(sequence, captured);
  FrameRecord& f = frames_.emplace_back();
  f.id = id, f.sequence = sequence, f.bytes = bytes;
  f.captured = captured, f.taken = now;
  if (counts_.taken++ == 0) first_sequence_ = sequence;
  if (begun_ == 0) begun_ = now;
}

void Ledger::compute(uint64_t id, double started, double uploaded, double computed,
                     const std::vector<StageTime>& stages) {
  FrameRecord* const f = find(id);
  if (!f || f->computed > 0) return;
  f->started = started > 0 ? started : f->taken, f->uploaded = uploaded, f->computed = computed;
  f->stages = stages;
  processed_.add(computed);
  ++counts_.computed;
  computed_sequence_ = std::max(computed_sequence_, f->sequence);
  const uint64_t passed = computed_sequence_ + 1 - first_sequence_;
  counts_.dropped = passed > counts_.computed ? passed - counts_.computed : 0;
}

void Ledger::compare(uint64_t id, double started, double ended) {
  FrameRecord* const f = find(id);
  if (!f || f->compared > 0) return;
  f->compare_started = started, f->compared = ended;
}

void Ledger::view(uint64_t id, double started, double ended) {
  FrameRecord* const f = find(id);
  if (!f || f->viewed > 0) return;
  f->view_started = started, f->viewed = ended;
}

void Ledger::show(uint64_t id, double drawn, double now) {
  swaps_.add(now);
  if (id == 0 || !find(id)) return;
  if (id == shown_id_) ++counts_.repeated;
  if (id < shown_id_) ++counts_.back;
  shown_id_ = id;
  FrameRecord& f = *find(id);
  if (f.shown > 0) return;
  f.drawn = drawn, f.shown = now;
  displayed_.add(now);
  ++counts_.shown;
}

FlowRates Ledger::rates(double now) const {
  FlowRates r;
  r.source_fps = source_.rate(now);
  r.processed_fps = processed_.rate(now);
  r.displayed_fps = displayed_.rate(now);
  r.window_fps = swaps_.rate(now);
  std::vector<double> age, bytes;
  each_since(now - kWindow, frames_, &FrameRecord::computed, r.processed_fps > 0,
             [&](const FrameRecord& f) { bytes.push_back(static_cast<double>(f.bytes)); });
  if (!bytes.empty())
    r.upload_bytes_per_s = std::accumulate(bytes.begin(), bytes.end(), 0.0) /
                           static_cast<double>(bytes.size()) * r.processed_fps;
  each_since(now - kWindow, frames_, &FrameRecord::shown, r.displayed_fps > 0,
             [&](const FrameRecord& f) { age.push_back(age_ms(f)); });
  if (!age.empty()) r.age_median_ms = nearest_quantile(age, 0.5), r.age_p95_ms = nearest_quantile(age, 0.95);
  return r;
}

void Ledger::tick(double now) {
  if (begun_ == 0 || now - begun_ < 1) return;
  if (history_.size() == kPoints) history_.pop_front();
  history_.push_back(
      {now, now - begun_, rates(now), counts_.dropped - std::min(counts_.dropped, point_dropped_)});
  point_dropped_ = counts_.dropped;
  begun_ = now;
}

std::optional<FrameRecord> Ledger::last_shown() const {
  for (auto f = frames_.rbegin(); f != frames_.rend(); ++f) {
    if (f->shown > 0 && f->computed > 0) return *f;
  }
  return std::nullopt;
}

std::string Ledger::frames_csv() const {
  std::string text =
      "frame,sequence,captured_s,taken_s,started_s,uploaded_s,computed_s,viewed_s,shown_s,age_ms,bytes\n";
  const double zero = frames_.empty() ? 0 : frames_.front().captured;
  const auto at = [&](double t) { return t > 0 ? fmt::format("{:.6f}", t - zero) : std::string(); };
  for (const FrameRecord& f : frames_) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", f.id, f.sequence, at(f.captured), at(f.taken),
                        at(f.started), at(f.uploaded), at(f.computed), at(f.viewed), at(f.shown),
                        f.shown > 0 ? fmt::format("{:.3f}", age_ms(f)) : "", f.bytes);
  }
  return text;
}

std::string Ledger::history_csv() const {
  std::string text =
      "second,span_s,source_fps,processed_fps,displayed_fps,window_fps,age_median_ms,age_p95_ms,"
      "upload_bytes_per_s,dropped\n";
  const auto ms = [](const std::optional<double>& v) {
    return v ? fmt::format("{:.3f}", *v) : std::string();
  };
  for (const FlowPoint& p : history_) {
    const FlowRates& r = p.rates;
    text += fmt::format("{:.1f},{:.2f},{:.2f},{:.2f},{:.2f},{:.2f},{},{},{:.0f},{}\n",
                        p.at - history_.front().at, p.seconds, r.source_fps, r.processed_fps, r.displayed_fps,
                        r.window_fps, ms(r.age_median_ms), ms(r.age_p95_ms), r.upload_bytes_per_s, p.dropped);
  }
  return text;
}

}  // namespace convscope
