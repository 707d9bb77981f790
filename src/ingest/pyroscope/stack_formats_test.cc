#include "ingest/pyroscope/stack_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/test_profiles.h"

namespace vesta::pyroscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::string record(std::string_view name, uint64_t value, uint64_t children) {
  std::string out;
  const auto varint = [&](uint64_t number) {
    while (number >= 0x80) {
      out.push_back(static_cast<char>(number | 0x80));
      number >>= 7;
    }
    out.push_back(static_cast<char>(number));
  };
  varint(name.size());
  out += name;
  varint(value);
  varint(children);
  return out;
}

TEST(StackFormats, LinesCountOneEach) {
  const auto batch = read_lines("a;b\na;b\r\n\na;c;\n", {});
  ASSERT_TRUE(batch.ok());
  EXPECT_THAT(test::rows(*batch), ElementsAre("a;b 2", "a;c 1"));
}

TEST(StackFormats, LinesOfAnyLengthAreRead) {
  const std::string name(60'000, 'x');
  const auto batch = read_lines(name + ";" + std::string(60'000, 'y') + "\nz\n", {});
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(total_of(batch->profiles[0], 0), 2);
}

TEST(StackFormats, TreeHasItsOwnValuesAtEachNode) {
  const std::string bytes(
      "\x00\x00\x01\x01"
      "a\x00\x02\x01"
      "b\x01\x00\x01"
      "c\x02\x00",
      15);
  const auto batch = read_tree(bytes, {});
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  EXPECT_THAT(test::rows(*batch), ElementsAre("a;b 1", "a;c 2"));
}

TEST(StackFormats, TrieNamesArePiecesOfStacks) {
  const auto batch = read_trie(
      record("", 0, 1) + record("main;wo", 3, 2) + record("rk", 4, 0) + record("rld;x", 300, 0),
      {});
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  EXPECT_THAT(test::rows(*batch),
              UnorderedElementsAre("main;wo 3", "main;work 4", "main;world;x 300"));
}

TEST(StackFormats, TruncationIsNoticedAtEveryByte) {
  const std::string bytes =
      record("", 0, 1) + record("a", 300, 2) + record("b", 1, 0) + record("c", 2, 0);
  ASSERT_TRUE(read_tree(bytes, {}).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(read_tree(bytes.substr(0, size), {}).ok()) << size;
    EXPECT_FALSE(read_trie(bytes.substr(0, size), {}).ok()) << size;
  }
  EXPECT_THAT(read_tree(bytes + "x", {}).error().message, HasSubstr("after the last record"));
}

TEST(StackFormats, HostileNumbersAreRefused) {
  EXPECT_THAT(read_tree(record("", 0, 16'001), {}).error().message, HasSubstr("16001 children"));
  EXPECT_FALSE(read_tree("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", {}).ok());
  EXPECT_THAT(read_tree(record(std::string(70'000, 'x'), 1, 0), {}).error().message,
              HasSubstr("70000 bytes"));
  // A value beyond what a profile can hold is the most that it can hold.
  const auto batch = read_tree(record("a", UINT64_MAX, 0), {});
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(total_of(batch->profiles[0], 0), INT64_MAX);
}

TEST(StackFormats, DeepChainsTakeNeitherMemoryNorTime) {
  std::string bytes = record("", 0, 1);
  for (int i = 0; i < 200'000; ++i) bytes += record("f", 1, 1);
  bytes += record("f", 1, 0);
  ReadOptions options;
  options.max_stack_depth = 100;
  for (const auto& read : {read_tree, read_trie}) {
    const auto batch = read(bytes, options);
    if (batch) {
      EXPECT_EQ(total_of(batch->profiles[0], 0), 200'001);
    } else {
      EXPECT_EQ(batch.error().code, ErrorCode::kLimit);
    }
  }
}

}  // namespace
}  // namespace vesta::pyroscope
