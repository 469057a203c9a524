#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace convscope {

/// What `convscope bench` was asked for, as text; bench_command() says what is wrong with it.
struct BenchOptions {
  std::vector<std::string> only, strategies;
  std::string target, precision, json;
  int rounds = 25;
  double seconds = 1;
  bool cpu = false, hot = false, streaming = false;
};

CLI::App* add_bench(CLI::App&, BenchOptions&);

}  // namespace convscope
