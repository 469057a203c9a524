#pragma once
// cuDNN's functions, state and descriptors, for the one file that uses them. Only where cudnn.h is there.

#include <cudnn.h>

#include <string>

#include "kernels/error.h"
#include "kernels/targets/cuda_check.h"
#include "kernels/targets/cuda_library.h"
#include "kernels/targets/of_this_thread.h"

namespace convscope::cuda {

inline const CudaLibrary& cudnn_library() {
  static const CudaLibrary opened("cuDNN", {"libcudnn.so.9"});
  return opened;
}

struct CudnnApi {
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnCreate);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnSetStream);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnGetErrorString);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnGetLastErrorString);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnCreateTensorDescriptor);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnDestroyTensorDescriptor);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnSetTensor4dDescriptor);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnCreateFilterDescriptor);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnDestroyFilterDescriptor);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnSetFilter4dDescriptor);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnCreateConvolutionDescriptor);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnDestroyConvolutionDescriptor);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnSetConvolution2dDescriptor);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnSetConvolutionMathType);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnGetConvolutionForwardWorkspaceSize);
  CONVSCOPE_LIBRARY_FUNCTION(cudnn_library(), cudnnConvolutionForward);
};

/// Throws Error where it is not to be had.
inline const CudnnApi& cudnn() {
  static const CudnnApi table;
  return table;
}

/// cuDNN's words for what it does not do; empty for success.
inline std::string cudnn_words(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_SUCCESS) return {};
  char more[512] = "";
  cudnn().cudnnGetLastErrorString(more, sizeof more);
  for (char& c : more)
    if (c == '\n') c = ' ';  // one line for the user
  const std::string words = std::string("cuDNN says ") + cudnn().cudnnGetErrorString(status);
  return more[0] == '\0' ? words : words + ": " + more;
}

inline void check_cudnn(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const std::string words = cudnn_words(status);
  check(cudaGetLastError(), what);  // where CUDA itself failed, its words say more
  throw Error(std::string(what) + ": " + words);
}

struct CudnnState {
  cudnnHandle_t handle = nullptr;
  cudaStream_t bound = nullptr;
  CudnnState() { check_cudnn(cudnn().cudnnCreate(&handle), "the start of cuDNN"); }
};

/// The library's state for the calling thread, on its stream.
inline cudnnHandle_t cudnn_handle() {
  auto& state = of_this_thread<CudnnState>();
  if (state.bound != stream()) {
    check_cudnn(cudnn().cudnnSetStream(state.handle, stream()), "cuDNN's stream");
    state.bound = stream();
  }
  return state.handle;
}

/// A descriptor of cuDNN's.
template <class Handle>
class CudnnDescriptor {
 public:
  CudnnDescriptor(cudnnStatus_t (*create)(Handle*), cudnnStatus_t (*destroy)(Handle)) : destroy_(destroy) {
    check_cudnn(create(&handle_), "descriptor");
  }
  ~CudnnDescriptor() {
    if (handle_ != nullptr) destroy_(handle_);
  }
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;
  Handle get() const { return handle_; }

 private:
  cudnnStatus_t (*destroy_)(Handle);
  Handle handle_ = nullptr;
};

}  // namespace convscope::cuda
