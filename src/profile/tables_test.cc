// The tables that everything is stored in: strings, lists, dictionaries and samples.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <unordered_map>

#include "profile/dictionary_builder.h"
#include "profile/list_table.h"
#include "profile/sample_table.h"
#include "profile/string_table.h"

namespace vesta {
namespace {

TEST(StringTableTest, EqualStringsHaveOneId) {
  StringTable table;
  const StringId a = table.intern("main");
  const StringId b = table.intern("work");
  EXPECT_NE(a, b);
  EXPECT_EQ(table.intern("main"), a);
  EXPECT_EQ(table[b], "work");
  EXPECT_EQ(table.size(), 3u);
}

TEST(StringTableTest, TheEmptyStringIsEntryZero) {
  StringTable table;
  EXPECT_EQ(table.intern(""), StringId());
  EXPECT_EQ(table[StringId()], "");
}

TEST(StringTableTest, InternFindsWhatWasAddedBefore) {
  StringTable table;
  const StringId first = table.add("main");
  table.add("main");
  EXPECT_EQ(table.intern("main"), first);
  const StringId late = table.add("late");
  EXPECT_EQ(table.intern("late"), late);
}

TEST(StringTableTest, InternTakesViewsOfItself) {
  StringTable table;
  const StringId id = table.intern("a long name that will move when the buffer grows");
  for (size_t length = 1; length < table[id].size(); ++length) {
    const std::string expected(table[id].substr(length));
    EXPECT_EQ(table[table.intern(table[id].substr(length))], expected);
  }
}

TEST(StringTableTest, AgreesWithAMapOnRandomStrings) {
  std::mt19937_64 random(1);
  StringTable table;
  std::unordered_map<std::string, StringId> expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = std::to_string(random() % 3000);
    const StringId id = table.intern(text);
    EXPECT_EQ(expected.try_emplace(text, id).first->second, id);
    EXPECT_EQ(table[id], text);
  }
  EXPECT_EQ(table.size(), expected.size() + 1);
}

TEST(ListTableTest, AddTakesPartsOfItself) {
  ListTable<StackId, LocationId> table;
  std::vector<LocationId> list;
  for (size_t i = 1; i <= 50; ++i) list.emplace_back(i);
  StackId id = table.add(list);
  for (size_t i = 49; i > 0; --i) {
    id = table.add(std::as_const(table)[id].subspan(1));
    const auto last = std::as_const(table)[id];
    ASSERT_EQ(last.size(), i);
    EXPECT_EQ(last.back(), LocationId(50));
  }
}

TEST(ListTableTest, EntryZeroIsTheEmptyList) {
  ListTable<StackId, LocationId> table;
  EXPECT_TRUE(table[StackId()].empty());
  table.push(LocationId(7));
  table.discard_open();
  const StackId id = table.close();
  EXPECT_TRUE(table[id].empty());
}

TEST(DictionaryBuilderTest, EqualContentHasOneId) {
  Dictionary d;
  DictionaryBuilder b(d);
  EXPECT_EQ(b.frame("main", "a.cc", 3), b.frame("main", "a.cc", 3));
  EXPECT_NE(b.frame("main", "a.cc", 3), b.frame("main", "a.cc", 4));
  EXPECT_NE(b.frame("main", "a.cc", 3), b.frame("main", "a.cc", 3, FrameKind::kKernel));
  EXPECT_NE(b.function("main", "a.cc"), b.function("main", "b.cc"));
  const std::vector<LocationId> stack = {b.frame("leaf"), b.frame("root")};
  EXPECT_EQ(b.stack(stack), b.stack(stack));
  EXPECT_EQ(b.stack({}), StackId());
  Link link;
  link.span_id[3] = 1;
  EXPECT_EQ(b.link(link), b.link(link));
  EXPECT_EQ(b.link(Link()), LinkId());
}

TEST(DictionaryBuilderTest, EmptyEntriesAreEntryZero) {
  Dictionary d;
  DictionaryBuilder b(d);
  EXPECT_EQ(b.function(Function()), FunctionId());
  EXPECT_EQ(b.mapping(Mapping()), MappingId());
  EXPECT_EQ(b.location(Location(), {}), LocationId());
  EXPECT_EQ(b.label_set({}), LabelSetId());
}

TEST(DictionaryBuilderTest, OrderOfLabelsDoesNotMatter) {
  Dictionary d;
  DictionaryBuilder b(d);
  const Label one = b.text_label("thread", "main");
  const Label two = b.number_label("bytes", 64, "bytes");
  const Label three = b.text_label("thread", "worker");
  EXPECT_EQ(b.label_set(std::vector{one, two, three}), b.label_set(std::vector{three, one, two}));
  EXPECT_NE(b.label_set(std::vector{one, two}), b.label_set(std::vector{one, three}));
}

TEST(DictionaryBuilderTest, FindsWhatWasThereBefore) {
  Dictionary d;
  FunctionId function;
  MappingId mapping;
  LocationId location;
  StackId stack;
  LabelSetId labels;
  LinkId link;
  const auto build = [&](DictionaryBuilder& b) {
    Mapping m;
    m.file = b.string("/bin/app");
    m.start = 0x1000;
    Link l;
    l.trace_id[0] = 9;
    const Label label = b.text_label("k", "v");
    function = b.function("work", "w.cc", 12);
    mapping = b.mapping(m);
    location = b.frame("work", "w.cc", 14, FrameKind::kGo, mapping);
    stack = b.stack(std::span<const LocationId>(&location, 1));
    labels = b.label_set(std::span<const Label>(&label, 1));
    link = b.link(l);
  };
  DictionaryBuilder first(d);
  build(first);
  const auto ids = std::tuple(function, mapping, location, stack, labels, link);
  DictionaryBuilder second(d);
  build(second);
  EXPECT_EQ(std::tuple(function, mapping, location, stack, labels, link), ids);
}

TEST(DictionaryBuilderTest, FindsWhatOthersAppendMeanwhile) {
  Dictionary d;
  DictionaryBuilder b(d);
  b.function("first");
  Function f;
  f.name = f.system_name = d.strings.add("second");
  d.functions.push_back(f);
  EXPECT_EQ(b.function("second"), FunctionId(d.functions.size() - 1));
}

TEST(DictionaryBuilderTest, PartsOfAStackOfTheSameTableAreStacksToo) {
  Dictionary d;
  DictionaryBuilder b(d);
  std::vector<LocationId> list;
  list.reserve(100);
  for (int i = 0; i < 100; ++i) list.push_back(b.frame("f" + std::to_string(i)));
  StackId id = b.stack(list);
  for (size_t i = 1; i < list.size(); ++i) {
    id = b.stack(d.stacks[id].subspan(1));
    EXPECT_EQ(d.stacks[id].size(), list.size() - i);
    EXPECT_EQ(d.stacks[id].back(), list.back());
  }
}

TEST(SampleTableTest, SamplesThatAreAlikeBecomeOne) {
  SampleTable table(2);
  const int64_t one[] = {1, 10};
  const int64_t two[] = {2, 20};
  table.add(StackId(1), one);
  table.add(StackId(2), one);
  table.add(StackId(1), two);
  table.add(StackId(1), one, LabelSetId(3));
  EXPECT_EQ(table.size(), 3u);
  const Samples samples = table.finish();
  EXPECT_EQ(samples.stacks, (std::vector{StackId(1), StackId(2), StackId(1)}));
  EXPECT_EQ(samples.values, (std::vector<int64_t>{3, 30, 1, 10, 1, 10}));
  EXPECT_EQ(samples.labels, (std::vector{LabelSetId(), LabelSetId(), LabelSetId(3)}));
  EXPECT_TRUE(samples.links.empty());
  EXPECT_TRUE(samples.times_ns.empty());
}

TEST(SampleTableTest, LinksAndTimesKeepSamplesApart) {
  SampleTable table(1);
  table.add(StackId(1), 1, {}, LinkId(1));
  table.add(StackId(1), 1, {}, LinkId(2));
  table.add(StackId(1), 1, {}, {}, 77);
  table.add(StackId(1), 1, {}, {}, 77);
  const Samples samples = table.finish();
  EXPECT_EQ(samples.values, (std::vector<int64_t>{1, 1, 2}));
  EXPECT_EQ(samples.times_ns, (std::vector<int64_t>{0, 0, 77}));
}

TEST(SampleTableTest, FinishLeavesAnEmptyTable) {
  SampleTable table(1);
  table.add(StackId(1), 5);
  table.finish();
  EXPECT_EQ(table.size(), 0u);
  table.add(StackId(1), 7);
  EXPECT_EQ(table.finish().values, std::vector<int64_t>{7});
}

TEST(SampleTableTest, SumsSaturate) {
  SampleTable table(1);
  table.add(StackId(1), std::numeric_limits<int64_t>::max());
  table.add(StackId(1), 1);
  EXPECT_EQ(table.finish().values[0], std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace vesta
