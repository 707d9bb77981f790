#include "agent/export/outage.h"

#include <gtest/gtest.h>

namespace vesta::agent {
namespace {

using Kind = OutageEvent::Kind;

class OutageTest : public ::testing::Test {
 protected:
  Kind update(uint32_t failures_in_a_row) {
    stats_.failures_in_a_row = failures_in_a_row;
    last_ = watch_.update(stats_, now_ += 1);
    return last_.kind;
  }
  OutageWatch watch_;
  ExporterStats stats_;
  OutageEvent last_;
  UnixNs now_{100};
};

TEST_F(OutageTest, IsSaidOnceAndAgainWhenAllIsSent) {
  stats_.sent = 50;
  EXPECT_EQ(update(0), Kind::kNone);
  EXPECT_EQ(update(1), Kind::kNone);  // may be a restart
  EXPECT_EQ(update(2), Kind::kBegan);
  EXPECT_TRUE(watch_.is_away());
  EXPECT_EQ(watch_.since(), UnixNs(103));
  for (uint32_t i = 3; i < 100; ++i) {
    stats_.queued = i;
    EXPECT_EQ(update(i), Kind::kNone);
  }
  EXPECT_EQ(update(0), Kind::kNone);  // back, but 99 wait
  stats_.sent += 40;
  stats_.queued = 59;
  EXPECT_EQ(update(0), Kind::kNone);
  stats_.sent += 59;
  stats_.queued = 7;  // of later windows
  EXPECT_EQ(update(0), Kind::kEnded);
  EXPECT_EQ(last_.sent, 99U);
  EXPECT_EQ(last_.expired, 0U);
  EXPECT_EQ(last_.duration_ns, 98);
  EXPECT_FALSE(watch_.is_away());
  EXPECT_EQ(update(0), Kind::kNone);
}

TEST_F(OutageTest, LossesAreSaidOnceAndCounted) {
  update(2);
  EXPECT_EQ(update(3), Kind::kNone);
  stats_.expired = 5;
  EXPECT_EQ(update(4), Kind::kDropping);
  stats_.expired = 9;
  EXPECT_EQ(update(5), Kind::kNone);
  EXPECT_EQ(update(0), Kind::kEnded);
  EXPECT_EQ(last_.expired, 9U);
}

TEST_F(OutageTest, AServerThatIsAwayAgainBeforeAllIsSentIsOneOutage) {
  update(2);
  stats_.queued = 10;
  EXPECT_EQ(update(0), Kind::kNone);
  EXPECT_EQ(update(1), Kind::kNone);
  EXPECT_EQ(update(5), Kind::kNone);
  stats_.sent = 10;
  stats_.queued = 0;
  EXPECT_EQ(update(0), Kind::kEnded);
  EXPECT_EQ(update(2), Kind::kBegan);  // the next one
}

}  // namespace
}  // namespace vesta::agent
