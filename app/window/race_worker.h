#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "bench/race.h"

namespace convscope {

/// What has become known of a race since it was last asked.
struct RaceReport {
  uint64_t id = 0;
  bench::RaceState state;
  bool ended = false;
  std::string error;  // why nothing could be raced
};

/// A thread on which races run, one at a time. What it reports is of the race asked for last: a new one stops
/// the one before, and nothing of that is handed over any more.
class RaceWorker {
 public:
  /// bench::race(), or a stand-in.
  using Race = std::function<void(const bench::RaceRequest&,
                                  const std::function<void(const bench::RaceState&)>&, std::stop_token)>;

  /// `wake` is called from the worker's thread when there is something to collect.
  RaceWorker(Race, std::function<void()> wake);
  /// Stops the race and waits until it has.
  ~RaceWorker();
  RaceWorker(const RaceWorker&) = delete;
  RaceWorker& operator=(const RaceWorker&) = delete;

  void start(uint64_t id, bench::RaceRequest);
  /// Stops the race; what it measured is kept, and its end is reported.
  void cancel();
  /// The newest report, where there is one that was not collected.
  std::optional<RaceReport> collect();

 private:
  struct Job {
    uint64_t id;
    bench::RaceRequest request;
  };
  void loop();
  void run(const Job&, std::stop_token);
  void report(RaceReport);

  Race race_;
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Job> job_;  // asked for and not begun
  std::stop_source stop_;   // of the race that runs
  uint64_t newest_ = 0;
  std::optional<RaceReport> report_;
  bool quit_ = false;
  std::thread thread_;  // last: starts when everything above exists
};

}  // namespace convscope
