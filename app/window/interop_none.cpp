#include "app/window/interop.h"

namespace convscope {

std::optional<std::string> interop_unavailable() { return "built without CUDA"; }

std::unique_ptr<InteropBuffer> register_buffer(unsigned, std::string* reason) {
  *reason = "built without CUDA";
  return nullptr;
}

}  // namespace convscope
