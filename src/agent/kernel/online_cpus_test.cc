#include "agent/kernel/online_cpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CpuList, RangesAndSingleCpus) {
  EXPECT_THAT(parse_cpu_list("0-3,8,10-11\n"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(parse_cpu_list("0\n"), ElementsAre(0));
}

TEST(CpuList, NonsenseIsNoCpu) {
  EXPECT_THAT(parse_cpu_list(""), IsEmpty());
  EXPECT_THAT(parse_cpu_list("all"), IsEmpty());
  EXPECT_THAT(parse_cpu_list("3-1"), IsEmpty());
  EXPECT_THAT(parse_cpu_list("0-99999999"), IsEmpty());
  EXPECT_THAT(parse_cpu_list("-1"), IsEmpty());
  EXPECT_THAT(parse_cpu_list("0-"), IsEmpty());
}

TEST(CpuList, ThisMachineHasSome) {
  const Result<std::vector<int>> cpus = online_cpus();
  ASSERT_TRUE(cpus.ok()) << cpus.error().message;
  EXPECT_FALSE(cpus->empty());
}

}  // namespace
}  // namespace vesta::agent
