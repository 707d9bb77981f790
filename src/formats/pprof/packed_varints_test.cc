#include "formats/protobuf/packed_varints.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace vesta {
namespace {

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// Every length of input, with and without bytes to read beyond its end.
TEST(PackedVarints, SmallOnesComeOutAsTheyWentIn) {
  std::mt19937 random(7);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<uint32_t> values(1 + random() % 120);
    std::string bytes;
    uint32_t largest_minus_one = 0;
    for (uint32_t& value : values) {
      value = static_cast<uint32_t>(random()) >> (4 + random() % 28);
      largest_minus_one = std::max(largest_minus_one, value - 1);
      append_varint(bytes, value);
    }
    for (const size_t beyond : {0u, 1u, 66u, 200u}) {
      const std::string padded = bytes + std::string(beyond, '\xFF');
      std::vector<uint32_t> out(bytes.size());
      const SmallVarints got = decode_small_varints(padded.data(), padded.data() + bytes.size(),
                                                    padded.data() + padded.size(), out.data());
      ASSERT_TRUE(got.ok);
      out.resize(got.count);
      ASSERT_EQ(out, values);
      ASSERT_EQ(got.largest_minus_one, largest_minus_one);
    }
  }
}

TEST(PackedVarints, RefusesWhatIsLargeOrCutOff) {
  for (const size_t before : {0u, 3u, 62u, 63u, 64u, 130u}) {
    for (const std::string bad : {"\x80\x80\x80\x80\x01", "\x80", "\xFF\xFF\xFF"}) {
      const std::string bytes = std::string(before, '\1') + bad;
      for (const size_t beyond : {0u, 200u}) {
        const std::string padded = bytes + std::string(beyond, '\1');
        std::vector<uint32_t> out(bytes.size());
        EXPECT_FALSE(decode_small_varints(padded.data(), padded.data() + bytes.size(),
                                          padded.data() + padded.size(), out.data())
                         .ok);
      }
    }
  }
}

TEST(PackedVarints, OneOfAnyLength) {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    const uint64_t value = bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits);
    std::string bytes;
    append_varint(bytes, value);
    for (const size_t beyond : {0u, 20u}) {
      const std::string padded = bytes + std::string(beyond, '\xFF');
      const char* const begin = padded.data();
      uint64_t got = 1;
      EXPECT_EQ(read_packed_varint(begin, begin + bytes.size(), begin + padded.size(), got),
                begin + bytes.size());
      EXPECT_EQ(got, value);
      if (bytes.size() > 1) {
        EXPECT_EQ(read_packed_varint(begin, begin + bytes.size() - 1, begin + padded.size(), got),
                  nullptr);
      }
    }
  }
}

}  // namespace
}  // namespace vesta
