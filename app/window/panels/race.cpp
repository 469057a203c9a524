#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"
#include "app/window/race_side.h"
#include "app/window/race_table.h"

namespace convscope {
namespace {

constexpr RaceColumn kColumns[] = {RaceColumn::strategy, RaceColumn::target,    RaceColumn::time,
                                   RaceColumn::spread,   RaceColumn::bandwidth, RaceColumn::arithmetic,
                                   RaceColumn::floor,    RaceColumn::speed_up,  RaceColumn::error,
                                   RaceColumn::limit};

/// "23.51", "312", "20530": four digits at most behind which noise begins.
std::string us_text(double us) {
  if (us >= 1000) return fmt::format("{:.0f}", us);
  if (us >= 100) return fmt::format("{:.1f}", us);
  return fmt::format("{:.2f}", us);
}

std::string rate_text(double v) {
  if (v >= 100) return fmt::format("{:.0f}", v);
  if (v >= 10) return fmt::format("{:.1f}", v);
  return fmt::format("{:.2f}", v);
}

std::string error_text(const bench::Entry& e) {
  const std::string fraction =
      std::isfinite(e.bound_fraction) ? fmt::format("{:.3f}", e.bound_fraction) : "not finite";
  return e.error_bounds == 1 ? fraction : fmt::format("{}/{:.3g}", fraction, e.error_bounds);
}

/// The direction in which a click on a column sorts first: the best on top.
bool largest_first(RaceColumn c) {
  return c == RaceColumn::bandwidth || c == RaceColumn::arithmetic || c == RaceColumn::floor ||
         c == RaceColumn::speed_up;
}

bool numeric(RaceColumn c) {
  return c != RaceColumn::strategy && c != RaceColumn::target && c != RaceColumn::limit;
}

void header(Settings& settings, const Ui& ui) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (const RaceColumn c : kColumns) {
    ImGui::TableNextColumn();
    const bool sorted = settings.race_sort == c;
    const RaceColumnText text = race_column_text(c);
    const std::string name = fmt::format("{}{}", text.name,
                                         !sorted                    ? ""
                                         : settings.race_descending ? " ▼"
                                                                    : " ▲");
    const float width = ImGui::CalcTextSize(name.c_str()).x, room = ImGui::GetContentRegionAvail().x;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(text.name);
    if (ImGui::InvisibleButton("sort", {std::max(room, 1.0F), ImGui::GetTextLineHeight()})) {
      settings.race_descending = sorted ? !settings.race_descending : largest_first(c);
      settings.race_sort = c;
    }
    tooltip(fmt::format("{}. A click sorts by it.", text.about));
    const ImVec4 color = sorted || ImGui::IsItemHovered() ? kPalette.text : kPalette.dim;
    const float x = numeric(c) ? std::max(0.0F, room - width) : 0;
    ImGui::GetWindowDrawList()->AddText({at.x + x, at.y}, ImGui::GetColorU32(color), name.c_str());
    ImGui::PopID();
  }
  (void)ui;
}

struct Look {
  bool stale, chosen, refused;
  ImVec4 color(const ImVec4& usual = kPalette.text) const {
    return stale || refused ? kPalette.dim : chosen ? kPalette.accent : usual;
  }
};

void number_cell(const Ui& ui, const std::optional<std::string>& text, const ImVec4& color) {
  ImGui::TableNextColumn();
  mono_right(ui, text.value_or("-"), text ? color : kPalette.dim);
}

template <class Format>
std::optional<std::string> text_of(const std::optional<double>& v, Format format) {
  return v ? std::optional(format(*v)) : std::nullopt;
}

void number_cells(const RaceRow& row, const Look& look, const Ui& ui) {
  const bench::Entry& e = *row.entry;
  number_cell(ui, us_text(e.time.median_us), look.color());
  tooltip(fmt::format("{}Median of {} {}.{}",
                      row.tied ? fmt::format("Tied: cannot be told from the other rows "
                                             "of rank {}. ",
                                             *row.rank)
                               : "",
                      e.time.runs, e.time.runs == 1 ? "run" : "runs",
                      e.info.target == Target::emulated ? " Emulated on the CPU: not a GPU time." : ""));
  const auto off = [&](double us) { return 100 * (us / e.time.median_us - 1); };
  number_cell(ui, fmt::format("{:+.0f} {:+.0f}", off(e.time.p10_us), off(e.time.p90_us)),
              look.color(kPalette.dim));
  tooltip(fmt::format("{} to {} µs", us_text(e.time.p10_us), us_text(e.time.p90_us)));
  number_cell(ui, text_of(row.gb_s, rate_text), look.color());
  number_cell(ui, text_of(row.gflop_s, rate_text), look.color());
  number_cell(ui, text_of(row.of_floor, [](double v) { return fmt::format("{:.1f}", 100 * v); }),
              look.color());
  number_cell(ui, text_of(row.speed_up, [](double v) { return fmt::format("{:.2f}x", v); }), look.color());
  number_cell(ui, error_text(e), row.over_bound ? kPalette.warning : look.color());
}

/// The name over the whole row, as what is clicked; ranks stand before it.
void name_cell(Settings& settings, const RaceRow& row, const Look& look, Ui& ui) {
  const StrategyInfo& info = row.entry->info;
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (ImGui::Selectable(("##" + info.id()).c_str(), look.chosen, ImGuiSelectableFlags_SpanAllColumns)) {
    settings.strategy = info.name;
    settings.target = info.target;
    settings.precision = info.precision;
  }
  // the row is one item; its cells have words of their own
  if (ImGui::GetIO().MousePos.x < at.x + ImGui::GetContentRegionAvail().x)
    tooltip(info.name + "\n" + info.idea);
  if (ImGui::IsItemVisible())
    ui.race_rows.push_back({info.id(), at.x + 20, at.y + ImGui::GetTextLineHeight() / 2});
  ImGui::SameLine(0, 0);
  const float rank_width = 30 * ui.scale, start = ImGui::GetCursorPosX();
  if (row.rank) mono_text(ui, fmt::format("{}{}", *row.rank, row.tied ? "=" : ""), kPalette.dim);
  ImGui::SameLine(start + rank_width);
  const std::string name = fitted_text(info.name, ImGui::GetContentRegionAvail().x);
  ImGui::TextColored(look.color(), "%s", name.c_str());
}

void table_row(Settings& settings, const Results& results, const RaceRow& row, Ui& ui) {
  const bench::Entry& e = *row.entry;
  const Look look{results.race.age == RaceAge::other_operation,
                  results.shown && results.shown->info.id() == e.info.id(), !e.refused.empty()};
  ImGui::TableNextRow();
  name_cell(settings, row, look, ui);
  ImGui::TableNextColumn();
  ImGui::TextColored(look.color(), "%s", to_string(e.info.target));
  if (row.timed()) {
    number_cells(row, look, ui);
  } else {
    for (int i = 0; i < 7; ++i) number_cell(ui, std::nullopt, kPalette.dim);
  }
  ImGui::TableNextColumn();
  // another convolution than the other rows': that comes before what limits it
  std::string words = e.approximation.empty() ? e.limit : e.approximation + "; " + e.limit;
  if (!row.timed()) words = look.refused ? e.refused : results.race.running ? "waiting" : "not raced";
  const bool wrong = look.refused && row.over_bound, other = !e.approximation.empty() && !look.stale;
  const std::string fitted = fitted_text(words, ImGui::GetContentRegionAvail().x);
  ImGui::TextColored(wrong || other ? kPalette.warning : look.color(kPalette.dim), "%s", fitted.c_str());
  if (fitted != words) tooltip(words);
}

void table(Settings& settings, const Results& results, Ui& ui) {
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg |
                                     ImGuiTableFlags_ScrollY | ImGuiTableFlags_NoPadOuterX;
  if (!ImGui::BeginTable("race", std::size(kColumns), kFlags, ImGui::GetContentRegionAvail())) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  const float names = std::clamp(0.2F * ImGui::GetContentRegionAvail().x / ui.scale, 158.0F, 270.0F);
  const float widths[] = {names, 60, 78, 74, 44, 58, 58, 62, 84, 0};
  for (std::size_t i = 0; i < std::size(kColumns); ++i) {
    const char* name = race_column_text(kColumns[i]).name;
    const bool rest = widths[i] == 0;
    ImGui::TableSetupColumn(name,
                            rest ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed,
                            rest ? 1 : widths[i] * ui.scale);
  }
  header(settings, ui);
  const std::string shown = results.shown ? results.shown->info.id() : "";
  for (const RaceRow& row :
       race_table(results.race.state, shown, settings.race_sort, settings.race_descending))
    table_row(settings, results, row, ui);
  ImGui::EndTable();
}

void row_choice(Settings& settings, const Results& results, const Ui& ui) {
  if (!results.shown) return;
  RaceRows rows = ticked(settings.race_rows, results.shown->info);
  struct Choice {
    const char* name;
    bool RaceRows::*member;
    const char* about;
  };
  const Choice choices[] = {
      {"cuda", &RaceRows::cuda, "Strategies on the GPU"},
      {"emulated", &RaceRows::emulated, "CUDA kernels emulated on the CPU: their times are not a GPU's"},
      {"cpu", &RaceRows::cpu, "Libraries of the CPU"},
      {"plain", &RaceRows::plain, "The CPU's plain loops: the reference and its like, slow"}};
  for (const Choice& c : choices) {
    const bool impossible = c.member == &RaceRows::cuda && !results.cuda_reason.empty();
    ImGui::SameLine(0, 8 * ui.scale);
    ImGui::BeginDisabled(impossible);
    bool on = rows.*(c.member) && !impossible;
    if (ImGui::Checkbox(c.name, &on)) {
      rows.*(c.member) = on;
      settings.race_rows = rows;
    }
    ImGui::EndDisabled();
    tooltip(impossible ? results.cuda_reason : c.about);
  }
}

void progress(const RaceResults& race, const Ui& ui) {
  const bench::RaceState& s = race.state;
  const float part =
      s.total > 0 ? std::min(1.0F, static_cast<float>(s.done) / static_cast<float>(s.total)) : 0;
  ImGui::PushStyleColor(ImGuiCol_PlotHistogram, ImGui::GetStyleColorVec4(ImGuiCol_TabActive));
  ImGui::ProgressBar(part, {110 * ui.scale, 0},
                     s.total > 0 ? fmt::format("{} of {}", s.done, s.total).c_str() : "begins");
  ImGui::PopStyleColor();
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  dim_text(fitted_text(race.cancelled ? "ends with this step" : s.doing, ImGui::GetContentRegionAvail().x));
}

void controls(Settings& settings, const Results& results, Ui& ui) {
  const RaceResults& race = results.race;
  const bool running = race.running && !race.cancelled;
  ImGui::BeginDisabled(!results.shown);
  if (ImGui::Button(running ? "Cancel (F7)" : "Race (F7)", {92 * ui.scale, 0}))
    ui.actions.push_back(Action::race);
  ImGui::EndDisabled();
  tooltip(running ? "Ends the race and keeps what was measured"
                  : "Times all ticked strategies on the shown frame, in turns, each checked first");
  row_choice(settings, results, ui);
  ImGui::SameLine(0, 12 * ui.scale);
  if (race.running) {
    progress(race, ui);
    return;
  }
  ImGui::BeginDisabled(race.state.entries.empty());
  if (ImGui::Button("Export…")) ui.actions.push_back(Action::export_race);
  ImGui::EndDisabled();
  tooltip("race.csv and race.json into a folder");
  if (race.cancelled) {
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    dim_text("cancelled: fewer rounds than planned");
  }
}

/// Of what the numbers are, and whether that is what is on screen.
void subject_line(const Results& results, const Ui& ui) {
  const RaceResults& race = results.race;
  race_age_note(results, ui);
  std::string text = "of " + race_subject(race);
  if (race.has(Target::emulated)) text = "emulated times are not a GPU's; " + text;
  dim_text(fitted_text(text, ImGui::GetContentRegionAvail().x));
  tooltip(text);
}

}  // namespace

void race_age_note(const Results& results, const Ui& ui) {
  const RaceResults& race = results.race;
  const char* stale = race.age == RaceAge::other_operation ? "stale: the operation is another now"
                      : race.age == RaceAge::other_frame   ? "stale: the frame is another now"
                                                           : nullptr;
  if (!stale) return;
  ImGui::TextColored(kPalette.warning, "%s", stale);
  tooltip("F7 races what is shown");
  ImGui::SameLine(0, 8 * ui.scale);
}

void race_panel(Settings& settings, const Results& results, Ui& ui) {
  ui.race_rows.clear();
  controls(settings, results, ui);
  const RaceResults& race = results.race;
  if (!race.error.empty()) wrapped_text(kPalette.warning, race.error);
  if (race.id == 0) {
    wrapped_text(kPalette.dim,
                 "A race times every ticked strategy on the shown frame, in turns, with its inputs in the "
                 "caches, and checks each result against the reference before it counts.");
    return;
  }
  subject_line(results, ui);
  table(settings, results, ui);
}

std::string race_note(const RaceResults& race) {
  if (!race.running) return "";
  const std::string steps =
      race.state.total > 0 ? fmt::format(" {} of {}", race.state.done, race.state.total) : "";
  return fmt::format("race{}: live times are disturbed", steps);
}

}  // namespace convscope
