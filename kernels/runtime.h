#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "kernels/strategy.h"
#include "kernels/timing.h"
#include "kernels/uploads.h"
#include "kernels/view.h"

namespace convscope {

/// How the pixels of an uploaded image lie: interleaved rows of `channels` values, `row_bytes` apart (host
/// order).
enum class PixelType { u8, u16, f32, f64 };
constexpr std::size_t bytes_of(PixelType t) {
  return t == PixelType::u8 ? 1 : t == PixelType::u16 ? 2 : t == PixelType::f32 ? 4 : 8;
}
struct PixelLayout {
  PixelType type = PixelType::u8;
  int64_t w = 0, h = 0;
  int channels = 3;      // interleaved values a pixel (1, 3 or 4 from files; any number from arrays)
  int planes = 3;        // planes to make: `channels`, or 3 of a 4-channel image whose alpha is left out
  bool reverse = false;  // plane 0 is channel planes-1: BGR(A) pixels to R, G, B planes
  bool planar = false;   // the pixels are planes already (C x H x W): convert only
  bool unit_scale =
      true;  // integers divided by their type's maximum (255, 65535); floats are taken as they are
  std::size_t bytes() const {
    return static_cast<std::size_t>(w) * static_cast<std::size_t>(h) * static_cast<std::size_t>(channels) *
           bytes_of(type);
  }
  bool operator==(const PixelLayout&) const = default;
};

/// Border to be made around each plane before the strategy runs; all in pixels, any size.
struct PadAmounts {
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  Border border = Border::zero;
  bool none() const { return top == 0 && bottom == 0 && left == 0 && right == 0; }
  bool operator==(const PadAmounts&) const = default;
};

/// Move-only memory of one runtime; freed on destruction. `data` may be written by that runtime's kernels.
class Buffer {
 public:
  virtual ~Buffer() = default;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 protected:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A point in the order of what a runtime has been given.
class Marker {
 public:
  virtual ~Marker() = default;
  /// Here: after everything enqueued so far.
  virtual void record() = 0;
  /// Whether everything before the last record() is done; true before the first. Never waits.
  virtual bool passed() = 0;
  virtual void wait() = 0;
};

/// Memory, stages and clock of one memory space: the CUDA device, or the host (targets emulated and cpu).
/// Everything is enqueued on one stream; the host runtime runs at once. One thread at a time.
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual bool on_device() const = 0;           // cuda
  virtual std::string device_name() const = 0;  // "NVIDIA H200", "AMD EPYC (2 threads)"
  virtual Stages& stages() = 0;

  /// Throws Error ("needs 8.98 GB, 3.10 GB are free") where the memory is not to be had; no error is left
  /// behind.
  virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) = 0;
  /// Host memory that upload() and download() move fastest (pinned on cuda).
  virtual std::unique_ptr<Buffer> allocate_host(std::size_t bytes) = 0;
  virtual void upload(void* target, const void* host, std::size_t bytes) = 0;
  virtual void download(void* host, const void* target, std::size_t bytes) = 0;
  /// As download(), but never waits: `host` (from allocate_host) is filled once a marker recorded after it is
  /// passed.
  virtual void download_async(void* host, const void* target, std::size_t bytes) = 0;
  virtual std::unique_ptr<Marker> make_marker() = 0;
  /// The way of frames to the device; null where the pixels are there already (host).
  virtual std::unique_ptr<Uploads> make_uploads() = 0;
  /// Page-locks host memory for as long as the answer is held, for HostPixels::pinned; null where it cannot
  /// be locked, or need not be (host).
  virtual std::shared_ptr<const void> pin(const void* data, std::size_t bytes) = 0;
  virtual void synchronise() = 0;
  /// Whether everything enqueued so far is done; never waits.
  virtual bool idle() = 0;

  /// Pixels of `images` images, one after the other, to images x planes x h x w values of `precision`,
  /// scaled. Stage "unpack".
  virtual void unpack(const PixelLayout&, int64_t images, const void* pixels, Precision, void* planes) = 0;
  /// planes x h x w to planes x (top + h + bottom) x (left + w + right). Stage "pad".
  virtual void pad(const PadAmounts&, int64_t planes, int64_t h, int64_t w, Precision, const void* in,
                   void* out) = 0;
  /// view_w x view_h floats, row 0 at the top. Minified: box average of values, maximum magnitude (signed) of
  /// differences, so that one wrong value is never averaged away; magnified: nearest. NaN wins. Stage "view".
  virtual void view(const ViewLayout&, const ViewPlanes&, Precision, Metric, float* view) = 0;
};

/// The runtime of a target's memory. Throws Error where unavailable() has a reason.
std::unique_ptr<Runtime> make_runtime(Target);

/// Why the CUDA device cannot be used now; nullopt where it can. Probed once; a sticky error adds its reason.
std::optional<std::string> cuda_unavailable();
/// The device's name and the toolkit's and driver's versions, empty where there is none.
struct CudaVersions {
  std::string device, driver, runtime;
  int compute_major = 0, compute_minor = 0;
};
CudaVersions cuda_versions();

/// Device memory that nobody has taken; 0 where there is no device.
std::size_t free_device_bytes();

}  // namespace convscope
