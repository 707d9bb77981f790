#include "agent/profiles/short_lived.h"

#include <gtest/gtest.h>

namespace vesta::agent {
namespace {

constexpr int64_t kWindow = 10;
constexpr uint64_t kNow = 1000;  // start of the window

class ShortLivedTest : public ::testing::Test {
 protected:
  bool ask(const std::string& program, uint64_t start, bool has_ended) {
    return programs_.is_short(program, {start, has_ended}, kNow, kWindow);
  }
  void run_short(const std::string& program, int times) {
    for (int i = 0; i < times; ++i) EXPECT_TRUE(ask(program, kNow + 1, true));
  }
  ShortLivedPrograms programs_;
};

TEST_F(ShortLivedTest, WhatComesAndGoesWithinAWindowIsShort) {
  EXPECT_TRUE(ask("ls", kNow, true));
  EXPECT_TRUE(ask("ls", kNow + 9, true));
  EXPECT_FALSE(ask("ls", kNow - 1, true));
  EXPECT_FALSE(ask("ls", kNow + 9, false));
  EXPECT_FALSE(ask("ls", 0, true));  // there before us
}

TEST_F(ShortLivedTest, AProgramThatIsKnownIsShortAcrossTheEndOfAWindow) {
  EXPECT_FALSE(ask("cc1", kNow + 9, false));
  run_short("cc1", 3);
  EXPECT_TRUE(ask("cc1", kNow + 9, false));  // its first part
  EXPECT_TRUE(ask("cc1", kNow - 1, true));   // its last part
  EXPECT_FALSE(ask("cc1", kNow - 1, false));
  EXPECT_FALSE(ask("cc1", kNow - 2 * kWindow, true));
  EXPECT_FALSE(ask("other", kNow + 9, false));
}

TEST_F(ShortLivedTest, AProgramThatAlsoLivesLongKeepsItsNewProcesses) {
  run_short("bash", 3);
  EXPECT_FALSE(ask("bash", kNow - 5 * kWindow, false));
  EXPECT_FALSE(ask("bash", kNow + 9, false));
  run_short("bash", 20);
  EXPECT_TRUE(ask("bash", kNow + 9, false));
}

TEST_F(ShortLivedTest, ManyProgramsAreForgottenNotKept) {
  for (int i = 0; i < 100'000; ++i) EXPECT_TRUE(ask(std::to_string(i), kNow, true));
  run_short("cc1", 3);
  EXPECT_TRUE(ask("cc1", kNow + 9, false));
}

}  // namespace
}  // namespace vesta::agent
