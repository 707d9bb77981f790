#include "symbols/elf/symbol_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lzma.h>

#include <algorithm>
#include <map>
#include <random>

#include "symbols/testing/elf_builder.h"
#include "symbols/testing/test_programs.h"

namespace vesta {
namespace {

using testing::add_symbols;
using testing::ElfBuilder;
using testing::TestSymbol;

SymbolTable table_of(const std::vector<TestSymbol>& symbols, uint64_t code_size = 0x1000) {
  ElfBuilder elf;
  add_symbols(elf, elf.add_code(code_size), symbols);
  return SymbolTable::build(elf.open());
}

std::string name_at(const SymbolTable& table, uint64_t address) {
  ElfSymbol symbol;
  return table.lookup(address, symbol) ? std::string(symbol.name) : "-";
}

std::string xz(std::string_view text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

TEST(SymbolTable, FindsTheFunctionAroundAnAddress) {
  const SymbolTable table = table_of({{"b", 0x1100, 0x10}, {"a", 0x1000, 0x20}});
  EXPECT_EQ(name_at(table, 0x0fff), "-");
  EXPECT_EQ(name_at(table, 0x1000), "a");
  EXPECT_EQ(name_at(table, 0x101f), "a");
  EXPECT_EQ(name_at(table, 0x1020), "-");
  EXPECT_EQ(name_at(table, 0x110f), "b");
  EXPECT_EQ(name_at(table, 0x1110), "-");
}

TEST(SymbolTable, ZeroSizeReachesToTheNextSymbolOrTheSectionsEnd) {
  const SymbolTable table = table_of({{"a", 0x1000, 0}, {"b", 0x1100, 0x10}, {"c", 0x1200, 0}});
  EXPECT_EQ(name_at(table, 0x10ff), "a");
  EXPECT_EQ(name_at(table, 0x1110), "-");
  EXPECT_EQ(name_at(table, 0x1fff), "c");
  EXPECT_EQ(name_at(table, 0x2000), "-");
}

TEST(SymbolTable, InnerFunctionInterruptsTheOuterOne) {
  const SymbolTable table = table_of({{"outer", 0x1000, 0x100},
                                      {"inner", 0x1040, 0x10},
                                      {"label", 0x1080, 0, STT_NOTYPE, STB_LOCAL}});
  EXPECT_EQ(name_at(table, 0x103f), "outer");
  EXPECT_EQ(name_at(table, 0x1040), "inner");
  EXPECT_EQ(name_at(table, 0x1050), "outer");
  EXPECT_EQ(name_at(table, 0x1080), "outer");
  EXPECT_EQ(name_at(table, 0x10ff), "outer");
  EXPECT_EQ(name_at(table, 0x1100), "-");
}

TEST(SymbolTable, PrefersGlobalSizedQuietNames) {
  EXPECT_EQ(name_at(table_of({{"l", 0x1000, 8, STT_FUNC, STB_LOCAL},
                              {"w", 0x1000, 8, STT_FUNC, STB_WEAK},
                              {"g", 0x1000, 8}}),
                    0x1000),
            "g");
  EXPECT_EQ(
      name_at(table_of({{"aa", 0x1000, 0}, {"sized", 0x1000, 8, STT_FUNC, STB_LOCAL}}), 0x1000),
      "sized");
  EXPECT_EQ(name_at(table_of({{"__libc_malloc", 0x1000, 8}, {"malloc", 0x1000, 8}}), 0x1000),
            "malloc");
  EXPECT_EQ(name_at(table_of({{"a_label", 0x1000, 0, STT_NOTYPE}, {"z", 0x1000, 8}}), 0x1000), "z");
  // Whatever the order in the file.
  EXPECT_EQ(name_at(table_of({{"one", 0x1000, 8}, {"two", 0x1000, 8}}), 0x1000), "one");
  EXPECT_EQ(name_at(table_of({{"two", 0x1000, 8}, {"one", 0x1000, 8}}), 0x1000), "one");
}

TEST(SymbolTable, DropsVersionsAndDataSymbols) {
  const SymbolTable table = table_of({{"memcpy@@GLIBC_2.14", 0x1000, 8},
                                      {"data", 0x1100, 8, STT_OBJECT},
                                      {"label", 0x1200, 0, STT_NOTYPE}});
  EXPECT_EQ(name_at(table, 0x1000), "memcpy");
  EXPECT_EQ(name_at(table, 0x1100), "-");
  EXPECT_EQ(name_at(table, 0x1200), "label");
}

TEST(SymbolTable, ReadsMiniDebugInfo) {
  ElfBuilder inner;
  add_symbols(inner, inner.add_code(), {{"hidden", 0x1000, 0x10}});
  ElfBuilder outer;
  add_symbols(outer, outer.add_code(), {{"visible", 0x1100, 0x10}}, true);
  outer.add({".gnu_debugdata", xz(inner.build())});
  const SymbolTable table = SymbolTable::build(outer.open());
  EXPECT_TRUE(table.has_mini_debug());
  EXPECT_TRUE(table.has_dynsym());
  EXPECT_FALSE(table.has_symtab());
  EXPECT_EQ(name_at(table, 0x1000), "hidden");
  EXPECT_EQ(name_at(table, 0x1100), "visible");
}

TEST(SymbolTable, MiniDebugInfoIsBounded) {
  ElfBuilder bomb;
  bomb.add({".gnu_debugdata", xz(std::string(50UL << 20, '\0'))});
  const auto result = open_mini_debug_info(*bomb.open(), 1 << 20);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kLimit);
  const std::string packed = xz("no ELF file at all");
  for (size_t size = 1; size <= packed.size(); ++size) {
    ElfBuilder cut;
    cut.add({".gnu_debugdata", packed.substr(0, size)});
    EXPECT_FALSE(open_mini_debug_info(*cut.open(), 1 << 20));
  }
}

TEST(SymbolTable, LatestStartWinsWhereverFunctionsOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::map<uint64_t, TestSymbol> symbols;
    for (int i = 0; i < 60; ++i) {
      const uint64_t address = 0x1000 + random() % 0xE00;
      symbols[address] = {fmt::format("s{}", i), address, 1 + random() % 400};
    }
    std::vector<TestSymbol> shuffled;
    shuffled.reserve(symbols.size());
    for (const auto& [address, symbol] : symbols) shuffled.push_back(symbol);
    std::ranges::shuffle(shuffled, random);
    const SymbolTable table = table_of(shuffled);
    for (uint64_t address = 0x1000; address < 0x2000; ++address) {
      std::string expected = "-";
      for (const auto& [start, symbol] : symbols) {
        if (address >= start && address < start + symbol.size) expected = symbol.name;
      }
      ASSERT_EQ(name_at(table, address), expected) << address;
    }
  }
}

TEST(SymbolTable, SurvivesNonsense) {
  ElfBuilder elf;
  const uint32_t code = elf.add_code();
  add_symbols(elf, code,
              {{"top", ~0ULL - 4, 100}, {"huge", 0x1000, ~0ULL}, {"", 0x1800, 8}, {"x", 0, 0}});
  const SymbolTable table = SymbolTable::build(elf.open());
  EXPECT_EQ(name_at(table, 0x1fff), "huge");
  EXPECT_EQ(name_at(table, ~0ULL), "-");
  ElfBuilder loop;  // the string table is the symbol table itself
  loop.add({".symtab", std::string(480, '\x12'), SHT_SYMTAB, 0, 0, 1});
  SymbolTable::build(loop.open());
}

TEST(SymbolTable, AgreesWithNmOnRealLibraries) {
  const testing::TestFolder folder;
  const std::string program =
      testing::build_program(folder, "gcc", "-O2 -Wl,-z,lazy -fcf-protection=none", "program");
  const auto file = ElfFile::open(program);
  ASSERT_TRUE(file);
  const SymbolTable table = SymbolTable::build(*file);
  EXPECT_TRUE(table.has_symtab());
  EXPECT_EQ(name_at(table, (*file)->entry()), "_start");
  ASSERT_TRUE(folder.run("nm --defined-only -S program | awk '$3 ~ /[tTwW]/ && NF == 4' >nm"));
  const auto nm = InputFile::open(folder.file("nm"), 1 << 20);
  std::map<uint64_t, std::vector<std::string>> by_address;
  size_t lines = 0;
  std::string_view rest = nm->bytes();
  while (!rest.empty()) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(line.size() + 1);
    by_address[std::stoull(line.substr(0, 16), nullptr, 16)].push_back(line.substr(36));
    ++lines;
  }
  EXPECT_GT(lines, 20U);
  for (const auto& [address, names] : by_address) {
    EXPECT_NE(std::ranges::find(names, name_at(table, address)), names.end())
        << name_at(table, address);
  }
}

class PltStubs : public ::testing::TestWithParam<const char*> {};

TEST_P(PltStubs, AreNamedAfterTheirFunction) {
  const testing::TestFolder folder;
  const std::string program =
      testing::build_program(folder, "gcc", fmt::format("-O2 {}", GetParam()), "program");
  const auto file = ElfFile::open(program);
  ASSERT_TRUE(file);
  const SymbolTable table = SymbolTable::build(*file);
  ASSERT_TRUE(
      folder.run("objdump -d -j .plt -j .plt.sec -j .plt.got program 2>/dev/null | "
                 "grep -E '^[0-9a-f]+ <.*@plt>:' | tr -d '<>:' >stubs; test -s stubs"));
  const auto stubs = InputFile::open(folder.file("stubs"), 1 << 20);
  std::string_view rest = stubs->bytes();
  size_t named = 0;
  while (!rest.empty()) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(line.size() + 1);
    std::string expected = line.substr(17);
    if (const size_t at = expected.find('@'); at != std::string::npos) expected.resize(at);
    EXPECT_EQ(name_at(table, std::stoull(line.substr(0, 16), nullptr, 16)), expected + "@plt");
    ++named;
  }
  EXPECT_GT(named, 5U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, PltStubs,
                         ::testing::Values("-Wl,-z,lazy", "-Wl,-z,now",
                                           "-fcf-protection=full -Wl,-z,ibtplt",
                                           "-no-pie -fcf-protection=none"));

TEST(SymbolTable, TakesSixteenBytesForEachSymbol) {
  std::vector<TestSymbol> symbols;
  for (uint64_t i = 0; i < 10'000; ++i) {
    symbols.push_back({fmt::format("function_{}", i), 0x1000 + i * 16, 16});
  }
  const SymbolTable table = table_of(symbols, 0x100000);
  EXPECT_EQ(table.size(), 10'000U);
  EXPECT_LE(table.memory_bytes(), 10'000U * 16 + 64);
}

}  // namespace
}  // namespace vesta
