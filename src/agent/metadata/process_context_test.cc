#include "agent/metadata/process_context.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "agent/metadata/test_context.h"
#include "agent/process/test_proc.h"
#include "agent/process/test_victim.h"
#include "formats/protobuf/wire.h"

namespace vesta::agent {
namespace {

using ::testing::HasSubstr;

const Attributes kShop = {{"service.instance.id", "7"}, {"service.name", "shop"}};

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

// Not every kernel has them (CONFIG_ANON_VMA_NAME, Linux 5.17).
bool has_names_for_memory() {
  const size_t bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool has = ::prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, memory, bytes, "vesta-test") == 0;
  ::munmap(memory, bytes);
  return has;
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
  if (!has_names_for_memory()) {
    EXPECT_EQ(context.error().code, ErrorCode::kNotFound) << "there is no way to it";
    return;
  }
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
  WireWriter behind_resource;
  behind_resource.message(2,
                          make_key_value("threadlocal.schema_version", make_text_value("tls_v1")));
  const size_t resource_end = whole.size() - behind_resource.view().size();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto got = decode_process_context(std::string_view(whole).substr(0, size));
    // Between two fields nothing shows that there were more.
    if (size == 0 || size == resource_end) {
      ASSERT_TRUE(got) << size;
      EXPECT_EQ(*got, size == 0 ? Attributes() : kShop);
    } else {
      EXPECT_FALSE(got) << "cut after " << size << " of " << whole.size() << " bytes";
    }
  }
  EXPECT_FALSE(decode_process_context("\x0a\xff\xff\xff\xff\x0f"));
  EXPECT_FALSE(decode_process_context("\x0b"));
}

}  // namespace
}  // namespace vesta::agent
