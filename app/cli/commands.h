#pragma once

#include "app/cli/options.h"

namespace convscope {

/// The subcommands; each returns the exit code and throws Error.
int run_command(const CommandLine&);
int list_command(const CommandLine&);
int check_command(const CommandLine&);
int bench_command(const CommandLine&);
int stream_command(const CommandLine&);

}  // namespace convscope
