// DWARF that no compiler writes: answers are partial or none, and come soon.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "symbols/dwarf/dwarf_constants.h"
#include "symbols/dwarf/dwarf_symbols.h"
#include "symbols/testing/elf_builder.h"
#include "symbols/testing/test_programs.h"

namespace vesta {
namespace {

using testing::Bytes;
using testing::ElfBuilder;

// Abbreviations that all of these share.
//  1 compile unit with children: name, low_pc, high_pc
//  2 subprogram with children: name, low_pc, high_pc
//  3 inlined subroutine with children: abstract_origin, low_pc, high_pc
//  4 subprogram: specification (a reference, nothing else)
//  5 subprogram: name
//  6 inlined subroutine: abstract_origin, low_pc, high_pc
Bytes abbreviations() {
  using namespace dw;  // NOLINT(google-build-using-namespace): constants alone
  Bytes out;
  const auto entry = [&](uint64_t code, uint64_t tag, bool children,
                         std::initializer_list<std::pair<uint64_t, uint64_t>> attributes) {
    out.uleb(code).uleb(tag).u8(children ? 1 : 0);
    for (const auto& [name, form] : attributes) out.uleb(name).uleb(form);
    out.u8(0).u8(0);
  };
  entry(1, kCompileUnit, true, {{kName, kString}, {kLowPc, kAddr}, {kHighPc, kData4}});
  entry(2, kSubprogram, true, {{kName, kString}, {kLowPc, kAddr}, {kHighPc, kData4}});
  entry(3, kInlinedSubroutine, true,
        {{kAbstractOrigin, kRef4}, {kLowPc, kAddr}, {kHighPc, kData4}});
  entry(4, kSubprogram, false, {{kSpecification, kRef4}});
  entry(5, kSubprogram, false, {{kName, kString}});
  entry(6, kInlinedSubroutine, false,
        {{kAbstractOrigin, kRef4}, {kLowPc, kAddr}, {kHighPc, kData4}});
  return out;
}

constexpr uint64_t kHeader = 11;  // of a unit of version 4, 32 bit

std::string unit_of(const Bytes& dies) {
  return Bytes().u32(dies.size() + 7).u16(4).u32(0).u8(8).raw(dies.str()).str();
}

Bytes unit_die() {
  return Bytes().uleb(1).text("unit").u64(0x1000).u32(0x100000);
}

ElfBuilder elf_of(const std::string& info, const std::string& table) {
  ElfBuilder elf;
  elf.add_code(0x100000);
  elf.add({".debug_info", info});
  elf.add({".debug_abbrev", table});
  return elf;
}

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Wide: sanitizers and a busy machine. Without the limits these take minutes to centuries.
constexpr double kSoon = 30;

std::vector<std::string> names_at(const ElfBuilder& elf, uint64_t address) {
  auto symbols = DwarfSymbols::open(elf.open(), {});
  if (!symbols) return {"error: " + symbols.error().message};
  std::vector<SourceFrame> frames;
  (*symbols)->lookup(address, frames);
  std::vector<std::string> out;
  out.reserve(frames.size());
  for (const SourceFrame& frame : frames) out.emplace_back(frame.name);
  return out;
}

using Names = std::vector<std::string>;

TEST(HostileDwarf, TheBuilderMakesGoodDwarfToo) {
  Bytes dies = unit_die();
  const uint64_t origin = kHeader + dies.size();
  dies.uleb(5).text("inlined_one");
  dies.uleb(2).text("outer").u64(0x1000).u32(0x100);
  dies.uleb(6).u32(origin).u64(0x1010).u32(0x10);
  dies.u8(0).u8(0);
  const ElfBuilder elf = elf_of(unit_of(dies), abbreviations().str());
  EXPECT_EQ(names_at(elf, 0x1000), (Names{"outer"}));
  EXPECT_EQ(names_at(elf, 0x1010), (Names{"inlined_one", "outer"}));
  EXPECT_EQ(names_at(elf, 0x1100), (Names{}));
}

TEST(HostileDwarf, ReferencesInACircleGiveNoName) {
  Bytes dies = unit_die();
  const uint64_t first = kHeader + dies.size();
  dies.uleb(4).u32(first + 5);
  dies.uleb(4).u32(first);
  const uint64_t self = kHeader + dies.size();
  dies.uleb(4).u32(self);
  dies.uleb(2).text("outer").u64(0x1000).u32(0x100);
  dies.uleb(6).u32(first).u64(0x1010).u32(0x10);
  dies.uleb(6).u32(self).u64(0x1020).u32(0x10);
  dies.uleb(6).u32(0xFFFFFF).u64(0x1030).u32(0x10);
  dies.u8(0).u8(0);
  const ElfBuilder elf = elf_of(unit_of(dies), abbreviations().str());
  for (const uint64_t address : {0x1010, 0x1020, 0x1030}) {
    EXPECT_EQ(names_at(elf, address), (Names{"[unnamed]", "outer"}));
  }
}

TEST(HostileDwarf, InlinedCallsNestedAHundredThousandDeepAreCutOff) {
  Bytes dies = unit_die();
  const uint64_t origin = kHeader + dies.size();
  dies.uleb(5).text("again");
  dies.uleb(2).text("outer").u64(0x1000).u32(0x1000);
  for (int i = 0; i < 100'000; ++i) dies.uleb(3).u32(origin).u64(0x1000).u32(0x1000);
  const Stopwatch watch;
  // The unit ends without the ends of its children; what was read still counts.
  const Names names = names_at(elf_of(unit_of(dies), abbreviations().str()), 0x1800);
  EXPECT_GT(names.size(), 100U);
  EXPECT_LE(names.size(), 257U);
  EXPECT_EQ(names.back(), "outer");
  EXPECT_LT(watch.seconds(), kSoon);
}

TEST(HostileDwarf, AttributesWithoutBytesDoNotMultiplyWork) {
  using namespace dw;  // NOLINT(google-build-using-namespace): constants alone
  Bytes table = abbreviations();
  table.uleb(7).uleb(kSubprogram).u8(0);
  for (int i = 0; i < 60'000; ++i) table.uleb(kDeclLine).uleb(kFlagPresent);
  table.u8(0).u8(0);
  Bytes dies = unit_die();
  dies.uleb(2).text("outer").u64(0x1000).u32(0x100);
  for (int i = 0; i < 1'000'000; ++i) dies.uleb(7);
  dies.u8(0).u8(0);
  const Stopwatch watch;
  EXPECT_EQ(names_at(elf_of(unit_of(dies), table.str()), 0x1000), (Names{"outer"}));
  EXPECT_LT(watch.seconds(), kSoon);
}

TEST(HostileDwarf, ManyReferencesIntoOneLongStringAreBounded) {
  using namespace dw;  // NOLINT(google-build-using-namespace): constants alone
  // Every offset is a DIE of its own, whose name runs to the end of the unit.
  Bytes dies = unit_die();
  dies.uleb(2).text("outer").u64(0x1000).u32(0x100000);
  const int calls = 200'000;
  const uint64_t blob = kHeader + dies.size() + calls * 17 + 2;
  for (int i = 0; i < calls; ++i) {
    dies.uleb(6).u32(blob + static_cast<uint64_t>(i) * 5).u64(0x1000 + i).u32(1);
  }
  dies.u8(0).u8(0);
  dies.raw(std::string(1'000'000, '\x05')).u8(0);
  const Stopwatch watch;
  const Names names = names_at(elf_of(unit_of(dies), abbreviations().str()), 0x1001);
  EXPECT_EQ(names.back(), "outer");
  EXPECT_LT(watch.seconds(), kSoon);
}

TEST(HostileDwarf, RangeListsThatManyDiesShareAreBounded) {
  using namespace dw;  // NOLINT(google-build-using-namespace): constants alone
  Bytes table = abbreviations();
  table.uleb(7).uleb(kSubprogram).u8(0).uleb(kRanges).uleb(kSecOffset).u8(0).u8(0);
  Bytes ranges;
  for (uint64_t i = 0; i < 100'000; ++i) ranges.u64(i * 8).u64(i * 8 + 4);
  ranges.u64(0).u64(0);
  Bytes dies = unit_die();
  for (int i = 0; i < 100'000; ++i) dies.uleb(7).u32(0);
  dies.u8(0);
  ElfBuilder elf = elf_of(unit_of(dies), table.str());
  elf.add({".debug_ranges", ranges.str()});
  const Stopwatch watch;
  auto symbols = DwarfSymbols::open(elf.open(), {});
  ASSERT_TRUE(symbols);
  std::vector<SourceFrame> frames;
  (*symbols)->lookup(0x1000, frames);
  EXPECT_LT((*symbols)->memory_bytes(), 200U << 20);
  EXPECT_LT(watch.seconds(), kSoon);
}

TEST(HostileDwarf, UnitsOfSizeZeroAndUnknownVersionsArePassedOver) {
  Bytes dies = unit_die();
  dies.uleb(2).text("outer").u64(0x1000).u32(0x100);
  dies.u8(0).u8(0);
  std::string info(4000, '\0');                        // padding: a thousand empty units
  info += Bytes().u32(8).u16(77).u32(0).u16(0).str();  // from the future
  const std::string good = unit_of(dies);
  info += good;
  info += Bytes().u32(0x7FFFFFFF).u16(4).str();  // longer than the section
  EXPECT_EQ(names_at(elf_of(info, abbreviations().str()), 0x1000), (Names{"outer"}));
}

// Not hostile: ld makes the DWARF of a dropped copy of an inline function point at the kept one.
TEST(HostileDwarf, FirstOfTwoUnitsThatClaimAnAddressIsRight) {
  std::string info;
  for (const char* name : {"kept", "dropped", "dropped_too"}) {
    Bytes dies = unit_die();
    dies.uleb(2).text(name).u64(0x1000).u32(0x100).u8(0).u8(0);
    info += unit_of(dies);
  }
  EXPECT_EQ(names_at(elf_of(info, abbreviations().str()), 0x1010), (Names{"kept"}));
}

TEST(HostileDwarf, LineTableCountsThatCannotBeAreRefused) {
  using namespace dw;  // NOLINT(google-build-using-namespace): constants alone
  Bytes table;
  table.uleb(1).uleb(kCompileUnit).u8(1);
  for (const auto& [name, form] : std::initializer_list<std::pair<int, int>>{
           {kStmtList, kSecOffset}, {kLowPc, kAddr}, {kHighPc, kData4}}) {
    table.uleb(static_cast<uint64_t>(name)).uleb(static_cast<uint64_t>(form));
  }
  table.u8(0).u8(0);
  Bytes dies;
  dies.uleb(1).u32(0).u64(0x1000).u32(0x100).u8(0);
  const std::string info =
      Bytes().u32(dies.size() + 8).u16(5).u8(1).u8(8).u32(0).raw(dies.str()).str();
  const std::string opcodes("\0\1\1\1\1\0\0\0\1\0\0\1", 12);
  for (const uint64_t count : {uint64_t{1} << 20, ~uint64_t{0}}) {
    for (const bool no_format : {true, false}) {
      Bytes entries;
      if (no_format) {
        entries.u8(0).uleb(count).u8(0).uleb(count);
      } else {
        // A form that takes no bytes.
        entries.u8(1).uleb(kLnctPath).uleb(kFlagPresent).uleb(count).u8(0).uleb(0);
      }
      Bytes header;
      header.u8(1).u8(1).u8(1).u8(0xFB).u8(14).u8(13).raw(opcodes).raw(entries.str());
      Bytes lines;
      lines.u16(5).u8(8).u8(0).u32(header.size()).raw(header.str());
      lines.u8(0).u8(9).u8(kLneSetAddress).u64(0x1000).u8(kLnsCopy).u8(0).u8(1).u8(1);
      ElfBuilder elf = elf_of(info, table.str());
      elf.add({".debug_line", Bytes().u32(lines.size()).raw(lines.str()).str()});
      const Stopwatch watch;
      names_at(elf, 0x1000);
      EXPECT_LT(watch.seconds(), kSoon);
    }
  }
}

TEST(HostileDwarf, NothingAtAllIsAnError) {
  ElfBuilder none;
  none.add_code();
  const auto symbols = DwarfSymbols::open(none.open(), {});
  ASSERT_FALSE(symbols);
  EXPECT_EQ(symbols.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(DwarfSymbols::open(elf_of("x", "y").open(), {}));
}

TEST(HostileDwarf, SectionsThatUnpackToTooMuchAreRefused) {
  const testing::TestFolder folder;
  const std::string program = testing::build_program(folder, "gcc", "-O2 -g -gz", "program");
  auto file = ElfFile::open(program);
  ASSERT_TRUE(file);
  DwarfSymbols::Options options;
  options.max_unpacked_bytes = 1000;
  const auto symbols = DwarfSymbols::open(*file, std::move(options));
  ASSERT_FALSE(symbols);
  EXPECT_EQ(symbols.error().code, ErrorCode::kLimit);
}

// Real DWARF with random damage: each time some answer, never a crash (the sanitizers judge).
TEST(HostileDwarf, DamagedRealFilesAreSafe) {
  const testing::TestFolder folder;
  for (const char* flags : {"-O2 -g -gdwarf-5", "-O2 -g -gdwarf-4"}) {
    const std::string program = testing::build_program(folder, "clang", flags, "program");
    const auto original = InputFile::open(program, 64 << 20);
    auto intact = ElfFile::open(program);
    ASSERT_TRUE(intact);
    std::vector<const ElfSection*> targets;
    for (const ElfSection& section : (*intact)->sections()) {
      if (section.name.starts_with(".debug") && !section.bytes.empty()) targets.push_back(&section);
    }
    const std::vector<uint64_t> addresses = testing::code_addresses(**intact, 1, 50);
    std::mt19937 random(11);
    for (int round = 0; round < 100; ++round) {
      std::string bytes(original->bytes());
      for (int i = 0; i < 20; ++i) {
        const ElfSection& section = *targets[random() % targets.size()];
        bytes[section.offset + random() % section.bytes.size()] = static_cast<char>(random());
      }
      auto file = ElfFile::parse(InputFile::from_bytes(std::move(bytes)));
      if (!file) continue;
      auto symbols = DwarfSymbols::open(*file, {});
      if (!symbols) continue;
      std::vector<SourceFrame> frames;
      for (const uint64_t address : addresses) (*symbols)->lookup(address, frames);
    }
  }
}

}  // namespace
}  // namespace vesta
