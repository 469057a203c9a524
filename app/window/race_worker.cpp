#include "app/window/race_worker.h"

#include <exception>
#include <utility>

namespace convscope {

RaceWorker::RaceWorker(Race race, std::function<void()> wake)
    : race_(std::move(race)), wake_(std::move(wake)), thread_([this] { loop(); }) {}

RaceWorker::~RaceWorker() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
    stop_.request_stop();
  }
  changed_.notify_one();
  thread_.join();
}

void RaceWorker::start(uint64_t id, bench::RaceRequest request) {
  {
    const std::lock_guard lock(mutex_);
    job_ = Job{id, std::move(request)};
    newest_ = id;
    report_.reset();
    stop_.request_stop();
  }
  changed_.notify_one();
}

void RaceWorker::cancel() {
  const std::lock_guard lock(mutex_);
  if (job_) {
    report_ = RaceReport{job_->id, {}, true, {}};
    job_.reset();
  }
  stop_.request_stop();
}

std::optional<RaceReport> RaceWorker::collect() {
  const std::lock_guard lock(mutex_);
  return std::exchange(report_, std::nullopt);
}

void RaceWorker::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return quit_ || job_.has_value(); });
    if (quit_) return;
    const Job job = std::move(*job_);
    job_.reset();
    stop_ = std::stop_source();
    const std::stop_token token = stop_.get_token();
    lock.unlock();
    run(job, token);
    lock.lock();
  }
}

void RaceWorker::run(const Job& job, std::stop_token token) {
  bench::RaceState last;
  std::string error;
  try {
    race_(
        job.request,
        [&](const bench::RaceState& state) {
          last = state;
          report({job.id, state, false, {}});
        },
        std::move(token));
  } catch (const std::exception& e) {
    error = e.what();
  }
  report({job.id, std::move(last), true, std::move(error)});
}

void RaceWorker::report(RaceReport r) {
  {
    const std::lock_guard lock(mutex_);
    if (r.id != newest_) return;
    report_ = std::move(r);
  }
  wake_();
}

}  // namespace convscope
