#include "kernels/targets/cuda_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "kernels/error.h"

namespace convscope::cuda {
namespace {

/// Where toolkits lie when the loader does not know of them.
std::vector<std::filesystem::path> library_folders() {
  std::vector<std::filesystem::path> folders;
  if (const char* wanted = std::getenv("CONVSCOPE_CUDA_LIBS")) {
    std::istringstream list(wanted);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) folders.emplace_back(folder);
  }
#ifdef CONVSCOPE_CUDA_LIBRARY_DIR
  folders.emplace_back(CONVSCOPE_CUDA_LIBRARY_DIR);
#endif
  for (const char* usual : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib",
                            "/usr/local/cuda/targets/x86_64-linux/lib", "/opt/cuda/lib64"})
    folders.emplace_back(usual);
  return folders;
}

/// Opens a library by its name in the loader's path, or by its full path. `fault` gets the loader's words
/// where the file is there and does not load.
void* open(const std::string& file, std::string& fault) {
  if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  const char* words = dlerror();
  const std::string said = words == nullptr ? "" : words;
  const bool merely_absent = said.starts_with(file + ": cannot open shared object file: No such file");
  if (!merely_absent && fault.empty()) fault = said;
  return nullptr;
}

}  // namespace

CudaLibrary::CudaLibrary(std::string name, const std::vector<std::string>& files) : name_(std::move(name)) {
  std::string fault;
  for (const std::string& file : files)
    if ((handle_ = open(file, fault)) != nullptr) return;
  for (const auto& folder : library_folders())
    for (const std::string& file : files)
      if ((handle_ = open((folder / file).string(), fault)) != nullptr) return;
  missing_ = fault.empty() ? fmt::format(
                                 "{} is not installed: no {} in the loader's path, CONVSCOPE_CUDA_LIBS or "
                                 "the toolkit's folder",
                                 name_, fmt::join(files, " or "))
                           : fmt::format("{} does not load: {}", name_, fault);
}

void* CudaLibrary::address(const char* function) const {
  if (handle_ == nullptr) throw Error(missing_);
  if (void* found = dlsym(handle_, function)) return found;
  throw Error(fmt::format("the {} of this machine has no {}, which this program needs", name_, function));
}

}  // namespace convscope::cuda
