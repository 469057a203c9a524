#include "kernels/targets/cuda_uploads.h"

#include <array>
#include <cstring>

#include "kernels/error.h"
#include "kernels/targets/cuda_event.h"
#include "kernels/targets/cuda_memory.h"
#include "kernels/targets/cuda_stages.h"

namespace convscope::cuda {
namespace {

class CopyStream {
 public:
  CopyStream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "copy stream"); }
  ~CopyStream() {
    // what is on its way reads buffers that go next
    check_no_throw(cudaStreamSynchronize(stream_), "copy stream");
    check_no_throw(cudaStreamDestroy(stream_), "copy stream");
  }
  CopyStream(const CopyStream&) = delete;
  CopyStream& operator=(const CopyStream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class CudaUploads final : public Uploads {
 public:
  explicit CudaUploads(CudaStages& stages) : stages_(stages) {}

  void reserve(std::size_t bytes) override {
    if (bytes <= bytes_) return;
    std::array<std::unique_ptr<Buffer>, 2> pixels, staging;
    for (std::size_t i = 0; i < 2; ++i) {
      pixels[i] = std::make_unique<CudaBuffer>(bytes);
      staging[i] = std::make_unique<PinnedBuffer>(bytes);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      slots_[i].uploaded.wait();  // the old staging memory may still be read
      slots_[i].pixels = std::move(pixels[i]);
      slots_[i].staging = std::move(staging[i]);
      slots_[i].staged = false;
      slots_[i].keep.reset();
    }
    bytes_ = bytes;
  }

  bool ready() override { return slots_[1 - turn_].uploaded.done(); }

  const void* upload(uint64_t frame, const HostPixels& pixels, std::size_t bytes) override {
    const bool again = slots_[turn_].staged && frame == frame_ && !pixels.pinned;
    if (!again) turn_ = 1 - turn_;
    Slot& slot = slots_[turn_];
    if (!again) {
      slot.uploaded.wait();  // two frames ago: passed long since, unless the caller runs ahead of ready()
      slot.staged = !pixels.pinned;
      slot.keep = pixels.pinned ? pixels.keep : nullptr;
      if (!pixels.pinned) std::memcpy(slot.staging->data(), pixels.data, bytes);
      frame_ = frame;
    }
    slot.consumed.before(copy_.get());
    stages_.begin_on(copy_.get(), "upload");
    const void* from = pixels.pinned ? pixels.data : slot.staging->data();
    check(cudaMemcpyAsync(slot.pixels->data(), from, bytes, cudaMemcpyHostToDevice, copy_.get()), "upload");
    stages_.end();
    slot.uploaded.record(copy_.get());
    slot.uploaded.before(stream());
    return slot.pixels->data();
  }

  void consumed() override { slots_[turn_].consumed.record(stream()); }

 private:
  struct Slot {
    std::unique_ptr<Buffer> pixels, staging;
    Event uploaded{false}, consumed{false};
    bool staged = false;               // staging holds the slot's frame
    std::shared_ptr<const void> keep;  // pinned pixels that are read where they are
  };

  CudaStages& stages_;
  std::array<Slot, 2> slots_;
  std::size_t turn_ = 0, bytes_ = 0;
  uint64_t frame_ = 0;
  CopyStream copy_;  // last: it comes to rest before the buffers go
};

}  // namespace

std::unique_ptr<Uploads> make_uploads(CudaStages& stages) { return std::make_unique<CudaUploads>(stages); }

}  // namespace convscope::cuda
