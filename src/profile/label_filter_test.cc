// Filters on labels. The expectations were checked against `go tool pprof` by hand.
#include "profile/label_filter.h"

#include <gtest/gtest.h>

#include "profile/dictionary_builder.h"

namespace vesta {
namespace {

class LabelFilterTest : public ::testing::Test {
 protected:
  LabelFilterTest() : builder_(dictionary_) {}

  Label text(std::string_view key, std::string_view value) {
    return builder_.text_label(key, value);
  }
  Label number(std::string_view key, int64_t value, std::string_view unit = {}) {
    return builder_.number_label(key, value, unit);
  }
  bool matches(std::string_view expression, const std::vector<Label>& labels) {
    auto filter = LabelFilter::compile(expression, "--tag-focus");
    EXPECT_TRUE(filter.ok()) << expression;
    filter->infer_units(dictionary_);
    return filter->matches(dictionary_, labels);
  }

  Dictionary dictionary_;
  DictionaryBuilder builder_;
};

TEST_F(LabelFilterTest, WithAKeyTheValueIsSearched) {
  EXPECT_TRUE(matches("thread=work", {text("thread", "worker1")}));
  EXPECT_FALSE(matches("thread=^work$", {text("thread", "worker1")}));
  EXPECT_FALSE(matches("thread=worker", {text("name", "worker")}));
  EXPECT_FALSE(matches("thread=x", {}));
}

TEST_F(LabelFilterTest, WithAKeyAnyOfTheExpressionsWillDo) {
  EXPECT_TRUE(matches("thread=^a$,^b$", {text("thread", "b")}));
  EXPECT_FALSE(matches("thread=^a$,^b$", {text("thread", "c")}));
}

TEST_F(LabelFilterTest, WithoutAKeyAllExpressionsMustBeMet) {
  const std::vector<Label> labels = {text("thread", "a"), text("zone", "b")};
  EXPECT_TRUE(matches("thread:a", labels));
  EXPECT_TRUE(matches("thread:a,zone", labels));
  EXPECT_FALSE(matches("thread:a,zone:c", labels));
  EXPECT_FALSE(matches("a", {}));
}

TEST_F(LabelFilterTest, OneOfSeveralValuesIsEnough) {
  const std::vector<Label> labels = {text("thread", "a"), text("thread", "b")};
  EXPECT_TRUE(matches("thread=^b$", labels));
  EXPECT_TRUE(matches("thread:a,thread:b", labels));
  EXPECT_TRUE(matches("bytes=2kb:3kb", {number("bytes", 10), number("bytes", 2500)}));
}

TEST_F(LabelFilterTest, AnEmptyKeyIsNoKey) {
  EXPECT_TRUE(matches("=thread:a", {text("thread", "a")}));
}

TEST_F(LabelFilterTest, AnEmptyExpressionMatchesAnyValueOfTheKey) {
  EXPECT_TRUE(matches("thread=", {text("thread", "a")}));
  EXPECT_FALSE(matches("thread=", {text("zone", "a")}));
}

TEST_F(LabelFilterTest, RangesIncludeTheirEnds) {
  for (const auto& [bytes, in] : {std::pair(131071, false),
                                  {131072, true},
                                  {200000, true},
                                  {524288, true},
                                  {524289, false}}) {
    EXPECT_EQ(matches("bytes=128kb:512kb", {number("bytes", bytes, "bytes")}), in) << bytes;
  }
}

TEST_F(LabelFilterTest, RangesMayBeOpen) {
  EXPECT_TRUE(matches(":64kb", {number("bytes", 65536, "bytes")}));
  EXPECT_FALSE(matches(":64kb", {number("bytes", 65537, "bytes")}));
  EXPECT_TRUE(matches("64kb:", {number("bytes", 65536, "bytes")}));
  EXPECT_FALSE(matches("64kb:", {number("bytes", 65535, "bytes")}));
  EXPECT_TRUE(matches("id=10:", {number("id", 10)}));
  EXPECT_FALSE(matches("id=10:", {number("id", 9)}));
  EXPECT_TRUE(matches("id=-5:+5", {number("id", -5)}));
}

TEST_F(LabelFilterTest, ASingleNumberMeansExactlyThat) {
  EXPECT_TRUE(matches("32kb", {number("bytes", 32768, "bytes")}));
  EXPECT_FALSE(matches("32kb", {number("bytes", 32769, "bytes")}));
  EXPECT_TRUE(matches("id=7", {number("id", 7)}));
}

TEST_F(LabelFilterTest, TheFirstUnitHoldsForBothEnds) {
  EXPECT_TRUE(matches("bytes=1kb:2", {number("bytes", 2048, "bytes")}));
  EXPECT_FALSE(matches("bytes=1kb:2", {number("bytes", 2049, "bytes")}));
  // The other way round there is nothing to hold; pprof takes it for a regular expression.
  EXPECT_FALSE(matches("bytes=1:2kb", {number("bytes", 1500, "bytes")}));
  EXPECT_TRUE(matches("bytes=1:2kb", {text("bytes", "1:2kb")}));
}

TEST_F(LabelFilterTest, UnitsOfOneKindConvert) {
  EXPECT_TRUE(matches("latency=1s:2s", {number("latency", 1500, "milliseconds")}));
  EXPECT_FALSE(matches("latency=1s:2s", {number("latency", 1500, "microseconds")}));
  EXPECT_FALSE(matches("latency=1s:2s", {number("latency", 1, "bytes")}));
}

TEST_F(LabelFilterTest, ANumberWithoutAUnitIsMeasuredInItsName) {
  EXPECT_TRUE(matches("bytes=1kb", {number("bytes", 1024)}));
  EXPECT_TRUE(matches("request=1kb", {number("request", 1024)}));
  EXPECT_TRUE(matches("alignment=1kb", {number("alignment", 1024)}));
}

TEST_F(LabelFilterTest, ANumberWithoutAUnitIsMeasuredAsOthersOfItsKey) {
  const Label known = number("size", 1, "kilobytes");
  builder_.label_set(std::span<const Label>(&known, 1));
  EXPECT_TRUE(matches("size=2mb", {number("size", 2048)}));
}

TEST_F(LabelFilterTest, ARangeWithoutAUnitDoesNotMeetRealUnits) {
  // pprof's rule: 100 is not 100 bytes. Words that are no units do not matter.
  EXPECT_FALSE(matches("bytes=100:200", {number("bytes", 150, "bytes")}));
  EXPECT_TRUE(matches("id=100:200", {number("id", 150, "requests")}));
  EXPECT_TRUE(matches("id=100kb:200kb", {number("id", 150, "requests")}));
}

TEST_F(LabelFilterTest, WhatIsNoRangeIsAnExpression) {
  EXPECT_TRUE(matches("v=1:2:3", {text("v", "1:2:3")}));
  EXPECT_TRUE(matches("v=:", {text("v", "a:b")}));
  EXPECT_TRUE(matches("v=v10", {text("v", "v10")}));
  EXPECT_TRUE(matches("v=10-20", {text("v", "10-20")}));
  EXPECT_TRUE(matches("v=99999999999999999999", {text("v", "99999999999999999999")}));
  // And a range is none.
  EXPECT_FALSE(matches("v=10", {text("v", "10")}));
}

}  // namespace
}  // namespace vesta
