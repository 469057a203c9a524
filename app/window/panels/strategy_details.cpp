#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <span>

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
  ImGui::TableNextColumn();  // begins a row after the last one
  ImGui::TextColored(kPalette.dim, "%s", name);
  tooltip(about);
  ImGui::TableNextColumn();
  if (!value.empty()) ImGui::TextUnformatted(value.c_str());
  if (note.empty()) return;
  if (!value.empty()) ImGui::SameLine(0, ImGui::GetFontSize() / 2);
  wrapped_text(kPalette.dim, note);
}

std::string limit_words(const Results& results) {
  if (const bench::Entry* raced = raced_entry(results); raced && !raced->limit.empty()) return raced->limit;
  return results.race.running ? "known when it has been raced" : "not known before a race (F7)";
}

/// In so many pairs of name and value side by side.
void facts(const Results& results, const Ui& ui, int pairs) {
  if (!ImGui::BeginTable("facts", 2 * pairs, ImGuiTableFlags_SizingFixedFit)) return;
  for (int i = 0; i < pairs; ++i) {
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, 152 * ui.scale);
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
  }
  const ShownFacts& f = *results.facts;
  const auto outputs = static_cast<double>(results.shown->shape().output_size());
  fact("bytes per output", fmt::format("{:.4g} B", f.cost.bytes / outputs),
       fmt::format("{} in all", bytes_text(f.cost.bytes)),
       "Read from and written to main memory by its algorithm, for each output value");
  const auto taps = static_cast<double>(results.shown->shape().taps());
  const bool others = std::abs(f.cost.multiply_adds / outputs - taps) > 1e-3 * taps;
  const std::string own_sum = others ? fmt::format("; the sum itself has {:.0f}", taps) : "";
  fact("multiply-adds per output", fmt::format("{:.4g}", f.cost.multiply_adds / outputs),
       fmt::format("{} in all{}", count_text(f.cost.multiply_adds), own_sum),
       "Carried out by its algorithm, transforms included, for each output value");
  fact("kernels started", fmt::format("{:.0f}", f.cost.launches), "", "For one frame");
  fact("may be off by", fmt::format("{:.3g}", f.error_bounds),
       f.error_bounds == 1 ? "error bound: it only adds products" : "error bounds: it computes other sums",
       "Error bounds n eps (sum |w||x| + |bias|) that its result may be from the exact one");
  fact("limited by", "", limit_words(results), "From the times of a race");
  if (!f.cost.note.empty()) fact("counted", "", f.cost.note, "How bytes and multiply-adds were counted");
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
    mono_right(ui, text);
  };
  cell(extent_text(r.grid));
  cell(extent_text(r.block));
  cell(bytes_text(static_cast<double>(r.shared_bytes)));
  if (!r.compiled) return;
  cell(fmt::format("{}", r.compiled->registers));
  cell(fmt::format("{} B", r.compiled->local_bytes));
  cell(fmt::format("{:.0f} %", 100 * r.compiled->occupancy));
  tooltip(fmt::format("{} blocks an SM", r.compiled->blocks_per_sm));
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(r.compiled->limited_by.c_str());
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

constexpr std::size_t kLaunchColumns = 4;  // the others are what the GPU's compiler made of it

bool compiled(const std::vector<LaunchLog::Entry>& launches) {
  return std::any_of(launches.begin(), launches.end(),
                     [](const LaunchLog::Entry& e) { return e.record.compiled.has_value(); });
}

void kernels(const std::vector<LaunchLog::Entry>& launches, const Ui& ui) {
  const std::span columns(kKernelColumns, compiled(launches) ? std::size(kKernelColumns) : kLaunchColumns);
  if (!ImGui::BeginTable("kernels", static_cast<int>(columns.size()),
                         ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg))
    return;
  for (const KernelColumn& c : columns) {
    ImGui::TableSetupColumn(
        c.name, c.width > 0 ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch,
        c.width > 0 ? c.width * ui.scale : 1);
  }
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (const KernelColumn& c : columns) {
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
  // the full table of kernels needs a line of its own in a small window
  const std::vector<LaunchLog::Entry>* launches = shown_launches(results);
  if (launches && compiled(*launches) && ImGui::GetContentRegionAvail().x < 1100 * ui.scale) {
    launch_part(results, ui);
    facts(results, ui, 2);
    return;
  }
  if (!ImGui::BeginTable("parts", 2, ImGuiTableFlags_SizingStretchProp)) return;
  ImGui::TableSetupColumn("facts", 0, 0.42F);
  ImGui::TableSetupColumn("kernels", 0, 0.58F);
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  facts(results, ui, 1);
  ImGui::TableNextColumn();
  launch_part(results, ui);
  ImGui::EndTable();
}

}  // namespace convscope
