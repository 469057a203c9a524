#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"
#include "app/window/strategy_facts.h"

namespace convscope {
namespace {

std::string extent_text(const int64_t (&n)[3]) {
  if (n[2] != 1) return fmt::format("{} x {} x {}", n[0], n[1], n[2]);
  return n[1] != 1 ? fmt::format("{} x {}", n[0], n[1]) : fmt::format("{}", n[0]);
}

void fact(const char* name, const std::string& value, const std::string& note, const char* about) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextColored(kPalette.dim, "%s", name);
  tooltip(about);
  ImGui::TableNextColumn();
  if (!value.empty()) ImGui::TextUnformatted(value.c_str());
  if (note.empty()) return;
  if (!value.empty()) ImGui::SameLine(0, ImGui::GetFontSize() / 2);
  wrapped_text(kPalette.dim, note);
}

std::string limit_words(const Results& results) {
  const RaceResults& race = results.race;
  if (race.age != RaceAge::other_operation) {
    for (const bench::Entry& e : race.state.entries) {
      if (e.info.id() == results.shown->info.id() && e.time.runs > 0 && !e.limit.empty()) return e.limit;
    }
  }
  return race.running ? "known when it has been raced" : "not known before a race (F7)";
}

void facts(const Results& results, const Ui& ui) {
  if (!ImGui::BeginTable("facts", 2, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, 152 * ui.scale);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
  const ShownFacts& f = *results.facts;
  const auto outputs = static_cast<double>(results.shown->shape().output_size());
  fact("bytes per output", fmt::format("{:.4g} B", f.cost.bytes / outputs),
       fmt::format("{} in all", bytes_text(f.cost.bytes)),
       "Read from and written to main memory by its algorithm, for each output value");
  fact("multiply-adds per output", fmt::format("{:.4g}", f.cost.multiply_adds / outputs),
       fmt::format("{} in all; the sum itself has {}", count_text(f.cost.multiply_adds),
                   results.shown->shape().taps()),
       "Carried out by its algorithm, transforms included, for each output value");
  if (!f.cost.note.empty()) fact("counted", "", f.cost.note, "How bytes and multiply-adds were counted");
  fact("kernels started", fmt::format("{:.0f}", f.cost.launches), "", "For one frame");
  fact("may be off by", fmt::format("{:.3g}", f.error_bounds),
       f.error_bounds == 1 ? "error bound: it only adds products" : "error bounds: it computes other sums",
       "Error bounds n eps (sum |w||x| + |bias|) that its result may be from the exact one");
  fact("limited by", "", limit_words(results), "From the times of a race");
  ImGui::EndTable();
}

void kernel_row(const LaunchLog::Entry& entry, const Ui& ui) {
  const LaunchRecord& r = entry.record;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const std::string name = entry.count > 1 ? fmt::format("{} ({} times)", r.kernel, entry.count) : r.kernel;
  ImGui::TextUnformatted(fitted_text(name, ImGui::GetContentRegionAvail().x).c_str());
  tooltip(name);
  const auto cell = [&](const std::string& text) {
    ImGui::TableNextColumn();
    mono_right(ui, text, text == "-" ? kPalette.dim : kPalette.text);
  };
  cell(extent_text(r.grid));
  cell(extent_text(r.block));
  cell(bytes_text(static_cast<double>(r.shared_bytes)));
  cell(r.compiled ? fmt::format("{}", r.compiled->registers) : "-");
  cell(r.compiled ? fmt::format("{} B", r.compiled->local_bytes) : "-");
  cell(r.compiled ? fmt::format("{:.0f} %", 100 * r.compiled->occupancy) : "-");
  if (r.compiled) tooltip(fmt::format("{} blocks an SM", r.compiled->blocks_per_sm));
  ImGui::TableNextColumn();
  const std::string limit = r.compiled ? r.compiled->limited_by : "-";
  ImGui::TextColored(r.compiled ? kPalette.text : kPalette.dim, "%s", limit.c_str());
}

struct KernelColumn {
  const char *name, *about;
  float width;
};
constexpr KernelColumn kKernelColumns[] = {
    {"kernel", "By the name of its stage", 0},
    {"grid", "Blocks along x, y, z", 92},
    {"block", "Threads along x, y, z", 66},
    {"shared", "Shared memory of a block", 62},
    {"registers", "Of a thread", 60},
    {"local", "Of a thread: what did not fit into registers", 50},
    {"occupancy", "Threads that an SM holds at once, of the most that it can", 70},
    {"kept by", "The resource of which an SM runs out first: it keeps the occupancy where it is", 92}};

void kernels(const std::vector<LaunchLog::Entry>& launches, const Ui& ui) {
  if (!ImGui::BeginTable("kernels", std::size(kKernelColumns),
                         ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg))
    return;
  for (const KernelColumn& c : kKernelColumns) {
    ImGui::TableSetupColumn(
        c.name, c.width > 0 ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch,
        c.width > 0 ? c.width * ui.scale : 1);
  }
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (const KernelColumn& c : kKernelColumns) {
    ImGui::TableNextColumn();
    const bool text = c.width == 0 || &c == std::end(kKernelColumns) - 1;
    const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(c.name).x;
    if (!text && room > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
    ImGui::TextColored(kPalette.dim, "%s", c.name);
    tooltip(c.about);
  }
  for (const LaunchLog::Entry& e : launches) kernel_row(e, ui);
  ImGui::EndTable();
}

void launch_part(const Results& results, const Ui& ui) {
  const Target target = results.shown->info.target;
  const std::vector<LaunchLog::Entry>* launches = shown_launches(results);
  if (target == Target::cpu) {
    wrapped_text(kPalette.dim, "Runs on the CPU: no grid, no blocks, no occupancy.");
  } else if (!launches) {
    wrapped_text(kPalette.dim, "No launch of it has been recorded for this operation yet.");
  } else if (launches->empty()) {
    wrapped_text(kPalette.dim,
                 "All of its kernels are started inside a library: grid, block, registers and occupancy are "
                 "not known.");
  } else {
    kernels(*launches, ui);
    if (target == Target::emulated)
      wrapped_text(kPalette.dim, "Registers and occupancy are the GPU compiler's: not known when emulated.");
  }
}

}  // namespace

void strategy_details_panel(const Results& results, Ui& ui) {
  if (!results.shown || !results.facts) {
    dim_text("No strategy has run yet.");
    return;
  }
  const StrategyInfo& info = results.shown->info;
  ImGui::PushFont(ui.fonts.bold);
  ImGui::TextColored(kPalette.heading, "%s on %s, %s", info.name.c_str(), to_string(info.target),
                     to_string(info.precision));
  ImGui::PopFont();
  wrapped_text(kPalette.text, info.idea);
  if (!ImGui::BeginTable("parts", 2, ImGuiTableFlags_SizingStretchProp)) return;
  ImGui::TableSetupColumn("facts", 0, 0.42F);
  ImGui::TableSetupColumn("kernels", 0, 0.58F);
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  facts(results, ui);
  ImGui::TableNextColumn();
  launch_part(results, ui);
  ImGui::EndTable();
}

}  // namespace convscope
