#include <chrono>
#include <cstring>
#include <fstream>

#include "bench/floors_host.h"
#include "bench/machine.h"
#include "bench/machine_parts.h"
#include "kernels/error.h"

namespace convscope::bench {
namespace {

class HostBatch final : public Batch {
 public:
  HostBatch(int count, std::function<void(int)> enqueue) : count_(count), enqueue_(std::move(enqueue)) {}

  double run() override {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < count_; ++i) enqueue_(i);
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / count_;
  }

 private:
  int count_;
  std::function<void(int)> enqueue_;
};

class HostMachine final : public Machine {
 public:
  Runtime& runtime() override { return *runtime_; }

  std::size_t cache_bytes() const override {
    // sysconf() answers for the whole processor, of which a virtual machine has a part
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
    std::size_t kibibytes = 0;
    return file >> kibibytes && kibibytes > 0 ? kibibytes << 10 : std::size_t{32} << 20;
  }
  bool has_launches() const override { return false; }

  void copy(void* to, const void* from, std::size_t bytes) override { copy_on_host(to, from, bytes); }
  bool vendor_copy(void*, const void*, std::size_t) override { return false; }
  void launch_empty() override {}
  double multiply_add(Precision precision, int64_t steps) override {
    return multiply_add_on_host(precision, steps);
  }
  void poison(void* data, std::size_t bytes) override { std::memset(data, 0xff, bytes); }

  std::unique_ptr<Batch> batch(int count, std::function<void(int)> enqueue, Submission) override {
    return std::make_unique<HostBatch>(count, std::move(enqueue));
  }

 private:
  std::unique_ptr<Runtime> runtime_ = make_runtime(Target::cpu);
};

}  // namespace

std::unique_ptr<Machine> make_machine(Target target) {
  if (target != Target::cuda) return std::make_unique<HostMachine>();
  if (auto why = cuda_unavailable()) throw Error("the cuda target is not available: " + *why);
  return make_cuda_machine();
}

#ifndef CONVSCOPE_WITH_CUDA
std::unique_ptr<Machine> make_cuda_machine() { throw Error("this build has no CUDA"); }
#endif

}  // namespace convscope::bench
