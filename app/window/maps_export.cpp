#include "app/window/maps_export.h"

#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "app/export.h"
#include "app/npy.h"
#include "kernels/error.h"

namespace convscope {
namespace {

PlaneSet plane_set(const HostMaps& maps) {
  const ConvShape& s = maps.prepared->operation.problem.shape;
  return {maps.values, maps.info.precision, s.n * s.c_out, s.out_h(), s.out_w()};
}

/// `go_on` is called between the files, and ends it by throwing.
std::vector<OutputFile> files_of(const MapsExportRequest& request, const std::function<void()>& go_on) {
  const HostMaps& a = *request.maps;
  const ConvShape& s = a.prepared->operation.problem.shape;
  const int64_t shape[] = {s.n, s.c_out, s.out_h(), s.out_w()};
  const std::vector<std::string>& labels = a.prepared->labels;
  std::vector<OutputFile> files;
  files.push_back({"maps.npy", npy_bytes(a.info.precision, shape, a.values)});
  go_on();
  files.push_back({"maps.png", maps_png(plane_set(a), labels, map_coloring(plane_set(a), request.settings),
                                        maps_title(a))});
  go_on();
  if (request.difference) {
    const DifferenceResult& d = *request.difference;
    files.push_back({"difference.png", difference_png(plane_set(a), plane_set(*d.b), labels,
                                                      d.comparison.max_abs, difference_title(d))});
    go_on();
  }
  files.push_back({"window.json", to_bytes(request.state)});
  return files;
}

}  // namespace

std::string maps_title(const HostMaps& maps) {
  const std::string approximation = approximation_of(*maps.prepared, maps.info);
  return approximation.empty() ? maps.info.id() : maps.info.id() + ", " + approximation;
}

std::string difference_title(const DifferenceResult& d) {
  return fmt::format("{} - {}: max error {:.6g}", maps_title(*d.a), maps_title(*d.b), d.comparison.max_abs);
}

/// One export, on its way.
class MapsExport::Job {
 public:
  Job(MapsExportRequest request, Write write, std::function<void()> wake)
      : request_(std::move(request)), write_(std::move(write)), wake_(std::move(wake)) {}

  void run() {
    std::string words = "exported to " + request_.folder;
    bool failed = false;
    try {
      const std::vector<OutputFile> files = files_of(request_, [this] { check(); });
      write_(request_.folder, files);
    } catch (const std::exception& e) {
      words = e.what();
      failed = true;
    }
    request_ = {};
    const std::lock_guard lock(mutex_);
    words_ = std::move(words);
    failed_ = failed;
    changed_.notify_all();
    if (wake_) wake_();
  }
  bool wait(double seconds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                             [this] { return words_.has_value(); });
  }
  std::optional<std::string> words() const {
    const std::lock_guard lock(mutex_);
    return words_;
  }
  bool failed() const {
    const std::lock_guard lock(mutex_);
    return failed_;
  }
  void give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
  }
  /// Whoever is woken may be gone before a write that hangs comes back.
  void forget_wake() {
    const std::lock_guard lock(mutex_);
    wake_ = nullptr;
  }

 private:
  void check() const {
    const std::lock_guard lock(mutex_);
    if (given_up_) throw Error(request_.folder + ": the export was not finished");
  }

  MapsExportRequest request_;  // the thread's
  const Write write_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> wake_;
  std::optional<std::string> words_;  // when it has ended
  bool failed_ = false, given_up_ = false;
};

MapsExport::MapsExport(std::function<void()> wake, Write write)
    : wake_(std::move(wake)), write_(std::move(write)) {}

MapsExport::~MapsExport() {
  if (!job_) return;
  bool ended = job_->wait(kCloseSeconds);
  if (!ended) {
    job_->give_up();
    ended = job_->wait(kWriteSeconds);
  }
  job_->forget_wake();
  if (!ended || job_->failed())
    fmt::print(stderr, "{}\n", job_->words().value_or("an export was not finished"));
  ended ? thread_.join() : thread_.detach();
}

void MapsExport::start(MapsExportRequest request) {
  if (job_) throw Error(request.folder + ": the export before it is not finished, try again after it");
  job_ = std::make_shared<Job>(std::move(request), write_, wake_);
  thread_ = std::thread([job = job_] { job->run(); });
}

std::optional<std::string> MapsExport::collect() {
  std::optional<std::string> words = job_ ? job_->words() : std::nullopt;
  if (!words) return std::nullopt;
  thread_.join();
  job_ = nullptr;
  return words;
}

}  // namespace convscope
