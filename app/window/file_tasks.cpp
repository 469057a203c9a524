#include <fmt/format.h>

#include <exception>

#include "app/export.h"
#include "app/files.h"
#include "app/npy.h"
#include "app/window/frame.h"
#include "app/window/race_table.h"
#include "app/window/state_file.h"
#include "kernels/error.h"

namespace convscope {
namespace {

PlaneSet plane_set(const HostMaps& maps) {
  const ConvShape& s = maps.prepared->operation.problem.shape;
  return {maps.values, maps.info.precision, s.n * s.c_out, s.out_h(), s.out_w()};
}

void export_maps(const Program& p, const std::string& folder) {
  const Results& r = p.results;
  if (!r.shown || !r.shown->host) throw Error("nothing to export yet: no maps have been computed");
  const HostMaps& a = *r.shown->host;
  const ConvShape& s = r.shown->shape();
  const int64_t shape[] = {s.n, s.c_out, s.out_h(), s.out_w()};
  const std::vector<std::string>& labels = a.prepared->labels;
  std::vector<OutputFile> files;
  files.push_back({"maps.npy", npy_bytes(a.info.precision, shape, a.values)});
  files.push_back(
      {"maps.png", maps_png(plane_set(a), labels, map_coloring(plane_set(a), p.settings), a.info.id())});
  if (r.difference && r.difference->number == r.shown->number) {
    const DifferenceResult& d = *r.difference;
    const std::string title =
        fmt::format("{} - {}: max error {:.6g}", a.info.id(), d.b->info.id(), d.comparison.max_abs);
    files.push_back({"difference.png",
                     difference_png(plane_set(a), plane_set(*d.b), labels, d.comparison.max_abs, title)});
  }
  files.push_back({"window.json", to_bytes(state_json(p))});
  write_files(folder, files);
}

void export_race(const Program& p, const std::string& folder) {
  const RaceResults& race = p.results.race;
  if (race.state.entries.empty()) throw Error("nothing to export yet: no race was run");
  const std::string shown = p.results.shown ? p.results.shown->info.id() : "";
  const std::vector<RaceRow> rows =
      race_table(race.state, shown, p.settings.race_sort, p.settings.race_descending);
  const std::vector<OutputFile> files{
      {"race.csv", to_bytes(race_csv(rows))},
      {"race.json", to_bytes(race_json(race.state, rows, race_subject(race), shown))}};
  write_files(folder, files);
}

void export_flow(const Program& p, const std::string& folder) {
  const Ledger& ledger = p.results.flow.ledger;
  if (ledger.frames().empty()) throw Error("nothing to export yet: no frame of a stream was computed");
  const std::vector<OutputFile> files{{"frames.csv", to_bytes(ledger.frames_csv())},
                                      {"history.csv", to_bytes(ledger.history_csv())}};
  write_files(folder, files);
}

std::string run_task(Program& p, FileAction action) {
  switch (action) {
    case FileAction::save_session: {
      save_session(p.settings, p.ui.save.name);
      return "saved " + p.ui.save.name;
    }
    case FileAction::load_session: {
      p.settings = load_session(p.ui.load.name);
      return "restored " + p.ui.load.name;
    }
    case FileAction::export_maps: {
      export_maps(p, p.ui.export_to.name);
      return "exported to " + p.ui.export_to.name;
    }
    case FileAction::export_race: {
      export_race(p, p.ui.export_race_to.name);
      return "exported to " + p.ui.export_race_to.name;
    }
    case FileAction::export_flow: {
      export_flow(p, p.ui.export_flow_to.name);
      return "exported to " + p.ui.export_flow_to.name;
    }
    case FileAction::record: {
      p.view_recording.start(p.ui.record.name);
      return "";
    }
  }
  return "";
}

}  // namespace

void file_tasks(Program& p) {
  for (const FileAction action : std::exchange(p.ui.file_actions, {})) {
    try {
      p.ui.message = run_task(p, action);
    } catch (const std::exception& e) {
      p.ui.message = e.what();
    }
  }
}

}  // namespace convscope
