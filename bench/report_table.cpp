#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/report.h"
#include "bench/statistics.h"

namespace convscope::bench {
namespace {

struct Line {
  const BenchRow* row;
  const Measure* measure;
};

std::vector<Line> lines_of(const WorkloadResult& result, Inputs inputs) {
  std::vector<Line> lines;
  for (const BenchRow& row : result.rows) {
    for (const Measure& measure : row.measures)
      if (measure.inputs == inputs) lines.push_back({&row, &measure});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.measure->time.median_us < b.measure->time.median_us;
  });
  return lines;
}

std::string rate(double giga) {
  if (!(giga > 0) || std::isinf(giga)) return "";
  return fmt::format("{:.{}f}", giga, giga < 10 ? 2 : giga < 100 ? 1 : 0);
}

std::string line_of(const Line& line, int width) {
  const Entry& entry = line.row->entry;
  const Timing& t = line.measure->time;
  const bool floor = line.row->floor;
  return fmt::format("  {} {:<{}}  {:<8} {:>12.2f} {:>12.2f} {:>12.2f} {:>9} {:>7} {:>8} {:>8} {:>5}  {}\n",
                     line.measure->tied_with_fastest ? '=' : ' ', entry.info.name, width,
                     to_string(entry.info.target), t.median_us, t.p10_us, t.p90_us,
                     line.measure->of_copy > 0 ? fmt::format("{:.2f}", line.measure->of_copy) : "",
                     rate(gb_s(entry.cost, t.median_us)), rate(gflop_s(entry.cost, t.median_us)),
                     floor ? "" : fmt::format("{:.3f}", entry.bound_fraction), t.runs, line.measure->limit);
}

std::string table_of_inputs(const WorkloadResult& result, Inputs inputs, int width) {
  const std::vector<Line> lines = lines_of(result, inputs);
  if (lines.empty()) return {};
  std::string sets;
  for (const auto& s : result.sets)
    sets += fmt::format("{}{} on {}", sets.empty() ? "" : ", ", s.count, to_string(s.target));
  std::string text =
      inputs == Inputs::streaming
          ? fmt::format("  streaming: inputs from memory, sets of inputs and outputs: {}\n", sets)
          : "  hot: inputs in the caches as far as they fit\n";
  text += fmt::format("    {:<{}}  {:<8} {:>12} {:>12} {:>12} {:>9} {:>7} {:>8} {:>8} {:>5}  {}\n",
                      "strategy", width, "target", "median us", "p10 us", "p90 us", "x copy", "GB/s",
                      "GFLOP/s", "bounds", "runs", "limited by");
  for (const Line& line : lines) text += line_of(line, width);
  return text;
}

}  // namespace

std::string table_of(const WorkloadResult& result) {
  const ConvShape& s = result.workload.shape;
  std::string text = fmt::format(
      "{} {}: {}\n  {:.2f} MB read and written at least, {} million multiply-adds; {} of {} values checked\n",
      result.workload.name, to_string(result.precision), result.workload.about,
      static_cast<double>(least_bytes(s, result.precision)) * 1e-6, s.multiply_adds() / 1000000,
      result.checked, result.values);
  const bool emulated = std::any_of(result.sets.begin(), result.sets.end(),
                                    [](const auto& s) { return s.target == Target::emulated; });
  if (emulated) text += "  emulated: times of this machine's processor, which say nothing about a GPU\n";
  std::size_t width = 8;
  for (const BenchRow& row : result.rows) width = std::max(width, row.entry.info.name.size());
  for (const Inputs inputs : {Inputs::streaming, Inputs::hot})
    text += table_of_inputs(result, inputs, static_cast<int>(width));
  if (!result.fault.empty()) text += fmt::format("  {}\n", result.fault);
  for (const BenchRow& row : result.rows) {
    if (!row.entry.refused.empty())
      text += fmt::format("    {:<{}}  {:<8} no time: {}\n", row.entry.info.name, width,
                          to_string(row.entry.info.target), row.entry.refused);
  }
  return text + "\n";
}

}  // namespace convscope::bench
