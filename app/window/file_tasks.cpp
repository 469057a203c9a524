#include <fmt/format.h>

#include <exception>

#include "app/files.h"
#include "app/window/frame.h"
#include "app/window/race_table.h"
#include "app/window/state_file.h"
#include "kernels/error.h"

namespace convscope {
namespace {

MapsExportRequest maps_export(const Program& p) {
  const Results& r = p.results;
  if (!r.shown || !r.shown->host) throw Error("nothing to export yet: no maps have been computed");
  MapsExportRequest request{p.ui.export_to.name, r.shown->host, {}, p.settings, state_json(p)};
  if (r.difference && r.difference->number == r.shown->number) request.difference = r.difference;
  return request;
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
      p.maps_export.start(maps_export(p));
      return "exporting to " + p.ui.export_to.name + "…";
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
  if (const auto said = p.maps_export.collect()) p.ui.message = *said;
  for (const FileAction action : std::exchange(p.ui.file_actions, {})) {
    try {
      p.ui.message = run_task(p, action);
    } catch (const std::exception& e) {
      p.ui.message = e.what();
    }
  }
}

}  // namespace convscope
