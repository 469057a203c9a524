#include "app/bank_generators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>

#include "kernels/error.h"

namespace convscope {
namespace {

using Json = nlohmann::json;

std::optional<double> parameter(const Json& filter, const char* key, bool positive) {
  if (!filter.contains(key)) return std::nullopt;
  const double value = filter.at(key).get<double>();
  if (!std::isfinite(value) || (positive && value <= 0))
    throw Error(fmt::format("{} is {}, expected a {}number", key, value, positive ? "positive " : ""));
  return value;
}

/// OpenCV's sigma for a Gaussian of a size (getGaussianKernel); about a sixth of it.
double gaussian_sigma(int64_t size) { return 0.3 * (static_cast<double>(size - 1) * 0.5 - 1) + 0.8; }

/// Distance from the middle of the kernel, which lies between two taps of an even size.
double offset(int64_t i, int64_t size) { return static_cast<double>(i) - static_cast<double>(size - 1) / 2; }

template <class F>
Kernel make(int64_t h, int64_t w, F value) {
  Kernel kernel{h, w, std::vector<double>(static_cast<std::size_t>(h * w))};
  for (int64_t y = 0; y < h; ++y) {
    for (int64_t x = 0; x < w; ++x) kernel.at(y, x) = value(y, x);
  }
  return kernel;
}

double sum(const Kernel& kernel) { return std::accumulate(kernel.values.begin(), kernel.values.end(), 0.0); }

void subtract_mean(Kernel& kernel) {
  const double mean = sum(kernel) / static_cast<double>(kernel.values.size());
  for (double& v : kernel.values) v -= mean;
}

Kernel identity(const Json&, int64_t h, int64_t w) {
  return make(h, w, [=](int64_t y, int64_t x) { return y == h / 2 && x == w / 2 ? 1.0 : 0.0; });
}

Kernel box(const Json&, int64_t h, int64_t w) {
  return make(h, w, [=](int64_t, int64_t) { return 1.0 / static_cast<double>(h * w); });
}

Kernel gaussian(const Json& filter, int64_t h, int64_t w) {
  const std::optional<double> sigma = parameter(filter, "sigma", true);
  const double sigma_y = sigma.value_or(gaussian_sigma(h)), sigma_x = sigma.value_or(gaussian_sigma(w));
  Kernel kernel = make(h, w, [=](int64_t y, int64_t x) {
    const double u = offset(x, w) / sigma_x, v = offset(y, h) / sigma_y;
    return std::exp(-(u * u + v * v) / 2);
  });
  const double total = sum(kernel);
  for (double& v : kernel.values) v /= total;
  return kernel;
}

/// Laplacian of Gaussian: sums to zero, so that a flat image gives nothing, and its magnitudes to 2.
Kernel laplacian_of_gaussian(const Json& filter, int64_t h, int64_t w) {
  const double sigma = parameter(filter, "sigma", true).value_or(gaussian_sigma(std::min(h, w)) / 1.5);
  Kernel kernel = make(h, w, [=](int64_t y, int64_t x) {
    const double u = offset(x, w) / sigma, v = offset(y, h) / sigma, r = (u * u + v * v) / 2;
    return (r - 1) * std::exp(-r);
  });
  subtract_mean(kernel);
  double magnitude = 0;
  for (const double v : kernel.values) magnitude += std::abs(v);
  for (double& v : kernel.values) v *= magnitude > 0 ? 2 / magnitude : 0;
  return kernel;
}

/// A wave across `theta` degrees under a Gaussian (Daugman 1985); even part for phase 0. Without a mean,
/// magnitudes sum to 2.
Kernel gabor(const Json& filter, int64_t h, int64_t w) {
  const auto size = static_cast<double>(std::min(h, w));
  const double sigma = parameter(filter, "sigma", true).value_or(std::max(size / 5, 0.5));
  const double wavelength = parameter(filter, "wavelength", true).value_or(std::max(size / 2.25, 2.0));
  const double aspect = parameter(filter, "aspect", true).value_or(0.6);
  const double theta = parameter(filter, "theta", false).value_or(0) * std::numbers::pi / 180;
  const double phase = parameter(filter, "phase", false).value_or(0) * std::numbers::pi / 180;
  Kernel kernel = make(h, w, [=](int64_t y, int64_t x) {
    const double dx = offset(x, w), dy = offset(y, h);
    const double u = dx * std::cos(theta) + dy * std::sin(theta),
                 v = dy * std::cos(theta) - dx * std::sin(theta);
    const double envelope = std::exp(-(u * u + aspect * aspect * v * v) / (2 * sigma * sigma));
    return envelope * std::cos(2 * std::numbers::pi * u / wavelength + phase);
  });
  subtract_mean(kernel);
  double magnitude = 0;
  for (const double v : kernel.values) magnitude += std::abs(v);
  for (double& v : kernel.values) v *= magnitude > 0 ? 2 / magnitude : 0;
  return kernel;
}

struct Generator {
  std::vector<std::string> parameters;
  Kernel (*make)(const Json&, int64_t, int64_t);
};

const std::map<std::string, Generator>& generators() {
  static const std::map<std::string, Generator> table{
      {"identity", {{}, identity}},
      {"box", {{}, box}},
      {"gaussian", {{"sigma"}, gaussian}},
      {"log", {{"sigma"}, laplacian_of_gaussian}},
      {"gabor", {{"sigma", "wavelength", "aspect", "theta", "phase"}, gabor}},
  };
  return table;
}

}  // namespace

bool is_generator(const std::string& name) { return generators().contains(name); }

const std::vector<std::string>& generator_parameters(const std::string& name) {
  return generators().at(name).parameters;
}

Kernel generate(const std::string& name, const Json& filter, int64_t h, int64_t w) {
  Kernel kernel = generators().at(name).make(filter, h, w);
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(kernel.values.begin(), kernel.values.end(), finite))
    throw Error(fmt::format("its parameters make weights of {} x {} that are no numbers", h, w));
  return kernel;
}

Kernel resized(const Kernel& kernel, int64_t h, int64_t w) {
  return make(h, w, [&](int64_t y, int64_t x) {
    const int64_t from_y = y - h / 2 + kernel.h / 2, from_x = x - w / 2 + kernel.w / 2;
    const bool inside = from_y >= 0 && from_y < kernel.h && from_x >= 0 && from_x < kernel.w;
    return inside ? kernel.at(from_y, from_x) : 0.0;
  });
}

}  // namespace convscope
