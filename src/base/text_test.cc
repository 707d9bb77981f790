#include "base/text.h"

#include <gtest/gtest.h>

#include "base/hex.h"
#include "base/leb128.h"

namespace vesta {
namespace {

TEST(Text, TrimTakesBlanksFromBothEnds) {
  EXPECT_EQ(trim(" \ta b\t "), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim("a\r\n"), "a\r\n");
  EXPECT_EQ(trim(" a\r\n", " \t\r\n"), "a");
}

TEST(Text, TheBaseNameIsTheLastPart) {
  EXPECT_EQ(base_name("/usr/lib/libz.so.1"), "libz.so.1");
  EXPECT_EQ(base_name("vesta"), "vesta");
  EXPECT_EQ(base_name("/tmp/"), "");
}

TEST(Text, DigitsAreAsciiOnly) {
  EXPECT_TRUE(is_digit('0') && is_digit('9'));
  EXPECT_FALSE(is_digit('a') || is_digit('/') || is_digit(':') || is_digit('\xb2'));
}

TEST(Hex, GoesBothWays) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  EXPECT_EQ(to_hex(bytes).substr(0, 8), "00010203");
  EXPECT_EQ(to_hex(bytes).substr(508), "feff");
  EXPECT_EQ(from_hex(to_hex(bytes)), bytes);
  EXPECT_EQ(from_hex("FEff"), "\xfe\xff");
  EXPECT_EQ(from_hex(""), "");
  EXPECT_FALSE(from_hex("abc").has_value());
  EXPECT_FALSE(from_hex("0g").has_value());
}

TEST(Leb128, ReadsWhatWasWritten) {
  const uint64_t numbers[] = {0, 1, 127, 128, 300, UINT32_MAX, uint64_t{1} << 63, UINT64_MAX};
  std::string bytes;
  for (const uint64_t number : numbers) put_varint(bytes, number);
  put_signed(bytes, INT64_MIN);
  put_text(bytes, "text");
  VarintReader reader(bytes);
  for (const uint64_t number : numbers) EXPECT_EQ(reader.varint(), number);
  EXPECT_EQ(reader.signed_varint(), INT64_MIN);
  EXPECT_EQ(reader.text(), "text");
  EXPECT_TRUE(reader.ok() && reader.at_end());
}

TEST(Leb128, AFaultIsForGood) {
  for (const std::string_view bytes :
       {std::string_view("\x80", 1), std::string_view("\x05zz"),
        std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02")}) {
    VarintReader reader(bytes);
    (void)reader.text();
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(reader.varint(), 0U);
    EXPECT_EQ(reader.remaining(), 0U);
  }
}

}  // namespace
}  // namespace vesta
