#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/bench_options.h"
#include "app/settings.h"
#include "kernels/error.h"

namespace convscope {

/// A command line that cannot be understood: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

enum class Command { window, run, list, check, bench, stream };

/// The command line, taken apart. Settings hold the session file, then --set, then the options of their own.
struct CommandLine {
  Command command = Command::window;
  Settings settings;
  // run
  std::string out;
  int64_t frame = 0;  // of a stream
  bool strategy_named = false;  // on the command line
  // stream
  double stream_seconds = 10;
  uint64_t stream_frames = 0;
  std::string stream_json;
  // list, check
  bool json = false, quick = false;
  BenchOptions bench;
  // window
  std::string screenshot, state, session;
  int frames = 0, width = 0, height = 0;
  double ui_scale = 0;
};

/// nullopt where --help or --version has been answered on stdout. Throws UsageError; Error where the session
/// file is at fault.
std::optional<CommandLine> parse_command_line(int argc, char** argv);

}  // namespace convscope
