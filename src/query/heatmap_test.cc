#include "query/heatmap.h"

#include <gtest/gtest.h>

#include "profile/test_profiles.h"

namespace vesta {
namespace {

TEST(Heatmap, CountsProfilesByTimeAndValue) {
  std::vector<ProfilePoint> points(4);
  points[0].time_ns = 0;
  points[0].value = 0;
  points[1].time_ns = 9;
  points[1].value = 100;
  points[2].time_ns = 25;
  points[2].value = 49;
  points[3].time_ns = 30;  // out of the range
  const auto map = value_heatmap(points, {{0, 30}, 10, 4});
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->columns, 3U);
  EXPECT_EQ(map->row_size, 25);
  EXPECT_EQ(map->cells, (std::vector<Heatmap::Cell>{{0, 0, 1}, {0, 3, 1}, {2, 1, 1}}));
  EXPECT_EQ(map->total, 3);
  EXPECT_EQ(map->left_out, 1);
}

TEST(Heatmap, FindsTheOffsetWithinAColumn) {
  ProfileBatch batch = test::batch_from({{"a", 1}, {"b", 2}, {"c", 4}});
  batch.profiles[0].samples.times_ns = {1'000'000'000, 1'250'000'000, 0};
  const auto map = offset_heatmap(batch, {{1'000'000'000, 3'000'000'000}, 1'000'000'000, 4});
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->cells, (std::vector<Heatmap::Cell>{{0, 0, 1}, {0, 1, 2}}));
  EXPECT_EQ(map->left_out, 4);
}

TEST(Heatmap, RefusesMoreCellsThanFit) {
  EXPECT_FALSE(check_shape({{0, 1'000'000'000}, 1, 10}).ok());
  EXPECT_FALSE(check_shape({kAllTime, 1'000'000'000, 1}).ok());
  EXPECT_FALSE(check_shape({{0, 10}, 0, 10}).ok());
  EXPECT_FALSE(check_shape({{0, 10}, 1, 0}).ok());
  EXPECT_TRUE(check_shape({{0, 10}, 1, 10}).ok());
}

}  // namespace
}  // namespace vesta
