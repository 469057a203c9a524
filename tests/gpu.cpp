// The cuda target on a device: against the reference, and against the emulated target bit for bit. Exits 77
// (skipped) where there is no device.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "kernels/launch_log.h"
#include "kernels/view.h"
#include "tests/gpu_testing.h"
#include "tests/register_cases.h"
#include "tests/strategy_checks.h"

namespace convscope {
namespace {

using namespace convscope::testing;

const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> both;
    for (const std::string& name : strategy_names()) {
      const RegistryRow* const row = find_strategy(name, Target::cuda, Precision::fp32);
      // a library has its own arithmetic on each target; its suite is gpu_libraries
      if (row && row->missing == nullptr && find_strategy(name, Target::emulated, Precision::fp32))
        both.push_back(name);
    }
    return both;
  }();
  return names;
}

/// Rows of cuda that are no library's, in fp32. winograd_f4_3xtf32 takes no image of one channel: its suites
/// are gpu_tensor's.
Rows device_rows() {
  Rows rows;
  for (const RegistryRow& row : registry()) {
    if (row.info.target == Target::cuda && row.info.precision == Precision::fp32 && !row.missing &&
        row.info.name != "winograd_f4_3xtf32")
      rows.push_back(&row);
  }
  return rows;
}

TEST(Gpu, EqualsEmulatedBitForBitFp32) {
  BitForBit<float>(kernel_names()).check(conv_cases(largest_wanted()), 401);
}
TEST(Gpu, EqualsEmulatedBitForBitFp64) {
  BitForBit<double>(kernel_names()).check(conv_cases(largest_wanted()), 401);
}
TEST(Gpu, RegisterTiledEqualsEmulatedInEveryConfiguration) {
  BitForBit<float>({"register_tiled"}).check(register_cases(), 700);
}
TEST(Gpu, SumsOfOnes) { check_sums_of_ones(*make_runtime(Target::cuda), device_rows()); }
TEST(Gpu, ActivationsOnExtremes) {
  check_activations_on_extremes(*make_runtime(Target::cuda), device_rows());
}
TEST(Gpu, OneNanReachesExactlyItsNeighbours) { check_one_nan(*make_runtime(Target::cuda), device_rows()); }

TEST(Gpu, AfterAnImpossibleAllocationNothingIsLeftOver) {  // C1
  const auto device = make_runtime(Target::cuda);
  try {
    device->allocate(std::size_t{1} << 50);
    ADD_FAILURE() << "a pebibyte was allocated";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("are free"), std::string::npos) << e.what();
  }
  EXPECT_FALSE(cuda_unavailable());
  ConvShape s;
  s.h = s.w = 5, s.k_h = s.k_w = 3, s.pad = {1, 1};
  double sum = 0;
  const RegistryRow& row = *find_strategy("direct", Target::cuda, Precision::fp32);
  for (const float v :
       run<float>(*device, row, {s, {}, {}}, constant_weights(s, 1), std::vector<float>(25, 1)))
    sum += v;
  EXPECT_EQ(sum, 169);
}

TEST(Gpu, StagesEqualEmulated) {
  const auto host = make_runtime(Target::emulated), device = make_runtime(Target::cuda);
  std::vector<uint8_t> pixels(410 * 37 * 4);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 131 + i / 7);
  for (const int channels : {1, 3, 4}) {
    const PixelLayout layout{PixelType::u8, 410,   37,  channels, channels == 4 ? 3 : channels,
                             true,          false, true};
    const std::size_t planes = static_cast<std::size_t>(layout.planes) * 410 * 37,
                      border = static_cast<std::size_t>(layout.planes) * 415 * 48;
    std::vector<float> a(planes), b(planes), pad_a(border), pad_b(border);
    const auto up = device->allocate(layout.bytes()), unpacked = device->allocate(planes * 4),
               padded = device->allocate(border * 4);
    device->upload(up->data(), pixels.data(), layout.bytes());
    device->unpack(layout, 1, up->data(), Precision::fp32, unpacked->data());
    device->download(a.data(), unpacked->data(), planes * 4);
    host->unpack(layout, 1, pixels.data(), Precision::fp32, b.data());
    EXPECT_TRUE(same_bits(a, b));
    for (const Border kind :
         {Border::zero, Border::replicate, Border::reflect, Border::reflect_101, Border::wrap}) {
      const PadAmounts amounts{5, 6, 2, 3, kind};
      device->pad(amounts, layout.planes, 37, 410, Precision::fp32, unpacked->data(), padded->data());
      device->download(pad_a.data(), padded->data(), border * 4);
      host->pad(amounts, layout.planes, 37, 410, Precision::fp32, b.data(), pad_b.data());
      EXPECT_TRUE(same_bits(pad_a, pad_b)) << to_string(kind);
    }
  }
}

TEST(Gpu, ViewsEqualEmulatedInEveryMetric) {
  const auto host = make_runtime(Target::emulated), device = make_runtime(Target::cuda);
  const std::size_t count = 16 * 270 * 480;
  auto a = random_values<float>(count, 1), b = a, bound = random_values<float>(count, 2);
  for (std::size_t i = 0; i < count; i += 97) b[i] = std::nextafter(b[i], 2.0f);
  for (float& v : bound) v = std::fabs(v);
  a[12345] = std::numeric_limits<float>::quiet_NaN();
  const auto memory_a = device->allocate(count * 4), memory_b = device->allocate(count * 4),
             memory_bound = device->allocate(count * 4);
  device->upload(memory_a->data(), a.data(), count * 4);
  device->upload(memory_b->data(), b.data(), count * 4);
  device->upload(memory_bound->data(), bound.data(), count * 4);
  for (const double step : {0.07, 0.5, 1.0, 1.51, 6.0}) {
    ViewLayout v;
    v.view_w = 641, v.view_h = 367, v.columns = 4, v.cells = 16, v.cell_w = 157, v.cell_h = 89,
    v.pitch_x = 160, v.pitch_y = 91;
    v.origin_x = 2, v.origin_y = 1, v.plane_w = 480, v.plane_h = 270, v.region_x = 3.3, v.region_y = -2.1,
    v.step = step;
    std::vector<float> on_device(641 * 367), emulated(641 * 367);
    const auto view = device->allocate(on_device.size() * 4);
    for (const Metric m : {Metric::value, Metric::signed_difference, Metric::absolute, Metric::relative,
                           Metric::ulp, Metric::bound_fraction}) {
      device->view(v, {memory_a->data(), memory_b->data(), static_cast<float*>(memory_bound->data())},
                   Precision::fp32, m, static_cast<float*>(view->data()));
      device->download(on_device.data(), view->data(), on_device.size() * 4);
      host->view(v, {a.data(), b.data(), bound.data()}, Precision::fp32, m, emulated.data());
      EXPECT_TRUE(same_bits(on_device, emulated)) << static_cast<int>(m) << " at " << step;
    }
  }
}

TEST(Gpu, LargeKernelsRunOrAreRefused) {  // C22
  const auto host = make_runtime(Target::emulated), device = make_runtime(Target::cuda);
  struct Large {
    int64_t c_in, c_out, k, dilation;
  };
  for (const Large l :
       {Large{1, 1, 31, 1}, {3, 16, 31, 1}, {3, 64, 7, 1}, {3, 64, 11, 1}, {2, 5, 9, 5}, {1, 1, 31, 12}}) {
    ConvShape s;
    s.c_in = l.c_in, s.c_out = l.c_out, s.h = 40, s.w = 45, s.k_h = s.k_w = l.k;
    s.dilation = {l.dilation, l.dilation}, s.pad = {l.dilation * (l.k / 2), l.dilation * (l.k / 2)};
    const auto in = random_values<float>(static_cast<std::size_t>(s.input_size()), 1);
    const ConvWeights weights = random_weights(s, 2, true);
    const ConvProblem problem{s, Activation::none, Rounding::fused};
    for (const std::string& name : kernel_names()) {
      const RegistryRow& row = *find_strategy(name, Target::cuda, Precision::fp32);
      if (row.make()->refuses(problem, weights)) {
        // separable and winograd have suites of their own
        EXPECT_TRUE(l.dilation == 12 || name == "separable" || name.starts_with("winograd")) << name;
        continue;
      }
      EXPECT_TRUE(same_bits(
          run<float>(*device, row, problem, weights, in),
          run<float>(*host, *find_strategy(name, Target::emulated, Precision::fp32), problem, weights, in)))
          << name << " " << describe(s);
    }
  }
}

TEST(Gpu, LaunchLogKnowsWhatTheKernelTakes) {
  ConvShape s;
  s.c_in = 3, s.h = 270, s.w = 480, s.c_out = 16, s.k_h = s.k_w = 3, s.pad = {1, 1};
  const auto host = make_runtime(Target::emulated), device = make_runtime(Target::cuda);
  const auto entries_of = [&s](Runtime& runtime, const RegistryRow& row) {
    const auto in = runtime.allocate(static_cast<std::size_t>(s.input_size()) * 4);
    const auto out = runtime.allocate(static_cast<std::size_t>(s.output_size()) * 4);
    const auto strategy = row.make();
    strategy->prepare({s, {}, {}}, constant_weights(s, 1));
    const LaunchLog log;
    strategy->launch(in->data(), out->data(), runtime.stages());
    runtime.synchronise();
    return log.entries();
  };
  const std::string resources[] = {"registers", "shared memory", "threads", "blocks", "barriers"};
  for (const std::string& name : kernel_names()) {
    const RegistryRow& row = *find_strategy(name, Target::cuda, Precision::fp32);
    const auto on_device = entries_of(*device, row);
    const auto emulated = entries_of(*host, *find_strategy(name, Target::emulated, Precision::fp32));
    ASSERT_EQ(on_device.size(), emulated.size()) << name;
    for (std::size_t i = 0; i < on_device.size(); ++i) {
      const LaunchRecord &a = on_device[i].record, &b = emulated[i].record;
      EXPECT_EQ(on_device[i].count, emulated[i].count) << name;
      for (int axis = 0; axis < 3; ++axis) {
        EXPECT_EQ(a.grid[axis], b.grid[axis]) << name;
        EXPECT_EQ(a.block[axis], b.block[axis]) << name;
      }
      EXPECT_GE(a.shared_bytes, b.shared_bytes) << name;
      ASSERT_TRUE(a.compiled) << name;
      const LaunchRecord::Compiled& c = *a.compiled;
      const int64_t threads = a.block[0] * a.block[1] * a.block[2];
      EXPECT_TRUE(c.registers > 0 && c.registers <= 255) << name << ": " << c.registers;
      EXPECT_GE(c.blocks_per_sm, 1) << name;
      EXPECT_TRUE(c.occupancy > 0 && c.occupancy <= 1) << name << ": " << c.occupancy;
      EXPECT_LE(static_cast<double>(c.blocks_per_sm * threads), 2048 * c.occupancy + 0.5) << name;
      EXPECT_TRUE(std::any_of(std::begin(resources), std::end(resources),
                              [&c](const std::string& r) { return c.limited_by.starts_with(r); }))
          << name << ": " << c.limited_by;
      fmt::print("{:16} {:3} registers, {:6} bytes shared, {:2} blocks a multiprocessor, {:3.0f} % by {}\n",
                 name, c.registers, a.shared_bytes, c.blocks_per_sm, 100 * c.occupancy, c.limited_by);
    }
  }
}

TEST(Gpu, StageTimesComeWithoutWaiting) {
  const auto device = make_runtime(Target::cuda);
  Chain chain(*device);
  Operation op;
  op.pixels = {PixelType::u8, 1920, 1080, 3, 3, true, false, true};
  ConvShape& s = op.problem.shape;
  s.c_in = 3, s.h = 1080, s.w = 1920, s.c_out = 16, s.k_h = s.k_w = 3, s.pad = {1, 1};
  op.weights = random_weights(s, 3, true);
  chain.set(*find_strategy("tiled", Target::cuda, Precision::fp32), op);
  const std::vector<uint8_t> pixels(op.pixels.bytes(), 100);
  std::vector<FrameTimes> frames;
  for (uint64_t frame = 1; frame <= 50; ++frame) {  // more than the ring holds
    chain.run(frame, pixels.data());
    for (FrameTimes& f : device->stages().collect()) frames.push_back(std::move(f));
  }
  device->synchronise();
  for (FrameTimes& f : device->stages().collect()) frames.push_back(std::move(f));
  ASSERT_GE(frames.size(), 8u);
  for (const FrameTimes& f : frames) {
    ASSERT_EQ(f.stages.size(), 3u);
    EXPECT_EQ(f.stages[0].name, "upload");
    EXPECT_EQ(f.stages[1].name, "unpack");
    EXPECT_EQ(f.stages[2].name, "tiled");
    for (const StageTime& t : f.stages) EXPECT_GT(t.ms, 0.001);
    EXPECT_LT(f.total_ms(), 50);
  }
}

}  // namespace
}  // namespace convscope
