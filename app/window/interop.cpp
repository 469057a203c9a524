// The one file that sees OpenGL and CUDA together.
#include "app/window/interop.h"

#include <glad/gl.h>
// after glad, which brings the OpenGL types
#include <cuda_gl_interop.h>

#include "kernels/error.h"
#include "kernels/runtime.h"
#include "kernels/targets/cuda_check.h"

namespace convscope {
namespace {

/// CUDA's words; the error itself is cleared, so that no later check finds it.
std::string words(cudaError_t code) {
  cudaGetLastError();
  return cudaGetErrorString(code);
}

class RegisteredBuffer final : public InteropBuffer {
 public:
  explicit RegisteredBuffer(cudaGraphicsResource_t resource) : resource_(resource) {}
  ~RegisteredBuffer() override {
    if (mapped_)
      cuda::check_no_throw(cudaGraphicsUnmapResources(1, &resource_, cuda::stream()), "interop unmap");
    cuda::check_no_throw(cudaGraphicsUnregisterResource(resource_), "interop unregister");
  }
  RegisteredBuffer(const RegisteredBuffer&) = delete;
  RegisteredBuffer& operator=(const RegisteredBuffer&) = delete;

  float* map() override {
    cuda::check(cudaGraphicsMapResources(1, &resource_, cuda::stream()), "interop map");
    mapped_ = true;
    void* data = nullptr;
    std::size_t bytes = 0;
    cuda::check(cudaGraphicsResourceGetMappedPointer(&data, &bytes, resource_), "interop map");
    return static_cast<float*>(data);
  }
  void unmap() override {
    mapped_ = false;
    cuda::check(cudaGraphicsUnmapResources(1, &resource_, cuda::stream()), "interop unmap");
  }

 private:
  cudaGraphicsResource_t resource_;
  bool mapped_ = false;
};

}  // namespace

std::optional<std::string> interop_unavailable() {
  if (const auto why = cuda_unavailable()) return "no CUDA (" + *why + ")";
  unsigned count = 0;
  int devices[16] = {};
  const cudaError_t code = cudaGLGetDevices(&count, devices, 16, cudaGLDeviceListAll);
  if (code != cudaSuccess) return "OpenGL does not run on the CUDA device (" + words(code) + ")";
  int current = 0;
  if (const cudaError_t asked = cudaGetDevice(&current); asked != cudaSuccess) return words(asked);
  for (unsigned i = 0; i < count; ++i) {
    if (devices[i] == current) return std::nullopt;
  }
  return "OpenGL runs on another GPU";
}

std::unique_ptr<InteropBuffer> register_buffer(unsigned gl_buffer, std::string* reason) {
  cudaGraphicsResource_t resource = nullptr;
  const cudaError_t code =
      cudaGraphicsGLRegisterBuffer(&resource, gl_buffer, cudaGraphicsRegisterFlagsWriteDiscard);
  if (code != cudaSuccess) {
    *reason = "the view buffer could not be registered (" + words(code) + ")";
    return nullptr;
  }
  return std::make_unique<RegisteredBuffer>(resource);
}

}  // namespace convscope
