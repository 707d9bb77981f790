#include "server/pyroscope/request_fields.h"

#include <gtest/gtest.h>

namespace vesta::server {
namespace {

TEST(RequestFieldsTest, RangesIncludeBothMilliseconds) {
  const auto range = range_from_millis(1000, 2000);
  ASSERT_TRUE(range);
  EXPECT_TRUE(range->contains(1'000'000'000));
  EXPECT_FALSE(range->contains(999'999'999));
  EXPECT_TRUE(range->contains(2'000'999'999));
  EXPECT_FALSE(range->contains(2'001'000'000));
}

TEST(RequestFieldsTest, RangesMustBeThereAndForwards) {
  EXPECT_FALSE(range_from_millis(0, 0));
  EXPECT_FALSE(range_from_millis(1, 0));
  EXPECT_FALSE(range_from_millis(0, 1));
  EXPECT_FALSE(range_from_millis(2, 1));
  EXPECT_TRUE(range_from_millis(1, 1));
  const auto widest = range_from_millis(INT64_MIN, INT64_MAX);
  ASSERT_TRUE(widest);
  EXPECT_FALSE(widest->empty());
}

TEST(RequestFieldsTest, SelectorsMayBeginWithAType) {
  EXPECT_FALSE(read_selector(""));
  EXPECT_TRUE(read_selector("{}")->empty());
  EXPECT_EQ(to_string(*read_selector("process_cpu:cpu:nanoseconds:cpu:nanoseconds{a=\"b\"}")),
            to_string(*read_selector("{a=\"b\", __profile_type__=\"process_cpu:cpu:nanoseconds:"
                                     "cpu:nanoseconds\"}")));
  EXPECT_EQ(to_string(*read_selector("memory{}")),
            to_string(*read_selector("{__name__=\"memory\"}")));
}

TEST(RequestFieldsTest, AllMatchersHold) {
  const std::vector<std::string> texts = {"{a=\"1\"}", "{b=\"2\"}"};
  EXPECT_EQ(read_matchers(texts)->size(), 2U);
  EXPECT_FALSE(read_matchers(std::vector<std::string>{"{a=\"1\"}", ""}));
}

TEST(RequestFieldsTest, BudgetsOfNodesHaveADefaultAndALimit) {
  const PyroscopeQueryOptions options;
  EXPECT_EQ(*read_max_nodes(std::nullopt, options), 8192U);
  EXPECT_EQ(*read_max_nodes(0, options), 8192U);
  EXPECT_EQ(*read_max_nodes(1'048'576, options), 1'048'576U);
  EXPECT_FALSE(read_max_nodes(1'048'577, options));
  EXPECT_FALSE(read_max_nodes(-1, options));
}

TEST(RequestFieldsTest, IdsAreHexadecimal) {
  EXPECT_EQ((*read_span_id("00000000000000fF"))[7], 0xFF);
  EXPECT_FALSE(read_span_id("ff"));
  EXPECT_FALSE(read_span_id("zz00000000000000"));
  EXPECT_EQ((*read_trace_id("ff000000000000000000000000000000"))[0], 0xFF);
  EXPECT_FALSE(read_trace_id("ff00000000000000"));
  const std::string uuid = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
  EXPECT_EQ(*read_profile_id(uuid), "7c9e6679742540de944be07fc1f90ae7");
  EXPECT_EQ(*read_profile_id("7C9E6679742540DE944BE07FC1F90AE7"),
            "7c9e6679742540de944be07fc1f90ae7");
  EXPECT_EQ(to_uuid(*read_profile_id(uuid)), uuid);
  EXPECT_FALSE(read_profile_id("7c9e"));
  EXPECT_FALSE(read_profile_id("7c9e66797425-40de-944b-e07fc1f90ae7-"));
}

TEST(RequestFieldsTest, AcceptSaysWhichNamesAClientTakes) {
  EXPECT_FALSE(*takes_any_label_name(""));
  EXPECT_FALSE(*takes_any_label_name("*/*"));
  EXPECT_TRUE(*takes_any_label_name("*/*; allow-utf8-labelnames=true"));
  EXPECT_TRUE(
      *takes_any_label_name("text/html, application/json;q=0.9;allow-utf8-labelnames=true"));
  EXPECT_TRUE(*takes_any_label_name("*/*;allow-utf8-labelnames=\"true\""));
  EXPECT_FALSE(*takes_any_label_name("*/*; allow-utf8-labelnames=false"));
  EXPECT_FALSE(takes_any_label_name("*/*; ="));
  EXPECT_FALSE(takes_any_label_name(";;"));
  EXPECT_FALSE(takes_any_label_name("text html"));
}

TEST(RequestFieldsTest, PlainLabelNames) {
  EXPECT_TRUE(is_plain_label_name("__name__"));
  EXPECT_TRUE(is_plain_label_name("a1"));
  EXPECT_FALSE(is_plain_label_name("1a"));
  EXPECT_FALSE(is_plain_label_name("k8s.pod"));
  EXPECT_FALSE(is_plain_label_name(""));
}

}  // namespace
}  // namespace vesta::server
