#include "app/bank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/bank_filters.h"
#include "app/files.h"
#include "app/json_text.h"
#include "app/random.h"
#include "kernels/error.h"

namespace convscope {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::json;

Bank bank_file(const std::string& path) {
  Bank bank;
  bank.json = read_text(path);
  try {
    const Json json = parse_json<Json>(bank.json);
    parse_filters(json);
    bank.name = text_member(json, "name");
    bank.title = text_member(json, "title");
    if (json.contains("about")) bank.about = text_member(json, "about");
  } catch (const Error& e) {
    throw Error(fmt::format("{}: {}", path, e.what()));
  }
  return bank;
}

std::string channel_label(int64_t channel, int64_t c_in) {
  constexpr std::array<const char*, 3> rgb{"R", "G", "B"};
  return c_in == 3 ? rgb[static_cast<std::size_t>(channel)] : fmt::format("{}", channel);
}

/// The filter's kernel over channel `c` of map `map` (of those that the filter makes).
const Kernel* kernel_over(const Filter& filter, const std::vector<Kernel>& kernels, int64_t map, int64_t c) {
  switch (filter.channels) {
    case Channels::each:
      return map == c ? &kernels.front() : nullptr;
    case Channels::mean:
      return &kernels.front();
    case Channels::own:
      return &kernels[static_cast<std::size_t>(c)];
  }
  return nullptr;
}

void append_filter(const Filter& filter, int64_t c_in, Axes size, BankWeights& out) {
  if (filter.channels == Channels::own && static_cast<int64_t>(filter.kernels.size()) != c_in)
    throw Error(fmt::format("filter \"{}\" has kernels for {} channels, the source has {}", filter.name,
                            filter.kernels.size(), c_in));
  std::vector<Kernel> kernels;
  if (filter.generator.empty()) {
    for (const Kernel& kernel : filter.kernels) kernels.push_back(resized(kernel, size.y, size.x));
  } else {
    kernels.push_back(generate(filter.generator, filter.parameters, size.y, size.x));
  }
  const int64_t maps = filter.channels == Channels::each ? c_in : 1;
  const double divisor = filter.channels == Channels::mean ? static_cast<double>(c_in) : 1;
  for (int64_t map = 0; map < maps; ++map) {
    for (int64_t c = 0; c < c_in; ++c) {
      const Kernel* kernel = kernel_over(filter, kernels, map, c);
      for (int64_t i = 0; i < size.y * size.x; ++i)
        out.weights.values.push_back(kernel ? kernel->values[static_cast<std::size_t>(i)] / divisor : 0);
    }
    out.weights.bias.push_back(filter.bias);
    out.labels.push_back(maps == 1 ? filter.name : filter.name + " " + channel_label(map, c_in));
  }
}

void append_random(const RandomFilters& random, int64_t c_in, Axes size, BankWeights& out) {
  SplitMix64 numbers(random.seed);
  // sums of `taps` such weights keep the magnitude of the input
  const double scale = std::sqrt(static_cast<double>(c_in * size.y * size.x));
  for (int64_t i = 0; i < random.count * c_in * size.y * size.x; ++i)
    out.weights.values.push_back((2 * numbers.uniform() - 1) / scale);
  for (int64_t map = 0; map < random.count; ++map) out.labels.push_back(fmt::format("random {}", map));
}

}  // namespace

std::vector<Bank> load_banks(std::vector<std::string>* faults) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(assets_folder()) / "banks")) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bank> banks;
  for (const fs::path& path : paths) {
    try {
      banks.push_back(bank_file(path.string()));
    } catch (const Error& e) {
      if (faults) faults->emplace_back(e.what());
    }
  }
  std::sort(banks.begin(), banks.end(), [](const Bank& a, const Bank& b) { return a.name < b.name; });
  return banks;
}

Bank load_bank(const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json"))
    return bank_file(name_or_path);
  std::vector<std::string> names, faults;
  for (Bank& bank : load_banks(&faults)) {
    if (bank.name == name_or_path) return std::move(bank);
    names.push_back(bank.name);
  }
  // asked for by name, its file's fault is the answer
  for (const std::string& fault : faults) {
    if (fault.find("/" + name_or_path + ".json:") != std::string::npos) throw Error(fault);
  }
  throw Error(fmt::format("bank={}: no such filter bank, expected one of {} or a .json file", name_or_path,
                          fmt::join(names, ", ")));
}

BankWeights make_weights(const Bank& bank, int64_t c_in, std::optional<Axes> kernel) {
  try {
    const ParsedBank parsed = parse_filters(parse_json<Json>(bank.json));
    const Axes size = kernel.value_or(parsed.kernel);
    if (kernel && (size.y < 1 || size.x < 1 || size.y > kMaxKernelSide || size.x > kMaxKernelSide))
      throw Error(fmt::format("kernel={},{}: expected sides from 1 to {}", size.y, size.x, kMaxKernelSide));
    BankWeights out;
    out.weights = {0, c_in, size.y, size.x, {}, {}};
    for (const Filter& filter : parsed.filters) append_filter(filter, c_in, size, out);
    if (parsed.random) append_random(*parsed.random, c_in, size, out);
    out.weights.c_out = static_cast<int64_t>(out.labels.size());
    const auto& bias = out.weights.bias;
    if (std::all_of(bias.begin(), bias.end(), [](double b) { return b == 0; })) out.weights.bias.clear();
    return out;
  } catch (const Error& e) {
    throw Error(fmt::format("bank {}: {}", bank.name, e.what()));
  }
}

}  // namespace convscope
