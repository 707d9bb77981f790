#include "store/stack_tree_writer.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "profile/dictionary_builder.h"
#include "profile/merge/content_hash.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

std::string joined(const std::vector<std::string_view>& leaf_first) {
  std::string text;
  for (size_t i = leaf_first.size(); i-- > 0;) {
    text += leaf_first[i];
    if (i != 0) text += ';';
  }
  return text;
}

std::string names_of(const StackTree& tree, StackNumber stack) {
  std::vector<std::string_view> names;
  for (TreeNode node = tree.leaf(stack); node; node = tree.parent(node))
    names.push_back(tree.string(tree.stored_frame(tree.frame(node)).shown));
  return joined(names);
}

std::string names_by_name_tree(const StackTree& tree, StackNumber stack) {
  std::vector<std::string_view> names;
  const TreeNode leaf = tree.leaf(stack);
  for (NameNode node = leaf ? tree.name_node(leaf) : NameNode(); node;
       node = tree.name_parent(node)) {
    names.push_back(tree.string(tree.name(node)));
  }
  return joined(names);
}

std::vector<StackNumber> numbers(std::initializer_list<size_t> all) {
  std::vector<StackNumber> out;
  for (const size_t number : all) out.emplace_back(number);
  return out;
}

struct Partition {
  StackTree tree;
  StackTreeWriter writer{tree};
  StackNumbers numbers;

  std::vector<StackNumber> add(const Dictionary& dictionary) {
    const std::vector<Hash128> hashes = stack_hashes(dictionary);
    std::vector<StackNumber> out;
    StackTreeWriter::LocationFrames frames;
    for (size_t i = 0; i < hashes.size(); ++i)
      out.push_back(writer.number(numbers, hashes[i], dictionary, StackId(i), frames));
    return out;
  }
};

TEST(StackTreeWriterTest, NumbersStacksInOrderOfAppearance) {
  Partition p;
  const auto batch = test::batch_from({{"main;a;b", 1}, {"main;a", 2}, {"main;c>d;e", 3}});
  EXPECT_EQ(p.add(batch.dictionary), numbers({0, 1, 2, 3}));
  EXPECT_EQ(names_of(p.tree, StackNumber(0)), "");
  EXPECT_EQ(names_of(p.tree, StackNumber(1)), "main;a;b");
  EXPECT_EQ(names_of(p.tree, StackNumber(2)), "main;a");
  EXPECT_EQ(names_of(p.tree, StackNumber(3)), "main;c;d;e");
  EXPECT_EQ(p.tree.node_count(), 7U);  // root, main, a, b, c, d, e
}

TEST(StackTreeWriterTest, FindsKnownStacksAgainWhateverTheirIds) {
  Partition p;
  p.add(test::batch_from({{"main;a;b", 1}, {"main;a", 2}}).dictionary);
  const size_t nodes = p.tree.node_count();
  const auto again = test::batch_from({{"main;a", 2}, {"main;a;b", 1}});
  EXPECT_EQ(p.add(again.dictionary), numbers({0, 2, 1}));
  EXPECT_EQ(p.tree.node_count(), nodes);
}

TEST(StackTreeWriterTest, NameTreeMergesLinesOfAFunction) {
  Partition p;
  p.add(test::batch_from({{"main@m.c:1;work@w.c:3;leaf", 1}, {"main@m.c:2;work@w.c:4;leaf", 1}})
            .dictionary);
  EXPECT_EQ(p.tree.node_count(), 7U);
  EXPECT_EQ(p.tree.name_node_count(), 4U);
  EXPECT_EQ(names_by_name_tree(p.tree, StackNumber(1)), "main;work;leaf");
  EXPECT_EQ(names_by_name_tree(p.tree, StackNumber(2)), "main;work;leaf");
}

TEST(StackTreeWriterTest, MarksOutermostCallsOfRecursiveFunctions) {
  Partition p;
  p.add(test::batch_from({{"main;f;g;f", 1}}).dictionary);
  std::vector<bool> outermost;
  for (const NameNode n : Ids<NameNode>(1, p.tree.name_node_count()))
    outermost.push_back(p.tree.is_outermost(n));
  EXPECT_EQ(outermost, (std::vector<bool>{true, true, true, false}));
}

TEST(StackTreeWriterTest, ShowsTheBinaryWhereThereIsNoName) {
  Dictionary d;
  DictionaryBuilder b(d);
  Mapping m;
  m.file = b.string("/usr/lib/libc.so.6");
  m.start = 0x7000;
  m.file_offset = 0x100;
  Location in_libc;
  in_libc.mapping = b.mapping(m);
  in_libc.address = 0x7010;
  Location nowhere;
  nowhere.address = 0x99;
  const LocationId locations[] = {b.location(in_libc, {}), b.location(nowhere, {})};
  b.stack(locations);
  Partition p;
  p.add(d);
  EXPECT_EQ(names_of(p.tree, StackNumber(1)), "<unknown>;[libc.so.6]");
  const StoredFrame& leaf = p.tree.stored_frame(p.tree.frame(p.tree.leaf(StackNumber(1))));
  EXPECT_EQ(leaf.address, 0x110U);
  EXPECT_EQ(p.tree.string(leaf.binary), "/usr/lib/libc.so.6");
}

TEST(StackTreeWriterTest, AWriterOfAGrownTreeGoesOnWhereTheOtherStopped) {
  Partition together;
  Partition first;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const auto batch = test::random_batch(seed);
    together.add(batch.dictionary);
    StackTreeWriter resumed(first.tree);
    const auto hashes = stack_hashes(batch.dictionary);
    StackTreeWriter::LocationFrames frames;
    for (size_t i = 0; i < hashes.size(); ++i)
      resumed.number(first.numbers, hashes[i], batch.dictionary, StackId(i), frames);
  }
  ASSERT_EQ(first.tree.stack_count(), together.tree.stack_count());
  EXPECT_EQ(first.tree.node_count(), together.tree.node_count());
  EXPECT_EQ(first.tree.name_node_count(), together.tree.name_node_count());
  EXPECT_EQ(first.tree.frame_count(), together.tree.frame_count());
  EXPECT_EQ(first.tree.string_count(), together.tree.string_count());
  for (const StackNumber s : Ids<StackNumber>(0, first.tree.stack_count()))
    EXPECT_EQ(names_of(first.tree, s), names_of(together.tree, s));
}

TEST(StackTreeWriterTest, ParentsStandBeforeTheirChildrenAndSiblingsDiffer) {
  Partition p;
  for (uint64_t seed = 1; seed <= 8; ++seed) p.add(test::random_batch(seed).dictionary);
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (const TreeNode n : Ids<TreeNode>(1, p.tree.node_count())) {
    EXPECT_LT(p.tree.parent(n), n);
    EXPECT_TRUE(seen.emplace(p.tree.parent(n).value, p.tree.frame(n).value).second);
  }
  seen.clear();
  for (const NameNode n : Ids<NameNode>(1, p.tree.name_node_count())) {
    EXPECT_LT(p.tree.name_parent(n), n);
    EXPECT_TRUE(seen.emplace(p.tree.name_parent(n).value, p.tree.name(n).value).second);
  }
}

TEST(StackTreeWriterTest, ASnapshotStaysAsItWasWhileTheTreeGrows) {
  Partition p;
  p.add(test::batch_from({{"main;a;b", 1}}).dictionary);
  const StackTree snapshot = p.tree;
  for (uint64_t seed = 1; seed <= 20; ++seed) p.add(test::random_batch(seed).dictionary);
  EXPECT_EQ(snapshot.stack_count(), 2U);
  EXPECT_EQ(names_of(snapshot, StackNumber(1)), "main;a;b");
}

}  // namespace
}  // namespace vesta
