#include "profile/frame_name.h"

#include <gtest/gtest.h>

namespace vesta {
namespace {

TEST(FrameNameTest, KnowsTheNamesOfPlacesAgain) {
  EXPECT_EQ(place_name("/lib/libz.so.1.2.13", 0x5840), "libz.so.1.2.13+0x5840");
  EXPECT_TRUE(is_place_name("libz.so.1.2.13+0x5840", "/lib/libz.so.1.2.13"));
  EXPECT_TRUE(is_place_name("libz.so.1.2.13+0x5840", "libz.so.1.2.13"));
  EXPECT_FALSE(is_place_name("libz.so.1.2.13+0x5840", "/lib/libc.so.6"));
  EXPECT_FALSE(is_place_name("libz.so.1.2.13+0x", "/lib/libz.so.1.2.13"));
  EXPECT_FALSE(is_place_name("libz.so.1.2.13+0x58 g", "/lib/libz.so.1.2.13"));
  EXPECT_FALSE(is_place_name("libz.so.1.2.13", "/lib/libz.so.1.2.13"));
  EXPECT_FALSE(is_place_name("inflate", "/lib/libz.so.1.2.13"));
  EXPECT_FALSE(is_place_name("+0x10", ""));
}

}  // namespace
}  // namespace vesta
