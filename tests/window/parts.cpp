// Timing table and key table.
#include <gtest/gtest.h>

#include <set>

#include "app/window/keys.h"
#include "app/window/timing_table.h"

namespace convscope {
namespace {

TEST(TimingTable, LastMedianAndTail) {
  TimingTable t;
  t.add(FrameTimes{1, {{"unpack", 9}, {"direct", 90}}}, true);
  for (int i = 1; i <= 200; ++i)
    t.add(FrameTimes{1, {{"unpack", 1}, {"direct", static_cast<double>(i)}}}, false);
  t.add("draw", 0.5);
  ASSERT_EQ(t.rows().size(), 3U);
  const TimingTable::Row& direct = t.rows()[1];
  EXPECT_EQ(direct.stage, "direct");
  EXPECT_EQ(*direct.first, 90) << "the first run stands apart";
  EXPECT_EQ(*direct.last(), 200);
  EXPECT_EQ(direct.ms.size(), 120U) << "81 to 200";
  EXPECT_DOUBLE_EQ(*direct.quantile(0.5), 140.5);
  EXPECT_DOUBLE_EQ(*direct.quantile(0.95), 81 + 0.95 * 119);
  EXPECT_DOUBLE_EQ(*t.total().last(), 201) << "draw is no part of the chain";
  EXPECT_DOUBLE_EQ(*t.total().first, 99);
}

TEST(TimingTable, ARepeatedStageCountsWithItsSum) {
  TimingTable t;
  t.add(FrameTimes{1, {{"view", 2}, {"tiled", 3}, {"view", 4}}}, false);
  EXPECT_EQ(*t.rows()[0].last(), 6);
  EXPECT_EQ(t.rows()[0].ms.size(), 1U);
}

TEST(KeyTable, NoKeyHasTwoMeaningsAndEachActionHasOne) {
  std::set<std::pair<int, int>> keys;
  for (const KeyBinding& b : key_bindings()) {
    EXPECT_TRUE(keys.insert({b.key, b.mods}).second) << b.shown << " is given twice";
    const KeyBinding* found = find_binding({b.key, b.mods});
    ASSERT_NE(found, nullptr) << b.shown;
    EXPECT_EQ(found->action, b.action);
  }
  for (int a = 0; a <= static_cast<int>(Action::back); ++a)
    EXPECT_NO_THROW(binding_of(static_cast<Action>(a))) << a;
}

}  // namespace
}  // namespace convscope
