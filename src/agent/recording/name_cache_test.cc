#include "agent/recording/name_cache.h"

#include <gtest/gtest.h>

namespace vesta {
namespace {

class CountingSource final : public NameSource {
 public:
  bool symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) override {
    ++calls;
    if (address.address == 0) return false;
    name_ = "function_" + std::to_string(address.address) + suffix;
    frames.emplace_back().name = name_;
    return true;
  }
  CodePlace place(const CodeAddress& /*address*/) override { return {}; }
  FrameKind kind(const CodeAddress& /*address*/) const override { return FrameKind::kNative; }

  int calls = 0;
  std::string suffix;

 private:
  std::string name_;
};

class NameCacheTest : public ::testing::Test {
 protected:
  std::string name_of(uint64_t address, CodeAddress::Kind kind = CodeAddress::Kind::kModule) {
    std::vector<SourceFrame> frames;
    return cache_.symbolize({address, kind, 1}, frames) ? std::string(frames[0].name) : "";
  }
  CountingSource source_;
  NameCache cache_{source_, 100'000};
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

}  // namespace
}  // namespace vesta
