// The program started as a user starts it, in a folder of the test's own.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app_testing.h"

extern char** environ;

namespace convscope::testing {

using Json = nlohmann::json;

struct Outcome {
  int code = -1;
  std::string out, err;
};

class Cli : public ::testing::Test {
 protected:
  /// The program with these arguments, in the test's folder; its output into the file `to` where that is
  /// named.
  Outcome convscope(const std::vector<std::string>& arguments, const std::string& to = "") {
    const std::string out = to.empty() ? folder_ / "stdout.txt" : to, err = folder_ / "stderr.txt";
    std::vector<std::string> all{CONVSCOPE_PROGRAM};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& argument : all) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_addchdir_np(&actions, (folder_ / "").c_str());
    pid_t child = 0;
    const int failed = ::posix_spawn(&child, CONVSCOPE_PROGRAM, &actions, nullptr, argv.data(), environ);
    child_ = child;
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return {-1, "", "cannot be started"};
    int status = 0;
    ::waitpid(child, &status, 0);
    child_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, to.empty() ? read_string(out) : "",
            read_string(err)};
  }

  void write_ones(const std::string& name, const std::string& shape, std::size_t count) {
    write_string(folder_ / name,
                 npy_text("<f4", false, shape, bytes_of_values(std::vector<float>(count, 1.0f))));
  }

  Json run_report() { return Json::parse(read_string(folder_ / "out/run.json")); }

  TemporaryFolder folder_;
  std::atomic<pid_t> child_ = 0;  // while the program runs, for a test that sends it signals
};

}  // namespace convscope::testing
