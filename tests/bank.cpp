// The filter banks of assets/: each for grey and colour, values against formulas of their own; a line for
// each fault.
#include "app/bank.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <opencv2/imgproc.hpp>

#include "tests/app_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

double sum_of_map(const ConvWeights& w, int64_t map) {
  const auto size = static_cast<std::ptrdiff_t>(w.c_in * w.k_h * w.k_w);
  return std::accumulate(w.values.begin() + map * size, w.values.begin() + (map + 1) * size, 0.0);
}

TEST(Bank, EveryFileServesAnyChannelCountAndSize) {
  std::vector<std::string> faults;
  const std::vector<Bank> banks = load_banks(&faults);
  EXPECT_EQ(faults, std::vector<std::string>{});
  std::vector<std::string> names;
  for (const Bank& bank : banks) {
    names.push_back(bank.name);
    EXPECT_EQ(load_bank(bank.name).json, bank.json);
    EXPECT_FALSE(bank.title.empty());
    EXPECT_FALSE(bank.about.empty());
    for (const int64_t c_in : {1, 2, 3, 5}) {
      for (const std::optional<Axes> size :
           {std::optional<Axes>(), std::optional(Axes{1, 1}), std::optional(Axes{2, 2}),
            std::optional(Axes{1, 7}), std::optional(Axes{31, 31})}) {
        SCOPED_TRACE(bank.name + " of " + std::to_string(c_in) + " channels");
        const BankWeights made = make_weights(bank, c_in, size);
        const ConvWeights& w = made.weights;
        EXPECT_EQ(w.c_in, c_in);
        if (size) {
          EXPECT_EQ((Axes{w.k_h, w.k_w}), *size);
        }
        EXPECT_EQ(static_cast<int64_t>(w.values.size()), w.c_out * w.c_in * w.k_h * w.k_w);
        EXPECT_EQ(static_cast<int64_t>(made.labels.size()), w.c_out);
        for (const double value : w.values) ASSERT_TRUE(std::isfinite(value));
      }
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"box", "emboss", "gabor", "gaussian", "identity", "laplacian",
                                             "random", "sharpen", "sobel"}));
}

TEST(Bank, ChannelRules) {
  const BankWeights box = make_weights(load_bank("box"), 3);
  EXPECT_EQ(box.labels, (std::vector<std::string>{"box R", "box G", "box B"}));
  for (int64_t o = 0; o < 3; ++o)
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t i = 0; i < 9; ++i) EXPECT_EQ(box.weights.at(o, c, i / 3, i % 3), o == c ? 1.0 / 9 : 0.0);
  EXPECT_EQ(make_weights(load_bank("box"), 1).labels, std::vector<std::string>{"box"});

  const BankWeights sobel = make_weights(load_bank("sobel"), 3);
  ASSERT_EQ(sobel.weights.c_out, 4);
  const double expected[2][9] = {{-1, 0, 1, -2, 0, 2, -1, 0, 1}, {-1, -2, -1, 0, 0, 0, 1, 2, 1}};
  for (int64_t o = 0; o < 2; ++o)
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t i = 0; i < 9; ++i) EXPECT_EQ(sobel.weights.at(o, c, i / 3, i % 3), expected[o][i] / 3);
}

TEST(Bank, GaussianIsOpenCvs) {
  for (const Axes size : {Axes{5, 5}, Axes{3, 9}, Axes{31, 1}, Axes{7, 7}}) {
    const ConvWeights w = make_weights(load_bank("gaussian"), 1, size).weights;
    // sigma given, since OpenCV uses tables for small sizes where it is not
    const auto sigma = [](int64_t k) { return 0.3 * ((static_cast<double>(k) - 1) * 0.5 - 1) + 0.8; };
    const cv::Mat y = cv::getGaussianKernel(static_cast<int>(size.y), sigma(size.y), CV_64F);
    const cv::Mat x = cv::getGaussianKernel(static_cast<int>(size.x), sigma(size.x), CV_64F);
    for (int i = 0; i < size.y; ++i)
      for (int j = 0; j < size.x; ++j)
        EXPECT_NEAR(w.at(0, 0, i, j), y.at<double>(i) * x.at<double>(j), 1e-12) << size.y << "x" << size.x;
  }
}

TEST(Bank, SumsOfTheMaps) {
  const std::pair<const char*, double> table[] = {{"identity", 1}, {"box", 1},   {"gaussian", 1},
                                                  {"sharpen", 1},  {"sobel", 0}, {"laplacian", 0},
                                                  {"emboss", 1},   {"gabor", 0}};
  for (const auto& [name, sum] : table) {
    const ConvWeights w = make_weights(load_bank(name), 3).weights;
    for (int64_t map = 0; map < w.c_out; ++map)
      EXPECT_NEAR(sum_of_map(w, map), sum, 1e-12) << name << " " << map;
  }
}

TEST(Bank, GaborTurnsWithItsAngle) {
  const BankWeights gabor = make_weights(load_bank("gabor"), 1);
  const ConvWeights& w = gabor.weights;
  ASSERT_EQ(w.c_out, 8);
  EXPECT_EQ(gabor.labels[4], "gabor 90 deg");
  double turned = 0, same = 0;
  for (int64_t y = 0; y < w.k_h; ++y)
    for (int64_t x = 0; x < w.k_w; ++x) {
      turned = std::max(turned, std::abs(w.at(0, 0, y, x) - w.at(4, 0, x, w.k_h - 1 - y)));
      same = std::max(same, std::abs(w.at(0, 0, y, x) - w.at(4, 0, y, x)));
    }
  EXPECT_LT(turned, 1e-12);
  EXPECT_GT(same, 0.01);
  // a wave across x: a column of one sign in the middle, its neighbours half a wavelength away of the other
  EXPECT_GT(w.at(0, 0, 5, 5), 0);
  EXPECT_LT(w.at(0, 0, 5, 3), 0);
}

TEST(Bank, RandomIsTheSameOnEveryMachine) {
  const ConvWeights w = make_weights(load_bank("random"), 3).weights;
  ASSERT_EQ(w.c_out, 16);
  ASSERT_EQ(w.values.size(), 16u * 27);
  // the first output of SplitMix64 for seed 1, its published test value
  const double first = static_cast<double>(10451216379200822465u >> 11) * 0x1p-53;
  EXPECT_EQ(w.values[0], (2 * first - 1) / std::sqrt(27.0));
  double sum = 0, squares = 0;
  for (const double v : w.values) {
    EXPECT_LT(std::abs(v), 1 / std::sqrt(27.0));
    sum += v;
    squares += v * v;
  }
  EXPECT_NEAR(sum / 432, 0, 0.03);
  EXPECT_NEAR(squares / 432, 1.0 / 3 / 27, 0.002);  // the variance of a uniform value
}

TEST(Bank, GivenKernelsAreCroppedAndExtendedAboutTheirCentre) {
  const TemporaryFolder folder;
  write_string(
      folder / "b.json",
      R"({"name": "b", "title": "B", "filters": [{"name": "f", "kernel": [[1, 2, 3], [4, 5, 6], [7, 8, 9]]}]})");
  const Bank bank = load_bank(folder / "b.json");
  struct Row {
    Axes size;
    std::vector<double> expected;
  };
  const Row table[] = {
      {{3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}},
      {{1, 1}, {5}},
      {{1, 3}, {4, 5, 6}},
      {{2, 2}, {1, 2, 4, 5}},
      {{5, 1}, {0, 2, 5, 8, 0}},
      {{3, 5}, {0, 1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 7, 8, 9, 0}},
  };
  for (const Row& row : table)
    EXPECT_EQ(make_weights(bank, 1, row.size).weights.values, row.expected)
        << row.size.y << "x" << row.size.x;
}

TEST(Bank, OwnKernelsBiasAndDivisor) {
  const TemporaryFolder folder;
  write_string(folder / "b.json", R"({"name": "luma", "title": "L", "filters": [
    {"name": "y", "kernels": [[[299]], [[587]], [[114]]], "divisor": 1000, "bias": 0.5}]})");
  const Bank bank = load_bank(folder / "b.json");
  const BankWeights made = make_weights(bank, 3);
  EXPECT_EQ(made.weights.values, (std::vector<double>{299 / 1000.0, 587 / 1000.0, 114 / 1000.0}));
  EXPECT_EQ(made.weights.bias, std::vector<double>{0.5});
  EXPECT_TRUE(
      one_line_with(error_of([&] { make_weights(bank, 1); }), {"luma", "\"y\"", "3 channels", "has 1"}));
}

TEST(Bank, FaultsNameFileFilterAndWhat) {
  const TemporaryFolder folder;
  const std::string path = folder / "b.json";
  const auto filters = [](const std::string& text) {
    return R"({"name": "b", "title": "B", "filters": [)" + text + "]}";
  };
  const std::pair<std::string, std::vector<std::string>> table[] = {
      {"", {"empty"}},
      {"{", {"not JSON"}},
      {"[]", {"array", "object"}},
      {R"({"name": "b", "title": "B"})", {"\"filters\"", "\"random\""}},
      {R"({"title": "B", "filters": [{"name": "f", "kernel": [[1]]}]})", {"\"name\" is missing"}},
      {R"({"name": "b", "title": "B", "filters": []})", {"1 to 4096 filters"}},
      {R"({"name": "b", "title": "B", "kernel": [0, 3], "filters": [{"name": "f", "kernel": [[1]]}]})",
       {"kernel side is 0"}},
      {R"({"name": "b", "title": "B", "random": {"count": 0, "seed": 1}})", {"\"count\" is 0"}},
      {R"({"name": "b", "title": "B", "random": {"count": 4}})", {"\"seed\" is missing"}},
      {R"({"name": "b", "title": "B", "colour": 1, "filters": [{"name": "f", "kernel": [[1]]}]})",
       {"\"colour\""}},
      {filters("3"), {"filter number 1", "not an object"}},
      {filters(R"({"name": "f"})"), {"filter \"f\"", "exactly one of"}},
      {filters(R"({"name": "f", "kernel": [[1, 2], [3]]})"), {"filter \"f\"", "[3]", "2 values"}},
      {filters(R"({"name": "f", "kernel": [[1, "x"]]})"), {"filter \"f\"", "\"x\""}},
      {filters(R"({"name": "f", "kernel": [1, 2]})"), {"filter \"f\"", "rows of numbers"}},
      {filters(R"({"name": "f", "kernel": [[1]], "divisor": 0})"), {"filter \"f\"", "\"divisor\" is 0"}},
      {filters(R"({"name": "f", "kernel": [[1]], "channels": "all"})"),
       {"filter \"f\"", "\"all\"", "each or mean"}},
      {filters(R"({"name": "f", "kernel": [[1]], "sigma": 2})"), {"filter \"f\"", "\"sigma\""}},
      {filters(R"({"name": "f", "kernels": [[[1]], [[1, 2]]]})"), {"filter \"f\"", "differ in size"}},
      {filters(R"({"name": "f", "generator": "blur"})"), {"filter \"f\"", "\"blur\"", "gaussian"}},
      {filters(R"({"name": "f", "generator": "gaussian", "sigma": 0})"), {"filter \"f\"", "sigma is 0"}},
      {filters(R"({"name": "f", "generator": "gaussian", "sigma": "x"})"),
       {"filter \"f\"", "\"sigma\" is \"x\""}},
      {filters(R"({"name": "f", "generator": "box", "sigma": 1})"), {"filter \"f\"", "\"sigma\""}},
      {filters(R"({"kernel": [[1]]})"), {"filter number 1", "\"name\" is missing"}},
      {filters(R"({"name": "f", "kernel": [[1]], "kernel": [[2]]})"), {"\"kernel\"", "twice"}},
      {filters(R"({"name": "f", "kernel": [[1e999]]})"), {"too large", "1e999"}},
      {filters(R"({"name": "f", "kernel": [[1]], "divisor": 1e-320})"), {"filter \"f\"", "too large"}},
      {R"({"name": "b", "title": "B", "kernel": [1.5, 3], "random": {"count": 1, "seed": 1}})", {"[1.5,3]"}},
      {R"({"name": "b", "title": "B", "kernel": [true, 3], "random": {"count": 1, "seed": 1}})",
       {"[true,3]"}},
  };
  for (const auto& [text, parts] : table) {
    write_string(path, text);
    const std::string message = error_of([&] { load_bank(path); });
    EXPECT_TRUE(one_line_with(message, {path})) << text;
    EXPECT_TRUE(one_line_with(message, parts)) << text;
  }
  // no tap lies in the middle of an even size, and all of this Gaussian's are zero: 0 / 0
  write_string(path, filters(R"({"name": "f", "generator": "gaussian", "sigma": 1e-300})"));
  EXPECT_TRUE(one_line_with(error_of([&] {
                              make_weights(load_bank(path), 1, Axes{2, 2});
                            }),
                            {"2 x 2", "no numbers"}));
  std::string row = "1";
  for (int i = 1; i < 32; ++i) row += ",1";
  write_string(path, filters(R"({"name": "f", "kernel": [[)" + row + "]]}"));
  EXPECT_TRUE(one_line_with(error_of([&] { load_bank(path); }), {path, "filter \"f\"", "32", "1 to 31"}));
  EXPECT_TRUE(one_line_with(error_of([&] { load_bank("nosuch"); }), {"nosuch", "gaussian"}));
  EXPECT_TRUE(one_line_with(error_of([&] {
                              make_weights(load_bank("box"), 1, Axes{32, 3});
                            }),
                            {"kernel=32,3", "31"}));
}

TEST(Bank, AssetsFolderIsNamedOrFound) {
  const std::string found = assets_folder();
  EXPECT_TRUE(std::filesystem::exists(found + "/banks/box.json"));
  const TemporaryFolder folder;
  ::setenv("CONVSCOPE_ASSETS", (folder / "nowhere").c_str(), 1);
  EXPECT_TRUE(one_line_with(error_of([] { assets_folder(); }), {"CONVSCOPE_ASSETS", folder / "nowhere"}));
  std::filesystem::create_directories(folder / "mine/banks");
  write_string(folder / "mine/banks/broken.json", "{");
  ::setenv("CONVSCOPE_ASSETS", (folder / "mine").c_str(), 1);
  std::vector<std::string> faults;
  EXPECT_TRUE(load_banks(&faults).empty());
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_TRUE(one_line_with(faults[0], {"broken.json", "not JSON"}));
  EXPECT_TRUE(one_line_with(error_of([] { load_bank("broken"); }), {"broken.json", "not JSON"}));
  ::unsetenv("CONVSCOPE_ASSETS");
}

}  // namespace
}  // namespace convscope
