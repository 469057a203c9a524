#include "tests/window/driver.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/window/measuring.h"
#include "tests/window/x_window.h"

namespace convscope::test {
namespace {

void pause(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds * busy())); }

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

pid_t start(const std::vector<std::string>& arguments, const std::string& folder, bool without_display) {
  std::vector<std::string> all{CONVSCOPE_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& a : all) argv.push_back(a.data());
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  if (chdir(folder.c_str()) != 0) _exit(126);
  const int errors = open("stderr.txt", O_CREAT | O_WRONLY | O_TRUNC, 0644);
  dup2(errors, 2);
  if (without_display) {
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
  }
  execv(argv[0], argv.data());
  _exit(127);
}

/// The exit code; -1 while it runs on after so many seconds.
int wait_for_end(pid_t pid, double seconds) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < until) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    pause(0.02);
  }
  return -1;
}

}  // namespace

double busy() {
  double load = 0;
  if (getloadavg(&load, 1) != 1) return 1;
  return std::clamp(load / std::max(1U, std::thread::hardware_concurrency()), 1.0, 8.0);
}

std::string shell(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return text;
  char part[256];
  while (fgets(part, sizeof part, pipe)) text += part;
  pclose(pipe);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string temporary_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "convscope-window-XXXXXX").string();
  return mkdtemp(name.data()) ? name : "";
}

Ended run_program(const std::vector<std::string>& arguments, const std::string& folder,
                  bool without_display) {
  const pid_t pid = start(arguments, folder, without_display);
  const int code = wait_for_end(pid, 60);
  if (code == -1) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  return {code, text_of(folder + "/stderr.txt")};
}

Driver::Driver(std::vector<std::string> arguments) : folder_(temporary_folder()) {
  arguments.insert(arguments.end(), {"--state", path("state.json")});
  pid_ = start(arguments, folder_, false);
  const auto until = Clock::now() + std::chrono::seconds(20);
  while (window_.empty() && Clock::now() < until) {
    window_ = shell("xdotool search --all --onlyvisible --pid " + std::to_string(pid_) +
                    " --name ConvScope 2>/dev/null | head -1");
    pause(0.05);
  }
  if (window_.empty()) {
    ADD_FAILURE() << "no window appeared; stderr: " << errors();
    return;
  }
  focus();
  wait_for("the first rest", [](const Json& s) { return !s.is_null(); });
}

Driver::~Driver() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

// with no window manager nobody else gives the window the keyboard
void Driver::focus() { shell("xdotool windowfocus --sync " + window_ + " 2>/dev/null"); }

// Waits for the state that the window writes when it has come to rest again. A stream never does, and what
// takes long to compute comes later.
void Driver::key(const std::string& name) {
  const auto frames = [this] {
    const Json s = state();
    return s.is_null() ? int64_t{0} : s["window"]["frames"].get<int64_t>();
  };
  const int64_t before = frames();
  shell("xdotool key " + name);
  pause(0.05);
  const auto until = Clock::now() + std::chrono::milliseconds(500);
  while (frames() <= before && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

void Driver::open_dialog(const std::string& key_name, const std::string& dialog) {
  key(key_name);
  wait_for("letters taken by \"" + dialog + "\"", [&](const Json& s) { return s["dialog"] == dialog; });
}

// the text that a dialog proposes is selected when it opens
void Driver::fill_in(const std::string& key_name, const std::string& dialog, const std::string& text) {
  open_dialog(key_name, dialog);
  if (!text.empty()) type(text);
  key("Return");
}

void Driver::type(const std::string& text) { shell("xdotool type --delay 25 '" + text + "'"), pause(0.1); }

void Driver::move(int x, int y) {
  shell("xdotool mousemove --window " + window_ + " " + std::to_string(x) + " " + std::to_string(y));
  pause(0.15);
}

// pauses, because the interface sees the pointer and the button once a frame
void Driver::click(int x, int y) {
  move(x, y);
  shell("xdotool mousedown 1");
  pause(0.12);
  shell("xdotool mouseup 1");
  pause(0.12);
}

void Driver::wheel(int x, int y, int up) {
  move(x, y);
  for (int i = 0; i < std::abs(up); ++i) shell(up > 0 ? "xdotool click 4" : "xdotool click 5"), pause(0.05);
}

void Driver::drag(int x, int y, int dx, int dy) {
  move(x, y);
  shell("xdotool mousedown 1");
  pause(0.12);
  move(x + dx / 2, y + dy / 2);
  move(x + dx, y + dy);
  shell("xdotool mouseup 1");
  pause(0.12);
}

void Driver::resize(int width, int height) {
  shell("xdotool windowsize " + window_ + " " + std::to_string(width) + " " + std::to_string(height));
  pause(0.3);
}

void Driver::hide() { shell("xdotool windowunmap " + window_), pause(0.3); }
void Driver::show() { shell("xdotool windowmap " + window_), pause(0.3), focus(); }

void Driver::minimise() { XWindow(window_).minimise(), pause(0.3); }
void Driver::restore() { XWindow(window_).restore(), pause(0.3), focus(); }

uint64_t Driver::picture_on_screen(const Json& state) const {
  const Json &at = state["view"]["position"], &size = state["view"]["size"];
  return XWindow(window_).pixels(at[0], at[1], size[0], size[1]);
}

Json Driver::state() const {
  const Json parsed = Json::parse(text_of(path("state.json")), nullptr, false);
  return parsed.is_discarded() ? Json() : parsed;
}

Json Driver::wait_for(const std::string& what, const std::function<bool(const Json&)>& wanted,
                      double seconds) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  Json last;
  while (Clock::now() < until && running()) {
    last = state();
    if (!last.is_null() && wanted(last)) return last;
    pause(0.03);
  }
  ADD_FAILURE() << "did not come: " << what
                << (running() ? "" : "; the program has ended with " + std::to_string(exit_code_))
                << "\nstderr: " << errors() << "\nlast state: " << last.dump(1).substr(0, 6000);
  return last;
}

bool Driver::running() {
  if (pid_ <= 0) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = -1;
  return false;
}

int Driver::quit() {
  if (!running()) return exit_code_;
  key("ctrl+q");
  const int code = wait_for_end(pid_, 10);
  if (code != -1) pid_ = -1;
  return code;
}

bool Driver::rests(double part) const {
  constexpr double kSeconds = 3;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const double before = cpu_seconds();
    std::this_thread::sleep_for(std::chrono::duration<double>(kSeconds));
    if (cpu_seconds() - before < part * kSeconds) return true;
  }
  return false;
}

double Driver::cpu_seconds() const {
  std::istringstream stat(text_of("/proc/" + std::to_string(pid_) + "/stat"));
  std::string field;
  double ticks = 0;
  for (int i = 1; i <= 15 && stat >> field; ++i) {
    if (i >= 14) ticks += std::stod(field);  // utime, stime
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double Driver::resident_mib() const {
  std::istringstream status(text_of("/proc/" + std::to_string(pid_) + "/status"));
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib / 1024;
  }
  return 0;
}

std::string Driver::errors() const { return text_of(path("stderr.txt")); }

}  // namespace convscope::test
