// Direct, weights in constant memory: one thread for each pixel makes all maps of it.
//
// An input value is loaded once and multiplied into up to 16 sums in registers; the weights are the same for
// all threads of a warp at any moment, which is what constant memory is made for: where the sizes are known
// to the compiler the weight is an operand of the multiply-add itself and costs nothing. Per multiply-add:
// 1/maps of a load. Limits: the filter of one map must fit in 64 KiB. Where all filters do not, they are
// copied and used pass by pass.

#include "kernels/strategies/device_strategy.h"
#include "kernels/strategies/epilogue.cuh"

#include <atomic>

namespace convscope::TARGET {
namespace {

struct ConstantConfig {
  static constexpr int kTileX = 32, kTileY = 8;  // pixels of a block
  static constexpr int64_t kBankBytes = 65536;   // of constant memory that a program may declare
  static constexpr int kMostMaps = 16;           // sums a thread holds in registers
};

/// The weights in use, [group of maps][tap][map in group], or half as many doubles. One for the process: it
/// holds what its owner copied there last.
__constant__ alignas(16) float constant_bank[ConstantConfig::kBankBytes / sizeof(float)];
std::mutex bank_mutex;
int64_t bank_owner = 0;

template <class T>
__device__ __forceinline__ T bank_weight(int i) {
  if constexpr (std::is_same_v<T, float>) {
    return constant_bank[i];  // indexed as it was declared, or nvcc reads it through a register
  } else {
    return reinterpret_cast<const T*>(constant_bank)[i];
  }
}

/// The maps that one launch makes.
struct MapRange {
  int first, last;
};

/// kC and kK: c_in and the side of a square kernel where the compiler is to know them, 0 where it is not.
/// kInterior: no tap of any pixel lies outside the image, so no load needs a guard.
template <class T, int kMaps, int kC, int kK, bool kInterior, Rounding R>
__global__ void direct_constant_kernel(DeviceShape s, int tiles_x, int tiles_y, MapRange maps,
                                       Activation activation, In<T> in, const T* bias, Out<T> out) {
  unsigned block = blockIdx.x;
  const int tile_x = static_cast<int>(block % tiles_x);
  block /= tiles_x;
  const int tile_y = static_cast<int>(block % tiles_y);
  const int image = static_cast<int>(block / tiles_y);
  const int x = tile_x * ConstantConfig::kTileX + static_cast<int>(threadIdx.x);
  const int y = tile_y * ConstantConfig::kTileY + static_cast<int>(threadIdx.y);
  if (x >= s.out_w || y >= s.out_h) return;

  const int c_in = kC > 0 ? kC : s.c_in, k_h = kK > 0 ? kK : s.k_h, k_w = kK > 0 ? kK : s.k_w;
  const int first_y = y * s.stride_y - s.pad_y, first_x = x * s.stride_x - s.pad_x;
  const T* const images = in + int64_t{image} * s.c_in * s.in_plane;
  int group = 0;  // first weight of the maps at hand

  constexpr bool kOneGroup = kC > 0;  // then every weight has a constant address, which makes it an operand
  for (int map = maps.first; map < maps.last; map += kMaps) {
    T sum[kMaps] = {};
    CONVSCOPE_UNROLL
    for (int c = 0; c < c_in; ++c) {
      CONVSCOPE_UNROLL
      for (int i = 0; i < k_h; ++i) {
        const int in_y = first_y + i * s.dilation_y;
        const T* const row = images + c * s.in_plane + int64_t{in_y} * s.w;
        CONVSCOPE_UNROLL
        for (int j = 0; j < k_w; ++j) {
          const int in_x = first_x + j * s.dilation_x;
          const bool inside = kInterior || (in_y >= 0 && in_y < s.h && in_x >= 0 && in_x < s.w);
          const T value = inside ? read_only(row + in_x) : T(0);
          const int tap = (kOneGroup ? 0 : group) + ((c * k_h + i) * k_w + j) * kMaps;
          CONVSCOPE_UNROLL
          for (int m = 0; m < kMaps; ++m) sum[m] = mad<R>(value, bank_weight<T>(tap + m), sum[m]);
        }
      }
    }
    T* const pixel = out + (int64_t{image} * s.c_out + map) * s.out_plane + int64_t{y} * s.out_w + x;
    CONVSCOPE_UNROLL
    for (int m = 0; m < kMaps; ++m) {
      if (map + m < maps.last) {
        pixel[m * s.out_plane] = finish(sum[m], bias == nullptr ? nullptr : bias + map + m, activation);
      }
    }
    if (kOneGroup) break;
    group += c_in * k_h * k_w * kMaps;
  }
}

template <class T>
class DirectConstant final : public Strategy {
 public:
  explicit DirectConstant(StrategyInfo info) : Strategy(std::move(info)) {}

  std::optional<std::string> refuses(const ConvProblem& p) const override {
    const ConvShape& s = p.shape;
    const int64_t filter = s.taps() * static_cast<int64_t>(sizeof(T));
    if (filter > ConstantConfig::kBankBytes) {
      return "one filter of " + std::to_string(s.taps()) + " weights takes " + std::to_string(filter) +
             " bytes, constant memory has 65536";
    }
    return refuses_size(s, blocks(s));
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    problem_ = problem;
    const ConvShape& s = problem.shape;
    const int64_t filter = s.taps() * static_cast<int64_t>(sizeof(T));
    maps_ = 1;
    while (maps_ < ConstantConfig::kMostMaps && maps_ < s.c_out &&
           2 * maps_ * filter <= ConstantConfig::kBankBytes) {
      maps_ *= 2;
    }
    maps_per_pass_ = ConstantConfig::kBankBytes / (filter * maps_) * maps_;
    banks_.clear();
    for (int64_t first = 0; first < s.c_out; first += maps_per_pass_) {
      const int64_t last = first + maps_per_pass_ < s.c_out ? first + maps_per_pass_ : s.c_out;
      banks_.emplace_back();
      banks_.back().assign(bank_layout(weights, first, last));
    }
    bias_.assign(as<T>(weights.bias));
    static std::atomic<int64_t> owners{0};
    owner_ = ++owners;
  }

  void launch(const void* in, void* out, Stages& stages) override {
    const ConvShape& s = problem_.shape;
    const ConstantLock lock(bank_mutex);
    const StageTimer timer(stages, "direct_constant");
    for (std::size_t pass = 0; pass < banks_.size(); ++pass) {
      if (bank_owner != owner_ || banks_.size() > 1) copy_to_constant(constant_bank, banks_[pass]);
      bank_owner = owner_;
      const int64_t first = static_cast<int64_t>(pass) * maps_per_pass_;
      const int64_t last = first + maps_per_pass_ < s.c_out ? first + maps_per_pass_ : s.c_out;
      TARGET::launch("direct_constant", kernel(), dim3(static_cast<unsigned>(blocks(s))),
                     dim3(ConstantConfig::kTileX, ConstantConfig::kTileY), 0, device_shape(s), tiles_x(s),
                     tiles_y(s), MapRange{static_cast<int>(first), static_cast<int>(last)},
                     problem_.activation, static_cast<const T*>(in),
                     bias_.size() == 0 ? nullptr : bias_.data(), static_cast<T*>(out));
    }
  }

 private:
  using Kernel = decltype(&direct_constant_kernel<T, 1, 0, 0, false, Rounding::fused>);

  static int64_t tiles_x(const ConvShape& s) { return ceil_div(s.out_w(), ConstantConfig::kTileX); }
  static int64_t tiles_y(const ConvShape& s) { return ceil_div(s.out_h(), ConstantConfig::kTileY); }
  static int64_t blocks(const ConvShape& s) { return tiles_x(s) * tiles_y(s) * s.n; }

  /// Maps [first, last) as the kernel reads them; the last group is filled up with zeros.
  std::vector<T> bank_layout(const ConvWeights& w, int64_t first, int64_t last) const {
    const int64_t taps = w.c_in * w.k_h * w.k_w;
    std::vector<T> bank(static_cast<std::size_t>(ceil_div(last - first, maps_) * maps_ * taps), T(0));
    for (int64_t map = first; map < last; ++map) {
      const int64_t group = (map - first) / maps_, lane = (map - first) % maps_;
      for (int64_t tap = 0; tap < taps; ++tap) {
        bank[static_cast<std::size_t>((group * taps + tap) * maps_ + lane)] =
            static_cast<T>(w.values[static_cast<std::size_t>(map * taps + tap)]);
      }
    }
    return bank;
  }

  template <int kMaps>
  Kernel any_size() const {
    return problem_.rounding == Rounding::fused
               ? direct_constant_kernel<T, kMaps, 0, 0, false, Rounding::fused>
               : direct_constant_kernel<T, kMaps, 0, 0, false, Rounding::separate>;
  }

  template <int kMaps, int kC, int kK>
  Kernel known_size() const {
    const bool interior = problem_.shape.pad == Axes{0, 0};
    return interior ? direct_constant_kernel<T, kMaps, kC, kK, true, Rounding::fused>
                    : direct_constant_kernel<T, kMaps, kC, kK, false, Rounding::fused>;
  }

  /// The kernel that knows the common sizes (grey and colour, 3x3 and 5x5, all maps in one group), or
  /// nullptr.
  template <int kMaps>
  Kernel common_size() const {
    const ConvShape& s = problem_.shape;
    const bool one_group = s.c_out <= kMaps && problem_.rounding == Rounding::fused && s.k_h == s.k_w;
    if constexpr (std::is_same_v<T, float>) {
      if (one_group && s.c_in == 1 && s.k_h == 3) return known_size<kMaps, 1, 3>();
      if (one_group && s.c_in == 3 && s.k_h == 3) return known_size<kMaps, 3, 3>();
      if (one_group && s.c_in == 1 && s.k_h == 5) return known_size<kMaps, 1, 5>();
      if (one_group && s.c_in == 3 && s.k_h == 5) return known_size<kMaps, 3, 5>();
    }
    return nullptr;
  }

  Kernel kernel() const {
    switch (maps_) {
      case 16:
        return common_size<16>() ? common_size<16>() : any_size<16>();
      case 8:
        return any_size<8>();
      case 4:
        return common_size<4>() ? common_size<4>() : any_size<4>();
      case 2:
        return any_size<2>();
      default:
        return common_size<1>() ? common_size<1>() : any_size<1>();
    }
  }

  ConvProblem problem_;
  int64_t maps_ = 1, maps_per_pass_ = 1, owner_ = 0;
  std::vector<DeviceArray<T>> banks_;
  DeviceArray<T> bias_;
};

}  // namespace

std::unique_ptr<Strategy> make_direct_constant(StrategyInfo info) {
  if (info.precision == Precision::fp64) return std::make_unique<DirectConstant<double>>(std::move(info));
  return std::make_unique<DirectConstant<float>>(std::move(info));
}

}  // namespace convscope::TARGET
