#include "store/rocksdb/series_index.h"

#include <gtest/gtest.h>

#include <set>

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
      for (Hour hour = n; hour < n + 30; ++hour) index.remove_hour(kBucketBias + hour, n);
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
