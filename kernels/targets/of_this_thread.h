#pragma once
// What two threads must not use at once, such as a library's handle.

#include <mutex>
#include <vector>

namespace convscope::cuda {

/// A T that the calling thread alone has until it ends; the next thread then takes it over, so that there are
/// as many as threads at one time. Never destroyed: CUDA may be gone before static objects are.
template <class T>
T& of_this_thread() {
  struct Idle {
    std::mutex mutex;
    std::vector<T*> items;

    T* take() {
      const std::lock_guard lock(mutex);
      if (items.empty()) return nullptr;
      T* const item = items.back();
      items.pop_back();
      return item;
    }
    void give_back(T* item) {
      const std::lock_guard lock(mutex);
      items.push_back(item);
    }
  };
  static Idle& idle = *new Idle;
  struct Lease {
    T* item = idle.take();
    Lease() {
      if (item == nullptr) item = new T;
    }
    ~Lease() { idle.give_back(item); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
  };
  thread_local Lease lease;
  return *lease.item;
}

}  // namespace convscope::cuda
