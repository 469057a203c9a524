#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "app/live/rate_meter.h"
#include "app/seconds.h"
#include "kernels/timing.h"

namespace convscope {

/// The way of one frame, in seconds of one clock; 0 where it has not come so far. A frame that goes through
/// host memory is `uploaded` when its computation starts.
struct FrameRecord {
  uint64_t id = 0, sequence = 0;  // as of Frame
  std::size_t bytes = 0;          // sent up to the target
  double captured = 0, taken = 0, started = 0, uploaded = 0, computed = 0;
  double compare_started = 0, compared = 0;        // where its difference is what was shown
  double view_started = 0, viewed = 0, drawn = 0;  // `drawn`: the window's frame that shows it was begun
  double shown = 0;                                // its first swap
  std::vector<StageTime> stages;                   // of the computation
};

/// From capture to the swap that first showed the frame.
inline double age_ms(const FrameRecord& f) { return (f.shown - f.captured) * 1e3; }

/// What happened in the last seconds; of what comes more slowly, between the last two times.
struct FlowRates {
  double source_fps = 0;     // by the source's own counting, also of frames that nobody took
  double processed_fps = 0;  // computed
  double displayed_fps = 0;  // shown for the first time
  double window_fps = 0;     // swaps of the window
  std::optional<double> age_median_ms, age_p95_ms;  // from capture to the first swap
  double upload_bytes_per_s = 0;
};

/// Since the source was opened.
struct FlowCounts {
  uint64_t taken = 0, computed = 0, shown = 0;
  uint64_t dropped = 0;   // read by the source and never computed: gaps between those computed
  uint64_t repeated = 0;  // swaps that showed the frame of the swap before once more
  uint64_t back = 0;      // swaps that showed an older frame than the swap before: never, if all is well
};

/// One point of the history: a second, or more where the window was not drawn for a while.
struct FlowPoint {
  double at = 0;         // its end
  double seconds = 1;    // its length
  FlowRates rates;       // at its end
  uint64_t dropped = 0;  // within it
  double dropped_fps() const { return static_cast<double>(dropped) / seconds; }
};

/// The account of a stream's frames. Knows no clock of its own: times are told, so that it can be tested.
class Ledger {
 public:
  static constexpr std::size_t kFrames = 1 << 14;  // kept for the export
  static constexpr std::size_t kPoints = 300;      // seconds of history
  static constexpr double kWindow = 2;             // seconds that the rates are of

  /// Another source: everything starts again.
  void clear();

  /// The newest frame that the source has given, whether it is taken or not; may be told once more.
  void arrive(uint64_t sequence, double captured);
  /// A sequence that goes back begins the counts again: the source was opened anew.
  void take(uint64_t id, uint64_t sequence, double captured, double now, std::size_t bytes);
  /// `started` (0: when it was taken), `uploaded`, `computed`: see FrameRecord. Of a frame that was not
  /// taken: nothing happens.
  void compute(uint64_t id, double started, double uploaded, double computed,
               const std::vector<StageTime>& stages);
  void compare(uint64_t id, double started, double ended);
  void view(uint64_t id, double started, double ended);
  /// A swap that showed this frame; 0: no frame yet. `drawn`: when the window's frame was begun.
  void show(uint64_t id, double drawn, double now);
  /// Closes the points of the history that are due.
  void tick(double now);

  FlowRates rates(double now) const;
  const FlowCounts& counts() const { return counts_; }
  const std::deque<FlowPoint>& history() const { return history_; }
  /// The newest frame that has been shown and whose computation has been told.
  std::optional<FrameRecord> last_shown() const;
  const std::deque<FrameRecord>& frames() const { return frames_; }

  /// One line a frame that is kept, times in seconds from the first one's capture, and then one a second.
  std::string frames_csv() const;
  std::string history_csv() const;

 private:
  FrameRecord* find(uint64_t id);

  std::deque<FrameRecord> frames_;  // by id
  std::deque<FlowPoint> history_;
  FlowCounts counts_;
  RateMeter source_{kWindow}, processed_{kWindow}, displayed_{kWindow}, swaps_{kWindow};
  std::optional<uint64_t> arrived_;  // the last sequence that was told
  uint64_t shown_id_ = 0, first_sequence_ = 0, computed_sequence_ = 0, point_dropped_ = 0;
  double begun_ = 0;  // of the point that is open; 0: none
};

}  // namespace convscope
