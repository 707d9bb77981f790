#include "agent/naming/name_cache.h"

#include <gtest/gtest.h>

namespace vesta::agent {
namespace {

class CountingSource final : public NameSource {
 public:
  bool symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) override {
    ++calls;
    if (std::exchange(last_owner_, address.owner) != address.owner) ++changes_of_binary;
    if (address.address == 0) return false;
    name_ = "function_" + std::to_string(address.address) + suffix;
    frames.emplace_back().name = name_;
    return true;
  }
  CodePlace place(const CodeAddress& /*address*/) override { return {}; }
  FrameKind kind(const CodeAddress& /*address*/) const override { return FrameKind::kNative; }

  int calls = 0;
  int changes_of_binary = 0;
  std::string suffix;

 private:
  uint32_t last_owner_ = 0;
  std::string name_;
};

class NameCacheTest : public ::testing::Test {
 protected:
  std::string name_of(uint64_t address, CodeAddress::Kind kind = CodeAddress::Kind::kModule) {
    std::vector<SourceFrame> frames;
    return cache_.symbolize({address, kind, 1}, frames) ? std::string(frames[0].name) : "";
  }
  uint64_t now_ns_ = 1'000;
  CountingSource source_;
  NameCache cache_{source_, 100'000, [this] { return now_ns_; }};
};

TEST_F(NameCacheTest, AsksOnce) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(name_of(1), "function_1");
    EXPECT_EQ(name_of(2), "function_2");
    EXPECT_EQ(name_of(0), "");  // not having a name is worth knowing, too
  }
  EXPECT_EQ(source_.calls, 3);
  EXPECT_EQ(cache_.hits(), 6U);
}

TEST_F(NameCacheTest, CodeMadeAtRunTimeIsAskedForEachTime) {
  EXPECT_EQ(name_of(1, CodeAddress::Kind::kAnonymous), "function_1");
  source_.suffix = "_compiled_again";
  EXPECT_EQ(name_of(1, CodeAddress::Kind::kAnonymous), "function_1_compiled_again");
}

TEST_F(NameCacheTest, KernelCodeThatChangedIsAskedForAgain) {
  name_of(1, CodeAddress::Kind::kKernel);
  name_of(2);
  source_.suffix = "_new";
  cache_.forget_kernel();
  EXPECT_EQ(name_of(1, CodeAddress::Kind::kKernel), "function_1_new");
  EXPECT_EQ(name_of(2), "function_2");
}

TEST_F(NameCacheTest, StaysWithinItsBound) {
  for (uint64_t address = 1; address < 100'000; ++address) {
    name_of(address);
    if (address % 100 == 0) cache_.shrink();
    ASSERT_LT(cache_.byte_size(), 200'000U);
  }
  EXPECT_EQ(name_of(7), "function_7");
}

TEST_F(NameCacheTest, WhatIsAskedForAllTheTimeStaysKnown) {
  for (uint64_t address = 100; address < 10'000; ++address) {
    name_of(address);
    name_of(address % 10);
    cache_.shrink();
  }
  // 0 has no name, and that was learnt once, too.
  EXPECT_EQ(source_.calls, 9'900 + 10);
}

TEST_F(NameCacheTest, AfterTheDeadlineOnlyKnownNamesAreTold) {
  EXPECT_EQ(name_of(1), "function_1");
  cache_.set_deadline(2'000);
  EXPECT_EQ(name_of(2), "function_2");
  now_ns_ = 2'000;
  EXPECT_EQ(name_of(1), "function_1");
  EXPECT_EQ(name_of(3), "");
  EXPECT_EQ(name_of(4, CodeAddress::Kind::kAnonymous), "");
  EXPECT_EQ(cache_.too_late(), 2U);
  cache_.set_deadline(UINT64_MAX);
  EXPECT_EQ(name_of(3), "function_3");
  cache_.stop_by(2'000);
  EXPECT_EQ(name_of(5), "");
}

TEST_F(NameCacheTest, LearnsOneBinaryAfterTheOther) {
  std::vector<CodeAddress> addresses;
  for (uint64_t address = 1; address <= 3; ++address) {
    for (const uint32_t module : {2U, 1U, 2U})
      addresses.push_back({address, CodeAddress::Kind::kModule, module});
  }
  cache_.learn(addresses);
  EXPECT_EQ(source_.calls, 6);
  EXPECT_EQ(source_.changes_of_binary, 2);
  name_of(2);
  EXPECT_EQ(source_.calls, 6);
}

}  // namespace
}  // namespace vesta::agent
