#include "formats/common/compression.h"

#include <gtest/gtest.h>

namespace vesta {
namespace {

constexpr uint64_t kPlenty = 1 << 28;

std::string text(size_t size) {
  std::string out;
  while (out.size() < size)
    out += "main;work;step" + std::to_string(out.size() * 7919 % 1000) + " 1\n";
  out.resize(size);
  return out;
}

TEST(Compression, RoundTripsThroughGzipAndZstd) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100'000}, size_t{5'000'000}}) {
    const std::string original = text(size);
    EXPECT_EQ(gunzip(gzip(original), kPlenty).value(), original);
    EXPECT_EQ(unzstd(zstd(original), kPlenty).value(), original);
  }
}

TEST(Compression, TakesFromTheAccountBeforeItTakesMemory) {
  const std::string content(4 << 20, 'a');
  for (const std::string& packed : {gzip(content), zstd(content)}) {
    MemoryBudget budget(10 << 20);
    {
      MemoryAccount account(&budget);
      const MemoryAccount::Scope scope(account);
      ASSERT_TRUE(gunzip(gzip("small"), kPlenty).ok());
      {
        MemoryCharge charge;
        ASSERT_TRUE(decompress(packed, kPlenty, charge).ok());
        EXPECT_GE(budget.used(), content.size());
        EXPECT_GE(charge.bytes(), content.size());
      }
      EXPECT_LT(budget.used(), 1U << 20) << "it was given back";
    }
    EXPECT_EQ(budget.used(), 0U);
    MemoryAccount other(&budget);
    ASSERT_TRUE(other.take(8 << 20));
    MemoryAccount account(&budget);
    const MemoryAccount::Scope scope(account);
    MemoryCharge charge;
    EXPECT_EQ(decompress(packed, kPlenty, charge).error().code, ErrorCode::kTooMany);
    EXPECT_LE(budget.used(), 10U << 20);
  }
}

TEST(Compression, ReadsSeveralMembersAsOneStream) {
  EXPECT_EQ(gunzip(gzip("one ") + gzip("two ") + gzip(text(50'000)), kPlenty).value(),
            "one two " + text(50'000));
  EXPECT_EQ(unzstd(zstd("one ") + zstd("two"), kPlenty).value(), "one two");
}

TEST(Compression, StopsBombsAtTheLimit) {
  const std::string zeros(64 << 20, '\0');
  for (const auto& result : {gunzip(gzip(zeros), 1 << 20), unzstd(zstd(zeros), 1 << 20)}) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kLimit);
    EXPECT_NE(result.error().hint.find("--max-size"), std::string::npos);
  }
}

TEST(Compression, DoesNotTrustTheSizeField) {
  std::string packed = gzip(text(1000));
  packed.replace(packed.size() - 4, 4, "\xff\xff\xff\x7f");  // a claim of 2 GiB
  EXPECT_FALSE(gunzip(packed, kPlenty).ok());
}

TEST(Compression, TellsOfTruncationEverywhere) {
  const std::string original = text(3000);
  const std::string g = gzip(original);
  const std::string z = zstd(original);
  for (size_t cut = 2; cut < g.size(); cut += 7)
    EXPECT_FALSE(gunzip(g.substr(0, cut), kPlenty).ok()) << cut;
  for (size_t cut = 4; cut < z.size(); cut += 7)
    EXPECT_FALSE(unzstd(z.substr(0, cut), kPlenty).ok()) << cut;
}

TEST(Compression, IsDetectedByMagicBytes) {
  EXPECT_EQ(detect_compression(gzip("x")), Compression::kGzip);
  EXPECT_EQ(detect_compression(zstd("x")), Compression::kZstd);
  EXPECT_EQ(detect_compression("main 1"), Compression::kNone);
}

}  // namespace
}  // namespace vesta
