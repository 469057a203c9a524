#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>

#include "kernels/error.h"
#include "kernels/parallel.h"
#include "kernels/runtime.h"
#include "kernels/stages/stages.h"
#include "kernels/targets/host_runtime.h"

namespace convscope {
namespace {

/// Bytes that Linux would still give without pushing others out; a size beyond it is refused here, because
/// the allocator hands it out and the kernel ends the program when it is touched.
std::size_t available_bytes() {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("MemAvailable:")) return std::strtoull(line.c_str() + 13, nullptr, 10) * 1024;
  }
  return SIZE_MAX;
}

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(std::size_t bytes) {
    bytes_ = bytes;
    if (bytes == 0) return;
    check_available(bytes);
    // Page-aligned, so that pages are zeroed by the kernel at first touch and vectors load aligned.
    data_ = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (data_ == nullptr)
      throw Error("needs " + readable_bytes(bytes) + " of memory, which is not to be had");
    madvise(data_, bytes, MADV_HUGEPAGE);  // a frame's planes are tens of megabytes: fewer page faults
  }
  ~HostBuffer() override { std::free(data_); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
};

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) {
      const auto colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  }
  return "CPU";
}

/// Host work is done when the call that asks for it returns.
class HostMarker final : public Marker {
 public:
  void record() override {}
  bool passed() override { return true; }
  void wait() override {}
};

class HostRuntime final : public Runtime {
 public:
  bool on_device() const override { return false; }
  std::string device_name() const override {
    return processor_name() + " (" + std::to_string(thread_count()) + " threads)";
  }
  Stages& stages() override { return stages_; }

  std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return std::make_unique<HostBuffer>(bytes); }
  std::unique_ptr<Buffer> allocate_host(std::size_t bytes) override { return allocate(bytes); }
  void upload(void* target, const void* host, std::size_t bytes) override {
    std::memcpy(target, host, bytes);
  }
  void download(void* host, const void* target, std::size_t bytes) override {
    std::memcpy(host, target, bytes);
  }
  void download_async(void* host, const void* target, std::size_t bytes) override {
    std::memcpy(host, target, bytes);
  }
  std::unique_ptr<Marker> make_marker() override { return std::make_unique<HostMarker>(); }
  std::unique_ptr<Uploads> make_uploads() override { return nullptr; }
  std::shared_ptr<const void> pin(const void*, std::size_t) override { return nullptr; }
  void synchronise() override {}
  bool idle() override { return true; }

  void unpack(const PixelLayout& layout, int64_t images, const void* pixels, Precision p,
              void* planes) override {
    const StageTimer timer(stages_, "unpack");
    emulated::unpack(layout, images, pixels, p, planes);
  }
  void pad(const PadAmounts& amounts, int64_t planes, int64_t h, int64_t w, Precision p, const void* in,
           void* out) override {
    const StageTimer timer(stages_, "pad");
    emulated::pad(amounts, planes, h, w, p, in, out);
  }
  void view(const ViewLayout& layout, const ViewPlanes& planes, Precision p, Metric metric,
            float* out) override {
    const StageTimer timer(stages_, "view");
    emulated::view(layout, planes, p, metric, out);
  }

 private:
  HostStages stages_;
};

}  // namespace

std::string readable_bytes(std::size_t bytes) {
  char text[32];
  const double b = static_cast<double>(bytes);
  if (b >= 1e9) {
    std::snprintf(text, sizeof text, "%.2f GB", b / 1e9);
  } else if (b >= 1e6) {
    std::snprintf(text, sizeof text, "%.2f MB", b / 1e6);
  } else {
    std::snprintf(text, sizeof text, "%zu bytes", bytes);
  }
  return text;
}

void check_available(std::size_t bytes) {
  constexpr std::size_t kLarge = std::size_t{1} << 28;  // below, asking costs more than it is worth
  if (bytes < kLarge) return;
  if (const std::size_t free = available_bytes(); bytes > free)
    throw Error("needs " + readable_bytes(bytes) + " of memory, " + readable_bytes(free) + " are free");
}

std::unique_ptr<Runtime> make_host_runtime() { return std::make_unique<HostRuntime>(); }

}  // namespace convscope
