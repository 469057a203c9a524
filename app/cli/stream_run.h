#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/barcode_check.h"
#include "app/ledger.h"
#include "app/live/frame_reader.h"
#include "app/settings.h"

namespace convscope {

struct StreamSource {
  std::string name;  // for messages
  std::function<std::unique_ptr<FrameReader>()> open;
};

/// Whichever is reached first.
struct StreamLimits {
  double seconds = 10;   // from when the source is open
  uint64_t frames = 0;   // 0: as many as come
  double patience = 10;  // seconds until it is open
  std::stop_token stop{};
};

struct StageMedian {
  std::string name;
  double median_ms = 0, p95_ms = 0;
};

/// What a stream did on its way through a strategy.
struct StreamReport {
  bool interrupted = false;   // by StreamLimits::stop
  std::string fault;          // why it broke off in the middle; empty where it did not
  double silent_seconds = 0;  // for so long no frame came when its time was over
  ReaderInfo source;
  int64_t w = 0, h = 0;
  StrategyInfo strategy;
  std::string note;  // where the default strategy refuses and another takes its place: which, and why
  std::string device, shape;
  double seconds = 0;  // from the first frame's capture to the last one's result
  double source_fps = 0, processed_fps = 0;
  FlowCounts counts;
  std::optional<double> age_median_ms, age_p95_ms;  // from capture to the finished maps
  double upload_bytes_per_s = 0;
  std::vector<StageMedian> stages;
  double upload_hidden = 0;              // see Overlap::hidden(); 0 where nothing is uploaded
  double upload_busy = 0;                // part of the time during which an upload ran
  bool pinned = false;                   // the frames lay in page-locked memory and were uploaded from there
  std::optional<BarcodeCounts> barcode;  // of a source that draws its numbers
  std::string read_from;
  bool good() const {
    return !interrupted && fault.empty() && (!barcode || (barcode->good() && barcode->checked > 0));
  }
};

/// Runs a source through the chain that the settings ask for, as fast as both go, and waits for all of it; a
/// call of the source that hangs at the end is left to itself. The default strategy gives way where it
/// refuses; one that the user has named is that or nothing. What breaks off after its first frame is reported
/// as far as it came. Throws Error.
StreamReport run_stream(const StreamSource&, const Settings&, const StreamLimits&,
                        bool strategy_named = false);

}  // namespace convscope
