#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace convscope {

/// The pixels of one frame in host memory. `pinned`: page-locked (Runtime::allocate_host or pin()), so that
/// the device reads them where they are; then `keep`, which owns them, is held until it has.
struct HostPixels {
  const void* data = nullptr;
  bool pinned = false;
  std::shared_ptr<const void> keep{};
};

/// The way of frames to the device: two staging buffers and two device buffers, used in turn, on a stream of
/// their own, so that one frame goes up while the kernels of the frame before it run. One thread at a time.
class Uploads {
 public:
  virtual ~Uploads() = default;

  /// Room for frames of so many bytes; larger buffers stay. Throws Error and changes nothing.
  virtual void reserve(std::size_t bytes) = 0;

  /// Whether upload() would not wait: the upload before the last one has ended. Never waits.
  virtual bool ready() = 0;

  /// Sends one frame up, as stage "upload", and returns its place in device memory; what is enqueued on the
  /// runtime's stream afterwards finds it there. `frame` names the pixels: the same number twice in a row is
  /// not staged again. Throws Error.
  virtual const void* upload(uint64_t frame, const HostPixels&, std::size_t bytes) = 0;

  /// Everything that reads the pixels has been enqueued: their place may be written again after it.
  virtual void consumed() = 0;
};

}  // namespace convscope
