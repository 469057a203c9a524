#include "kernels/targets/emulated.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstdlib>
#include <exception>
#include <memory>

#include "kernels/launch_log.h"
#include "kernels/targets/host_runtime.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace convscope::emulated {

constinit thread_local ThreadState thread_state{};

namespace {

// A kernel's frame is small; the sanitizers' red zones are not.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStackBytes = 512 * 1024;
#else
constexpr std::size_t kStackBytes = 64 * 1024;
#endif

// One side of a change of stacks. AddressSanitizer must be told of each; otherwise nothing is to be done.
struct StackSwitch {
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  void leave(const void* bottom, std::size_t size) {
    __sanitizer_start_switch_fiber(&fake_stack, bottom, size);
  }
  void leave_for_ever(const void* bottom, std::size_t size) {
    __sanitizer_start_switch_fiber(nullptr, bottom, size);
  }
  void arrive(const void** bottom, std::size_t* size) {
    __sanitizer_finish_switch_fiber(fake_stack, bottom, size);
  }
#else
  void leave(const void*, std::size_t) {}
  void leave_for_ever(const void*, std::size_t) {}
  void arrive(const void**, std::size_t*) {}
#endif
};

struct Launch {
  const char* name = "";
  void (*call)(const void*) = nullptr;
  const void* arguments = nullptr;
};

struct Abandoned {};  // thrown into threads that still wait at a barrier when their block has failed

}  // namespace

/// Runs blocks on one CPU thread. A fiber runs thread after thread until one waits at a barrier; it then
/// stays with that thread, and another fiber goes on with the next. A kernel without barriers thus costs one
/// plain loop.
class BlockRunner {
 public:
  ~BlockRunner() {
    stopping_ = true;
    for (auto& fiber : fibers_) resume(*fiber);
  }

  void run_block(const Launch& launch, std::size_t shared_bytes) {
    launch_ = launch;
    if (shared_.size() < shared_bytes) shared_.resize(shared_bytes);
    std::fill_n(shared_.begin(), shared_bytes, std::byte{0xff});
    thread_state.shared = shared_.data();
    thread_state.runner = this;
    next_ = {0, 0, 0};
    started_all_ = false;
    failure_ = nullptr;
    std::size_t waiting = 0;
    while (!started_all_ && !failure_) {
      if (waiting == fibers_.size() && !add_fiber()) break;
      resume(*fibers_[waiting]);
      if (fibers_[waiting]->waiting) ++waiting;
    }
    pass_barriers(waiting);
    if (failure_) std::rethrow_exception(failure_);
  }

  void wait_at_barrier() {
    Fiber& self = *current_;
    self.thread = thread_state.thread;
    self.waiting = true;
    yield(self);
    if (failure_) throw Abandoned{};
    thread_state.thread = self.thread;
  }

 private:
  struct Fiber {
    boost::context::fiber context, scheduler;
    StackSwitch stack_switch;
    const void* bottom = nullptr;
    std::size_t size = 0;
    ThreadState::Index thread{};
    bool waiting = false;
  };

  // Each round lets every waiting thread run to its next barrier or its end; all must take the same way.
  void pass_barriers(std::size_t waiting) {
    const auto dim = thread_state.block_dim;
    const std::size_t threads = std::size_t{dim.x} * dim.y * dim.z;
    const std::size_t fibers = waiting;
    while (waiting > 0) {
      if (waiting != threads && !failure_) {
        failure_ = std::make_exception_ptr(
            Error(std::string(launch_.name) +
                  ": some threads of a block wait at a barrier that the others never reach"));
      }
      waiting = 0;
      for (std::size_t i = 0; i < fibers; ++i) {
        if (!fibers_[i]->waiting) continue;
        fibers_[i]->waiting = false;
        resume(*fibers_[i]);
        waiting += fibers_[i]->waiting ? 1 : 0;
      }
    }
  }

  /// Where there is no stack left, the block fails as a whole: its waiting threads must not outlive it.
  bool add_fiber() {
    try {
      fibers_.push_back(make_fiber());
      return true;
    } catch (const std::exception&) {
      failure_ = std::make_exception_ptr(
          Error(std::string(launch_.name) + ": there is no memory for the stack of another waiting thread"));
      return false;
    }
  }

  std::unique_ptr<Fiber> make_fiber() {
    auto fiber = std::make_unique<Fiber>();
    Fiber* f = fiber.get();
    boost::context::protected_fixedsize_stack stacks(kStackBytes);
    const auto stack = stacks.allocate();
    f->size = stack.size;
    f->bottom = static_cast<const char*>(stack.sp) - stack.size;
    const boost::context::preallocated place(stack.sp, stack.size, stack);
    f->context = boost::context::fiber(std::allocator_arg, place, stacks,
                                       [this, f](boost::context::fiber&& scheduler) {
                                         f->scheduler = std::move(scheduler);
                                         f->stack_switch.arrive(&scheduler_bottom_, &scheduler_size_);
                                         while (!stopping_) {
                                           start_threads();
                                           yield(*f);
                                         }
                                         f->stack_switch.leave_for_ever(scheduler_bottom_, scheduler_size_);
                                         return std::move(f->scheduler);
                                       });
    return fiber;
  }

  // Runs those threads of the block that have not started, until all have.
  void start_threads() {
    const auto dim = thread_state.block_dim;
    while (!started_all_ && !failure_) {
      thread_state.thread = next_;
      if (++next_.x == dim.x) {
        next_.x = 0;
        if (++next_.y == dim.y) {
          next_.y = 0;
          started_all_ = ++next_.z == dim.z;
        }
      }
      try {
        launch_.call(launch_.arguments);
      } catch (const Abandoned&) {
        return;
      } catch (const std::exception&) {
        failure_ = std::current_exception();
      }
    }
  }

  void resume(Fiber& fiber) {
    current_ = &fiber;
    StackSwitch here;
    here.leave(fiber.bottom, fiber.size);
    fiber.context = std::move(fiber.context).resume();
    here.arrive(nullptr, nullptr);
  }

  void yield(Fiber& self) {
    self.stack_switch.leave(scheduler_bottom_, scheduler_size_);
    self.scheduler = std::move(self.scheduler).resume();
    self.stack_switch.arrive(&scheduler_bottom_, &scheduler_size_);
  }

  Launch launch_;
  std::vector<std::byte> shared_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* current_ = nullptr;
  ThreadState::Index next_{};
  bool started_all_ = false, stopping_ = false;
  std::exception_ptr failure_;
  const void* scheduler_bottom_ = nullptr;
  std::size_t scheduler_size_ = 0;
};

void __syncthreads() { thread_state.runner->wait_at_barrier(); }

void run_grid(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, void (*call)(const void*),
              const void* arguments) {
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > 1024 || shared_bytes > max_shared_bytes() || grid.y > 65535 ||
      grid.z > 65535 || grid.x == 0 || grid.y == 0 || grid.z == 0) {
    throw Error(std::string(name) + ": invalid launch configuration");
  }
  if (LaunchLog* const log = LaunchLog::current()) {
    log->add({name, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes, std::nullopt});
  }
  const Launch launch{name, call, arguments};
  const int64_t blocks = int64_t{grid.x} * grid.y * grid.z;
  // Parts small enough that all CPU threads finish together, large enough that taking one costs nothing.
  const int64_t grain = std::clamp<int64_t>(blocks / (8 * thread_count()), 1, 4096);
  parallel_for(blocks, grain, [&](int64_t begin, int64_t end) {
    thread_local BlockRunner runner;
    thread_state.block_dim = {block.x, block.y, block.z};
    thread_state.grid_dim = {grid.x, grid.y, grid.z};
    for (int64_t b = begin; b < end; ++b) {
      const int64_t row = b / grid.x;
      thread_state.block = {static_cast<unsigned>(b % grid.x), static_cast<unsigned>(row % grid.y),
                            static_cast<unsigned>(row / grid.y)};
      runner.run_block(launch, shared_bytes);
    }
  });
}

DeviceMemory::DeviceMemory(std::size_t bytes) {
  if (bytes == 0) return;
  check_available(bytes);
  constexpr std::size_t kAlignment = 256;  // as cudaMalloc has it
  data_ = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (data_ == nullptr) throw Error("needs " + readable_bytes(bytes) + " of memory, which is not to be had");
}

DeviceMemory::~DeviceMemory() { std::free(data_); }

}  // namespace convscope::emulated
