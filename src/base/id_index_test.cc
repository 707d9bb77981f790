#include "base/id_index.h"

#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"

namespace vesta {
namespace {

TEST(IdIndex, FindsEveryEntryAgainAndNeverMixesThem) {
  std::vector<std::string> table;
  IdIndex index;
  const auto intern = [&](const std::string& word) {
    return index.find_or_insert(
        hash64(word), [&](uint32_t at) { return table[at] == word; },
        [&] {
          table.push_back(word);
          return static_cast<uint32_t>(table.size() - 1);
        });
  };
  for (uint32_t i = 0; i < 10000; ++i) EXPECT_EQ(intern("w" + std::to_string(i)), i);
  for (uint32_t i = 0; i < 10000; ++i) EXPECT_EQ(intern("w" + std::to_string(i)), i);
  EXPECT_EQ(table.size(), 10000u);
}

TEST(IdIndex, SurvivesCollidingHashes) {
  std::vector<int> table;
  IdIndex index;
  const auto intern = [&](int n) {
    return index.find_or_insert(
        7, [&](uint32_t at) { return table[at] == n; },
        [&] {
          table.push_back(n);
          return static_cast<uint32_t>(table.size() - 1);
        });
  };
  for (int i = 0; i < 100; ++i) EXPECT_EQ(intern(i), static_cast<uint32_t>(i));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(intern(i), static_cast<uint32_t>(i));
}

TEST(IdIndex, FindsWithoutInserting) {
  std::vector<int> table;
  IdIndex index;
  EXPECT_EQ(index.find(7, [](uint32_t) { return true; }), IdIndex::kNotFound);
  for (int n = 0; n < 50; ++n) {
    index.find_or_insert(
        static_cast<uint64_t>(n % 5), [](uint32_t) { return false; },
        [&] {
          table.push_back(n);
          return static_cast<uint32_t>(table.size() - 1);
        });
  }
  for (int n = 0; n < 60; ++n) {
    EXPECT_EQ(index.find(static_cast<uint64_t>(n % 5), [&](uint32_t at) { return table[at] == n; }),
              n < 50 ? static_cast<uint32_t>(n) : IdIndex::kNotFound);
  }
}

}  // namespace
}  // namespace vesta
