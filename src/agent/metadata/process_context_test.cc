#include "agent/metadata/process_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "agent/metadata/test_context.h"
#include "agent/process/test_proc.h"
#include "agent/process/test_victim.h"

namespace vesta::agent {
namespace {

using ::testing::HasSubstr;

const Attributes kShop = {{"service.instance.id", "7"}, {"service.name", "shop"}};

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

class ProcessContextTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(victim_.line(), "ready"); }

  static std::optional<uint64_t> find(const ProcDir& process) {
    std::optional<uint64_t> address;
    const auto lines = process.read_maps([&](const ProcMapping& mapping) {
      if (is_process_context(mapping)) address = mapping.start;
    });
    return lines ? address : std::nullopt;
  }
  Result<ProcessContext> read() const {
    const auto process = ProcDir::open("/proc", victim_.pid());
    if (!process) return process.error();
    const auto address = find(*process);
    if (!address) return Error{ErrorCode::kNotFound, "no mapping", ""};
    return read_process_context(*process, *address);
  }

  Victim victim_{VESTA_CONTEXT_VICTIM};
};

TEST_F(ProcessContextTest, IsReadFromAMemfd) {
  ASSERT_EQ(victim_.ask("publish memfd " + hex(make_context(kShop))), "ok");
  const auto context = read();
  ASSERT_TRUE(context) << context.error().message;
  EXPECT_EQ(context->resource, kShop);
  EXPECT_EQ(context->published_ns, 1U);
}

TEST_F(ProcessContextTest, IsReadFromTheHeap) {
  ASSERT_EQ(victim_.ask("publish heap " + hex(make_context(kShop))), "ok");
  const auto context = read();
  ASSERT_TRUE(context) << context.error().message;
  EXPECT_EQ(context->resource, kShop);
}

TEST_F(ProcessContextTest, IsReadFromNamedAnonymousMemory) {
  ASSERT_EQ(victim_.ask("publish anon " + hex(make_context(kShop))), "ok");
  const auto context = read();
  // Not every kernel has names for such memory (CONFIG_ANON_VMA_NAME); then there is no way to it.
  if (!context && context.error().code == ErrorCode::kNotFound) return;
  ASSERT_TRUE(context) << context.error().message;
  EXPECT_EQ(context->resource, kShop);
}

TEST_F(ProcessContextTest, NoneIsFoundWhereThereIsNone) {
  EXPECT_EQ(read().error().code, ErrorCode::kNotFound);
}

TEST_F(ProcessContextTest, LyingHeadersAreErrors) {
  ASSERT_EQ(victim_.ask("publish memfd " + hex(make_context(kShop))), "ok");
  victim_.ask("set stamp 0");
  EXPECT_EQ(read().error().code, ErrorCode::kUnavailable);
  victim_.ask("set stamp 2");
  victim_.ask("set size 65537");
  EXPECT_EQ(read().error().code, ErrorCode::kLimit);
  victim_.ask("set size 4294967295");
  EXPECT_EQ(read().error().code, ErrorCode::kLimit);
  victim_.ask("set size 65536");  // zeros behind the message
  EXPECT_FALSE(read());
  for (const char* pointer : {"0", "0x1000", "0xffffffffffffffff", "0x7fffffffffffffff"}) {
    victim_.ask(std::string("set pointer ") + pointer);
    EXPECT_THAT(read().error().message, HasSubstr("cannot be read")) << pointer;
  }
  victim_.ask("set version 3");
  EXPECT_EQ(read().error().code, ErrorCode::kUnsupported);
}

TEST_F(ProcessContextTest, FilesAreNotReadThroughIt) {
  ASSERT_EQ(victim_.ask("publish memfd " + hex(make_context(kShop))), "ok");
  const auto process = ProcDir::open("/proc", victim_.pid());
  ASSERT_TRUE(process);
  uint64_t code = 0;
  ASSERT_TRUE(process->read_maps([&](const ProcMapping& mapping) {
    if (mapping.is_executable && mapping.inode != 0 && code == 0) code = mapping.start;
  }));
  victim_.ask("set pointer " + std::to_string(code));
  EXPECT_THAT(read().error().message, HasSubstr("cannot be read"));
}

TEST_F(ProcessContextTest, ChangesAreSeenAsAWhole) {
  const Attributes other = {{"service.instance.id", "8"}, {"service.name", "checkout-service"}};
  ASSERT_EQ(victim_.ask("publish memfd " + hex(make_context(kShop))), "ok");
  ASSERT_EQ(victim_.ask("flip " + hex(make_context(kShop)) + " " + hex(make_context(other))), "ok");
  size_t read_whole = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto context = read();
    if (!context) {
      EXPECT_EQ(context.error().code, ErrorCode::kUnavailable) << context.error().message;
      continue;
    }
    ++read_whole;
    const bool is_first = context->published_ns == 1 || context->published_ns % 2 == 0;
    ASSERT_EQ(context->resource, is_first ? kShop : other);
  }
  EXPECT_GT(read_whole, 0U);
}

TEST(ProcessContextDecoder, ValuesOfAllKindsBecomeTexts) {
  WireWriter number;
  number.int64(3, 42);
  WireWriter truth;
  truth.boolean(2, true);
  WireWriter list;
  list.message(1, make_text_value("x"));
  list.message(1, number);
  WireWriter array;
  array.message(5, list);
  WireWriter resource;
  resource.message(1, make_key_value("n", number));
  resource.message(1, make_key_value("b", truth));
  resource.message(1, make_key_value("l", array));
  resource.message(1, make_key_value("none", WireWriter()));
  WireWriter message;
  message.message(1, resource);
  const auto got = decode_process_context(message.view());
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, (Attributes{{"b", "true"}, {"l", "[\"x\",42]"}, {"n", "42"}}));
}

TEST(ProcessContextDecoder, OnlyTheResourceIsTakenAndNothingPrivate) {
  Attributes attributes = kShop;
  attributes.emplace_back("process.command_line", "mysql --password=x");
  attributes.emplace_back("process.command_args", "x");
  const auto got = decode_process_context(make_context(attributes));
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, kShop);
}

TEST(ProcessContextDecoder, DamageIsAnErrorWhereverItIs) {
  const std::string whole = make_context(kShop);
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto got = decode_process_context(std::string_view(whole).substr(0, size));
    if (got) {
      EXPECT_LE(got->size(), kShop.size());
    }
  }
  EXPECT_FALSE(decode_process_context("\x0a\xff\xff\xff\xff\x0f"));
  EXPECT_FALSE(decode_process_context("\x0b"));
}

}  // namespace
}  // namespace vesta::agent
