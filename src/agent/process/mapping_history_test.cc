#include "agent/process/mapping_history.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace vesta::agent {
namespace {

constexpr std::string_view kNames[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

CodeMapping make(uint64_t start, uint64_t end, size_t name, uint64_t born_ns) {
  CodeMapping mapping;
  mapping.start = start;
  mapping.end = end;
  mapping.name = kNames[name];
  mapping.born_ns = born_ns;
  return mapping;
}

class MappingHistoryTest : public ::testing::Test {
 protected:
  std::string_view name_at(uint64_t address, uint64_t time_ns) const {
    const CodeMapping* found = history_.find(address, time_ns);
    return found == nullptr ? std::string_view() : found->name;
  }

  ModuleRegistry registry_;
  MappingHistory history_{registry_, {}};
};

TEST_F(MappingHistoryTest, AnswersForTheTimeAsked) {
  history_.insert(make(10, 20, 0, 100));
  history_.insert(make(10, 20, 1, 200));
  EXPECT_EQ(name_at(15, 99), "");
  EXPECT_EQ(name_at(15, 100), "a");
  EXPECT_EQ(name_at(15, 199), "a");
  EXPECT_EQ(name_at(15, 200), "b");
  EXPECT_EQ(name_at(20, 200), "");
  EXPECT_EQ(name_at(9, 200), "");
}

TEST_F(MappingHistoryTest, LateNewsDoNotHideYoungerOnes) {
  history_.insert(make(10, 20, 1, 200));
  EXPECT_EQ(history_.insert(make(10, 20, 0, 100)), MappingHistory::Change::kNone);
  EXPECT_EQ(name_at(15, 150), "a");
  EXPECT_EQ(name_at(15, 250), "b");
  EXPECT_EQ(history_.alive().size(), 1);
}

TEST_F(MappingHistoryTest, WhatIsLeftOfAnOverwrittenMappingStays) {
  history_.insert(make(10, 40, 0, 100));
  history_.insert(make(20, 30, 1, 200));
  ASSERT_EQ(history_.alive().size(), 3);
  EXPECT_EQ(history_.alive()[2].file_offset, 20);
  for (const uint64_t address : {10, 19, 30, 39}) EXPECT_EQ(name_at(address, 300), "a") << address;
  for (const uint64_t address : {20, 29}) EXPECT_EQ(name_at(address, 300), "b") << address;
  EXPECT_EQ(name_at(25, 150), "a");
  EXPECT_EQ(name_at(35, 150), "a");
}

TEST_F(MappingHistoryTest, TheSameMappingAgainChangesNothing) {
  EXPECT_EQ(history_.insert(make(10, 20, 0, 100)), MappingHistory::Change::kChanged);
  EXPECT_EQ(history_.insert(make(10, 20, 0, 200)), MappingHistory::Change::kNone);
  EXPECT_EQ(history_.insert(make(10, 20, 0, 50)), MappingHistory::Change::kNone);
  EXPECT_EQ(name_at(15, 60), "a");
  EXPECT_EQ(history_.dead_count(), 0);
}

TEST_F(MappingHistoryTest, AReadingEndsWhatIsGoneAndDatesWhatIsNew) {
  history_.insert(make(10, 20, 0, 100));
  history_.insert(make(30, 40, 1, 100));
  history_.replace({make(10, 20, 0, 0), make(30, 40, 2, 0), make(50, 60, 3, 0)}, 500, 50);
  EXPECT_EQ(name_at(15, 100), "a");
  EXPECT_EQ(name_at(35, 499), "b");
  EXPECT_EQ(name_at(35, 500), "c");
  EXPECT_EQ(name_at(55, 60), "d");  // nothing else is known to have been there
  history_.replace({make(50, 60, 3, 0)}, 600, 50);
  EXPECT_EQ(name_at(15, 599), "a");
  EXPECT_EQ(name_at(15, 600), "");
}

TEST_F(MappingHistoryTest, RewindsToHowItWasAtAFork) {
  history_.insert(make(10, 20, 0, 100));
  history_.insert(make(10, 20, 1, 300));
  history_.insert(make(30, 40, 2, 300));
  MappingHistory child(history_);
  child.rewind(200);
  ASSERT_EQ(child.alive().size(), 1);
  EXPECT_EQ(child.alive()[0].name, "a");
  EXPECT_EQ(child.find(15, 400)->name, "a");
  EXPECT_EQ(name_at(15, 400), "b");
}

TEST_F(MappingHistoryTest, NothingOverlapsAfterARewindOverLateNews) {
  history_.insert(make(20, 30, 0, 300));
  history_.insert(make(10, 40, 1, 100));  // hidden in part, so it is buried
  history_.insert(make(30, 50, 2, 150));
  history_.insert(make(60, 70, 3, 400));
  history_.rewind(200);
  uint64_t last_end = 0;
  for (const CodeMapping& mapping : history_.alive()) {
    EXPECT_GE(mapping.start, last_end);
    last_end = mapping.end;
  }
  EXPECT_EQ(name_at(25, 200), "b");
  EXPECT_EQ(name_at(35, 200), "c");
}

TEST_F(MappingHistoryTest, MappingsYoungerThanAnExecMoveOn) {
  history_.insert(make(10, 20, 0, 100));
  history_.insert(make(30, 40, 1, 300));
  MappingHistory next(registry_, {});
  next.take_younger(history_, 200);
  EXPECT_EQ(history_.alive().size(), 1);
  EXPECT_EQ(next.find(35, 300)->name, "b");
}

TEST_F(MappingHistoryTest, KeepsWithinItsLimits) {
  MappingHistory small(registry_, {.max_alive = 4, .max_dead = 8});
  for (uint64_t i = 0; i < 4; ++i) small.insert(make(i * 10, i * 10 + 10, 0, 1));
  EXPECT_EQ(small.insert(make(100, 110, 0, 2)), MappingHistory::Change::kRefused);
  for (uint64_t i = 0; i < 100; ++i) small.insert(make(0, 10, i % 8, i + 2));
  EXPECT_EQ(small.alive().size(), 4);
  EXPECT_LE(small.dead_count(), 8);
  small.expire(1000);
  EXPECT_EQ(small.dead_count(), 0);
}

// Against a plain model: who covered a byte at a time is the latest insertion at or before that.
TEST_F(MappingHistoryTest, AgreesWithAPlainModel) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    MappingHistory history(registry_, {});
    std::map<uint64_t, std::map<uint64_t, std::string_view>> model;  // address, time, name
    for (uint64_t time = 1; time <= 20; ++time) {
      const uint64_t start = random() % 30;
      const CodeMapping mapping = make(start, start + 1 + random() % 10, random() % 8, time * 10);
      history.insert(mapping);
      for (uint64_t a = mapping.start; a < mapping.end; ++a) model[a][time * 10] = mapping.name;
    }
    uint64_t last_end = 0;
    for (const CodeMapping& mapping : history.alive()) {
      ASSERT_GE(mapping.start, last_end);
      last_end = mapping.end;
    }
    for (uint64_t address = 0; address < 45; ++address) {
      for (uint64_t time = 5; time < 220; time += 5) {
        const auto after = model[address].upper_bound(time);
        const std::string_view expected =
            after == model[address].begin() ? std::string_view() : std::prev(after)->second;
        const CodeMapping* found = history.find(address, time);
        ASSERT_EQ(found == nullptr ? std::string_view() : found->name, expected)
            << "round " << round << " address " << address << " time " << time;
      }
    }
  }
}

}  // namespace
}  // namespace vesta::agent
