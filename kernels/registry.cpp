#include "kernels/registry.h"

#include <atomic>

#include "kernels/error.h"
#include "kernels/runtime.h"
#include "kernels/targets/cuda_library.h"

// A new strategy is one line here: its name in the order in which strategies are taught, and its idea.
// DEVICE: a kernel source for cuda and emulated. CUDA: for the GPU alone. CPU: host code.
#define CONVSCOPE_DEVICE_STRATEGIES(X)                                                                       \
  X(direct, "One thread for each output value, operands from global memory: the formula as it stands.")      \
  X(looped,                                                                                                  \
    "One launch for each image, filter and input channel (n * c_out * c_in of them), adding to the "         \
    "output: what launches cost.")                                                                           \
  X(tiled, "A block shares the input tile with its halo, and the weights, in shared memory.")                \
  X(direct_constant,                                                                                         \
    "One thread for each pixel makes all maps of it; the weights are constant-memory operands.")             \
  X(separable,                                                                                               \
    "Kernels of rank 1 as a pass down and a pass along: k_h + k_w multiply-adds instead of k_h * k_w.")      \
  X(im2col_gemm,                                                                                             \
    "Every pixel's taps become a column of a matrix in memory; all maps are one product by a GEMM library.") \
  X(im2col_chunked, "im2col_gemm for as many pixels at a time as the L2 cache holds the columns of.")        \
  X(register_tiled,                                                                                          \
    "A thread makes several pixels of several maps, 64 sums in registers; a weight that is read once "       \
    "serves all its pixels.")                                                                                \
  X(implicit_gemm,                                                                                           \
    "A matrix product of pixels and maps whose column matrix is gathered tile by tile, never stored.")       \
  X(winograd_f2, "Winograd's F(2x2,3x3): tiles of four outputs from 16 products a channel, not 36.")         \
  X(winograd_f4,                                                                                             \
    "Winograd's F(4x4,3x3): tiles of 16 outputs from 36 products a channel, not 144; larger errors.")
#define CONVSCOPE_CUDA_STRATEGIES(X)                                                                         \
  X(implicit_gemm_tf32, single, "implicit_gemm on tensor cores in TF32: operands keep 11 bits.")             \
  X(implicit_gemm_3xtf32, single,                                                                            \
    "implicit_gemm on tensor cores, every operand as two TF32 parts: three products, nearly fp32.")          \
  X(winograd_f4_3xtf32, single,                                                                              \
    "winograd_f4 as 36 matrix products in memory, on tensor cores, every operand as two TF32 parts.")        \
  X(fft, both, "cuFFT: the spectra of image and kernels multiplied; no kernel is too large.")                \
  X(cudnn, both, "cuDNN, the fastest of its algorithms by our timing, strict fp32 or fp64.")                 \
  X(cudnn_tf32, single,                                                                                      \
    "cuDNN, the fastest of its algorithms by our timing, TF32 permitted: operands keep 11 bits.")            \
  X(cudnn_implicit_gemm, both, "cuDNN's IMPLICIT_GEMM: a matrix product without the column matrix.")         \
  X(cudnn_precomp_gemm, both, "cuDNN's IMPLICIT_PRECOMP_GEMM: the same with a table of offsets made first.") \
  X(cudnn_gemm, both, "cuDNN's GEMM: a column matrix and a matrix product.")                                 \
  X(cudnn_fft, single, "cuDNN's FFT: Fourier transforms of whole planes.")                                   \
  X(cudnn_fft_tiling, both, "cuDNN's FFT_TILING: Fourier transforms of 32x32 tiles.")                        \
  X(cudnn_winograd, single, "cuDNN's WINOGRAD: tiles transformed within one kernel.")
#define CONVSCOPE_CPU_STRATEGIES(X)                                                              \
  X(reference, both,                                                                             \
    "Plain loops with double accumulation: the specification that all others are held against.") \
  X(scalar, both, "Plain loops in the kernels' own type and order of summation.")                \
  X(onednn, single, "oneDNN, the fast CPU library: vectorised and blocked for the caches.")

namespace convscope {

#define DECLARE_DEVICE(name, idea)                          \
  namespace cuda {                                          \
  std::unique_ptr<Strategy> make_##name(StrategyInfo info); \
  }                                                         \
  namespace emulated {                                      \
  std::unique_ptr<Strategy> make_##name(StrategyInfo info); \
  }
#define DECLARE_CPU(name, precisions, idea)                 \
  namespace cpu {                                           \
  std::unique_ptr<Strategy> make_##name(StrategyInfo info); \
  }
#define DECLARE_CUDA(name, precisions, idea)                \
  namespace cuda {                                          \
  std::unique_ptr<Strategy> make_##name(StrategyInfo info); \
  }
CONVSCOPE_DEVICE_STRATEGIES(DECLARE_DEVICE)
CONVSCOPE_CUDA_STRATEGIES(DECLARE_CUDA)
CONVSCOPE_CPU_STRATEGIES(DECLARE_CPU)

namespace {

using Make = std::unique_ptr<Strategy> (*)(StrategyInfo);
constexpr bool both = true, single = false;

#ifdef CONVSCOPE_WITH_CUDA
/// The libraries that rows of the cuda target need.
struct Library {
  const char* strategy;
  std::optional<std::string> (*missing)();
};
constexpr Library kLibraries[] = {{"im2col_gemm", cuda::cublas_missing},
                                  {"im2col_chunked", cuda::cublas_missing},
                                  {"fft", cuda::cufft_missing},
                                  {"cudnn", cuda::cudnn_missing},
                                  {"cudnn_tf32", cuda::cudnn_missing},
                                  {"cudnn_implicit_gemm", cuda::cudnn_missing},
                                  {"cudnn_precomp_gemm", cuda::cudnn_missing},
                                  {"cudnn_gemm", cuda::cudnn_missing},
                                  {"cudnn_fft", cuda::cudnn_missing},
                                  {"cudnn_fft_tiling", cuda::cudnn_missing},
                                  {"cudnn_winograd", cuda::cudnn_missing}};
#endif

void add(std::vector<RegistryRow>& rows, Target target, bool both_precisions, const char* name,
         const char* idea, Make make) {
  for (const Precision precision : {Precision::fp32, Precision::fp64}) {
    if (precision == Precision::fp64 && !both_precisions) continue;
    const StrategyInfo info{name, target, precision, idea};
    RegistryRow row{info, {}};
    if (make != nullptr) row.make = [make, info] { return make(info); };
    rows.push_back(std::move(row));
  }
}

std::vector<RegistryRow> make_registry() {
  std::vector<RegistryRow> rows;
#ifdef CONVSCOPE_WITH_CUDA
#define ADD_CUDA(name, precisions, idea) add(rows, Target::cuda, precisions, #name, idea, cuda::make_##name);
#else
#define ADD_CUDA(name, precisions, idea) add(rows, Target::cuda, precisions, #name, idea, nullptr);
#endif
#define ADD_CUDA_OF_BOTH(name, idea) ADD_CUDA(name, both, idea)
#define ADD_EMULATED(name, idea) add(rows, Target::emulated, both, #name, idea, emulated::make_##name);
#define ADD_CPU(name, precisions, idea) add(rows, Target::cpu, precisions, #name, idea, cpu::make_##name);
  CONVSCOPE_DEVICE_STRATEGIES(ADD_CUDA_OF_BOTH)
  CONVSCOPE_CUDA_STRATEGIES(ADD_CUDA)
  CONVSCOPE_DEVICE_STRATEGIES(ADD_EMULATED)
  CONVSCOPE_CPU_STRATEGIES(ADD_CPU)
#ifdef CONVSCOPE_WITH_CUDA
  for (const Library& library : kLibraries)
    for (RegistryRow& row : rows)
      if (row.info.target == Target::cuda && row.info.name == library.strategy) row.missing = library.missing;
#endif
  return rows;
}

/// The rows, and whether somebody has seen them: a list that grew later would not be the same for all.
struct Registry {
  std::vector<RegistryRow> rows = make_registry();
  std::atomic<bool> read = false;
};
Registry& the_registry() {
  static Registry registry;
  return registry;
}

}  // namespace

const std::vector<RegistryRow>& registry() {
  Registry& all = the_registry();
  all.read = true;
  return all.rows;
}

void register_strategy(RegistryRow row) {
  Registry& all = the_registry();
  if (all.read) throw Error(row.info.id() + " is registered after the registry has been read");
  for (const RegistryRow& known : all.rows)
    if (known.info.id() == row.info.id()) throw Error(row.info.id() + " is registered twice");
  all.rows.push_back(std::move(row));
}

std::optional<std::string> unavailable(const StrategyInfo& info) {
  if (info.target != Target::cuda) return std::nullopt;
  if (auto why = cuda_unavailable()) return why;
  const RegistryRow* row = find_strategy(info.name, info.target, info.precision);
  return row != nullptr && row->missing != nullptr ? row->missing() : std::nullopt;
}

const RegistryRow* find_strategy(const std::string& name, Target target, Precision precision) {
  for (const RegistryRow& row : registry()) {
    if (row.info.name == name && row.info.target == target && row.info.precision == precision) return &row;
  }
  return nullptr;
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const RegistryRow& row : registry()) {
    bool known = false;
    for (const std::string& name : names) known = known || name == row.info.name;
    if (!known) names.push_back(row.info.name);
  }
  return names;
}

}  // namespace convscope
