// The loader of CUDA's optional libraries, on files of the test's own: no library of CUDA's is needed.

#include "kernels/targets/cuda_library.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "kernels/error.h"

namespace convscope::cuda {
namespace {

std::string message_of(const CudaLibrary& library, const char* function) {
  try {
    library.find<void (*)()>(function);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

TEST(CudaLibrary, SaysWhatIsNotInstalled) {
  const CudaLibrary none("cuNONE", {"libcunone.so.13", "libcunone.so.12"});
  const std::string said = message_of(none, "cunoneCreate");
  EXPECT_NE(said.find("cuNONE is not installed: no libcunone.so.13 or libcunone.so.12"), std::string::npos)
      << said;
  EXPECT_NE(said.find("CONVSCOPE_CUDA_LIBS"), std::string::npos) << said;
}

TEST(CudaLibrary, TakesTheFirstThatLoadsAndCallsIt) {
  const CudaLibrary maths("maths", {"libcunone.so.1", "libm.so.6"});
  const auto cosine = maths.find<double (*)(double)>("cos");
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_EQ(message_of(maths, "no_such_function"),
            "the maths of this machine has no no_such_function, which this program needs");
}

TEST(CudaLibrary, LooksInTheFoldersAskedForAndSaysWhatDoesNotLoad) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("convscope_library_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "a");
  std::ofstream(folder / "a" / "libcufake.so.1") << "not a library";
  setenv("CONVSCOPE_CUDA_LIBS", ("/nowhere:" + (folder / "a").string()).c_str(), 1);
  const CudaLibrary fake("cuFAKE", {"libcufake.so.1"});
  unsetenv("CONVSCOPE_CUDA_LIBS");
  const std::string said = message_of(fake, "cufakeCreate");
  EXPECT_NE(said.find("cuFAKE does not load: " + (folder / "a" / "libcufake.so.1").string()),
            std::string::npos)
      << said;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace convscope::cuda
