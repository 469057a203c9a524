// The thread pool and the host's stage clock.
#include "kernels/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "kernels/error.h"
#include "kernels/timing.h"

namespace convscope {
namespace {

/// Each index of [0, count) exactly once, in parts of at most `grain`.
void expect_covered(int64_t count, int64_t grain) {
  SCOPED_TRACE(::testing::Message() << count << " by " << grain);
  std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
  std::atomic<int64_t> longest{0}, parts{0};
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t seen = longest; end - begin > seen && !longest.compare_exchange_weak(seen, end - begin);) {
    }
    ++parts;
    for (int64_t k = begin; k < end; ++k) ++visits[static_cast<std::size_t>(k)];
  });
  for (std::size_t k = 0; k < visits.size(); ++k) ASSERT_EQ(visits[k], 1) << "index " << k;
  EXPECT_LE(longest, std::max<int64_t>(1, grain));
  if (count == 0) {
    EXPECT_EQ(parts, 0);
  }
}

TEST(Parallel, EveryIndexOnce) {
  for (const int64_t count : {0, 1, 2, 3, 7, 64, 1000, 65537})
    for (const int64_t grain : {0, 1, 2, 5, 64, 100000}) expect_covered(count, grain);
  parallel_for(-5, 1, [](int64_t, int64_t) { FAIL() << "called for a negative count"; });
  int64_t end_of_last = 0;
  parallel_for(INT64_MAX, INT64_MAX, [&](int64_t, int64_t end) { end_of_last = end; });
  EXPECT_EQ(end_of_last, INT64_MAX);
}

TEST(Parallel, AllThreadsTakePart) {
  if (thread_count() == 1) GTEST_SKIP() << "one thread";
  std::atomic<int> inside{0};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  parallel_for(thread_count(), 1, [&](int64_t, int64_t) {
    ++inside;  // each part waits for all others: only as many threads as parts can finish it
    while (inside < thread_count() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  });
  EXPECT_LT(std::chrono::steady_clock::now(), deadline);
}

TEST(Parallel, NestedCallsRunInTheCallingThread) {
  std::atomic<int64_t> sum{0};
  parallel_for(50, 1, [&](int64_t outer, int64_t) {
    const auto here = std::this_thread::get_id();
    parallel_for(10, 1, [&](int64_t inner, int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      sum += outer * 10 + inner;
    });
  });
  EXPECT_EQ(sum, 499 * 500 / 2);
}

TEST(Parallel, FirstExceptionIsThrownAgainAndThePoolGoesOn) {
  for (int round = 0; round < 50; ++round) {
    for (const int64_t grain : {1, 1000}) {
      try {
        parallel_for(1000, grain, [](int64_t begin, int64_t end) {
          if (begin <= 500 && 500 < end) throw Error("part 500");
        });
        FAIL() << "no exception";
      } catch (const Error& e) {
        EXPECT_STREQ(e.what(), "part 500");
      }
    }
    expect_covered(100, 1);
  }
}

TEST(Parallel, NoPartIsStartedAfterAnException) {
  std::atomic<int> started{0};
  EXPECT_THROW(parallel_for(10000, 1,
                            [&](int64_t begin, int64_t) {
                              ++started;
                              if (begin == 0) throw Error("part 0");
                              std::this_thread::sleep_for(std::chrono::microseconds(100));
                            }),
               Error);
  EXPECT_LT(started, 10000);
}

TEST(Parallel, TwoCallersAtATime) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> sums[4] = {};
  for (auto& sum : sums)
    callers.emplace_back([&sum] {
      for (int round = 0; round < 200; ++round)
        parallel_for(1000, 7, [&](int64_t begin, int64_t end) { sum += end - begin; });
    });
  for (std::thread& caller : callers) caller.join();
  for (const auto& sum : sums) EXPECT_EQ(sum, 200'000);
}

TEST(Parallel, ManyShortCallsOnManyThreads) {
  // jobs that are used up while threads wake for them
  for (int turn = 0; turn < 30000; ++turn) {
    std::atomic<int> sum{0};
    parallel_for(3, 1, [&](int64_t begin, int64_t) { sum += static_cast<int>(begin) + 1; });
    ASSERT_EQ(sum, 6);
  }
}

TEST(Threads, AsTheVariableSays) {
  if (const char* wanted = std::getenv("CONVSCOPE_THREADS"))
    EXPECT_EQ(thread_count(), std::atoi(wanted));
  else
    EXPECT_EQ(thread_count(), static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
}

[[noreturn]] void exit_with_thread_count(const char* variable) {
  setenv("CONVSCOPE_THREADS", variable, 1);
  try {
    std::exit(thread_count() == 5 ? 0 : 1);
  } catch (const Error& e) {
    std::fputs(e.what(), stderr);
    std::exit(3);
  }
}

TEST(ThreadsDeathTest, BadVariableIsAnError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_with_thread_count("5"), ::testing::ExitedWithCode(0), "");
  for (const char* text : {"abc", "0", "-1", "2x", " 2", "1025", "99999999999"})
    EXPECT_EXIT(exit_with_thread_count(text), ::testing::ExitedWithCode(3),
                std::string("CONVSCOPE_THREADS is '") + text + "', expected a number from 1 to 1024");
}

TEST(HostStages, TimesEachStageOfEachFrame) {
  HostStages stages;
  for (uint64_t frame = 1; frame <= 2; ++frame) {
    stages.begin_frame(frame);
    for (const char* name : {"slow", "empty"}) {
      const StageTimer timer(stages, name);
      if (std::string(name) == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    stages.end_frame();
  }
  const auto frames = stages.collect();
  ASSERT_EQ(frames.size(), 2u);
  for (std::size_t f = 0; f < 2; ++f) {
    EXPECT_EQ(frames[f].frame, f + 1);
    ASSERT_EQ(frames[f].stages.size(), 2u);
    EXPECT_EQ(frames[f].stages[0].name, "slow");
    EXPECT_EQ(frames[f].stages[1].name, "empty");
    EXPECT_GE(frames[f].stages[0].ms, 5);
    EXPECT_GE(frames[f].stages[1].ms, 0);
    EXPECT_DOUBLE_EQ(frames[f].total_ms(), frames[f].stages[0].ms + frames[f].stages[1].ms);
  }
  EXPECT_TRUE(stages.collect().empty());
}

TEST(HostStages, StagesOutsideAFrameBelongToNone) {
  HostStages stages;
  { const StageTimer timer(stages, "before"); }
  stages.begin_frame(7);
  stages.end_frame();
  const auto frames = stages.collect();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].frame, 7u);
  EXPECT_TRUE(frames[0].stages.empty());
}

TEST(HostStages, KeepsTheNewestFramesOfAnAbsentReader) {
  HostStages stages;
  for (uint64_t frame = 0; frame < 5000; ++frame) {
    stages.begin_frame(frame);
    stages.end_frame();
  }
  const auto frames = stages.collect();
  ASSERT_GE(frames.size(), 120u);
  ASSERT_LT(frames.size(), 5000u);
  EXPECT_EQ(frames.back().frame, 4999u);
  EXPECT_EQ(frames.front().frame, 5000 - frames.size());
}

}  // namespace
}  // namespace convscope
