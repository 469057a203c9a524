#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/runtime.h"

namespace convscope {

/// The bytes of a frame: memory of their own, or a block lent by a FramePool, which gets it back when the
/// last copy is gone. Copies share the bytes.
class Pixels {
 public:
  Pixels() = default;
  Pixels(std::vector<std::byte> bytes);  // NOLINT: takes them over
  /// `keep` owns the bytes. `pinned`: they came from Runtime::allocate_host of the device.
  Pixels(std::shared_ptr<void> keep, std::byte* data, std::size_t size, bool pinned)
      : keep_(std::move(keep)), data_(data), size_(size), pinned_(pinned) {}

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::byte& operator[](std::size_t i) { return data_[i]; }
  std::byte operator[](std::size_t i) const { return data_[i]; }
  operator std::span<const std::byte>() const { return {data_, size_}; }
  /// An upload may read them where they lie, without a staging copy, as long as somebody keeps the frame.
  bool pinned() const { return pinned_; }
  /// New bytes, all zero.
  void resize(std::size_t size);
  void assign(const std::byte* first, const std::byte* last);

 private:
  std::shared_ptr<void> keep_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  bool pinned_ = false;
};

/// One image as it goes up to the target: raw pixels and how they lie. Immutable once handed over.
struct Frame {
  uint64_t id = 0;     // differs for every frame of a run of the program; rises with time
  PixelLayout layout;  // layout.unit_scale is set by the settings, not by the source
  int64_t images = 1;  // n: images one after the other in `pixels`
  Pixels pixels;
  std::string name;    // what the user opened: a path, pattern:..., camera:0
  std::string format;  // "PNG 8-bit BGR", for the source panel
  std::string note;    // what was done to it: "EXIF orientation 6 applied", "alpha left out"; may be empty
  std::string hash;    // of the pixels: hexadecimal FNV-1a, 64 bit; empty for frames of a stream
  // of a stream; a still image has sequence 0
  uint64_t sequence = 0;  // 1, 2, ... as they were read from this source: gaps were dropped
  int64_t index = 0;      // place in the video or folder, from 0; counted where the source has no places
  double seconds = 0;     // its time in the source
  std::chrono::steady_clock::time_point captured{};  // when a camera took it, or it was due to be shown
  bool live() const { return sequence != 0; }
};
using FramePtr = std::shared_ptr<const Frame>;

/// The next Frame::id.
uint64_t next_frame_id();

}  // namespace convscope
