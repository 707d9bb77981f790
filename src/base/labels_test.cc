#include "base/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vesta {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Labels, StaySortedAndUnique) {
  Labels labels;
  set_label(labels, "b", "1", true);
  set_label(labels, "a", "2", true);
  set_label(labels, "b", "3", false);
  EXPECT_THAT(labels, ElementsAre(Pair("a", "2"), Pair("b", "1")));
  set_label(labels, "b", "3", true);
  EXPECT_EQ(label_value(labels, "b"), "3");
  EXPECT_EQ(label_value(labels, "c"), "");
}

TEST(Labels, NamesAreTextWithoutControlCharacters) {
  EXPECT_TRUE(is_label_name("k8s.pod.name"));
  EXPECT_TRUE(is_label_name("größe"));
  EXPECT_FALSE(is_label_name(""));
  EXPECT_FALSE(is_label_name("a\nb"));
  EXPECT_FALSE(is_label_name("\xff"));
}

}  // namespace
}  // namespace vesta
