#include "base/utf8.h"

#include <gtest/gtest.h>

namespace vesta {
namespace {

TEST(Utf8, AcceptsWellFormedText) {
  EXPECT_TRUE(is_valid_utf8("plain"));
  EXPECT_TRUE(is_valid_utf8("größe 函数 🔥"));
}

TEST(Utf8, RefusesOverlongSurrogateAndTruncatedForms) {
  EXPECT_FALSE(is_valid_utf8("\xC0\xAF"));
  EXPECT_FALSE(is_valid_utf8("\xED\xA0\x80"));
  EXPECT_FALSE(is_valid_utf8("\xF4\x90\x80\x80"));
  EXPECT_FALSE(is_valid_utf8("abc\xE5\x87"));
}

TEST(Utf8, ReplacesWhatIsInvalidAndKeepsTheRest) {
  EXPECT_EQ(replace_invalid_utf8("a\xFF"
                                 "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(replace_invalid_utf8("x\xE5\x87"), "x\xEF\xBF\xBD");
  EXPECT_TRUE(is_valid_utf8(replace_invalid_utf8("\xF0\x80\x80\x80 \xC3")));
}

TEST(Utf8, MeasuresAndClipsByColumns) {
  EXPECT_EQ(display_width("größe"), 5u);
  EXPECT_EQ(display_width("函数"), 4u);
  EXPECT_EQ(clip_to_width("函数x", 3), "函");
  EXPECT_EQ(clip_to_width("abc", 9), "abc");
}

}  // namespace
}  // namespace vesta
