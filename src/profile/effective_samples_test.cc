#include "profile/effective_samples.h"

#include <gtest/gtest.h>

namespace vesta {
namespace {

TEST(EffectiveSamples, AreTicksOfTheClock) {
  SampledWeight cpu{"cpu", "nanoseconds", "cpu", "nanoseconds", 10, 1000};
  EXPECT_EQ(effective_samples(cpu), 100U);
  cpu.weight = 1004;
  EXPECT_EQ(effective_samples(cpu), 100U);
  cpu.weight = 1005;
  EXPECT_EQ(effective_samples(cpu), 101U);
  cpu.period = 1;
  cpu.weight = INT64_MAX;
  EXPECT_EQ(effective_samples(cpu), uint64_t{INT64_MAX});
}

TEST(EffectiveSamples, AreTheWeightWhereItCountsThem) {
  EXPECT_EQ(effective_samples({"samples", "count", "cpu", "nanoseconds", 10, 42}), 42U);
}

TEST(EffectiveSamples, AreNotKnownWithoutAClock) {
  EXPECT_EQ(effective_samples({"cpu", "nanoseconds", "cpu", "nanoseconds", 0, 1000}), 0U);
  EXPECT_EQ(effective_samples({"cpu", "nanoseconds", "", "", 10, 1000}), 0U);
  EXPECT_EQ(effective_samples({"alloc_space", "bytes", "space", "bytes", 524'288, 1 << 30}), 0U);
  EXPECT_EQ(effective_samples({"off_cpu", "nanoseconds", "cpu", "nanoseconds", 10, 1000}), 0U);
  EXPECT_EQ(effective_samples({"cpu", "nanoseconds", "cpu", "nanoseconds", 10, -1000}), 0U);
  EXPECT_EQ(effective_samples({"cpu", "nanoseconds", "cpu", "nanoseconds", INT64_MAX, 1}), 0U);
}

}  // namespace
}  // namespace vesta
