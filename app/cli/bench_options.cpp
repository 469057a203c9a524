#include "app/cli/bench_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "bench/workloads.h"

namespace convscope {
namespace {

std::string bench_help() {
  std::string text = "Workloads:";
  for (const bench::Workload& workload : bench::workloads())
    text += fmt::format("\n  {:<4} {}", workload.name, workload.about);
  return text +
         "\n\nEach row's result is checked against the reference before it is timed; a wrong one has no "
         "time.\n"
         "streaming: each launch has inputs and outputs of its own, which together are eight times the last\n"
         "cache. hot: every launch has the same. On cuda the launches of a round are one graph. fp32, and\n"
         "fp64 for A too, unless --precision says otherwise. Ctrl-C keeps what was measured (exit code 1).\n"
         "In the table, = marks the fastest strategy of a target and those that its noise hides; GB/s and\n"
         "GFLOP/s are of the bytes and multiply-adds that the strategy itself needs.\n\n"
         "Examples:\n"
         "  convscope bench --only A,B --json bench.json\n"
         "  convscope bench --target cpu --only G1 --streaming\n"
         "  convscope bench --cpu --strategies register_tiled,cudnn,onednn";
}

}  // namespace

CLI::App* add_bench(CLI::App& app, BenchOptions& options) {
  CLI::App* bench = app.add_subcommand("bench", "Time the strategies beside a copy of the same bytes");
  bench->add_option("--only", options.only, "Workloads, as in A,B5; all where nothing is said")
      ->type_name("NAME,...")
      ->delimiter(',');
  bench->add_option("--strategies", options.strategies, "Strategies; all where nothing is said")
      ->type_name("NAME,...")
      ->delimiter(',');
  bench->add_option("--target", options.target, "cuda, emulated or cpu; cuda where it is available, else cpu")
      ->type_name("TARGET");
  bench->add_flag("--cpu", options.cpu, "Rows of the cpu target in the same tables")->disable_flag_override();
  bench->add_option("--precision", options.precision, "fp32 or fp64")->type_name("PRECISION");
  bench->add_option("--rounds", options.rounds, "Times of each row, the median of which counts")
      ->check(CLI::Range(1, 10000));
  bench
      ->add_option("--seconds", options.seconds,
                   "Most that the rounds of one row take; a slow row gets fewer")
      ->check(CLI::Validator(  // CLI::Range takes NaN
          [](const std::string& text) {
            double seconds = 0;
            const bool good = CLI::detail::lexical_cast(text, seconds) && seconds >= 0.001 && seconds <= 3600;
            return good ? std::string() : "Value " + text + " not in range 0.001 to 3600";
          },
          "FLOAT in [0.001 - 3600]"));
  bench->add_flag("--streaming", options.streaming, "Only with inputs in memory")->disable_flag_override();
  bench->add_flag("--hot", options.hot, "Only with inputs in the caches")->disable_flag_override();
  bench->add_option("--json", options.json, "Write all figures; what there is so far after each workload")
      ->type_name("FILE");
  bench->footer(bench_help());
  return bench;
}

}  // namespace convscope
