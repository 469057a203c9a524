#include "kernels/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/error.h"

namespace convscope {
namespace {

using Body = std::function<void(int64_t, int64_t)>;

/// Set while a thread runs a body: a nested call must not wait for threads that wait for it.
thread_local bool inside_body = false;

struct InsideBody {
  bool before = std::exchange(inside_body, true);
  ~InsideBody() { inside_body = before; }
};

/// One call of parallel_for; lives on the caller's stack until no thread works on it.
struct Job {
  const Body& body;
  int64_t count, grain;
  std::atomic<int64_t> next_part{0};
  int helpers = 0;                 // pool threads inside work(); guarded by the pool's mutex
  std::exception_ptr exception{};  // the first; guarded by the pool's mutex

  int64_t parts() const { return (count - 1) / grain + 1; }
  bool open() const { return next_part.load(std::memory_order_relaxed) < parts(); }
  void close() { next_part.store(parts(), std::memory_order_relaxed); }
};

class Pool {
 public:
  explicit Pool(int helpers) {
    threads_.reserve(static_cast<std::size_t>(helpers));
    for (int i = 0; i < helpers; ++i) threads_.emplace_back([this] { help(); });
  }

  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(Job& job) {
    std::list<Job*> link{&job};
    {
      std::lock_guard lock(mutex_);
      jobs_.splice(jobs_.end(), link);
    }
    wake_.notify_all();
    work(job);
    std::unique_lock lock(mutex_);
    jobs_.remove(&job);
    done_.wait(lock, [&] { return job.helpers == 0; });
    if (job.exception) std::rethrow_exception(job.exception);
  }

 private:
  void work(Job& job) {
    const InsideBody inside;
    try {
      const int64_t parts = job.parts();
      for (int64_t part; (part = job.next_part.fetch_add(1, std::memory_order_relaxed)) < parts;) {
        const int64_t begin = part * job.grain;
        job.body(begin, begin + std::min(job.grain, job.count - begin));
      }
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!job.exception) job.exception = std::current_exception();
      job.close();
    }
  }

  void help() {
    std::unique_lock lock(mutex_);
    while (true) {
      // Looked for once a wake-up: threads take parts without the mutex, so that a job may close between two looks.
      auto found = jobs_.end();
      wake_.wait(lock, [&] {
        found = std::find_if(jobs_.begin(), jobs_.end(), [](Job* j) { return j->open(); });
        return stopping_ || found != jobs_.end();
      });
      if (stopping_) return;
      Job& job = **found;
      ++job.helpers;
      lock.unlock();
      work(job);
      lock.lock();
      if (--job.helpers == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::list<Job*> jobs_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

int read_thread_count() {
  const char* variable = std::getenv("CONVSCOPE_THREADS");
  if (!variable || !*variable) return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const std::string_view text = variable;
  int count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (fault != std::errc{} || end != text.data() + text.size() || count < 1 || count > 1024)
    throw Error(fmt::format("CONVSCOPE_THREADS is '{}', expected a number from 1 to 1024", text));
  return count;
}

}  // namespace

int thread_count() {
  static const int count = read_thread_count();
  return count;
}

void parallel_for(int64_t count, int64_t grain, const Body& body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(1, grain);
  if (inside_body || count <= grain || thread_count() == 1) {
    const InsideBody inside;
    for (int64_t begin = 0; begin < count; begin += std::min(grain, count - begin))
      body(begin, begin + std::min(grain, count - begin));
    return;
  }
  static Pool pool(thread_count() - 1);  // started once: starting threads costs more than a small convolution
  Job job{body, count, grain};
  pool.run(job);
}

}  // namespace convscope
