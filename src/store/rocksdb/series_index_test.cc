#include "store/rocksdb/series_index.h"

#include <gtest/gtest.h>

#include <set>

#include "base/labels.h"

namespace vesta::rocks {
namespace {

Selector selector(std::string_view text) {
  return parse_selector(text)->selector;
}

Labels labels_of(SeriesNumber number) {
  Labels labels = {{"pod", "pod-" + std::to_string(number)},
                   {"service_name", number % 3 == 0 ? "web" : "api"}};
  if (number % 2 == 0) labels.emplace_back("zone", number % 4 == 0 ? "eu" : "us");
  return labels;
}

struct Filled {
  SeriesIndex index;
  Filled() {
    for (SeriesNumber n = 0; n < 60; ++n) {
      index.add(n, labels_of(n), n % 3 == 0 ? 0 : 1, 0);
      for (Hour hour = n; hour < n + 30; ++hour) index.add_hour(kBucketBias + hour, n);
    }
    for (SeriesNumber n = 0; n < 60; n += 7) {
      std::map<Hour, SeriesSet> gone;
      for (Hour hour = n; hour < n + 30; ++hour) gone[kBucketBias + hour].add(n);
      index.remove_hours(gone);
      index.remove(n);
    }
  }
};

TEST(SeriesIndexTest, MatchesAsEverySeriesByItselfWould) {
  const Filled filled;
  for (const std::string_view text :
       {"{}", R"({service_name="web"})", R"({service_name!="web"})", R"({zone=""})",
        R"({zone!=""})", R"({zone=~"e.*|"})", R"({pod=~"pod-1.*", service_name="api"})",
        R"({pod!~".*[13579]"})", R"({zone="eu", pod="pod-4"})", R"({nothing="x"})",
        R"({nothing=""})", R"({nothing!~"x"})"}) {
    std::set<SeriesNumber> expected;
    for (SeriesNumber n = 0; n < 60; ++n)
      if (n % 7 != 0 && matches(selector(text), labels_of(n))) expected.insert(n);
    const SeriesSet found = filled.index.match(selector(text));
    EXPECT_EQ(std::set<SeriesNumber>(found.begin(), found.end()), expected) << text;
  }
}

TEST(SeriesIndexTest, FindsASeriesByExactlyItsLabels) {
  const Filled filled;
  EXPECT_EQ(filled.index.find(labels_of(8)), 8U);
  EXPECT_EQ(filled.index.find(labels_of(7)), SeriesIndex::kNone) << "it was removed";
  Labels more = labels_of(8);
  more.emplace_back("zz", "x");
  EXPECT_EQ(filled.index.find(more), SeriesIndex::kNone);
}

TEST(SeriesIndexTest, SaysWhichSeriesAreActiveInAnyRange) {
  const Filled filled;
  for (Hour from = 0; from < 95; from += 3) {
    for (Hour to = from; to < 95; to += 4) {
      std::set<SeriesNumber> expected;
      for (SeriesNumber n = 0; n < 60; ++n)
        if (n % 7 != 0 && n <= to && n + 29 >= from) expected.insert(n);
      const SeriesSet found = filled.index.active(kBucketBias + from, kBucketBias + to);
      ASSERT_EQ(std::set<SeriesNumber>(found.begin(), found.end()), expected) << from << ' ' << to;
    }
  }
}

TEST(SeriesIndexTest, WhatIsGoneGivesItsMemoryBack) {
  SeriesIndex index;
  constexpr SeriesNumber kKept = 64;
  constexpr SeriesNumber kChurn = 20'000;
  const auto labels = [](SeriesNumber number) {
    return Labels{{"pod", "a-pod-with-a-rather-long-name-" + std::to_string(number)},
                  {"service_name", "web"}};
  };
  for (SeriesNumber n = 0; n < kKept; ++n) index.add(n, labels(n), 0, 0);
  const uint64_t before = index.byte_size();
  SeriesNumber next = kKept;
  uint64_t most = 0;
  for (int round = 0; round < 5; ++round) {
    for (SeriesNumber i = 0; i < kChurn; ++i) index.add(next + i, labels(next + i), 0, 0);
    most = std::max(most, index.byte_size());
    for (SeriesNumber i = 0; i < kChurn; ++i) index.remove(next + i);
    next += kChurn;
  }
  EXPECT_GT(most, before * 50);
  EXPECT_LT(index.byte_size(), before * 8) << "the peak was " << most;
  for (SeriesNumber n = 0; n < kKept; ++n) EXPECT_EQ(index.find(labels(n)), n);
  EXPECT_EQ(index.label_values("pod", index.all(), "", 0).size(), kKept);
  // A label that was gone comes back.
  index.add(next, labels(kKept), 0, 0);
  EXPECT_EQ(index.find(labels(kKept)), next);
  EXPECT_EQ(index.match(selector(R"({pod="a-pod-with-a-rather-long-name-64"})")).minimum(), next);
}

TEST(SeriesIndexTest, KnowsTheFirstAndTheLastHourOfWhatIsLeft) {
  SeriesIndex index;
  index.add(1, labels_of(1), 0, 0);
  for (const Hour hour : {3, 5, 30, 31, 90}) index.add_hour(kBucketBias + hour, 1);
  const auto remove = [&](std::initializer_list<Hour> hours) {
    std::map<Hour, SeriesSet> gone;
    for (const Hour hour : hours) gone[kBucketBias + hour].add(1);
    index.remove_hours(gone);
  };
  remove({3, 90});
  EXPECT_EQ(index.series(1).first_hour, kBucketBias + 5);
  EXPECT_EQ(index.series(1).last_hour, kBucketBias + 31);
  remove({30});
  EXPECT_EQ(index.days().size(), 2U);
  remove({31, 5});
  EXPECT_EQ(index.series(1).first_hour, UINT32_MAX);
  EXPECT_TRUE(index.days().empty());
  EXPECT_TRUE(index.hours().empty());
}

TEST(SeriesIndexTest, ListsValuesTheSameWayWhicheverSideIsSmaller) {
  const Filled filled;
  for (const std::string_view text : {"{}", R"({zone="eu"})", R"({pod="pod-4"})"}) {
    const SeriesSet among = filled.index.match(selector(text));
    for (const std::string_view name : {"zone", "pod", "service_name", "none"}) {
      std::set<std::string> expected;
      for (const SeriesNumber n : among) {
        const Labels labels = labels_of(n);
        if (!label_value(labels, name).empty()) expected.emplace(label_value(labels, name));
      }
      const auto found = filled.index.label_values(name, among, "", 0);
      EXPECT_EQ(std::set<std::string>(found.begin(), found.end()), expected);
      EXPECT_TRUE(std::ranges::is_sorted(found));
    }
  }
  EXPECT_EQ(filled.index.label_values("pod", filled.index.all(), "pod-1", 2),
            (std::vector<std::string>{"pod-1", "pod-10"}));
}

}  // namespace
}  // namespace vesta::rocks
