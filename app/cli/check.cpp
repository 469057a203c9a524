// Every available row of the registry against the reference. Outputs hold NaN before the run that counts, so
// that a value that was not written is a fault.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/random.h"
#include "kernels/chain.h"
#include "kernels/compare.h"

namespace convscope {
namespace {

struct Case {
  ConvShape shape;
  Activation activation = Activation::none;
  Rounding rounding = Rounding::fused;
  bool nan_input = false;
};

std::vector<Case> cases(bool quick) {
  //                      n  c   h   w  out kh kw stride  pad    dilation
  std::vector<Case> all{
      {{1, 1, 1, 1, 1, 1, 1, {1, 1}, {0, 0}, {1, 1}}},
      {{1, 1, 4, 3, 1, 3, 3, {1, 1}, {1, 1}, {1, 1}}},
      {{1, 3, 13, 12, 7, 5, 5, {2, 2}, {2, 2}, {1, 1}}},
      {{2, 3, 17, 33, 16, 3, 3, {2, 3}, {1, 0}, {1, 1}}, Activation::relu},
      {{1, 3, 33, 17, 16, 3, 3, {1, 1}, {2, 2}, {2, 2}}, Activation::none, Rounding::separate},
      {{1, 5, 23, 31, 3, 1, 7, {1, 1}, {0, 3}, {1, 1}}, Activation::tanh},
      {{1, 3, 32, 32, 4, 3, 3, {1, 1}, {1, 1}, {1, 1}}, Activation::none, Rounding::fused, true}};
  if (quick) return all;
  all.insert(all.end(),
             {{{1, 3, 97, 61, 16, 7, 1, {1, 1}, {3, 0}, {1, 1}}, Activation::sigmoid},
              {{3, 2, 41, 29, 5, 2, 2, {1, 1}, {1, 1}, {1, 1}}, Activation::none, Rounding::separate},
              {{1, 1, 64, 64, 1, 31, 31, {1, 1}, {15, 15}, {1, 1}}},
              {{1, 1, 70, 90, 2, 5, 3, {3, 2}, {4, 6}, {3, 4}}},
              {{1, 3, 123, 144, 16, 3, 3, {1, 1}, {1, 1}, {1, 1}}},
              {{1, 16, 40, 50, 64, 3, 3, {1, 1}, {1, 1}, {1, 1}}},
              {{1, 1, 70001, 1, 1, 3, 1, {1, 1}, {1, 0}, {1, 1}}},
              {{1, 1, 1, 70001, 1, 1, 3, {1, 1}, {0, 1}, {1, 1}}},
              {{1, 3, 270, 480, 16, 3, 3, {2, 2}, {0, 0}, {1, 1}}},
              {{2, 3, 21, 19, 4, 5, 5, {1, 1}, {2, 2}, {1, 1}}, Activation::relu, Rounding::separate, true}});
  return all;
}

/// Planes and weights of a case, the same on every machine.
struct Problem {
  Operation operation;
  std::vector<std::byte> pixels;
};

template <class T>
Problem make_problem(const Case& c, uint64_t seed) {
  const ConvShape& s = c.shape;
  SplitMix64 random(seed);
  const auto value = [&] { return static_cast<double>(static_cast<float>(2 * random.uniform() - 1)); };
  Problem out;
  std::vector<T> pixels(static_cast<std::size_t>(s.input_size()));
  for (T& p : pixels) p = static_cast<T>(value());
  if (c.nan_input) {
    pixels[pixels.size() / 3] = std::numeric_limits<T>::quiet_NaN();
    pixels[pixels.size() / 2] = std::numeric_limits<T>::infinity();
  }
  const auto bytes = std::as_bytes(std::span(pixels));
  out.pixels.assign(bytes.begin(), bytes.end());
  const int channels = static_cast<int>(s.c_in);
  out.operation.pixels = {.type = sizeof(T) == 8 ? PixelType::f64 : PixelType::f32,
                          .w = s.w,
                          .h = s.h,
                          .channels = channels,
                          .planes = channels,
                          .planar = true};
  out.operation.problem = {s, c.activation, c.rounding};
  out.operation.weights = {s.c_out, s.c_in, s.k_h, s.k_w, {}, {}};
  for (int64_t i = 0; i < s.weight_size(); ++i) out.operation.weights.values.push_back(value());
  for (int64_t i = 0; i < s.c_out; ++i) out.operation.weights.bias.push_back(value());
  return out;
}

/// Runtime and chain of a target, kept over all cases.
struct Machine {
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Chain> chain;
};

class Machines {
 public:
  Machine& of(Target target) {
    Machine& machine = machines_[target == Target::cuda];
    if (!machine.runtime) {
      machine.runtime = make_runtime(target);
      machine.chain = std::make_unique<Chain>(*machine.runtime);
    }
    return machine;
  }

 private:
  Machine machines_[2];
};

template <class T>
std::vector<T> run_poisoned(Machine& machine, const RegistryRow& row, const Problem& problem) {
  machine.chain->set(row, problem.operation);
  machine.chain->run(1, problem.pixels.data());
  std::vector<T> out(static_cast<std::size_t>(problem.operation.problem.shape.output_size()),
                     std::numeric_limits<T>::quiet_NaN());
  const std::size_t bytes = out.size() * sizeof(T);
  machine.runtime->upload(const_cast<void*>(machine.chain->output()), out.data(), bytes);
  machine.chain->run(2, problem.pixels.data());
  machine.runtime->download(out.data(), machine.chain->output(), bytes);
  machine.runtime->synchronise();
  machine.runtime->stages().collect();
  return out;
}

/// What became of one row over all cases.
struct RowReport {
  const RegistryRow* row = nullptr;
  int cases = 0, refusals = 0;
  double worst_fraction = 0;
  std::vector<std::string> faults;
};

/// The error bounds of a problem, made once for each reach that a strategy asks for.
template <class T>
class Bounds {
 public:
  explicit Bounds(const Problem& problem) : problem_(problem) {}
  std::span<const float> within(int64_t reach) {
    std::vector<float>& bound = of_reach_[reach];
    if (bound.empty()) {
      const Operation& o = problem_.operation;
      bound.resize(static_cast<std::size_t>(o.problem.shape.output_size()));
      error_bound_within(reach, o.problem.shape, o.weights,
                         sizeof(T) == 8 ? Precision::fp64 : Precision::fp32, problem_.pixels.data(),
                         bound.data());
    }
    return bound;
  }

 private:
  const Problem& problem_;
  std::map<int64_t, std::vector<float>> of_reach_;
};

/// A strategy that transforms tiles spreads NaN and Inf within its reach, where the bound is not finite: what
/// it has there is taken as right, but a value that the reference has not finite must not be finite either.
template <class T>
void forgive_spread(std::vector<T>& found, std::span<const T> expected, std::span<const float> bound) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isfinite(bound[i]) || (std::isfinite(found[i]) && !std::isfinite(expected[i]))) continue;
    found[i] = expected[i];
  }
}

template <class T>
void check_row(const Case& c, const Problem& problem, std::span<const T> expected, Bounds<T>& bounds,
               Machines& machines, RowReport& report) {
  ++report.cases;
  const std::string where = fmt::format("{} {} {}{}", describe(c.shape), to_string(c.activation),
                                        to_string(c.rounding), c.nan_input ? " with NaN and Inf" : "");
  try {
    const auto strategy = report.row->make();
    if (strategy->refuses(problem.operation.problem, problem.operation.weights)) {
      ++report.refusals;
      return;
    }
    std::vector<T> found = run_poisoned<T>(machines.of(report.row->info.target), *report.row, problem);
    // four more roundings for the reference's own, sigmoid and tanh
    const Tolerance tolerance{c.activation == Activation::none ? 0 : 4.0 * std::numeric_limits<T>::epsilon(),
                              strategy->error_bounds(problem.operation.problem)};
    const int64_t reach = strategy->error_reach(problem.operation.problem);
    const std::span<const float> bound = bounds.within(reach);
    if (c.nan_input && reach > 0) forgive_spread<T>(found, expected, bound);
    const Comparison result = compare<T>(found, expected, bound, tolerance);
    if (!c.nan_input) report.worst_fraction = std::max(report.worst_fraction, result.max_bound_fraction);
    // non-finite values count as over tolerance; here they must be where the reference has them, and only
    // there
    const bool good = c.nan_input
                          ? result.nonfinite_mismatch == 0 && result.over_tolerance == result.nonfinite_b
                          : result.pass;
    if (!good)
      report.faults.push_back(
          fmt::format("{}: {} of {} over tolerance, max error {:.3g}, {} not finite, {} unlike", where,
                      result.over_tolerance, result.count, result.max_abs, result.nonfinite_a,
                      result.nonfinite_mismatch));
  } catch (const Error& e) {
    report.faults.push_back(fmt::format("{}: {}", where, e.what()));
  }
}

template <class T>
void check_precision(const std::vector<Case>& all, Precision precision, Machines& machines,
                     std::vector<RowReport>& reports) {
  const RegistryRow* reference = find_strategy("reference", Target::cpu, precision);
  if (!reference) throw Error(fmt::format("there is no reference in {}", to_string(precision)));
  uint64_t seed = 0;
  for (const Case& c : all) {
    const Problem problem = make_problem<T>(c, ++seed);
    Machine& host = machines.of(Target::cpu);
    const std::vector<T> expected = run_poisoned<T>(host, *reference, problem);
    Bounds<T> bounds(problem);
    for (RowReport& report : reports) {
      if (report.row->info.precision == precision)
        check_row<T>(c, problem, expected, bounds, machines, report);
    }
  }
}

void print_reports(const std::vector<RowReport>& reports, bool json) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const RowReport& r : reports) {
    const StrategyInfo& info = r.row->info;
    if (json) {
      rows.push_back({{"name", info.name},
                      {"target", to_string(info.target)},
                      {"precision", to_string(info.precision)},
                      {"cases", r.cases},
                      {"refusals", r.refusals},
                      {"worst_bound_fraction", r.worst_fraction},
                      {"faults", r.faults}});
      continue;
    }
    fmt::print("{:<32} {:>3} cases, {:>2} refused, worst {:.3f} of the error bound: {}\n", info.id(), r.cases,
               r.refusals, r.worst_fraction, r.faults.empty() ? "good" : "FAULT");
    for (const std::string& fault : r.faults) fmt::print("    {}\n", fault);
  }
  if (json) fmt::print("{}\n", rows.dump(2));
}

}  // namespace

int check_command(const CommandLine& line) {
  std::vector<RowReport> reports;
  for (const RegistryRow& row : registry()) {
    const auto reason = unavailable(row.info);
    if (!reason) reports.emplace_back().row = &row;
    if (reason && !line.json) fmt::print("{:<32} skipped: {}\n", row.info.id(), *reason);
  }
  Machines machines;
  const std::vector<Case> all = cases(line.quick);
  check_precision<float>(all, Precision::fp32, machines, reports);
  check_precision<double>(all, Precision::fp64, machines, reports);
  print_reports(reports, line.json);
  const bool good =
      std::all_of(reports.begin(), reports.end(), [](const RowReport& r) { return r.faults.empty(); });
  return good ? 0 : 1;
}

}  // namespace convscope
