#include "store/covered_time.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace vesta {
namespace {

constexpr PieceOrigin kA = piece_origin(1000, false);
constexpr PieceOrigin kB = piece_origin(2000, false);
constexpr PieceOrigin kAcross = piece_origin(1000, true);

TEST(CoveredTime, AddsWholeProfilesAndEachOtherOnce) {
  CoveredTime time;
  time.add_whole(10);
  time.add({0, 5, 10});
  time.add({kA, 5, 10});
  time.add({kA, 5, 10});
  time.add({kB, 5, 10});
  time.add({kA, 5, 10});
  time.add({kA, 15, 10});
  EXPECT_EQ(time.duration_ns(), 50);
  CoveredTime twice = time;
  twice.add(time);
  EXPECT_EQ(twice.duration_ns(), 70) << "whole ones again, pieces not";
}

TEST(CoveredTime, OriginsAreNeverThoseOfWholeProfiles) {
  EXPECT_NE(piece_origin(0, false), PieceOrigin{0});
  EXPECT_NE(piece_origin(1, false), PieceOrigin{0});
  EXPECT_FALSE(has_several_services(piece_origin(1, false)));
  EXPECT_TRUE(has_several_services(piece_origin(0, true)));
}

TEST(CoveredTime, WithinAServiceOnlyWhatOthersShareIsKept) {
  CoveredTime time;
  for (int i = 0; i < 2; ++i) {
    time.add({kA, 5, 10});
    time.add({kAcross, 5, 10});
  }
  time.add_up_within_service();
  EXPECT_EQ(time.whole_ns(), 10);
  EXPECT_EQ(time.pieces(), (std::vector<ProfilePiece>{{kAcross, 5, 10}}));
  EXPECT_EQ(time.duration_ns(), 20);
}

TEST(CoveredTime, SaturatesInsteadOfOverflowing) {
  CoveredTime time;
  time.add({kA, 0, INT64_MAX});
  time.add({kB, 0, INT64_MAX});
  EXPECT_EQ(time.duration_ns(), INT64_MAX);
}

TEST(CoveredTime, AnyOrderGivesTheSame) {
  std::mt19937_64 random(3);
  CoveredTime time;
  std::set<ProfilePiece> expected;
  for (int i = 0; i < 20'000; ++i) {
    const ProfilePiece piece{piece_origin(2 + random() % 5 * 2, false),
                             static_cast<int64_t>(random() % 500), 7};
    time.add(piece);
    expected.insert(piece);
  }
  EXPECT_EQ(time.pieces(), std::vector<ProfilePiece>(expected.begin(), expected.end()));
  EXPECT_EQ(time.duration_ns(), static_cast<int64_t>(expected.size()) * 7);
  EXPECT_LT(time.byte_size(), 10'000 * sizeof(ProfilePiece)) << "what is known is not kept again";
}

}  // namespace
}  // namespace vesta
