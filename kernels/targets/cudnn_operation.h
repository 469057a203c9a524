#pragma once
// One convolution as cuDNN wants it described. Only where cudnn.h is there.

#include <cstdint>

#include "kernels/shape.h"
#include "kernels/targets/cudnn_api.h"

namespace convscope::cuda {

/// The tensors and the operation, as cuDNN wants them described.
class CudnnOperation {
 public:
  /// Throws Error with cuDNN's words for a shape that it does not describe.
  CudnnOperation(const ConvShape& s, Precision precision, cudnnMathType_t math)
      : in_(cudnn().cudnnCreateTensorDescriptor, cudnn().cudnnDestroyTensorDescriptor),
        out_(cudnn().cudnnCreateTensorDescriptor, cudnn().cudnnDestroyTensorDescriptor),
        weights_(cudnn().cudnnCreateFilterDescriptor, cudnn().cudnnDestroyFilterDescriptor),
        convolution_(cudnn().cudnnCreateConvolutionDescriptor, cudnn().cudnnDestroyConvolutionDescriptor) {
    const auto i = [](int64_t v) { return static_cast<int>(v); };
    const cudnnDataType_t type = precision == Precision::fp64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    check_cudnn(cudnn().cudnnSetTensor4dDescriptor(in_.get(), CUDNN_TENSOR_NCHW, type, i(s.n), i(s.c_in),
                                                   i(s.h), i(s.w)),
                "the input");
    check_cudnn(cudnn().cudnnSetTensor4dDescriptor(out_.get(), CUDNN_TENSOR_NCHW, type, i(s.n), i(s.c_out),
                                                   i(s.out_h()), i(s.out_w())),
                "the output");
    check_cudnn(cudnn().cudnnSetFilter4dDescriptor(weights_.get(), type, CUDNN_TENSOR_NCHW, i(s.c_out),
                                                   i(s.c_in), i(s.k_h), i(s.k_w)),
                "the filters");
    check_cudnn(cudnn().cudnnSetConvolution2dDescriptor(convolution_.get(), i(s.pad.y), i(s.pad.x),
                                                        i(s.stride.y), i(s.stride.x), i(s.dilation.y),
                                                        i(s.dilation.x), CUDNN_CROSS_CORRELATION, type),
                "the convolution");
    check_cudnn(cudnn().cudnnSetConvolutionMathType(convolution_.get(), math), "the math type");
  }

  /// Why not this algorithm; empty where it goes. `workspace`: the bytes that it then needs.
  std::string refuses(cudnnConvolutionFwdAlgo_t algorithm, std::size_t& workspace) const {
    return cudnn_words(cudnn().cudnnGetConvolutionForwardWorkspaceSize(
        cudnn_handle(), in_.get(), weights_.get(), convolution_.get(), out_.get(), algorithm, &workspace));
  }

  template <class T>
  cudnnStatus_t run(cudnnConvolutionFwdAlgo_t algorithm, const T* in, const T* weights, void* workspace,
                    std::size_t bytes, T* out) const {
    const T one = 1, zero = 0;
    return cudnn().cudnnConvolutionForward(cudnn_handle(), &one, in_.get(), in, weights_.get(), weights,
                                           convolution_.get(), algorithm, workspace, bytes, &zero, out_.get(),
                                           out);
  }

 private:
  CudnnDescriptor<cudnnTensorDescriptor_t> in_, out_;
  CudnnDescriptor<cudnnFilterDescriptor_t> weights_;
  CudnnDescriptor<cudnnConvolutionDescriptor_t> convolution_;
};

}  // namespace convscope::cuda
