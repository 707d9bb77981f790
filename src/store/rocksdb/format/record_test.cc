#include "store/rocksdb/format/record.h"

#include <gtest/gtest.h>

#include <random>

#include "base/time.h"
#include "profile/merge/content_hash.h"
#include "profile/test_profiles.h"
#include "store/rocksdb/format/dictionary_chunk.h"
#include "store/rocksdb/format/keys.h"
#include "store/stack_tree_writer.h"

namespace vesta::rocks {
namespace {

std::vector<std::tuple<RowKey, int64_t>> rows_of(const std::string& bytes, int64_t base_ns) {
  RecordView view;
  std::vector<Row> rows;
  EXPECT_TRUE(view.parse(bytes));
  EXPECT_TRUE(view.read_rows(1 << 30, base_ns, rows));
  std::vector<std::tuple<RowKey, int64_t>> out;
  out.reserve(rows.size());
  for (const Row& row : rows) out.emplace_back(row.key, row.value);
  return out;
}

std::vector<Row> random_rows(std::mt19937_64& random, bool plain) {
  std::map<RowKey, int64_t> rows;
  const size_t count = random() % 50;
  for (size_t i = 0; i < count; ++i) {
    RowKey key;
    key.stack = StackNumber(random() % 1000);
    if (!plain) {
      key.labels = static_cast<LabelSetNumber>(random() % 3);
      key.link.trace_id[3] = static_cast<uint8_t>(random() % 2);
      key.link.span_id[0] = static_cast<uint8_t>(random() % 3);
      if (random() % 2 == 0) key.time_ns = static_cast<int64_t>(random());
    }
    int64_t value = static_cast<int64_t>(random() >> (random() % 64));
    if (value == 0) value = 1;
    rows[key] = value;
  }
  std::vector<Row> out;
  out.reserve(rows.size());
  for (const auto& [key, value] : rows) out.push_back({key, value});
  return out;
}

TEST(RecordTest, ComesBackAsItWas) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) {
    const std::vector<Row> rows = random_rows(random, i % 2 == 0);
    RecordHeader header;
    header.duration_ns = static_cast<int64_t>(random());
    header.period = static_cast<int64_t>(random());
    if (i % 3 == 0) header.losses = {{"cut", 5}, {"ring full", UINT64_MAX}};
    if (i % 4 == 0) header.origin = random() | 1;
    const auto base_ns = static_cast<int64_t>(random());
    const std::string bytes = encode_record(header, rows, base_ns);
    RecordView view;
    ASSERT_TRUE(view.parse(bytes));
    EXPECT_EQ(view.header().duration_ns, header.duration_ns);
    EXPECT_EQ(view.header().period, header.period);
    EXPECT_EQ(view.header().losses, header.losses);
    EXPECT_EQ(view.header().origin, header.origin);
    EXPECT_EQ(view.header().profiles, 1U);
    std::vector<std::tuple<RowKey, int64_t>> expected;
    expected.reserve(rows.size());
    for (const Row& row : rows) expected.emplace_back(row.key, row.value);
    EXPECT_EQ(rows_of(bytes, base_ns), expected);
  }
}

TEST(RecordTest, KeepsTheLargestAndTheSmallestValues) {
  const std::vector<Row> rows = {{{StackNumber(1), 0, {}, 0}, INT64_MIN},
                                 {{StackNumber(2), 0, {}, 0}, INT64_MAX},
                                 {{StackNumber(9), 0, {}, 0}, -1}};
  const auto back = rows_of(encode_record({}, rows, 0), 0);
  ASSERT_EQ(back.size(), 3U);
  EXPECT_EQ(std::get<1>(back[0]), INT64_MIN);
  EXPECT_EQ(std::get<1>(back[1]), INT64_MAX);
  EXPECT_EQ(std::get<1>(back[2]), -1);
  const std::vector<Row> one = {{{StackNumber(1), 0, {}, 0}, INT64_MIN}};
  EXPECT_EQ(std::get<1>(rows_of(encode_record({}, one, 0), 0)[0]), INT64_MIN);
}

TEST(RecordTest, MultiplesOfThePeriodTakeAByteEach) {
  std::vector<Row> rows;
  for (const StackNumber i : Ids<StackNumber>(0, 500))
    rows.push_back({{i, 0, {}, 0}, (i.value % 100 + 1) * 10'000'000});
  EXPECT_LT(encode_record({}, rows, 0).size(), 2 * rows.size() + 32);
}

TEST(RecordTest, ARollUpHasItsOwnTimesAndCount) {
  RecordHeader header;
  header.is_rollup = true;
  header.profiles = 360;
  header.first_ns = -5;
  header.last_ns = INT64_MAX;
  RecordView view;
  const std::string bytes = encode_rollup(header, {0, 5, 0, -7});
  ASSERT_TRUE(view.parse(bytes));
  EXPECT_EQ(view.header().profiles, 360U);
  EXPECT_EQ(view.header().first_ns, -5);
  EXPECT_EQ(view.header().last_ns, INT64_MAX);
  std::map<StackNumber, int64_t> weights;
  EXPECT_TRUE(view.for_each_weight(4, [&](StackNumber s, int64_t v) { weights[s] = v; }));
  EXPECT_EQ(weights, (std::map<StackNumber, int64_t>{{StackNumber(1), 5}, {StackNumber(3), -7}}));
}

TEST(RecordTest, ARollUpKeepsWhichProfilesItHasPiecesOf) {
  RecordHeader header;
  header.is_rollup = true;
  header.profiles = 5;
  header.first_ns = 1'700'000'000'000'000'000;
  header.duration_ns = 7;
  header.pieces = {{2, INT64_MIN, INT64_MAX},
                   {2, header.first_ns, 10},
                   {2, header.first_ns + 10, 10},
                   {3, INT64_MAX, 0}};
  RecordView view;
  const std::string bytes = encode_rollup(header, {0, 5});
  ASSERT_TRUE(view.parse(bytes));
  EXPECT_EQ(view.header().duration_ns, 7);
  EXPECT_EQ(view.header().pieces, header.pieces);
  for (size_t size = 0; size < bytes.size(); ++size) {
    RecordView cut;
    const bool parsed = cut.parse(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(parsed && cut.for_each_weight(2, [](StackNumber, int64_t) {})) << size;
  }
}

TEST(RecordTest, PiecesAtEqualDistancesTakeFewBytes) {
  RecordHeader header;
  header.is_rollup = true;
  header.first_ns = 1'700'000'000'000'000'000;
  for (int64_t i = 0; i < 360; ++i)
    header.pieces.push_back({2, header.first_ns + i * 10'000'000'000, 10'000'000'000});
  EXPECT_LT(encode_rollup(header, {1}).size(), 360U * 7);
}

TEST(RecordTest, AStackThatIsNotThereIsDamage) {
  RecordView view;
  const std::string bytes = encode_rollup({}, {0, 0, 1});
  ASSERT_TRUE(view.parse(bytes));
  EXPECT_FALSE(view.for_each_weight(2, [](StackNumber, int64_t) {}));
  std::vector<Row> rows;
  EXPECT_FALSE(view.read_rows(2, 0, rows));
}

TEST(RecordTest, CutAndChangedBytesAreNeverTrusted) {
  std::mt19937_64 random(3);
  const std::string whole = encode_record({}, random_rows(random, false), 17);
  std::vector<Row> rows;
  for (size_t size = 0; size < whole.size(); ++size) {
    RecordView view;
    if (view.parse(std::string_view(whole).substr(0, size))) view.read_rows(1000, 17, rows);
  }
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = whole;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    RecordView view;
    if (view.parse(bytes)) view.read_rows(1000, 17, rows);
  }
}

TEST(KeyTest, SortsAsTimeDoes) {
  const int64_t times[] = {INT64_MIN, -kHour - 1, -1, 0, 1, kHour, INT64_MAX};
  std::string last;
  for (const int64_t time : times) {
    const ProfileKey key{7, hour_of(time), 3, time, 9};
    const std::string bytes(key.encode().view());
    EXPECT_GT(bytes, last);
    last = bytes;
    const ProfileKey back = ProfileKey::decode(bytes);
    EXPECT_EQ(back.time_ns, time);
    EXPECT_EQ(back.hour, key.hour);
    EXPECT_LE(bucket_start_ns(back.hour, kHour), time);
    EXPECT_GE(bucket_end_ns(back.hour, kHour), time);
  }
  EXPECT_EQ(first_hour_of(day_of_hour(hour_of(-1))), hour_of(-kDay));
  EXPECT_EQ(day_of_hour(hour_of(5 * kDay - 1)), bucket_of(5 * kDay - 1, kDay));
}

struct Grown {
  StackTree tree;
  LabelSets label_sets;
  StackNumbers stacks;
  StackNumbers sets;
  std::vector<std::string> chunks;

  Grown() { label_sets.push_back({}); }
  void add(const Dictionary& dictionary, uint64_t seed) {
    const DictionaryMark from = mark_of(tree, label_sets);
    StackTreeWriter writer(tree);
    const auto hashes = stack_hashes(dictionary);
    StackTreeWriter::LocationFrames frames;
    for (size_t i = 0; i < hashes.size(); ++i)
      writer.number(stacks, hashes[i], dictionary, StackId(i), frames);
    label_sets.push_back(
        {{writer.string("thread"), LabelKind::kString, writer.string("t1"), {}, 0},
         {writer.string("size"), LabelKind::kNumber, {}, writer.string("bytes"), -9}});
    sets.find_or_add({seed, seed});
    chunks.push_back(encode_chunk(tree, label_sets, stacks, sets, from));
  }
};

TEST(DictionaryChunkTest, ChunksGiveTheDictionaryBack) {
  Grown grown;
  for (uint64_t seed = 1; seed <= 6; ++seed) grown.add(test::random_batch(seed).dictionary, seed);
  StackTree tree;
  LabelSets label_sets;
  label_sets.push_back({});
  StackNumbers stacks;
  StackNumbers sets;
  DictionaryMark mark;
  for (const std::string& chunk : grown.chunks) {
    ASSERT_TRUE(decode_chunk(chunk, tree, label_sets));
    ASSERT_TRUE(decode_chunk_hashes(chunk, mark, stacks, sets));
  }
  EXPECT_EQ(mark, mark_of(grown.tree, grown.label_sets));
  EXPECT_EQ(mark, mark_of(tree, label_sets));
  for (const TreeNode n : Ids<TreeNode>(1, tree.node_count())) {
    EXPECT_EQ(tree.parent(n), grown.tree.parent(n));
    EXPECT_EQ(tree.frame(n), grown.tree.frame(n));
    EXPECT_EQ(tree.name_node(n), grown.tree.name_node(n));
  }
  for (const NameNode n : Ids<NameNode>(1, tree.name_node_count())) {
    EXPECT_EQ(tree.name_parent(n), grown.tree.name_parent(n));
    EXPECT_EQ(tree.is_outermost(n), grown.tree.is_outermost(n));
    EXPECT_EQ(tree.name_frame(n), grown.tree.name_frame(n));
  }
  for (const TreeFrame f : Ids<TreeFrame>(1, tree.frame_count()))
    EXPECT_EQ(tree.stored_frame(f), grown.tree.stored_frame(f));
  for (const TreeString s : Ids<TreeString>(0, tree.string_count()))
    EXPECT_EQ(tree.string(s), grown.tree.string(s));
  for (const StackNumber s : Ids<StackNumber>(0, tree.stack_count())) {
    EXPECT_EQ(tree.leaf(s), grown.tree.leaf(s));
    EXPECT_EQ(stacks.hash(s), grown.stacks.hash(s));
  }
  for (size_t i = 0; i < label_sets.size(); ++i) EXPECT_EQ(label_sets[i], grown.label_sets[i]);
}

TEST(DictionaryChunkTest, DamagedOrMisplacedChunksAreRefused) {
  Grown grown;
  for (uint64_t seed = 1; seed <= 2; ++seed) grown.add(test::random_batch(seed).dictionary, seed);
  StackTree empty;
  LabelSets no_sets;
  no_sets.push_back({});
  EXPECT_FALSE(decode_chunk(grown.chunks[1], empty, no_sets)) << "the first is missing";
  std::mt19937_64 random(5);
  for (int i = 0; i < 500; ++i) {
    std::string bytes = grown.chunks[0];
    bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 4 == 0) bytes.resize(random() % bytes.size());
    StackTree tree;
    LabelSets sets;
    sets.push_back({});
    decode_chunk(bytes, tree, sets);
  }
}

}  // namespace
}  // namespace vesta::rocks
