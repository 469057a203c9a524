#include <fmt/format.h>

#include <cstdio>

#include "app/cli/commands.h"
#include "app/cli/report.h"
#include "app/export.h"
#include "app/files.h"
#include "app/npy.h"
#include "app/operation.h"
#include "app/source.h"

namespace convscope {
namespace {

template <class T>
std::span<const T> values_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

PlaneSet planes_of(const Measured& m, const ConvShape& shape) {
  return {m.output.data(), m.info.precision, shape.n * shape.c_out, shape.out_h(), shape.out_w()};
}

void compare_results(RunResult& r, const std::vector<std::byte>& input) {
  const Operation& op = r.prepared.operation;
  const Precision precision = r.strategy.info.precision;
  std::vector<float> bound(static_cast<std::size_t>(op.problem.shape.output_size()));
  r.permitted = permitted_difference(op.problem, r.strategy.info, r.against.info);
  error_bound_within(r.permitted.reach, op.problem.shape, op.weights, precision, input.data(), bound.data());
  const std::vector<std::byte>&a = r.strategy.output, &b = r.against.output;
  r.comparison =
      precision == Precision::fp64
          ? compare<double>(values_of<double>(a), values_of<double>(b), bound, r.permitted.tolerance)
          : compare<float>(values_of<float>(a), values_of<float>(b), bound, r.permitted.tolerance);
}

std::vector<OutputFile> output_files(const RunResult& r) {
  const ConvShape& shape = r.prepared.operation.problem.shape;
  const PlaneSet a = planes_of(r.strategy, shape), b = planes_of(r.against, shape);
  const std::string approximation = approximation_of(r.prepared, r.strategy.info);
  const std::string title =
      approximation.empty() ? r.strategy.info.id() : r.strategy.info.id() + ", " + approximation;
  const int64_t dimensions[] = {shape.n, shape.c_out, shape.out_h(), shape.out_w()};
  std::vector<OutputFile> files;
  files.push_back({"maps.npy", npy_bytes(a.precision, dimensions, a.data)});
  files.push_back({"maps.png", maps_png(a, r.prepared.labels, map_coloring(a, r.settings), title)});
  const Comparison& c = r.comparison;
  std::string difference_title =
      fmt::format("{} - {}: max error {:.6g}, {}, {} of {} over", title, r.against.info.id(), c.max_abs,
                  bounds_text(c, r.permitted.tolerance), c.over_tolerance, c.count);
  if (c.nonfinite_a + c.nonfinite_b > 0)
    difference_title += fmt::format(", {} and {} not finite", c.nonfinite_a, c.nonfinite_b);
  files.push_back({"difference.png", difference_png(a, b, r.prepared.labels, c.max_abs, difference_title)});
  files.push_back({"run.json", to_bytes(run_json(r))});
  return files;
}

}  // namespace

int run_command(const CommandLine& line) {
  RunResult r;
  r.settings = line.settings;
  const RegistryRow& against = against_row(r.settings);
  chosen_row(r.settings);  // a fault of its own before the source is read
  r.frame =
      open_source(r.settings.source, {.chw = r.settings.chw, .frame = line.frame, .rate = r.settings.rate});
  r.prepared = make_operation(r.settings, *r.frame);
  std::vector<std::byte> input;
  // what was asked for by name is that or nothing
  const ChosenStrategy strategy = line.strategy_named ? ChosenStrategy{&chosen_row(r.settings), {}}
                                                      : chosen_strategy(r.settings, r.prepared.operation);
  r.note = strategy.note;
  r.strategy = measure(*strategy.row, r.prepared.operation, *r.frame, &input);
  r.against = measure(against, r.prepared.operation, *r.frame);
  compare_results(r, input);
  write_files(line.out, output_files(r));
  fmt::print("{}", run_summary(r, line.out));
  return 0;
}

}  // namespace convscope
