#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "app/window/gl_objects.h"
#include "app/window/interop.h"

namespace convscope {

/// Two OpenGL buffers of one float a view pixel, used in turn: one is written while OpenGL may still draw
/// from the other. Written through CUDA where sharing works, otherwise copied into; who draws sees no
/// difference.
class ViewBuffer {
 public:
  /// Sizes in view pixels, both at least 1. `share`: try to register with CUDA. Does nothing where nothing
  /// changed.
  void resize(int width, int height, bool share);

  /// The next buffer as device memory, or null where it is not shared; after unmap() it is the one drawn
  /// from.
  float* map();
  void unmap();
  /// Copies into the next buffer, which becomes the one drawn from.
  void write(std::span<const float> pixels);

  /// A buffer texture of 32-bit words for the shader; 0 before anything was written.
  GLuint texture() const { return written_ ? slots_[front_].texture.id() : 0; }
  int width() const { return width_; }
  int height() const { return height_; }
  /// Of the contents; rises with every write.
  uint64_t serial() const { return serial_; }
  bool shared() const { return slots_[0].interop && slots_[1].interop; }
  /// Why it is not shared, or empty.
  const std::string& reason() const { return reason_; }

 private:
  struct Slot {
    GlBuffer buffer;
    GlBufferTexture texture;
    std::unique_ptr<InteropBuffer> interop;  // last: unregistered before the buffer goes
  };
  void make_shared();
  void turn();

  std::array<Slot, 2> slots_;
  std::size_t front_ = 0;
  int width_ = 0, height_ = 0;
  bool share_ = false, written_ = false;
  uint64_t serial_ = 0;
  std::string reason_;
};

}  // namespace convscope
