#pragma once
// CUDA's optional libraries (cuBLAS, cuFFT, cuDNN), loaded when first asked for: the program starts without
// them.

#include <optional>
#include <string>
#include <vector>

namespace convscope::cuda {

/// A shared library, looked for in the loader's path, in CONVSCOPE_CUDA_LIBS (folders, separated by colons),
/// in the folder of the toolkit that built the program, and in the usual folders of toolkits. Loaded for as
/// long as the process lives.
class CudaLibrary {
 public:
  /// `files`: names of the versions that do, the one to prefer first.
  CudaLibrary(std::string name, const std::vector<std::string>& files);

  /// The address of a function as its header declares it. Throws Error where the library or the function is
  /// missing.
  template <class Function>
  Function find(const char* function) const {
    return reinterpret_cast<Function>(address(function));
  }

 private:
  void* address(const char* function) const;

  std::string name_, missing_;  // missing_: why it could not be loaded
  void* handle_ = nullptr;
};

/// Why the library cannot be used, in words; nullopt where it can. The strategies' rows ask.
std::optional<std::string> cublas_missing();
std::optional<std::string> cufft_missing();
std::optional<std::string> cudnn_missing();

}  // namespace convscope::cuda

/// A member of a table of functions: the pointer of the header's type, found by its name.
#define CONVSCOPE_LIBRARY_FUNCTION(library, function) \
  decltype(&::function) function = (library).find<decltype(&::function)>(#function)
