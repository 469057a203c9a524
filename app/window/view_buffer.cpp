#include "app/window/view_buffer.h"

#include <fmt/format.h>

#include "kernels/error.h"

namespace convscope {

void ViewBuffer::resize(int width, int height, bool share) {
  if (width == width_ && height == height_ && share == share_) return;
  GLint most = 0;
  glGetIntegerv(GL_MAX_TEXTURE_BUFFER_SIZE, &most);
  if (static_cast<int64_t>(width) * height > most) {
    throw Error(fmt::format("view of {}x{} pixels: OpenGL draws at most {} here", width, height, most));
  }
  for (Slot& slot : slots_) slot.interop.reset();  // unregistered before the storage goes
  if (width != width_ || height != height_) {
    for (Slot& slot : slots_) {
      slot.buffer = GlBuffer::make();
      slot.texture = GlBufferTexture::make();
      const auto bytes = static_cast<GLsizeiptr>(width) * height * static_cast<GLsizeiptr>(sizeof(float));
      glNamedBufferData(slot.buffer.id(), bytes, nullptr, GL_DYNAMIC_DRAW);
      glTextureBuffer(slot.texture.id(), GL_R32UI, slot.buffer.id());
    }
    check_gl("view buffer");
    written_ = false;
  }
  width_ = width;
  height_ = height;
  share_ = share;
  reason_.clear();
  if (share) make_shared();
}

void ViewBuffer::make_shared() {
  for (Slot& slot : slots_) slot.interop = register_buffer(slot.buffer.id(), &reason_);
  if (shared()) return;
  for (Slot& slot : slots_) slot.interop.reset();
}

float* ViewBuffer::map() { return shared() ? slots_[1 - front_].interop->map() : nullptr; }

void ViewBuffer::unmap() {
  slots_[1 - front_].interop->unmap();
  turn();
}

void ViewBuffer::write(std::span<const float> pixels) {
  glNamedBufferSubData(slots_[1 - front_].buffer.id(), 0, static_cast<GLsizeiptr>(pixels.size_bytes()),
                       pixels.data());
  turn();
}

void ViewBuffer::turn() {
  front_ = 1 - front_;
  written_ = true;
  ++serial_;
}

}  // namespace convscope
