#pragma once

#include <memory>
#include <optional>
#include <string>

namespace convscope {

/// Why OpenGL buffers cannot be shared with CUDA on this machine; nullopt where they can. Asked once, with
/// the context current; whatever CUDA's code says, an error means no.
std::optional<std::string> interop_unavailable();

/// One OpenGL buffer registered with CUDA, to be overwritten as a whole each time it is mapped.
class InteropBuffer {
 public:
  virtual ~InteropBuffer() = default;
  /// Device memory of the buffer, for work on the one stream, until unmap(). Throws Error.
  virtual float* map() = 0;
  /// What the stream has been given comes before what OpenGL does next.
  virtual void unmap() = 0;
};

/// Registers a buffer; null, and the reason, where CUDA refuses.
std::unique_ptr<InteropBuffer> register_buffer(unsigned gl_buffer, std::string* reason);

}  // namespace convscope
