// Times the rows of the cuda target on the workloads of DESIGN section 1, in microseconds a launch.
//
//   convscope_bench [--only A,B] [--rounds 15] [--json FILE]
//
// Streaming: one graph runs a launch over each of several input and output sets that together exceed the L2
// cache eight times, so that no launch finds its input cached. Rows are interleaved round by round; outputs
// are poisoned before and compared with the reference after; a wrong result prints no time.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "bench/floors.h"
#include "kernels/compare.h"
#include "kernels/error.h"
#include "kernels/registry.h"
#include "kernels/runtime.h"
#include "kernels/targets/cuda_check.h"

namespace convscope::bench {
namespace {

using nlohmann::json;

struct Workload {
  std::string name, about;
  ConvShape shape;
  bool rank_one = false;  // kernels that `separable` takes
};

ConvShape shape_1080p(int64_t c_in, int64_t c_out, int64_t kernel, int64_t stride, int64_t pad,
                      int64_t dilation = 1) {
  return {1, c_in, 1080, 1920, c_out, kernel, kernel, {stride, stride}, {pad, pad}, {dilation, dilation}};
}

std::vector<Workload> workloads() {
  return {{"A", "1x3x1080x1920 -> 16, 3x3, stride 2, valid", shape_1080p(3, 16, 3, 2, 0)},
          {"B", "1x3x1080x1920 -> 16, 3x3, same", shape_1080p(3, 16, 3, 1, 1)},
          {"B5", "1x3x1080x1920 -> 16, 5x5, same", shape_1080p(3, 16, 5, 1, 2)},
          {"Bd2", "1x3x1080x1920 -> 16, 3x3, dilation 2", shape_1080p(3, 16, 3, 1, 2, 2)},
          {"C", "1x16x1080x1920 -> 32, 3x3, same", shape_1080p(16, 32, 3, 1, 1)},
          {"G1", "1x1x1080x1920 -> 1, 3x3, same", shape_1080p(1, 1, 3, 1, 1)},
          {"S17", "1x1x1080x1920 -> 1, 17x17 of rank 1, same", shape_1080p(1, 1, 17, 1, 8), true},
          {"1D", "2^24 values, 31 taps, same", {1, 1, 1, 1 << 24, 1, 1, 31, {1, 1}, {0, 15}, {1, 1}}}};
}

/// Takes no times, so that launches can be captured into a graph.
class NoStages final : public Stages {
 public:
  void begin_frame(uint64_t) override {}
  void end_frame() override {}
  void begin(const char*) override {}
  void end() override {}
  std::vector<FrameTimes> collect() override { return {}; }
};

class Graph {
 public:
  /// Captures enqueue(0) ... enqueue(count - 1).
  Graph(int count, const std::function<void(int)>& enqueue) : count_(count) {
    cudaGraph_t graph = nullptr;
    cuda::check(cudaStreamBeginCapture(cuda::stream(), cudaStreamCaptureModeThreadLocal), "graph capture");
    for (int i = 0; i < count; ++i) enqueue(i);
    cuda::check(cudaStreamEndCapture(cuda::stream(), &graph), "graph capture");
    cuda::check(cudaGraphInstantiate(&exec_, graph, 0), "graph");
    cuda::check(cudaGraphDestroy(graph), "graph");
    cuda::check(cudaEventCreate(&start_), "event");
    cuda::check(cudaEventCreate(&stop_), "event");
  }
  ~Graph() {
    cuda::check_no_throw(cudaGraphExecDestroy(exec_), "graph");
    cuda::check_no_throw(cudaEventDestroy(start_), "event");
    cuda::check_no_throw(cudaEventDestroy(stop_), "event");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Microseconds a launch of one replay.
  double replay() {
    cuda::check(cudaEventRecord(start_, cuda::stream()), "event");
    cuda::check(cudaGraphLaunch(exec_, cuda::stream()), "graph launch");
    cuda::check(cudaEventRecord(stop_, cuda::stream()), "event");
    cuda::check(cudaEventSynchronize(stop_), "event");
    float ms = 0;
    cuda::check(cudaEventElapsedTime(&ms, start_, stop_), "event");
    return ms * 1e3 / count_;
  }

 private:
  int count_;
  cudaGraphExec_t exec_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

struct Row {
  std::string name, precision, refused;
  std::unique_ptr<Strategy> strategy;
  std::unique_ptr<Graph> graph;
  std::function<void()> warm;  // puts back what other rows may have replaced (constant memory)
  double bound_fraction = 0;
  std::vector<double> us;
};

template <class T>
std::vector<T> random_values(int64_t count, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& v : values) v = static_cast<T>(static_cast<double>(bits() >> 11) * 0x1p-52 - 1.0);
  return values;
}

double percentile(std::vector<double> v, double p) {
  std::sort(v.begin(), v.end());
  return v[static_cast<std::size_t>(std::lround(p * static_cast<double>(v.size() - 1)))];
}

/// The input and output sets of one workload in one precision.
struct Sets {
  std::vector<std::unique_ptr<Buffer>> in, out;
  std::vector<std::byte> host_in;
};

class WorkloadBench {
 public:
  WorkloadBench(Runtime& runtime, const Workload& workload) : runtime_(runtime), workload_(workload) {
    int l2 = 0;
    cuda::check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0), "L2 size");
    l2_bytes_ = static_cast<std::size_t>(l2);
    const auto values = random_values<float>(workload.shape.weight_size(), 11);
    const auto bias = random_values<float>(workload.shape.c_out, 12);
    const ConvShape& s = workload.shape;
    weights_ = {s.c_out, s.c_in, s.k_h, s.k_w, {values.begin(), values.end()}, {bias.begin(), bias.end()}};
    if (!workload.rank_one) return;
    for (int64_t i = 0; i < s.weight_size(); ++i) {  // sixteenths, whose products are exact
      const int64_t row = i / s.k_w % s.k_h, column = i % s.k_w, kernel = i / (s.k_h * s.k_w);
      weights_.values[static_cast<std::size_t>(i)] = static_cast<double>((row * 5 + kernel) % 13 - 6) / 16 *
                                                     (static_cast<double>(column * 3 % 17 - 8) / 16);
    }
  }

  json run(int rounds) {
    json result{{"about", workload_.about}, {"bytes", moved(Precision::fp32)}, {"rows", json::array()}};
    for (const Precision precision : {Precision::fp32, Precision::fp64}) {
      if (precision == Precision::fp64 && workload_.name != "A") continue;
      rows_.clear();
      const Sets sets = make_sets(precision);
      add_floors(precision);
      for (const RegistryRow& row : registry()) {
        if (row.info.target == Target::cuda && row.info.precision == precision) add_strategy(row, sets);
      }
      for (int round = -3; round < rounds; ++round) {  // three to warm up
        for (Row& row : rows_) {
          if (!row.graph) continue;
          row.warm();
          const double us = row.graph->replay();
          if (round >= 0) row.us.push_back(us);
        }
      }
      validate_and_report(sets, precision, result["rows"]);
    }
    return result;
  }

 private:
  std::size_t moved(Precision p) const {
    const ConvShape& s = workload_.shape;
    return static_cast<std::size_t>(s.input_size() + s.output_size()) * bytes_of(p);
  }

  Sets make_sets(Precision precision) {
    Sets sets;
    const ConvShape& s = workload_.shape;
    count_ = static_cast<int>(8 * l2_bytes_ / moved(precision)) + 1;
    const auto in_bytes = static_cast<std::size_t>(s.input_size()) * bytes_of(precision);
    const auto out_bytes = static_cast<std::size_t>(s.output_size()) * bytes_of(precision);
    sets.host_in.resize(in_bytes);
    if (precision == Precision::fp64) {
      const auto v = random_values<double>(s.input_size(), 5);
      std::memcpy(sets.host_in.data(), v.data(), in_bytes);
    } else {
      const auto v = random_values<float>(s.input_size(), 5);
      std::memcpy(sets.host_in.data(), v.data(), in_bytes);
    }
    for (int i = 0; i < count_; ++i) {
      sets.in.push_back(runtime_.allocate(in_bytes));
      sets.out.push_back(runtime_.allocate(out_bytes));
      runtime_.upload(sets.in.back()->data(), sets.host_in.data(), in_bytes);
    }
    runtime_.synchronise();
    return sets;
  }

  void add_floors(Precision precision) {
    const std::size_t half = moved(precision) / 2 / 16 * 16;
    for (int i = 0; i < count_; ++i) copies_.push_back(runtime_.allocate(half));
    for (int i = 0; i < count_; ++i) copies_.push_back(runtime_.allocate(half));
    const auto from = [this](int i) {
      return copies_[copies_.size() - 1 - static_cast<std::size_t>(i)]->data();
    };
    const auto to = [this](int i) {
      return copies_[copies_.size() - 1 - static_cast<std::size_t>(count_ + i)]->data();
    };
    add_row("empty kernel", precision, [](int) { empty(cuda::stream()); });
    add_row("copy of the same bytes", precision, [=](int i) { copy(to(i), from(i), half, cuda::stream()); });
    add_row("cudaMemcpy of the same bytes", precision, [=](int i) {
      cuda::check(cudaMemcpyAsync(to(i), from(i), half, cudaMemcpyDeviceToDevice, cuda::stream()), "copy");
    });
  }

  void add_row(const std::string& name, Precision precision, const std::function<void(int)>& enqueue) {
    Row row;
    row.name = name;
    row.precision = to_string(precision);
    row.graph = std::make_unique<Graph>(count_, enqueue);
    row.warm = [] {};
    rows_.push_back(std::move(row));
  }

  void add_strategy(const RegistryRow& from, const Sets& sets) {
    Row row;
    row.name = from.info.name;
    row.precision = to_string(from.info.precision);
    if (auto why = unavailable(from.info)) {
      row.refused = *why;
    } else {
      row.strategy = from.make();
      enqueue_strategy(row, sets);
    }
    rows_.push_back(std::move(row));
  }

  void enqueue_strategy(Row& row, const Sets& sets) {
    const ConvProblem problem{workload_.shape, Activation::none, Rounding::fused};
    if (auto why = row.strategy->refuses(problem, weights_)) {
      row.refused = *why;
      return;
    }
    try {
      row.strategy->prepare(problem, weights_);
    } catch (const Error& e) {  // a library may find out only when it plans
      if (cuda_unavailable()) throw;
      row.refused = e.what();
      return;
    }
    Strategy* const s = row.strategy.get();
    row.warm = [this, s, &sets] { s->launch(sets.in[0]->data(), sets.out[0]->data(), no_stages_); };
    row.warm();
    row.graph = std::make_unique<Graph>(count_, [this, s, &sets](int i) {
      const auto at = static_cast<std::size_t>(i);
      s->launch(sets.in[at]->data(), sets.out[at]->data(), no_stages_);
    });
  }

  template <class T>
  void validate(const Sets& sets, Precision precision) {
    const auto count = static_cast<std::size_t>(workload_.shape.output_size());
    std::vector<T> expected(count), result(count);
    std::map<int64_t, std::vector<float>> bounds;  // by the reach of errors
    const auto reference = find_strategy("reference", Target::cpu, precision)->make();
    reference->prepare({workload_.shape, Activation::none, Rounding::fused}, weights_);
    reference->launch(sets.host_in.data(), expected.data(), no_stages_);
    for (Row& row : rows_) {
      if (!row.graph || !row.strategy) continue;
      std::vector<float>& bound = bounds[row.strategy->error_reach()];
      if (bound.empty()) {
        bound.resize(count);
        error_bound_within(row.strategy->error_reach(), workload_.shape, weights_, precision,
                           sets.host_in.data(), bound.data());
      }
      for (const int at : {0, count_ - 1}) {
        void* const out = sets.out[static_cast<std::size_t>(at)]->data();
        cuda::check(cudaMemsetAsync(out, 0xff, count * sizeof(T), cuda::stream()), "poison");
        row.warm();
        cuda::check(cudaMemsetAsync(out, 0xff, count * sizeof(T), cuda::stream()), "poison");
        row.graph->replay();
        runtime_.download(result.data(), out, count * sizeof(T));
        const ConvProblem problem{workload_.shape, Activation::none, Rounding::fused};
        const Comparison d = compare<T>(result, expected, bound, {0, row.strategy->error_bounds(problem)});
        row.bound_fraction = std::max(row.bound_fraction, d.max_bound_fraction);
        if (!d.pass) {
          row.refused = fmt::format("wrong: {} values over the error bound, {} not finite", d.over_tolerance,
                                    d.nonfinite_a);
          row.us.clear();
        }
      }
    }
  }

  void validate_and_report(const Sets& sets, Precision precision, json& out) {
    if (precision == Precision::fp64) {
      validate<double>(sets, precision);
    } else {
      validate<float>(sets, precision);
    }
    double floor = 0;
    for (const Row& row : rows_) {
      if (row.name.find("copy") == std::string::npos && row.name.find("Memcpy") == std::string::npos)
        continue;
      const double us = percentile(row.us, 0.5);
      floor = floor == 0 ? us : std::min(floor, us);
    }
    for (const Row& row : rows_) {
      json j{{"name", row.name}, {"precision", row.precision}};
      if (row.us.empty()) {
        j["refused"] = row.refused;
        fmt::print("{:4} {:30} {} {}\n", workload_.name, row.name, row.precision, row.refused);
      } else {
        const double us = percentile(row.us, 0.5);
        j["median_us"] = us;
        j["p10_us"] = percentile(row.us, 0.1);
        j["p90_us"] = percentile(row.us, 0.9);
        j["of_copy"] = us / floor;
        if (row.strategy) j["bound_fraction"] = row.bound_fraction;
        fmt::print("{:4} {:30} {} {:9.2f} us  (p10 {:.2f}, p90 {:.2f})  {:.2f} x copy\n", workload_.name,
                   row.name, row.precision, us, percentile(row.us, 0.1), percentile(row.us, 0.9), us / floor);
      }
      out.push_back(j);
    }
    copies_.clear();
  }

  Runtime& runtime_;
  const Workload& workload_;
  ConvWeights weights_;
  NoStages no_stages_;
  std::size_t l2_bytes_ = 0;
  int count_ = 0;
  std::vector<std::unique_ptr<Buffer>> copies_;
  std::vector<Row> rows_;
};

int run(const std::vector<std::string>& only, int rounds, const std::string& path) {
  const auto runtime = make_runtime(Target::cuda);
  const CudaVersions versions = cuda_versions();
  json all{{"device", versions.device}, {"driver", versions.driver},
           {"cuda", versions.runtime},  {"unit", "us"},
           {"rounds", rounds},          {"workloads", json::object()}};
  for (const Workload& w : workloads()) {
    if (!only.empty() && std::find(only.begin(), only.end(), w.name) == only.end()) continue;
    all["workloads"][w.name] = WorkloadBench(*runtime, w).run(rounds);
  }
  if (!path.empty() && !(std::ofstream(path) << all.dump(1) << "\n"))
    throw Error(path + ": cannot be written");
  return 0;
}

}  // namespace
}  // namespace convscope::bench

int main(int argc, char** argv) {
  CLI::App app("Times the strategies of the cuda target, streaming, beside a copy of the same bytes");
  std::vector<std::string> only;
  int rounds = 25;
  std::string json_path;
  app.add_option("--only", only, "workloads, by name")->delimiter(',');
  app.add_option("--rounds", rounds, "replays of each row")->check(CLI::Range(1, 10000));
  app.add_option("--json", json_path, "file for the figures");
  CLI11_PARSE(app, argc, argv);
  try {
    return convscope::bench::run(only, rounds, json_path);
  } catch (const std::exception& e) {
    fmt::print(stderr, "convscope_bench: {}\n", e.what());
    return 1;
  }
}
