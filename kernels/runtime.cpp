#include "kernels/runtime.h"

#include "kernels/error.h"
#include "kernels/targets/host_runtime.h"

namespace convscope {

std::unique_ptr<Runtime> make_runtime(Target target) {
  if (target != Target::cuda) return make_host_runtime();
  if (auto why = cuda_unavailable()) throw Error("the cuda target is not available: " + *why);
#ifdef CONVSCOPE_WITH_CUDA
  return make_cuda_runtime();
#else
  throw Error("the cuda target is not available");
#endif
}

}  // namespace convscope
