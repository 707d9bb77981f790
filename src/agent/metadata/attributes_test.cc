#include "agent/metadata/attributes.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace vesta::agent {
namespace {

TEST(Attributes, AreSortedAndUnique) {
  Attributes attributes;
  set_attribute(attributes, "service.name", "a");
  set_attribute(attributes, "host.name", "h");
  set_attribute(attributes, "service.name", "b");
  EXPECT_EQ(attributes, (Attributes{{"host.name", "h"}, {"service.name", "b"}}));
  EXPECT_EQ(find_attribute(attributes, "service.name"), "b");
  EXPECT_EQ(find_attribute(attributes, "service"), "");
}

TEST(Attributes, EmptyValuesAndBadNamesAreLeftOut) {
  Attributes attributes;
  set_attribute(attributes, "a", "");
  set_attribute(attributes, "", "x");
  set_attribute(attributes, "a\nb", "x");
  set_attribute(attributes, "a\xff", "x");
  set_attribute(attributes, std::string(kMaxAttributeNameBytes + 1, 'n'), "x");
  EXPECT_TRUE(attributes.empty());
}

TEST(Attributes, ValuesAreFitToBeShown) {
  Attributes attributes;
  set_attribute(attributes, "a", "x\ny\xff");
  set_attribute(attributes, "long", std::string(5000, 'v'));
  EXPECT_EQ(find_attribute(attributes, "a"), "x y\xEF\xBF\xBD");
  EXPECT_EQ(find_attribute(attributes, "long").size(), kMaxAttributeValueBytes);
}

TEST(Attributes, NormalizeKeepsTheLastOfEqualNames) {
  Attributes attributes = {{"b", "1"}, {"a", "1"}, {"b", "2"}, {"c", ""}};
  normalize(attributes);
  EXPECT_EQ(attributes, (Attributes{{"a", "1"}, {"b", "2"}}));
}

TEST(Glob, StarsAndQuestionMarksMatchTheWholeText) {
  EXPECT_TRUE(matches_glob("nginx", "nginx"));
  EXPECT_TRUE(matches_glob("*", ""));
  EXPECT_TRUE(matches_glob("ng*x", "ngx"));
  EXPECT_TRUE(matches_glob("/opt/*/bin/?ava", "/opt/a/b/bin/java"));
  EXPECT_TRUE(matches_glob("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(matches_glob("nginx", "nginx2"));
  EXPECT_FALSE(matches_glob("?", ""));
  EXPECT_FALSE(matches_glob("*a", "ab"));
  EXPECT_FALSE(matches_glob("", "a"));
}

TEST(Glob, ManyStarsTakeNoLongTime) {
  const std::string text(10'000, 'a');
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  const uint64_t start_ns = monotonic_ns();
  EXPECT_FALSE(matches_glob(pattern + "b", text));
  EXPECT_LT(monotonic_ns() - start_ns, 2'000'000'000U);
}

}  // namespace
}  // namespace vesta::agent
