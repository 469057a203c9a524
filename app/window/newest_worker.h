#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace convscope {

/// A thread with a slot for one request: a newer request replaces one that has not begun, so that whoever
/// asks never waits and nothing old is computed for nothing. The body hands over deliveries and may ask
/// whether it is superseded.
template <class Request, class Delivery>
class NewestWorker {
 public:
  class Sink {
   public:
    explicit Sink(NewestWorker& worker) : worker_(worker) {}
    void deliver(Delivery d) { worker_.deliver(std::move(d)); }
    bool superseded() const { return worker_.superseded(); }

   private:
    NewestWorker& worker_;
  };
  using Body = std::function<void(Request&, Sink&)>;

  /// `wake` is called from the worker's thread after each delivery. The body must not throw.
  NewestWorker(Body body, std::function<void()> wake)
      : body_(std::move(body)), wake_(std::move(wake)), thread_([this] { loop(); }) {}
  ~NewestWorker() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  NewestWorker(const NewestWorker&) = delete;
  NewestWorker& operator=(const NewestWorker&) = delete;

  void submit(Request request) {
    {
      const std::lock_guard lock(mutex_);
      request_ = std::move(request);
    }
    changed_.notify_one();
  }

  /// What has been delivered since the last call, oldest first.
  std::vector<Delivery> collect() {
    const std::lock_guard lock(mutex_);
    return std::exchange(deliveries_, {});
  }

  bool busy() const {
    const std::lock_guard lock(mutex_);
    return running_ || request_.has_value();
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stop_ || request_.has_value(); });
      if (stop_) return;
      Request request = std::move(*request_);
      request_.reset();
      running_ = true;
      lock.unlock();
      Sink sink(*this);
      body_(request, sink);
      lock.lock();
      running_ = false;
      lock.unlock();
      wake_();
      lock.lock();
    }
  }
  void deliver(Delivery d) {
    {
      const std::lock_guard lock(mutex_);
      deliveries_.push_back(std::move(d));
    }
    wake_();
  }
  bool superseded() const {
    const std::lock_guard lock(mutex_);
    return stop_ || request_.has_value();
  }

  Body body_;
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Request> request_;
  std::vector<Delivery> deliveries_;
  bool running_ = false, stop_ = false;
  std::thread thread_;  // last: starts when everything above exists
};

}  // namespace convscope
