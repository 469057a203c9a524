#include <fmt/core.h>

#include <atomic>
#include <mutex>

#include "kernels/error.h"
#include "kernels/runtime.h"
#include "kernels/stages/stages.h"
#include "kernels/targets/cuda_check.h"
#include "kernels/targets/cuda_event.h"
#include "kernels/targets/cuda_memory.h"
#include "kernels/targets/cuda_stages.h"
#include "kernels/targets/cuda_status.h"
#include "kernels/targets/cuda_uploads.h"
#include "kernels/targets/host_runtime.h"

namespace convscope::cuda {
namespace {

std::atomic<const char*> current_stage{"start"};

/// What the user reads about an error; marks the device lost where CUDA cannot clear it.
std::string report(cudaError_t error, const char* what) {
  cudaGetLastError();  // a clearable error must not be found by the next call
  std::string text =
      fmt::format("CUDA: {}: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error));
  // An error that poisons the context is returned by every later call. While a graph is recorded, so are
  // others.
  if (!recording_graph() && cudaFree(nullptr) != cudaSuccess) {
    text += fmt::format("; last stage: {}; the device is lost to this program until it is started again",
                        current_stage.load());
    mark_cuda_lost(text);
  }
  return text;
}

std::size_t device_attribute(cudaDeviceAttr attribute, const char* what) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, 0), what);
  return static_cast<std::size_t>(value);
}

}  // namespace

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw Error(report(error, what));
}

void check_no_throw(cudaError_t error, const char* what) noexcept {
  if (error == cudaSuccess || error == cudaErrorCudartUnloading) return;
  if (cuda_unavailable()) return;  // said already, when the device was lost
  try {
    fmt::print(stderr, "{}\n", report(error, what));
  } catch (...) {
  }
}

void set_current_stage(const char* name) { current_stage = name; }

std::size_t max_shared_bytes() {
  static const std::size_t bytes =
      device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, "shared memory per block");
  return bytes;
}

void raise_shared_bytes(const void* kernel, std::size_t bytes) {
  static std::mutex mutex;  // of two threads neither undoes what the other has asked for
  const std::lock_guard lock(mutex);
  cudaFuncAttributes now{};
  check(cudaFuncGetAttributes(&now, kernel), "shared memory of a kernel");
  if (static_cast<std::size_t>(now.maxDynamicSharedSizeBytes) >= bytes) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "shared memory opt-in");
}

std::size_t l2_bytes() {
  static const std::size_t bytes = device_attribute(cudaDevAttrL2CacheSize, "L2 size");
  return bytes;
}

DeviceMemory::DeviceMemory(std::size_t bytes) {
  if (bytes == 0) return;
  const cudaError_t error = cudaMalloc(&data_, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "free memory");
    throw Error(
        fmt::format("needs {} of device memory, {} are free", readable_bytes(bytes), readable_bytes(free)));
  }
  check(error, "device memory");
}

DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) check_no_throw(cudaFree(data_), "free of device memory");
}

namespace {

class CudaMarker final : public Marker {
 public:
  void record() override { event_.record(stream()); }
  bool passed() override { return event_.done(); }
  void wait() override { event_.wait(); }

 private:
  Event event_{false};
};

/// Page-locks the memory of others; null where the driver refuses (a page of it is locked already, or there
/// is no more to lock), after which it is copied like any other.
std::shared_ptr<const void> lock_pages(const void* data, std::size_t bytes) {
  void* const memory = const_cast<void*>(data);
  if (cudaHostRegister(memory, bytes, cudaHostRegisterDefault) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return {memory, [](void* p) { check_no_throw(cudaHostUnregister(p), "unlock of pages"); }};
}

class CudaRuntime final : public Runtime {
 public:
  bool on_device() const override { return true; }
  std::string device_name() const override { return cuda_versions().device; }
  Stages& stages() override { return stages_; }

  std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return std::make_unique<CudaBuffer>(bytes); }
  std::unique_ptr<Buffer> allocate_host(std::size_t bytes) override {
    return std::make_unique<PinnedBuffer>(bytes);
  }
  void upload(void* target, const void* host, std::size_t bytes) override {
    check(cudaMemcpyAsync(target, host, bytes, cudaMemcpyHostToDevice, stream()), "upload");
  }
  void download(void* host, const void* target, std::size_t bytes) override {
    download_async(host, target, bytes);
    synchronise();
  }
  void download_async(void* host, const void* target, std::size_t bytes) override {
    check(cudaMemcpyAsync(host, target, bytes, cudaMemcpyDeviceToHost, stream()), "download");
  }
  std::unique_ptr<Uploads> make_uploads() override { return cuda::make_uploads(stages_); }
  std::shared_ptr<const void> pin(const void* data, std::size_t bytes) override {
    return lock_pages(data, bytes);
  }
  std::unique_ptr<Marker> make_marker() override { return std::make_unique<CudaMarker>(); }
  void synchronise() override { check(cudaStreamSynchronize(stream()), "synchronise"); }
  bool idle() override {
    const cudaError_t state = cudaStreamQuery(stream());
    if (state == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    check(state, "stream");
    return true;
  }

  void unpack(const PixelLayout& layout, int64_t images, const void* pixels, Precision p,
              void* planes) override {
    const StageTimer timer(stages_, "unpack");
    cuda::unpack(layout, images, pixels, p, planes);
  }
  void pad(const PadAmounts& amounts, int64_t planes, int64_t h, int64_t w, Precision p, const void* in,
           void* out) override {
    const StageTimer timer(stages_, "pad");
    cuda::pad(amounts, planes, h, w, p, in, out);
  }
  void view(const ViewLayout& layout, const ViewPlanes& planes, Precision p, Metric metric,
            float* out) override {
    const StageTimer timer(stages_, "view");
    cuda::view(layout, planes, p, metric, out);
  }

 private:
  CudaStages stages_;
};

}  // namespace
}  // namespace convscope::cuda

namespace convscope {

std::string probe_cuda() {
  const auto clear = [](cudaError_t error) {
    cudaGetLastError();
    return error;
  };
  int count = 0;
  switch (const cudaError_t error = clear(cudaGetDeviceCount(&count))) {
    case cudaSuccess:
      break;
    case cudaErrorInsufficientDriver: {
      int driver = 0;
      cudaDriverGetVersion(&driver);
      if (driver == 0) return "no NVIDIA driver is installed";
      return fmt::format("the NVIDIA driver is too old: it knows CUDA {}.{}, this build needs {}.{}",
                         driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                         CUDART_VERSION % 1000 / 10);
    }
    case cudaErrorNoDevice:
      return "no CUDA device is visible (none in the machine, or CUDA_VISIBLE_DEVICES hides it)";
    default:
      return fmt::format("the CUDA driver does not answer: {}", cudaGetErrorString(error));
  }
  if (count == 0) return "no CUDA device is visible";
  if (const cudaError_t error = clear(cuda::probe_kernel_image()); error != cudaSuccess) {
    cudaDeviceProp properties{};
    clear(cudaGetDeviceProperties(&properties, 0));
    // the first call that makes a context: it also meets a device that is full, or another's alone
    if (error != cudaErrorNoKernelImageForDevice && error != cudaErrorInvalidDeviceFunction &&
        error != cudaErrorUnsupportedPtxVersion)
      return fmt::format("{} cannot be used now: {}", properties.name, cudaGetErrorString(error));
    return fmt::format("no kernel of this build runs on {} (compute capability {}.{}): {}", properties.name,
                       properties.major, properties.minor, cudaGetErrorString(error));
  }
  return {};
}

CudaVersions cuda_versions() {
  if (cuda_unavailable()) return {};
  static const CudaVersions versions = [] {
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, 0), "device properties");
    int driver = 0, runtime = 0;
    cuda::check(cudaDriverGetVersion(&driver), "driver version");
    cuda::check(cudaRuntimeGetVersion(&runtime), "runtime version");
    const auto text = [](int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); };
    return CudaVersions{properties.name, text(driver), text(runtime), properties.major, properties.minor};
  }();
  return versions;
}

std::size_t free_device_bytes() {
  if (cuda_unavailable()) return 0;
  std::size_t free = 0, total = 0;
  cuda::check(cudaMemGetInfo(&free, &total), "free memory");
  return free;
}

std::unique_ptr<Runtime> make_cuda_runtime() { return std::make_unique<cuda::CudaRuntime>(); }

}  // namespace convscope
