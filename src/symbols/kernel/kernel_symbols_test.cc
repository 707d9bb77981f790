#include "symbols/kernel/kernel_symbols.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/test_requirements.h"
#include "testing/temporary_folder.h"

namespace vesta {
namespace {

constexpr const char* kText =
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T startup_64\n"
    "ffffffff81000000 t also_here\n"
    "ffffffff81000100 T __x64_sys_read\n"
    "ffffffff81000200 W weak_one\n"
    "ffffffff81000200 t strong_one\n"
    "ffffffff81000300 t do_work.isra.0\n"
    "ffffffff81000400 T _etext\n"
    "ffffffff81000400 R __start_rodata\n"
    "ffffffff81002000 D some_data\n"
    "ffffffffc0200000 t ext4_read\t[ext4]\n"
    "ffffffffc0100000 t nf_hook\t[nf_tables]\n"
    "ffffffffc0200100 r ext4_table\t[ext4]\n"
    "ffffffffc0300000 t bpf_prog_6deef7357e7b4530_profile\t[bpf]\n";

class KernelSymbolsTest : public testing::Test {
 protected:
  void SetUp() override {
    write("kallsyms", kText);
    write("modules", "ext4 999424 1 - Live 0xffffffffc0200000\n");
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path(name)) << text;
  }
  Result<KernelSymbols> open() {
    KernelSymbols::Options options;
    options.kallsyms = folder_.path("kallsyms");
    options.modules = folder_.path("modules");
    options.clock = [this] { return now_; };
    return KernelSymbols::open(options);
  }

  TemporaryFolder folder_;
  MonotonicNs now_{1};
};

std::string name_at(KernelSymbols& symbols, uint64_t address) {
  const auto found = symbols.lookup(address);
  if (!found) return "?";
  return std::string(found->name) +
         (found->module.empty() ? "" : " [" + std::string(found->module) + "]");
}

TEST_F(KernelSymbolsTest, NamesTheKernelItsModulesAndBpfPrograms) {
  auto symbols = open();
  ASSERT_TRUE(symbols.ok()) << symbols.error().message;
  EXPECT_EQ(name_at(*symbols, 0xffffffff81000100), "__x64_sys_read");
  EXPECT_EQ(name_at(*symbols, 0xffffffff810001ff), "__x64_sys_read");
  EXPECT_EQ(name_at(*symbols, 0xffffffff81000301), "do_work.isra.0");
  EXPECT_EQ(name_at(*symbols, 0xffffffffc0200010), "ext4_read [ext4]");
  EXPECT_EQ(name_at(*symbols, 0xffffffffc0100010), "nf_hook [nf_tables]");
  EXPECT_EQ(name_at(*symbols, 0xffffffffc0300010), "bpf_prog_6deef7357e7b4530_profile [bpf]");
}

TEST_F(KernelSymbolsTest, EndsFunctionsWhereDataBegins) {
  auto symbols = open();
  ASSERT_TRUE(symbols.ok());
  EXPECT_EQ(name_at(*symbols, 0xffffffff81002010), "?");
  EXPECT_EQ(name_at(*symbols, 0xffffffffc0200100), "?");
  EXPECT_EQ(name_at(*symbols, 0xffffffff80ffffff), "?");
  EXPECT_EQ(name_at(*symbols, 0xffffffffff000000), "?");
  EXPECT_EQ(name_at(*symbols, 0), "?");
}

TEST_F(KernelSymbolsTest, ChoosesTheSameAliasInAnyOrder) {
  auto symbols = open();
  ASSERT_TRUE(symbols.ok());
  EXPECT_EQ(name_at(*symbols, 0xffffffff81000000), "startup_64");
  EXPECT_EQ(name_at(*symbols, 0xffffffff81000200), "strong_one");
  std::vector<std::string> lines;
  std::stringstream stream(kText);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::reverse(lines.begin(), lines.end());
  std::string reversed;
  for (const std::string& line : lines) reversed += line + "\n";
  write("kallsyms", reversed);
  auto again = open();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(name_at(*again, 0xffffffff81000000), "startup_64");
  EXPECT_EQ(name_at(*again, 0xffffffff81000200), "strong_one");
}

TEST_F(KernelSymbolsTest, SaysWhenTheKernelHidesAddresses) {
  write("kallsyms", "0000000000000000 T _stext\n0000000000000000 T startup_64\n");
  const auto symbols = open();
  ASSERT_FALSE(symbols.ok());
  EXPECT_EQ(symbols.error().code, ErrorCode::kPermission);
  EXPECT_NE(symbols.error().hint.find("CAP_SYSLOG"), std::string::npos);
}

TEST_F(KernelSymbolsTest, SaysWhenThereAreNoSymbols) {
  write("kallsyms", "");
  EXPECT_EQ(open().error().code, ErrorCode::kNotFound);
  std::filesystem::remove(folder_.path("kallsyms"));
  EXPECT_EQ(open().error().code, ErrorCode::kNotFound);
}

TEST_F(KernelSymbolsTest, FollowsSymbolsThatComeAndGo) {
  auto symbols = open();
  ASSERT_TRUE(symbols.ok());
  symbols->add(0xffffffffc0400000, 0x80, "bpf_prog_1_new");
  EXPECT_EQ(name_at(*symbols, 0xffffffffc040007f), "bpf_prog_1_new [bpf]");
  EXPECT_EQ(name_at(*symbols, 0xffffffffc0400080), "?");
  symbols->remove(0xffffffffc0300000);
  EXPECT_EQ(name_at(*symbols, 0xffffffffc0300010), "?");
  symbols->remove(0xffffffffc0400000);
  EXPECT_EQ(name_at(*symbols, 0xffffffffc0400000), "?");
  // A new program over an old one whose removal was lost.
  symbols->add(0xffffffffc0500000, 0x100, "bpf_prog_old");
  symbols->add(0xffffffffc0500080, 0x100, "bpf_prog_newer");
  EXPECT_EQ(name_at(*symbols, 0xffffffffc0500090), "bpf_prog_newer [bpf]");
  EXPECT_EQ(name_at(*symbols, 0xffffffffc0500010), "?");
  symbols->remove(0x1234);
}

TEST_F(KernelSymbolsTest, RereadsWhenModulesCameAndNotMoreOftenThanAllowed) {
  auto symbols = open();
  ASSERT_TRUE(symbols.ok());
  const uint64_t address = 0xffffffffc0f00010;
  EXPECT_EQ(name_at(*symbols, address), "?");
  write("kallsyms", std::string(kText) + "ffffffffc0f00000 t xfs_read\t[xfs]\n");
  now_ = now_ + 2 * kSecond;
  EXPECT_EQ(name_at(*symbols, address), "?") << "the list of modules is unchanged";
  // A use count alone is no change.
  write("modules", "ext4 999424 7 - Live 0xffffffffc0200000\n");
  now_ = now_ + 2 * kSecond;
  EXPECT_EQ(name_at(*symbols, address), "?");
  write("modules", "xfs 1 1 - Live 0xffffffffc0f00000\next4 999424 7 - Live 0xffffffffc0200000\n");
  EXPECT_EQ(name_at(*symbols, address), "?") << "not yet time to look again";
  now_ = now_ + 2 * kSecond;
  EXPECT_EQ(name_at(*symbols, address), "xfs_read [xfs]");
}

TEST(KernelSymbolTable, CountsLinesThatAreNone) {
  KernelSymbolTable table;
  table.feed("no symbol\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n\n");
  table.feed("ffffffff81000000 T " + std::string(5000, 'x') + "\nffffffff81000000 T good");
  table.finish();
  EXPECT_EQ(table.bad_lines(), 5U);
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.lookup(0xffffffff81000000)->name, "good");
}

TEST(KernelSymbolTable, JoinsLinesThatPiecesCut) {
  const std::string text = kText;
  for (size_t bytes = 1; bytes < 60; ++bytes) {
    KernelSymbolTable table;
    for (size_t at = 0; at < text.size(); at += bytes) table.feed(text.substr(at, bytes));
    table.finish();
    EXPECT_EQ(table.lookup(0xffffffff81000120)->name, "__x64_sys_read");
    EXPECT_EQ(table.bad_lines(), 0U);
  }
}

TEST(KernelSymbolTable, HoldsARealKernelInSixMegabytes) {
  std::string text;
  char line[128];
  for (int i = 0; i < 150'000; ++i) {
    std::snprintf(line, sizeof(line), "%lx t some_function_name_%d\n",
                  0xffffffff81000000UL + i * 64UL, i);
    text += line;
  }
  KernelSymbolTable table;
  table.feed(text);
  table.finish();
  EXPECT_EQ(table.size(), 150'000U);
  EXPECT_LT(table.memory_bytes(), 6U << 20);
}

TEST(KernelSymbols, ReadsTheRunningKernel) {
  auto symbols = KernelSymbols::open();
  VESTA_REQUIRE_OR_SKIP(symbols.ok(), "the kernel's symbols cannot be read: " +
                                          (symbols.ok() ? "" : symbols.error().message));
  EXPECT_GT(symbols->size(), 10'000U);
  EXPECT_LT(symbols->memory_bytes(), 8U << 20);
}

}  // namespace
}  // namespace vesta
