#include "app/window/state_file.h"

#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "app/files.h"
#include "app/frame_cost.h"
#include "app/window/frame.h"
#include "app/window/race_table.h"
#include "bench/json_number.h"

namespace convscope {
namespace {

using Json = nlohmann::ordered_json;

Json number(double v) { return json_number(v); }
Json number(const std::optional<double>& v) { return v ? number(*v) : Json(nullptr); }

Json window_json(const Program& p) {
  int w = 0, h = 0, fw = 0, fh = 0;
  glfwGetWindowSize(p.window, &w, &h);
  glfwGetFramebufferSize(p.window, &fw, &fh);
  return {{"size", {w, h}},
          {"framebuffer", {fw, fh}},
          {"scale", p.ui.scale},
          {"frames", p.frames},
          {"renderer", p.results.gl_renderer},
          {"first_picture_ms", number(p.first_picture_ms)}};
}

Json view_json(const Program& p) {
  const ViewLayout& l = p.ui.drawn;
  Json cells = Json::array();
  for (int i = 0; i < l.cells; ++i) {
    const CellPosition at = cell_position(l, i);
    cells.push_back({at.x, at.y, l.cell_w, l.cell_h});
  }
  std::vector<std::byte> pixels;
  if (const GLuint texture = p.heat_map.texture()) {
    const auto bytes = static_cast<std::size_t>(l.view_w) * static_cast<std::size_t>(l.view_h) * 4;
    pixels.resize(bytes);
    glGetTextureImage(texture, 0, GL_RGBA, GL_UNSIGNED_BYTE, static_cast<GLsizei>(bytes), pixels.data());
  }
  return {{"position", {p.ui.view_position.x, p.ui.view_position.y}},
          {"size", {l.view_w, l.view_h}},
          {"cells", std::move(cells)},
          {"region", {l.region_x, l.region_y, l.step}},
          {"first_map", l.first_plane},
          {"range", {number(p.results.range.low), number(p.results.range.high)}},
          {"current", p.ui.picture_current},
          {"hash", "fnv1a64:" + hash_of(pixels)}};
}

Json times_json(const TimingTable& t) {
  Json rows = Json::array();
  const auto add = [&](const TimingTable::Row& row) {
    rows.push_back({{"stage", row.stage},
                    {"first_ms", number(row.first)},
                    {"last_ms", number(row.last())},
                    {"median_ms", number(row.quantile(0.5))},
                    {"p95_ms", number(row.quantile(0.95))},
                    {"frames", row.ms.size()}});
  };
  for (const TimingTable::Row& row : t.rows()) add(row);
  add(t.total());
  return rows;
}

Json shown_json(const Results& r) {
  if (!r.shown) return nullptr;
  const Shown& s = *r.shown;
  const ConvShape& c = s.shape();
  return {{"number", s.number},
          {"strategy", s.info.name},
          {"target", to_string(s.info.target)},
          {"precision", to_string(s.info.precision)},
          {"rounding", to_string(s.prepared->operation.problem.rounding)},
          {"shape", describe(c)},
          {"output", {c.n, c.c_out, c.out_h(), c.out_w()}},
          {"frame", s.frame->id},
          {"sequence", s.frame->sequence},
          {"index", s.frame->index},
          {"source", s.frame->name},
          {"source_hash", s.frame->hash},
          {"maps", s.prepared->labels}};
}

Json difference_json(const Results& r) {
  if (!r.difference) return nullptr;
  const DifferenceResult& d = *r.difference;
  const Comparison& c = d.comparison;
  return {{"number", d.number},
          {"frame_a", d.a->frame->id},
          {"frame_b", d.b->frame->id},
          {"against", d.b->info.id()},
          {"count", c.count},
          {"max_abs", number(c.max_abs)},
          {"mean_abs", number(c.mean_abs)},
          {"max_rel", number(c.max_rel)},
          {"max_ulp", c.max_ulp},
          {"rmse", number(c.rmse)},
          {"psnr_db", number(c.psnr_db)},
          {"max_bound_fraction", number(c.max_bound_fraction)},
          {"permitted_bounds", d.tolerance.bound_fraction},
          {"over_tolerance", c.over_tolerance},
          {"nonfinite_a", c.nonfinite_a},
          {"nonfinite_b", c.nonfinite_b},
          {"nonfinite_mismatch", c.nonfinite_mismatch},
          {"worst_index", c.worst_index},
          {"pass", c.pass}};
}

Json pixel_json(const PixelReadout& pixel) {
  if (!pixel.valid) return nullptr;
  return {{"map", pixel.plane},
          {"y", pixel.y},
          {"x", pixel.x},
          {"at_pointer", pixel.at_pointer},
          {"a", number(pixel.a)},
          {"b", number(pixel.b)},
          {"bound", number(pixel.bound)}};
}

Json race_json(const Program& p) {
  const RaceResults& race = p.results.race;
  Json rows = Json::array();
  const std::string shown = p.results.shown ? p.results.shown->info.id() : "";
  for (const RaceRow& row : race_table(race.state, shown, p.settings.race_sort, p.settings.race_descending)) {
    const bench::Entry& e = *row.entry;
    rows.push_back({{"id", e.info.id()},
                    {"runs", e.time.runs},
                    {"median_us", e.time.median_us},
                    {"rank", row.rank ? Json(*row.rank) : Json(nullptr)},
                    {"speed_up", number(row.speed_up)},
                    {"bound_fraction", number(e.bound_fraction)},
                    {"approximation", e.approximation},
                    {"limit", e.limit},
                    {"refused", e.refused}});
  }
  Json places = Json::array();
  for (const RowPosition& r : p.ui.race_rows) places.push_back({r.id, r.x, r.y});
  constexpr const char* kAges[] = {"current", "other_frame", "other_operation"};
  return {{"id", race.id},
          {"running", race.running},
          {"cancelled", race.cancelled},
          {"age", kAges[static_cast<int>(race.age)]},
          {"done", race.state.done},
          {"total", race.state.total},
          {"doing", race.state.doing},
          {"error", race.error},
          {"rows", std::move(rows)},
          {"rows_at", std::move(places)}};
}

/// What the strategy panel says of the shown strategy.
Json facts_json(const Results& r) {
  if (!r.facts) return nullptr;
  Json kernels = Json::array();
  if (const auto* launches = shown_launches(r)) {
    for (const auto& [k, count] : *launches)
      kernels.push_back({{"kernel", k.kernel}, {"count", count}, {"grid", k.grid}, {"block", k.block}});
  }
  return {{"id", r.facts->info.id()},
          {"bytes", r.facts->cost.bytes},
          {"multiply_adds", r.facts->cost.multiply_adds},
          {"kernels", std::move(kernels)}};
}

Json live_json(const Results& r) {
  if (!r.live) return nullptr;
  const LiveStatus& s = *r.live;
  return {{"state", to_string(s.state)},
          {"message", s.message},
          {"kind", s.info.kind},
          {"note", s.info.note},
          {"claimed_fps", number(s.info.fps)},
          {"measured_fps", number(s.measured_fps)},
          {"read", s.read},
          {"dropped", s.dropped},
          {"size", {s.w, s.h}},
          {"index", s.index},
          {"frames", s.info.frames},
          {"seconds", number(s.seconds)}};
}

}  // namespace

Json flow_json(const Results& r) {
  const Flow& f = r.flow;
  if (!f.live) return nullptr;
  const double now = seconds_now();
  const FlowRates rates = f.ledger.rates(now);
  const FlowCounts& c = f.ledger.counts();
  Json cost = Json::object();
  double age = 0;
  if (const auto frame = f.ledger.last_shown()) {
    age = age_ms(*frame);
    for (const CostSegment& s : cost_of(*frame, f.interop_ms)) cost[s.name] = s.ms;
  }
  return {{"frozen", f.frozen},
          {"shown", f.shown},
          {"newest", f.newest},
          {"behind", f.behind()},
          {"source_fps", rates.source_fps},
          {"processed_fps", rates.processed_fps},
          {"displayed_fps", rates.displayed_fps},
          {"window_fps", rates.window_fps},
          {"age_median_ms", number(rates.age_median_ms)},
          {"age_p95_ms", number(rates.age_p95_ms)},
          {"upload_bytes_per_s", rates.upload_bytes_per_s},
          {"taken", c.taken},
          {"computed", c.computed},
          {"displayed", c.shown},
          {"dropped", c.dropped},
          {"repeated", c.repeated},
          {"back", c.back},
          {"cost_age_ms", age},
          {"cost_ms", std::move(cost)}};
}

Json recording_json(const std::optional<RecordingProgress>& r) {
  if (!r) return nullptr;
  return {{"path", r->path},
          {"pictures", r->pictures},
          {"left_out", r->left_out},
          {"seconds", r->seconds},
          {"ending", r->ending}};
}

std::string state_json(const Program& p) {
  const Results& r = p.results;
  Json settings;
  for (const SettingInfo& info : setting_infos()) settings[info.key] = get(p.settings, info.key);
  Json rows = Json::array();
  for (const StrategyRow& row : r.rows) {
    rows.push_back({{"id", row.row->info.id()},
                    {"reason", row.reason ? Json(*row.reason) : Json(nullptr)},
                    {"kernel_ms", number(row.kernel_ms)}});
  }
  const Json json = {
      {"window", window_json(p)},
      {"view", view_json(p)},
      {"shown", shown_json(r)},
      {"live", live_json(r)},
      {"settings", std::move(settings)},
      {"strategies", std::move(rows)},
      {"times", times_json(r.timings)},
      {"against_times", times_json(r.against_timings)},
      {"difference", difference_json(r)},
      {"difference_fault", r.difference_fault},
      {"pixel", pixel_json(r.pixel)},
      {"race", race_json(p)},
      {"facts", facts_json(r)},
      {"interop", {{"on", r.interop}, {"reason", r.interop_reason}}},
      {"cuda", {{"device", r.cuda_device}, {"reason", r.cuda_reason}}},
      {"fault", r.fault ? Json({{"key", r.fault->key}, {"text", r.fault->text}}) : Json(nullptr)},
      {"flow", flow_json(r)},
      {"recording", recording_json(r.recording)},
      {"note", r.note},
      {"message", p.ui.message},
      {"status", p.ui.status},
      {"dialog", p.ui.dialog}};
  return json.dump(2) + "\n";
}

}  // namespace convscope
