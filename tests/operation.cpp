// Settings and a frame become an operation: padding, anchors, borders and turned kernels against hand-worked
// results, through the whole chain.
#include "app/operation.h"

#include "app/source.h"
#include "kernels/chain.h"
#include "tests/app_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

/// An image, weights and settings, as a user would give them: two .npy files and assignments.
struct Given {
  int64_t h, w;
  std::vector<float> pixels;
  int64_t k_h, k_w;
  std::vector<float> taps;
  std::vector<std::string> assignments;
};

class Operations : public ::testing::Test {
 protected:
  PreparedOperation prepare(const Given& given) {
    write_string(folder_ / "x.npy",
                 npy_text("<f4", false, std::to_string(given.h) + ", " + std::to_string(given.w),
                          bytes_of_values(given.pixels)));
    write_string(
        folder_ / "w.npy",
        npy_text("<f4", false, "1, 1, " + std::to_string(given.k_h) + ", " + std::to_string(given.k_w),
                 bytes_of_values(given.taps)));
    settings_ = Settings{};
    set(settings_, "weights", folder_ / "w.npy");
    for (const std::string& assignment : given.assignments) set(settings_, assignment);
    frame_ = open_source(folder_ / "x.npy");
    return make_operation(settings_, *frame_);
  }

  std::vector<float> compute(const Given& given, const char* strategy, Target target) {
    const Operation operation = prepare(given).operation;
    const auto runtime = make_runtime(target);
    Chain chain(*runtime);
    chain.set(*find_strategy(strategy, target, Precision::fp32), operation);
    chain.run(1, frame_->pixels.data());
    const auto* out = static_cast<const float*>(chain.output());
    return {out, out + operation.problem.shape.output_size()};
  }

  TemporaryFolder folder_;
  Settings settings_;
  FramePtr frame_;
};

TEST_F(Operations, HandWorkedCasesThroughTheChain) {  // C12, C13, C14
  const std::vector<float> nine{1, 2, 3, 4, 5, 6, 7, 8, 9}, corner{1, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<float> four{1, 2, 3, 4}, two{1, 10}, five{1, 2, 3, 4, 5}, ones{1, 1, 1, 1, 1};
  struct Row {
    Given given;
    std::vector<float> expected;
  };
  const Row table[] = {
      {{3, 3, nine, 3, 3, corner, {"pad=1"}}, {0, 0, 0, 0, 1, 2, 0, 4, 5}},
      {{3, 3, nine, 3, 3, corner, {}}, {0, 0, 0, 0, 1, 2, 0, 4, 5}},
      {{3, 3, nine, 3, 3, corner, {"pad=1", "convolution=on"}}, {5, 6, 0, 8, 9, 0, 0, 0, 0}},
      {{1, 4, four, 1, 2, two, {"anchor=0,1"}}, {10, 21, 32, 43}},
      {{1, 4, four, 1, 2, two, {}}, {10, 21, 32, 43}},
      {{1, 4, four, 1, 2, two, {"anchor=0,0"}}, {21, 32, 43, 4}},
      {{1, 4, four, 1, 2, two, {"pad=valid"}}, {21, 32, 43}},
      {{1, 4, four, 1, 2, two, {"pad=0,0,1,0"}}, {10, 21, 32, 43}},
      // the kernel turned: taps 10 1; its anchor, tap k/2 = 1 before, is tap 0 now
      {{1, 4, four, 1, 2, two, {"convolution=on"}}, {12, 23, 34, 40}},
      {{1, 4, four, 1, 2, two, {"convolution=on", "anchor=0,0"}}, {1, 12, 23, 34}},
      {{1, 5, five, 1, 5, ones, {"border=zero"}}, {6, 10, 15, 14, 12}},
      {{1, 5, five, 1, 5, ones, {"border=replicate"}}, {8, 11, 15, 19, 22}},
      {{1, 5, five, 1, 5, ones, {"border=reflect"}}, {9, 11, 15, 19, 21}},
      {{1, 5, five, 1, 5, ones, {"border=reflect_101"}}, {11, 12, 15, 18, 19}},
      {{1, 5, five, 1, 5, ones, {"border=wrap"}}, {15, 15, 15, 15, 15}},
      {{1, 5, five, 1, 5, ones, {"border=replicate", "pad=0,0,2,0"}}, {8, 11, 15}},
      {{1, 5, five, 1, 3, {1, 1, 1}, {"stride=1,2"}}, {3, 9, 9}},
      {{1, 5, five, 1, 3, {1, 1, 1}, {"dilation=1,2"}}, {4, 6, 9, 6, 8}},
      {{1, 4, four, 1, 2, two, {"dilation=1,2"}}, {10, 20, 31, 42}},
      {{1, 4, four, 1, 1, {-1}, {"activation=relu"}}, {0, 0, 0, 0}},
  };
  for (const Row& row : table) {
    std::string what;
    for (const std::string& assignment : row.given.assignments) what += assignment + " ";
    for (const auto& [strategy, target] : {std::pair{"reference", Target::cpu},
                                           {"scalar", Target::cpu},
                                           {"direct", Target::emulated},
                                           {"tiled", Target::emulated}}) {
      SCOPED_TRACE(what + strategy);
      EXPECT_EQ(compute(row.given, strategy, target), row.expected);
    }
  }
}

TEST_F(Operations, WhoMakesTheBorder) {
  struct Row {
    std::vector<std::string> assignments;
    Axes pad;           // of the shape: the strategy's own zeros
    PadAmounts border;  // of the pad stage
    int64_t out_h, out_w;
  };
  const Row table[] = {
      {{"pad=same"}, {1, 1}, {}, 9, 8},
      {{"pad=same", "stride=2"}, {1, 1}, {}, 5, 4},
      {{"pad=same", "stride=4,3"}, {1, 1}, {}, 3, 3},
      {{"pad=same", "dilation=2,3"}, {2, 3}, {}, 9, 8},
      {{"pad=valid"}, {0, 0}, {}, 7, 6},
      {{"pad=valid", "border=wrap"}, {0, 0}, {}, 7, 6},
      {{"pad=2"}, {2, 2}, {}, 11, 10},
      {{"pad=2,0"}, {2, 0}, {}, 11, 6},
      {{"pad=1,2,3,4"}, {0, 0}, {1, 2, 3, 4, Border::zero}, 10, 13},
      {{"pad=same", "border=reflect"}, {0, 0}, {1, 1, 1, 1, Border::reflect}, 9, 8},
      {{"pad=same", "anchor=0,2"}, {0, 0}, {0, 2, 2, 0, Border::zero}, 9, 8},
      {{"pad=same", "anchor=0,2", "convolution=on"}, {0, 0}, {2, 0, 0, 2, Border::zero}, 9, 8},
      {{"pad=same", "anchor=0", "dilation=3"}, {0, 0}, {0, 6, 0, 6, Border::zero}, 9, 8},
  };
  for (const Row& row : table) {
    std::string what;
    for (const std::string& assignment : row.assignments) what += assignment + " ";
    SCOPED_TRACE(what);
    const Operation op =
        prepare({9, 8, std::vector<float>(72, 1), 3, 3, std::vector<float>(9, 1), row.assignments}).operation;
    const ConvShape& shape = op.problem.shape;
    EXPECT_EQ(shape.pad, row.pad);
    EXPECT_EQ(op.border, row.border);
    EXPECT_EQ(shape.h, 9 + row.border.top + row.border.bottom);
    EXPECT_EQ(shape.w, 8 + row.border.left + row.border.right);
    EXPECT_EQ(shape.out_h(), row.out_h);
    EXPECT_EQ(shape.out_w(), row.out_w);
  }
}

TEST_F(Operations, SameKeepsCeilOfSizeOverStride) {
  for (int64_t size : {1, 2, 5, 8, 33})
    for (int64_t k : {1, 2, 3, 4, 7})
      for (int64_t stride : {1, 2, 3, 5})
        for (int64_t dilation : {1, 2, 3}) {
          const std::string s = std::to_string(stride), d = std::to_string(dilation);
          const Given given{size,
                            3,
                            std::vector<float>(static_cast<std::size_t>(3 * size)),
                            k,
                            1,
                            std::vector<float>(static_cast<std::size_t>(k)),
                            {"stride=" + s + ",1", "dilation=" + d + ",1"}};
          EXPECT_EQ(prepare(given).operation.problem.shape.out_h(), (size + stride - 1) / stride)
              << size << " " << k << " " << stride << " " << dilation;
        }
}

TEST_F(Operations, WeightsByTheirShapeAndOrderOfPrecedence) {
  const FramePtr frame = open_source("pattern:constant:8x8x2");
  const std::vector<float> twelve{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  struct Row {
    const char* shape;
    int64_t c_in;
    std::array<int64_t, 4> expected;  // o, i, h, w
  };
  const Row table[] = {{"3, 4", 1, {1, 1, 3, 4}},
                       {"2, 3, 2", 2, {1, 2, 3, 2}},
                       {"2, 2, 1, 3", 2, {2, 2, 1, 3}},
                       {"6, 1, 1, 2", 1, {6, 1, 1, 2}}};
  for (const Row& row : table) {
    write_string(folder_ / "w.npy", npy_text("<f4", false, row.shape, bytes_of_values(twelve)));
    Settings settings;
    settings.weights_file = folder_ / "w.npy";
    const FramePtr source = open_source("pattern:constant:8x8x" + std::to_string(row.c_in));
    const PreparedOperation made = make_operation(settings, *source);
    const ConvWeights& w = made.operation.weights;
    EXPECT_EQ((std::array{w.c_out, w.c_in, w.k_h, w.k_w}), row.expected) << row.shape;
    EXPECT_EQ(w.values, std::vector<double>(twelve.begin(), twelve.end()));
    EXPECT_EQ(static_cast<int64_t>(made.labels.size()), w.c_out);
  }
  Settings settings;
  settings.weights_file = folder_ / "w.npy";
  settings.edited_weights = ConvWeights{1, 2, 1, 1, {0.25, 0.5}, {3}};
  EXPECT_EQ(make_operation(settings, *frame).operation.weights, *settings.edited_weights);
  settings.edited_weights.reset();
  settings.weights_file.clear();
  settings.bank = "box";
  write_string(folder_ / "b.npy", npy_text("<f8", false, "2,", bytes_of_values<double>({0.1, -2})));
  settings.bias_file = folder_ / "b.npy";
  EXPECT_EQ(make_operation(settings, *frame).operation.weights.bias, (std::vector<double>{0.1, -2}));
}

TEST_F(Operations, BatchesAndScaleReachTheChain) {
  const std::vector<uint8_t> pixels{0, 51, 255, 102, 153, 204};
  write_string(folder_ / "x.npy", npy_text("|u1", false, "2, 1, 1, 3", bytes_of_values(pixels)));
  const FramePtr frame = open_source(folder_ / "x.npy");
  for (const bool unit : {true, false}) {
    Settings settings;
    settings.bank = "identity";
    settings.unit_scale = unit;
    const Operation op = make_operation(settings, *frame).operation;
    EXPECT_EQ(op.problem.shape.n, 2);
    const auto runtime = make_runtime(Target::cpu);
    Chain chain(*runtime);
    chain.set(*find_strategy("reference", Target::cpu, Precision::fp32), op);
    chain.run(1, frame->pixels.data());
    for (std::size_t i = 0; i < pixels.size(); ++i)
      EXPECT_EQ(static_cast<const float*>(chain.output())[i], unit ? pixels[i] / 255.0f : pixels[i]) << i;
  }
}

TEST_F(Operations, FaultsNameTheSetting) {
  const auto given = [](std::vector<std::string> assignments) {
    return Given{3, 4, std::vector<float>(12), 5, 5, std::vector<float>(25), std::move(assignments)};
  };
  const std::pair<std::vector<std::string>, std::vector<std::string>> table[] = {
      {{"pad=valid"}, {"kernel=5x5", "pad=valid", "3x4"}},
      {{"pad=1", "dilation=2"}, {"kernel=5x5", "dilation=2,2", "9x9", "5x6"}},
      {{"anchor=5"}, {"anchor=5", "0 to 4"}},
      {{"anchor=0,5"}, {"anchor=5 along x", "0 to 4"}},
      {{"anchor=0", "pad=2"}, {"anchor=0,0", "pad=same"}},
      {{"weights=", "bank=nosuch"}, {"bank=nosuch", "gaussian"}},
      {{"weights=", "bank=box", "kernel=32"}, {"kernel=32,32", "31"}},
      {{"weights=missing.npy"}, {"missing.npy", "No such file"}},
      {{"bias=missing.npy"}, {"missing.npy", "No such file"}},
      {{"edited_weights={\"shape\":[1,3,1,1],\"values\":[1,2,3]}"},
       {"edited_weights", "3 input channels", "has 1"}},
  };
  for (const auto& [assignments, parts] : table)
    EXPECT_TRUE(one_line_with(error_of([&, a = assignments] { prepare(given(a)); }), parts))
        << assignments.front();
  write_string(folder_ / "b.npy", npy_text("<f4", false, "2,", bytes_of_values<float>({1, 2})));
  EXPECT_TRUE(one_line_with(error_of([&] { prepare(given({"bias=" + (folder_ / "b.npy")})); }),
                            {"b.npy", "(2)", "expected (1)"}));
  const Given large{3, 4, std::vector<float>(12), 1, 32, std::vector<float>(32), {}};
  EXPECT_TRUE(one_line_with(error_of([&] { prepare(large); }), {"w.npy", "1x32", "at most 31"}));
}

TEST(Rows, TheDefaultGivesWayWhereItRefuses) {
  Settings settings;
  settings.target = Target::emulated;
  settings.kernel = Axes{31, 31};
  const auto chosen = [&settings](const char* source) {
    return chosen_strategy(settings, make_operation(settings, *open_source(source)).operation);
  };
  const ChosenStrategy one = chosen("pattern:constant:40x40x1");
  EXPECT_EQ(one.row->info.id(), "register_tiled/emulated/fp32");
  EXPECT_EQ(one.note, "");
  // a filter of 18 channels is more than a launch's constant memory
  const ChosenStrategy many = chosen("pattern:constant:40x40x18");
  EXPECT_EQ(many.row->info.id(), "direct/emulated/fp32");
  EXPECT_TRUE(many.note.starts_with("register_tiled refuses: one filter of 17298 weights")) << many.note;
  EXPECT_TRUE(many.note.ends_with("; direct in its place")) << many.note;
  settings.strategy = "direct_constant";  // what was chosen stays chosen
  EXPECT_EQ(chosen("pattern:constant:40x40x18").row->info.name, "direct_constant");
}

TEST(PermittedDifferences, AreWhatBothSidesState) {
  ConvShape s;
  s.c_in = 2, s.h = s.w = 8, s.k_h = s.k_w = 3, s.pad = {1, 1};
  struct Row {
    const char *a, *b;
    Activation activation;
    double bounds;
    int64_t reach;
  };
  const Row table[] = {{"direct/emulated", "reference/cpu", Activation::none, 1, 0},
                       {"reference/cpu", "direct/emulated", Activation::relu, 1, 0},
                       {"reference/cpu", "reference/cpu", Activation::none, 1, 0},
                       {"direct/emulated", "onednn/cpu", Activation::tanh, 2, 0},
                       {"winograd_f4/emulated", "reference/cpu", Activation::none, 4, 3},  // 8 / c_in
                       {"winograd_f2/emulated", "winograd_f4/emulated", Activation::sigmoid, 5, 3}};
  const auto info = [](const std::string& text) {
    const std::size_t slash = text.find('/');
    return find_strategy(text.substr(0, slash), *parse_target(text.substr(slash + 1)), Precision::fp32)->info;
  };
  for (const Row& row : table) {
    SCOPED_TRACE(std::string(row.a) + " and " + row.b);
    const PermittedDifference p =
        permitted_difference({s, row.activation, Rounding::fused}, info(row.a), info(row.b));
    EXPECT_EQ(p.tolerance.bound_fraction, row.bounds);
    EXPECT_EQ(p.reach, row.reach);
    const bool smooth = row.activation == Activation::tanh || row.activation == Activation::sigmoid;
    EXPECT_EQ(p.tolerance.absolute, smooth ? 0x1p-21 : 0);  // 4 * 2^-23
  }
  Comparison c;
  c.max_bound_fraction = 0.3125;
  EXPECT_EQ(bounds_text(c, {0, 8}), "0.312 of 8 permitted error bounds");
  EXPECT_EQ(bounds_text(c, {0, 1}), "0.312 of 1 permitted error bound");
}

TEST(Rows, ChosenByNameTargetAndPrecision) {
  const bool cuda = !cuda_unavailable();
  struct Row {
    std::vector<std::string> assignments;
    const char* expected;
  };
  const Row table[] = {
      {{}, cuda ? "register_tiled/cuda/fp32" : "register_tiled/emulated/fp32"},
      {{"strategy=tiled", "precision=fp64"}, cuda ? "tiled/cuda/fp64" : "tiled/emulated/fp64"},
      {{"strategy=direct", "target=emulated"}, "direct/emulated/fp32"},
      {{"strategy=direct", "target=cuda"}, "direct/cuda/fp32"},  // returned where it cannot run, too
      {{"strategy=onednn"}, "onednn/cpu/fp32"},
      {{"strategy=scalar", "precision=fp64"}, "scalar/cpu/fp64"},
  };
  for (const Row& row : table) {
    Settings settings;
    for (const std::string& assignment : row.assignments) set(settings, assignment);
    EXPECT_EQ(chosen_row(settings).info.id(), row.expected);
    EXPECT_EQ(against_row(settings).info.id(), std::string("reference/cpu/") + to_string(settings.precision));
  }
  const std::pair<std::vector<std::string>, std::vector<std::string>> faults[] = {
      {{"strategy=nosuch"}, {"strategy=nosuch", "direct", "onednn"}},
      {{"strategy=onednn", "target=cuda"}, {"strategy=onednn", "target=cuda", "there is cpu/fp32"}},
      {{"strategy=onednn", "precision=fp64"}, {"strategy=onednn", "precision=fp64", "there is cpu/fp32"}},
      {{"strategy=direct", "target=cpu"},
       {"strategy=direct", "target=cpu", "cuda/fp32, cuda/fp64, emulated/fp32"}},
  };
  for (const auto& [assignments, parts] : faults) {
    Settings settings;
    for (const std::string& assignment : assignments) set(settings, assignment);
    EXPECT_TRUE(one_line_with(error_of([&] { chosen_row(settings); }), parts));
  }
}

}  // namespace
}  // namespace convscope
