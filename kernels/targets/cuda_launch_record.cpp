// What the compiler and the device make of a launch on cuda, for a LaunchLog.

#include <cuda_occupancy.h>
#include <cuda_runtime_api.h>

#include <string>

#include "kernels/launch_log.h"
#include "kernels/targets/cuda_check.h"

namespace convscope::cuda {
namespace {

/// The resources of which the most resident blocks use all there is; more than one where they tie.
std::string limiting_resources(const cudaDeviceProp& device, const cudaFuncAttributes& kernel, int threads,
                               std::size_t dynamic_bytes) {
  const cudaOccDeviceProp properties(device);
  const cudaOccFuncAttributes attributes(kernel);
  const cudaOccDeviceState state;
  cudaOccResult result{};
  if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, threads,
                                              dynamic_bytes) != CUDA_OCC_SUCCESS) {
    return "unknown";  // a device newer than the toolkit
  }
  const struct {
    unsigned factor;
    const char* name;
  } names[] = {{OCC_LIMIT_REGISTERS, "registers"},
               {OCC_LIMIT_SHARED_MEMORY, "shared memory"},
               {OCC_LIMIT_WARPS, "threads"},
               {OCC_LIMIT_BLOCKS, "blocks"},
               {OCC_LIMIT_BARRIERS, "barriers"}};
  std::string text;
  for (const auto& [factor, name] : names) {
    if ((result.limitingFactors & factor) != 0) text += (text.empty() ? "" : " and ") + std::string(name);
  }
  return text;
}

cudaDeviceProp current_device() {
  int device = 0;
  cudaDeviceProp properties{};
  check(cudaGetDevice(&device), "device");
  check(cudaGetDeviceProperties(&properties, device), "device properties");
  return properties;
}

LaunchRecord::Compiled compiled_kernel(const cudaFuncAttributes& attributes, const void* kernel, int threads,
                                       std::size_t dynamic_bytes) {
  LaunchRecord::Compiled compiled;
  compiled.registers = attributes.numRegs;
  compiled.local_bytes = attributes.localSizeBytes;
  check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&compiled.blocks_per_sm, kernel, threads, dynamic_bytes),
      "occupancy of a kernel");
  const cudaDeviceProp device = current_device();
  const int warps = (threads + device.warpSize - 1) / device.warpSize;
  compiled.occupancy = static_cast<double>(compiled.blocks_per_sm) * warps * device.warpSize /
                       device.maxThreadsPerMultiProcessor;
  compiled.limited_by = limiting_resources(device, attributes, threads, dynamic_bytes);
  return compiled;
}

}  // namespace

void record_launch(LaunchLog& log, const char* name, const void* kernel, dim3 grid, dim3 block,
                   std::size_t shared_bytes) {
  log.add({name, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes, std::nullopt},
          [&](LaunchRecord& record) {
            cudaFuncAttributes attributes{};
            check(cudaFuncGetAttributes(&attributes, kernel), "attributes of a kernel");
            record.shared_bytes += attributes.sharedSizeBytes;
            record.compiled = compiled_kernel(attributes, kernel,
                                              static_cast<int>(block.x * block.y * block.z), shared_bytes);
          });
}

}  // namespace convscope::cuda
