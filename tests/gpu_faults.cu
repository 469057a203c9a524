// An illegal access on the device: the device is lost, said with the stage's name, and the other targets go
// on. A program of its own, since the process's CUDA context does not recover.

#include <cstdio>

#include "kernels/registry.h"
#include "kernels/runtime.h"
#include "kernels/targets/cuda.cuh"

namespace {

__global__ void faulty_kernel(int* out) { out[threadIdx.x] = 1; }

int failures = 0;
void expect(bool ok, const char* what, const std::string& seen = "") {
  if (ok) return;
  ++failures;
  std::printf("FAILED: %s %s\n", what, seen.c_str());
}

}  // namespace

int main() {
  using namespace convscope;
  if (const auto why = cuda_unavailable()) {
    std::printf("skipped: %s\n", why->c_str());
    return 77;
  }
  const auto device = make_runtime(Target::cuda);
  auto survivor = device->allocate(1024);
  // a launch that is refused leaves nothing behind
  try {
    cuda::launch("too_large", faulty_kernel, dim3(1), dim3(2048), 0, static_cast<int*>(survivor->data()));
    expect(false, "a block of 2048 threads was launched");
  } catch (const Error& e) {
    expect(std::string(e.what()).find("too_large") != std::string::npos,
           "the message names the kernel:", e.what());
  }
  expect(!cuda_unavailable(), "the device survives a refused launch");
  device->synchronise();

  std::string said;
  try {
    const StageTimer timer(device->stages(), "faulty");
    cuda::launch("faulty", faulty_kernel, dim3(1), dim3(32), 0, reinterpret_cast<int*>(16));
    device->synchronise();
    expect(false, "an illegal access went unnoticed");
  } catch (const Error& e) {
    said = e.what();
  }
  expect(said.find("faulty") != std::string::npos, "the message names the stage:", said);
  const auto why = cuda_unavailable();
  expect(why && why->find("lost") != std::string::npos, "the device is marked lost:", why.value_or(""));
  expect(unavailable(find_strategy("direct", Target::cuda, Precision::fp32)->info).has_value(),
         "cuda rows are unavailable");

  const auto host = make_runtime(Target::emulated);
  const auto strategy = find_strategy("direct", Target::emulated, Precision::fp32)->make();
  ConvShape s;
  s.h = s.w = 5, s.k_h = s.k_w = 3, s.pad = {1, 1};
  strategy->prepare({s, {}, {}}, {1, 1, 3, 3, std::vector<double>(9, 1.0), {}});
  const std::vector<float> in(25, 1);
  std::vector<float> out(25);
  strategy->launch(in.data(), out.data(), host->stages());
  float sum = 0;
  for (const float v : out) sum += v;
  expect(sum == 169, "the emulated target goes on");
  survivor.reset();  // destructors on a lost device neither throw nor crash
  std::printf(failures == 0 ? "passed: %s\n" : "%s\n", said.c_str());
  return failures == 0 ? 0 : 1;
}
