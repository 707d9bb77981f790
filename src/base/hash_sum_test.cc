#include "base/hash_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace vesta {
namespace {

Hash128 sum_of(const std::vector<Hash128>& hashes) {
  HashSum sum;
  for (const Hash128& hash : hashes) sum.add(hash);
  return sum.value();
}

Hash128 text(uint64_t number) {
  return hash128(std::to_string(number));
}

// Part of stored formats.
TEST(HashSumTest, TheValueIsTheSameInEveryRelease) {
  EXPECT_EQ(sum_of({}), (Hash128{0x7d0cae2125c61857, 0x2f7a3d1561e0117e}));
  EXPECT_EQ(sum_of({text(1), text(2)}), (Hash128{0x48351544a8327dfe, 0xd18f5106bdbc9aed}));
}

TEST(HashSumTest, OrderAndLengthMatterAtAnyLength) {
  std::set<Hash128> seen;
  std::vector<Hash128> list;
  size_t lists = 0;
  for (uint64_t length = 0; length < 300; ++length) {
    for (size_t swapped = 0; swapped + 1 < list.size(); ++swapped) {
      std::swap(list[swapped], list[swapped + 1]);
      seen.insert(sum_of(list));
      ++lists;
      std::swap(list[swapped], list[swapped + 1]);
    }
    seen.insert(sum_of(list));
    ++lists;
    list.push_back(text(length));
  }
  EXPECT_EQ(seen.size(), lists);
}

TEST(HashSumTest, ZerosCount) {
  std::set<Hash128> seen;
  for (size_t length = 0; length < 200; ++length) seen.insert(sum_of(std::vector<Hash128>(length)));
  EXPECT_EQ(seen.size(), 200u);
}

TEST(HashSumTest, AListInAListIsNotOneList) {
  const Hash128 a = text(1);
  const Hash128 b = text(2);
  const Hash128 c = text(3);
  const std::set<Hash128> seen = {
      sum_of({a, b, c}),
      sum_of({sum_of({a, b}), c}),
      sum_of({a, sum_of({b, c})}),
      sum_of({sum_of({a, b, c})}),
      sum_of({sum_of({a}), b, c}),
      sum_of({sum_of({b}), a, c}),
      sum_of({sum_of({a, c}), b}),
      sum_of({b, sum_of({a, c})}),
      sum_of({sum_of({b, a}), c}),
      sum_of({c, sum_of({a, b})}),
      sum_of({sum_of({sum_of({a, b})}), c}),
  };
  EXPECT_EQ(seen.size(), 11u);
}

// As lines and columns are: small numbers, next to each other, in each half of the hash alone.
TEST(HashSumTest, SmallNumbersNeverMeet) {
  std::set<uint64_t> low;
  std::set<uint64_t> high;
  for (uint64_t line = 0; line < 500; ++line) {
    for (uint64_t column = 0; column < 500; ++column) {
      HashSum sum;
      sum.add(text(7));
      sum.add(line);
      sum.add(column);
      low.insert(sum.value().low);
      high.insert(sum.value().high);
    }
  }
  EXPECT_EQ(low.size(), 250'000u);
  EXPECT_EQ(high.size(), 250'000u);
}

// A bit that changes changes many: of what is stored, parts may be compared.
TEST(HashSumTest, EveryBitOfAPartShowsInItsHalf) {
  const std::vector<Hash128> list = {text(1), text(2), text(3)};
  const Hash128 before = sum_of(list);
  for (size_t place = 0; place < list.size(); ++place) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      std::vector<Hash128> changed = list;
      changed[place].low ^= uint64_t{1} << bit;
      changed[place].high ^= uint64_t{1} << bit;
      const Hash128 after = sum_of(changed);
      EXPECT_GE(std::popcount(after.low ^ before.low), 4) << place << " " << bit;
      EXPECT_GE(std::popcount(after.high ^ before.high), 4) << place << " " << bit;
    }
  }
}

}  // namespace
}  // namespace vesta
