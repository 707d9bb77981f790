#include "cli/roles/stop_deadline.h"

#include <gtest/gtest.h>

namespace vesta::cli {
namespace {

TEST(StopDeadlineDeathTest, EndsWhatDoesNotEndByItself) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Log log(stderr, LogFormat::kText, LogLevel::kInfo);
        const StopDeadline deadline(
            std::chrono::milliseconds(10), [] { return "1 x /slow"; }, log);
        while (true) std::this_thread::sleep_for(std::chrono::hours(1));
      },
      ::testing::ExitedWithCode(0), "stopped before everything had ended cut_off=.*1 x /slow");
}

TEST(StopDeadline, LeavesAloneWhatEndsInTime) {
  Log log(nullptr, LogFormat::kText, LogLevel::kInfo);
  const StopDeadline deadline(
      std::chrono::hours(1), [] { return ""; }, log);
}

}  // namespace
}  // namespace vesta::cli
