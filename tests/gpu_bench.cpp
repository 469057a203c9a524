// Race and benchmark on a device: every row of the cuda target, several threads with streams and library
// handles of their own, graphs that fail while they are recorded. Exits 77 (skipped) where there is no
// device.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "bench/bench.h"
#include "bench/ceilings.h"
#include "bench/machine.h"
#include "tests/bench_testing.h"
#ifdef CONVSCOPE_WITH_CUDA
#include "kernels/targets/cuda_check.h"
#endif

namespace convscope::bench {
namespace {

std::vector<const RegistryRow*> rows_of(Target target) {
  std::vector<const RegistryRow*> rows;
  for (const RegistryRow& row : registry())
    if (row.info.target == target && row.info.precision == Precision::fp32) rows.push_back(&row);
  return rows;
}

RaceRequest small_race(const std::vector<const RegistryRow*>& rows) {
  RaceRequest request = bench_testing::request_of(70, 130, rows, {}, 16);
  request.most_seconds_a_row = RaceRequest{}.most_seconds_a_row;
  return request;
}

/// Rows that compute something wrong name it; what a row does not take is no fault of it.
void expect_no_wrong_row(const RaceState& state) {
  ASSERT_TRUE(state.finished);
  for (const Entry& entry : state.entries) {
    EXPECT_FALSE(entry.refused.starts_with("wrong") || entry.refused.starts_with("CUDA"))
        << entry.info.id() << ": " << entry.refused;
    EXPECT_EQ(entry.time.runs == 0, !entry.refused.empty()) << entry.info.id();
  }
}

TEST(GpuBench, ARaceOfAllRowsBesideTheHosts) {
  std::vector<const RegistryRow*> rows = rows_of(Target::cuda);
  rows.push_back(find_strategy("direct_constant", Target::emulated, Precision::fp32));
  rows.push_back(find_strategy("scalar", Target::cpu, Precision::fp32));
  const RaceState state = race(small_race(rows), {}, {});
  expect_no_wrong_row(state);
  for (const char* name : {"direct", "tiled", "direct_constant", "register_tiled", "implicit_gemm", "looped"})
    for (const Entry& entry : state.entries)
      EXPECT_TRUE(entry.info.name != name || entry.refused.empty()) << name << ": " << entry.refused;
  for (const Target target : {Target::cuda, Target::emulated, Target::cpu}) {
    EXPECT_EQ(state.copy[static_cast<std::size_t>(target)].runs, 5) << to_string(target);
    EXPECT_GT(state.ceilings[static_cast<std::size_t>(target)].fma_gflop_s, 1) << to_string(target);
  }
  EXPECT_GT(state.ceilings[static_cast<std::size_t>(Target::cuda)].launch_us, 0.5);
}

TEST(GpuBench, RacesOfSeveralThreads) {  // each with a stream of its own, and its own cuBLAS and cuDNN
  constexpr int kThreads = 3, kTimes = 2;
  RaceState states[kThreads];
  for (int time = 0; time < kTimes; ++time) {
    {
      std::vector<std::jthread> threads;
      for (RaceState& state : states)
        threads.emplace_back([&state] { state = race(small_race(rows_of(Target::cuda)), {}, {}); });
    }
    for (const RaceState& state : states) expect_no_wrong_row(state);
  }
}

TEST(GpuBench, StreamingAndHotOnTheDevice) {
  BenchRequest request;
  request.workloads = {{"small", "", {1, 3, 500, 700, 16, 3, 3, {1, 1}, {1, 1}, {1, 1}}, false, true}};
  request.targets = {Target::cuda, Target::cpu};
  request.rounds = 5;
  const BenchResult result = run_bench(request, {}, {});
  ASSERT_EQ(result.workloads.size(), 2u);
  for (const WorkloadResult& workload : result.workloads) {
    EXPECT_EQ(workload.fault, "");
    EXPECT_EQ(workload.checked, 16 * 500 * 700);
    bool empty = false;
    for (const BenchRow& row : workload.rows) {
      const std::string& refused = row.entry.refused;
      EXPECT_FALSE(refused.starts_with("wrong") || refused.starts_with("CUDA"))
          << row.entry.info.id() << ": " << refused;
      EXPECT_EQ(row.measures.size(), refused.empty() ? 2u : 0u) << row.entry.info.id() << ": " << refused;
      empty = empty || row.entry.info.name == "empty kernel";
    }
    EXPECT_TRUE(empty);
  }
}

TEST(GpuBench, AGraphThatCannotBeRecorded) {
  const auto machine = make_machine(Target::cuda);
  const auto fail = [&](int i) {
    machine->launch_empty();
    if (i == 1) throw Error("not this one");
  };
  EXPECT_THROW(machine->batch(2, fail, Submission::graph), Error);
  // a call that CUDA refuses while it records; the device is not lost by it
  EXPECT_THROW(machine->batch(
                   1, [&](int) { machine->runtime().synchronise(); }, Submission::graph),
               Error);
  EXPECT_EQ(cuda_unavailable().value_or(""), "");
  const auto from = machine->runtime().allocate(4096), to = machine->runtime().allocate(4096);
  std::vector<std::byte> bytes(4096, std::byte{7}), got(4096);
  machine->runtime().upload(from->data(), bytes.data(), bytes.size());
  const auto copy = [&](int) { machine->copy(to->data(), from->data(), 4096); };
  for (const Submission how : {Submission::graph, Submission::stream}) {
    machine->poison(to->data(), 4096);
    EXPECT_GT(machine->batch(3, copy, how)->run(), 0);
    machine->runtime().download(got.data(), to->data(), got.size());
    EXPECT_EQ(std::memcmp(got.data(), bytes.data(), got.size()), 0);
  }
}

TEST(GpuBench, Ceilings) {  // of a device, and not of an error in units
  const auto machine = make_machine(Target::cuda);
  const bench::Ceilings single = measure_ceilings(*machine, Precision::fp32),
                        twice = measure_ceilings(*machine, Precision::fp64);
  EXPECT_GT(single.copy_gb_s, 50);
  EXPECT_LT(single.copy_gb_s, 20000);
  EXPECT_GT(single.fma_gflop_s, 500);
  EXPECT_LT(single.fma_gflop_s, 500000);
  EXPECT_LE(twice.fma_gflop_s, 1.05 * single.fma_gflop_s);
}

#ifdef CONVSCOPE_WITH_CUDA
TEST(GpuBench, AThreadsStream) {
  const cudaStream_t common = cuda::stream();
  cudaStream_t own = nullptr, other = nullptr;
  {
    const cuda::ThreadStream outer;
    own = cuda::stream();
    EXPECT_NE(own, common);
    std::jthread([&] {
      EXPECT_EQ(cuda::stream(), common);
      const cuda::ThreadStream of_thread;
      other = cuda::stream();
    }).join();
    EXPECT_NE(other, own);
    EXPECT_NE(other, common);
    {
      const cuda::ThreadStream inner;
      EXPECT_NE(cuda::stream(), own);
    }
    EXPECT_EQ(cuda::stream(), own);
  }
  EXPECT_EQ(cuda::stream(), common);
}
#endif

}  // namespace
}  // namespace convscope::bench
