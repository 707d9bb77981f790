#include "agent/kernel/sample_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace vesta::agent {
namespace {

std::vector<char> record_of(const vesta_sample& head, size_t payload_bytes) {
  std::vector<char> bytes(sizeof(head) + payload_bytes);
  std::memcpy(bytes.data(), &head, sizeof(head));
  return bytes;
}

TEST(ParseSample, PartsLieBehindOneAnother) {
  vesta_sample head{};
  head.kernel_frames = 2;
  head.user_frames = 3;
  head.stack_bytes = 16;
  const auto bytes = record_of(head, (2 + 3 + VESTA_LEAF_REGISTERS) * 8 + 16);
  bool seen = false;
  EXPECT_TRUE(parse_sample(bytes, {}, [&](const SampleRecord& record) {
    seen = true;
    EXPECT_EQ(record.kernel_frames.size(), 2U);
    EXPECT_EQ(record.user_frames.size(), 3U);
    EXPECT_EQ(record.registers.size(), size_t{VESTA_LEAF_REGISTERS});
    EXPECT_EQ(record.stack.size(), 16U);
    EXPECT_EQ(record.stack.data() + 16, bytes.data() + bytes.size());
  }));
  EXPECT_TRUE(seen);
}

TEST(ParseSample, CountsThatDoNotFitAreRefused) {
  const auto ignore = [](const SampleRecord&) { FAIL(); };
  vesta_sample head{};
  EXPECT_FALSE(parse_sample(std::vector<char>(sizeof(head) - 8), {}, ignore));
  head.user_frames = 2;
  EXPECT_FALSE(parse_sample(record_of(head, 8), {}, ignore));
  head.stack_bytes = 8;
  EXPECT_FALSE(parse_sample(record_of(head, 2 * 8), {}, ignore));
  EXPECT_FALSE(parse_sample(record_of(head, (2 + VESTA_LEAF_REGISTERS) * 8), {}, ignore));
}

}  // namespace
}  // namespace vesta::agent
