#include <cuda_runtime_api.h>

#include "bench/floors.h"
#include "bench/machine_parts.h"
#include "kernels/targets/cuda_check.h"
#include "kernels/targets/cuda_event.h"

namespace convscope::bench {
namespace {

using cuda::check;
using cuda::check_no_throw;

/// A pair of events around what is enqueued.
class EventPair {
 public:
  template <class Enqueue>
  double time_us(const Enqueue& enqueue) {
    start_.record(cuda::stream());
    enqueue();
    stop_.record(cuda::stream());
    stop_.wait();
    return stop_.ms_since(start_) * 1e3;
  }

 private:
  cuda::Event start_, stop_;
};

class StreamBatch final : public Batch {
 public:
  StreamBatch(int count, std::function<void(int)> enqueue) : count_(count), enqueue_(std::move(enqueue)) {}
  double run() override {
    return events_.time_us([&] {
      for (int i = 0; i < count_; ++i) enqueue_(i);
    }) / count_;
  }

 private:
  int count_;
  std::function<void(int)> enqueue_;
  EventPair events_;
};

class GraphBatch final : public Batch {
 public:
  GraphBatch(int count, const std::function<void(int)>& enqueue) : count_(count) {
    check(cudaStreamBeginCapture(cuda::stream(), cudaStreamCaptureModeThreadLocal), "graph capture");
    cudaGraph_t graph = nullptr;
    try {
      for (int i = 0; i < count; ++i) enqueue(i);
    } catch (...) {
      cudaStreamEndCapture(cuda::stream(), &graph);  // the stream must be free for what comes next
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    check(cudaStreamEndCapture(cuda::stream(), &graph), "graph capture");
    const cudaError_t made = cudaGraphInstantiate(&exec_, graph, 0);
    check_no_throw(cudaGraphDestroy(graph), "graph");
    check(made, "graph");
  }
  ~GraphBatch() override { check_no_throw(cudaGraphExecDestroy(exec_), "graph"); }
  double run() override {
    return events_.time_us([&] { check(cudaGraphLaunch(exec_, cuda::stream()), "graph launch"); }) / count_;
  }

 private:
  int count_;
  cudaGraphExec_t exec_ = nullptr;
  EventPair events_;
};

class CudaMachine final : public Machine {
 public:
  Runtime& runtime() override { return *runtime_; }
  std::size_t cache_bytes() const override { return cuda::l2_bytes(); }
  bool has_launches() const override { return true; }

  void copy(void* to, const void* from, std::size_t bytes) override {
    copy_on_device(to, from, bytes, cuda::stream());
  }
  bool vendor_copy(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda::stream()), "cudaMemcpy");
    return true;
  }
  void launch_empty() override { empty_on_device(cuda::stream()); }
  double multiply_add(Precision precision, int64_t steps) override {
    return multiply_add_on_device(precision, steps, cuda::stream());
  }
  void poison(void* data, std::size_t bytes) override {
    check(cudaMemsetAsync(data, 0xff, bytes, cuda::stream()), "poison");
  }

  std::unique_ptr<Batch> batch(int count, std::function<void(int)> enqueue, Submission how) override {
    if (how == Submission::graph) return std::make_unique<GraphBatch>(count, enqueue);
    return std::make_unique<StreamBatch>(count, std::move(enqueue));
  }

 private:
  cuda::ThreadStream stream_;  // before all that uses it
  std::unique_ptr<Runtime> runtime_ = make_runtime(Target::cuda);
};

}  // namespace

std::unique_ptr<Machine> make_cuda_machine() { return std::make_unique<CudaMachine>(); }

}  // namespace convscope::bench
