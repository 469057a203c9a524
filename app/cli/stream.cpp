#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/stream_run.h"
#include "app/files.h"
#include "app/printable.h"

namespace convscope {
namespace {

using Json = nlohmann::ordered_json;

Json optional_number(const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); }

Json barcode_json(const StreamReport& r) {
  if (!r.barcode) return nullptr;
  const BarcodeCounts& b = *r.barcode;
  return {{"read_from", r.read_from}, {"checked", b.checked},         {"torn", b.torn},
          {"wrong", b.wrong},         {"unreadable", b.unreadable},   {"twice", b.twice},
          {"skipped", b.skipped},     {"first_fault", b.first_fault}, {"good", b.good()}};
}

std::string stream_json(const StreamReport& r, const std::string& source) {
  Json stages = Json::array();
  for (const StageMedian& s : r.stages)
    stages.push_back({{"stage", s.name}, {"median_ms", s.median_ms}, {"p95_ms", s.p95_ms}});
  const Json json = {{"source", source},
                     {"interrupted", r.interrupted},
                     {"fault", r.fault},
                     {"kind", r.source.kind},
                     {"format", r.source.format},
                     {"width", r.w},
                     {"height", r.h},
                     {"strategy", r.strategy.id()},
                     {"note", r.note},
                     {"device", r.device},
                     {"shape", r.shape},
                     {"seconds", r.seconds},
                     {"silent_seconds", r.silent_seconds},
                     {"frames", r.counts.computed},
                     {"source_fps", r.source_fps},
                     {"claimed_fps", r.source.fps},
                     {"processed_fps", r.processed_fps},
                     {"dropped", r.counts.dropped},
                     {"repeated", r.counts.repeated},
                     {"back", r.counts.back},
                     {"age_median_ms", optional_number(r.age_median_ms)},
                     {"age_p95_ms", optional_number(r.age_p95_ms)},
                     {"upload_bytes_per_s", r.upload_bytes_per_s},
                     {"upload_hidden", r.upload_hidden},
                     {"upload_busy", r.upload_busy},
                     {"pinned_source", r.pinned},
                     {"stages", std::move(stages)},
                     {"barcode", barcode_json(r)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string barcode_words(const StreamReport& r) {
  if (!r.barcode) return "barcode   none in this source: frames were not verified";
  const BarcodeCounts& b = *r.barcode;
  std::string text = fmt::format(
      "barcode   {} frames read back from {}: {} torn, {} wrong, {} unreadable, {} twice, {} skipped",
      b.checked, r.read_from, b.torn, b.wrong, b.unreadable, b.twice, b.skipped);
  if (!b.first_fault.empty()) text += "\n          first: " + b.first_fault;
  return text;
}

std::string stream_summary(const StreamReport& r, const std::string& source) {
  std::string text;
  const auto line = [&](const char* name, const std::string& words) {
    text += fmt::format("{:<10}{}\n", name, printable(words));
  };
  line("source", fmt::format("{}, {} x {}, {}", source, r.w, r.h, r.source.format));
  line("strategy", fmt::format("{} on {}, {}", r.strategy.id(), r.device, r.shape));
  if (!r.note.empty()) line("note", r.note);
  const std::string claimed = r.source.fps > 0 ? fmt::format(" ({:.6g} claimed)", r.source.fps) : "";
  line("rate", fmt::format("{:.1f} frames/s processed in {:.2f} s, source {:.1f} frames/s{}", r.processed_fps,
                           r.seconds, r.source_fps, claimed));
  if (r.silent_seconds >= 1)
    line("silence", fmt::format("no frame came in the last {:.1f} s", r.silent_seconds));
  line("frames", fmt::format("{} processed, {} dropped, {} repeated", r.counts.computed, r.counts.dropped,
                             r.counts.repeated + r.counts.back));
  if (r.age_median_ms)
    line("age", fmt::format("{:.3f} ms median, {:.3f} ms p95, from capture to finished maps",
                            *r.age_median_ms, *r.age_p95_ms));
  if (r.upload_bytes_per_s > 0) {
    line("upload",
         fmt::format("{:.2f} GB/s{}, {:.0f} % of the time busy, overlap with kernels {:.0f} %",
                     r.upload_bytes_per_s / 1e9, r.pinned ? " from pinned frames" : " through staging memory",
                     100 * r.upload_busy, 100 * r.upload_hidden));
  } else {
    line("upload", "none: the target computes in host memory");
  }
  for (const StageMedian& s : r.stages)
    line("stage", fmt::format("{:<16}{:9.4f} ms median {:9.4f} ms p95", s.name, s.median_ms, s.p95_ms));
  return text + barcode_words(r) + "\n";
}

}  // namespace

int stream_command(const CommandLine& line) {
  const InterruptGuard interrupt;
  const std::string& source = line.settings.source;
  const auto save = [&](const StreamReport& report) {
    if (!line.stream_json.empty()) write_text(line.stream_json, stream_json(report, source));
  };
  StreamReport none;
  none.interrupted = true;
  save(none);  // a path that cannot be written is told now
  const ReaderOptions options{line.settings.rate};
  const StreamReport report =
      run_stream({source, [=] { return open_reader(source, options); }}, line.settings,
                 {.seconds = line.stream_seconds, .frames = line.stream_frames, .stop = interrupt.token()},
                 line.strategy_named);
  fmt::print("{}", stream_summary(report, source));
  std::fflush(stdout);
  save(report);
  if (report.interrupted) fmt::print(stderr, "interrupted: what was measured before is kept\n");
  if (!report.fault.empty()) throw Error(report.fault);
  return report.good() ? 0 : 1;
}

}  // namespace convscope
