#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "app/cli/commands.h"
#include "app/image_file.h"
#include "app/live/capture.h"
#include "app/opencv_strategy.h"
#include "app/printable.h"
#ifdef CONVSCOPE_WITH_WINDOW
#include "app/window/window.h"
#endif

namespace convscope {
namespace {

/// oneDNN's threads spin between two layers unless told otherwise, which costs everyone else four times the
/// time. libgomp reads the variable when it is loaded, before main(): hence the program starts itself once
/// more.
void restart_with_passive_threads(char** argv) {
  constexpr const char* kGuard = "CONVSCOPE_RESTARTED";
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv(kGuard)) return;
  ::setenv("OMP_WAIT_POLICY", "passive", 1);
  ::setenv(kGuard, "1", 1);
  ::execv("/proc/self/exe", argv);
  // where /proc is not to be had, slower is better than not at all
}

/// The three standard streams exist, so that no file of ours gets the number of one that was closed. A file
/// that grows past the user's limit is an error to be told, not the end of the program.
void prepare_streams() {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
  if (fd > STDERR_FILENO) ::close(fd);
  std::signal(SIGXFSZ, SIG_IGN);
}

/// Frames and maps come and go on many threads for hours. With glibc's defaults freed megabytes stay in the
/// arena of whichever thread had them, one of up to eight a core: the window grew by 100 MiB within a minute
/// of switching sources.
void keep_memory_flat() {
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // fixed: larger blocks go back when they are freed
  mallopt(M_ARENA_MAX, 4);
}

/// All of this is compiled for x86-64-v3 (cmake/compiler.cmake): an older processor would meet an instruction
/// that it does not know.
bool processor_is_too_old() {
#ifdef __AVX2__
  return !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma");
#else
  return false;
#endif
}

/// What was printed has arrived: a full disk is told when the buffer is written, which is otherwise after
/// main.
void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw Error(std::string("the output cannot be written: ") + std::strerror(errno));
}

void print_fault(const std::string& text) { std::fprintf(stderr, "%s\n", printable(text).c_str()); }

int open_window(const CommandLine& line) {
#ifdef CONVSCOPE_WITH_WINDOW
  WindowOptions options;
  options.settings = line.settings;
  options.screenshot = line.screenshot;
  options.frames = line.frames;
  options.state = line.state;
  options.width = line.width;
  options.height = line.height;
  options.ui_scale = line.ui_scale;
  options.session_path = line.session;
  return run_window(options);
#else
  static_cast<void>(line);
  throw Error("this build has no window (CONVSCOPE_WINDOW=OFF); convscope run works without one");
#endif
}

int run_program(int argc, char** argv) {
  const std::optional<CommandLine> line = parse_command_line(argc, argv);
  if (!line) return 0;
  switch (line->command) {
    case Command::window:
      return open_window(*line);
    case Command::stream:
      return stream_command(*line);
    case Command::run:
      return run_command(*line);
    case Command::list:
      return list_command(*line);
    case Command::check:
      return check_command(*line);
    case Command::bench:
      return bench_command(*line);
  }
  return 1;
}

}  // namespace
}  // namespace convscope

int main(int argc, char** argv) {
  using convscope::print_fault;
  if (convscope::processor_is_too_old()) {
    std::fputs("this processor has no AVX2 or no FMA, which this build needs\n", stderr);
    return 1;
  }
  convscope::restart_with_passive_threads(argv);
  convscope::keep_memory_flat();
  convscope::prepare_streams();
  std::setlocale(LC_ALL, "C");
  convscope::prepare_image_input();
  convscope::prepare_video_input();
  convscope::register_opencv_strategies();
  try {
    const int code = convscope::run_program(argc, argv);
    convscope::flush_output();
    return code;
  } catch (const convscope::UsageError& e) {
    print_fault(e.what());
    return 2;
  } catch (const std::bad_alloc&) {
    print_fault("out of memory");
  } catch (const std::exception& e) {
    print_fault(e.what());
  }
  return 1;
}
