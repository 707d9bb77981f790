#include "symbols/dwarf/dwarf_symbols.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_requirements.h"
#include "symbols/testing/test_programs.h"

namespace vesta {
namespace {

using testing::Agreement;

std::unique_ptr<DwarfSymbols> open_symbols(const std::string& path,
                                           DwarfSymbols::Options options = {}) {
  auto file = ElfFile::open(path);
  if (!file) return nullptr;
  auto symbols = DwarfSymbols::open(*file, std::move(options));
  return symbols ? std::move(*symbols) : nullptr;
}

Agreement agree_with(const std::string& judge_name, const testing::TestFolder& folder,
                     const std::string& program, uint64_t step, size_t at_most) {
  Agreement sum;
  auto file = ElfFile::open(program);
  auto symbols = open_symbols(program);
  if (!file || symbols == nullptr) return sum;
  const std::vector<uint64_t> addresses = testing::code_addresses(**file, step, at_most);
  const auto judge = testing::ask_judge(folder, judge_name, program, addresses);
  EXPECT_EQ(judge.size(), addresses.size());
  std::vector<SourceFrame> frames;
  for (size_t i = 0; i < std::min(judge.size(), addresses.size()); ++i) {
    frames.clear();
    symbols->lookup(addresses[i], frames);
    testing::compare(addresses[i], frames, judge[i], sum);
  }
  fmt::print("{}: {} addresses; equal: {} depths, {} names, {} lines\n", judge_name, sum.addresses,
             sum.depth, sum.names, sum.lines);
  return sum;
}

struct Variant {
  const char* name;
  const char* compiler;
  const char* flags;
  // binutils 2.40 does not read DWARF64 or type units beside other units, nor range lists by index
  // (clang's DWARF 5), and takes file 1 for file 0 in some tables. LLVM reads all of these.
  bool binutils_can_judge = true;
  friend std::ostream& operator<<(std::ostream& out, const Variant& v) { return out << v.flags; }
};

class Judged : public ::testing::TestWithParam<Variant> {};

TEST_P(Judged, NamesDepthsAndLinesAgree) {
  const testing::TestFolder folder;
  const std::string program =
      testing::build_program(folder, GetParam().compiler, GetParam().flags, "program");
  ASSERT_FALSE(program.empty());
  std::vector<std::string> judges;
  if (GetParam().binutils_can_judge) judges.emplace_back("addr2line");
  if (testing::has_tool("llvm-addr2line")) judges.emplace_back("llvm-addr2line");
  VESTA_REQUIRE_OR_SKIP(!judges.empty(), "llvm-addr2line is not installed");
  for (const std::string& judge : judges) {
    const Agreement sum = agree_with(judge, folder, program, 1, 20'000);
    EXPECT_GT(sum.addresses, 300U) << judge;
    EXPECT_GE(sum.names * 1000, sum.addresses * 999) << judge << "\n" << sum.examples;
    EXPECT_GE(sum.lines * 100, sum.addresses * 99) << judge << "\n" << sum.examples;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Variants, Judged,
    ::testing::Values(Variant{"Gcc5", "gcc", "-O2 -g -gdwarf-5"},
                      Variant{"Gcc4", "gcc", "-O2 -g -gdwarf-4"},
                      Variant{"Gcc3", "gcc", "-O2 -g -gdwarf-3 -gstrict-dwarf"},
                      Variant{"Gcc2", "gcc", "-O2 -g -gdwarf-2 -gstrict-dwarf"},
                      Variant{"GccUnoptimised", "gcc", "-O0 -g", false},
                      Variant{"GccCompressed", "gcc", "-O3 -g -gz"},
                      Variant{"GccOldCompressed", "gcc", "-O3 -g -gz=zlib-gnu", false},
                      Variant{"GccSections", "gcc", "-O2 -g -ffunction-sections -Wl,--gc-sections"},
                      Variant{"GccLto", "gcc", "-O2 -g -flto"},
                      Variant{"Gcc64", "gcc", "-O2 -g -gdwarf64", false},
                      Variant{"GccStatic", "gcc", "-O2 -g -no-pie -static"},
                      Variant{"GccTypeUnits", "gcc", "-O2 -g -fdebug-types-section", false},
                      Variant{"Clang5", "clang", "-O2 -g -gdwarf-5", false},
                      Variant{"Clang4", "clang", "-O2 -g -gdwarf-4"},
                      Variant{"ClangCompressed", "clang", "-O3 -g -gz", false},
                      Variant{"ClangLinesOnly", "clang", "-O1 -gmlt", false},
                      Variant{"ClangSections", "clang",
                              "-O2 -g -ffunction-sections -Wl,--gc-sections", false}),
    [](const auto& variant) { return variant.param.name; });

TEST(DwarfSymbols, FindsTheTestItself) {
  const testing::TestFolder folder;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  // Not binutils: it puts names of dynamic symbols in the place of innermost functions.
  VESTA_REQUIRE_OR_SKIP(testing::has_tool("llvm-addr2line"), "llvm-addr2line is not installed");
  const Agreement sum = agree_with("llvm-addr2line", folder, self, 1, 5000);
  EXPECT_GT(sum.addresses, 1000U);
  EXPECT_GE(sum.names * 1000, sum.addresses * 999) << sum.examples;
  EXPECT_GE(sum.lines * 100, sum.addresses * 99) << sum.examples;
}

// Split DWARF has its functions in .dwo files, which we do not look for.
TEST(DwarfSymbols, GivesLinesAloneForSplitUnits) {
  const testing::TestFolder folder;
  const std::string program =
      testing::build_program(folder, "gcc", "-O2 -g -gsplit-dwarf", "program");
  const auto symbols = open_symbols(program);
  ASSERT_NE(symbols, nullptr);
  auto file = ElfFile::open(program);
  size_t lines = 0;
  std::vector<SourceFrame> frames;
  for (const uint64_t address : testing::code_addresses(**file, 1, 10'000)) {
    frames.clear();
    const auto answer = symbols->lookup(address, frames);
    EXPECT_NE(answer, DwarfSymbols::Answer::kFrames);
    if (answer == DwarfSymbols::Answer::kLine) {
      ++lines;
      ASSERT_EQ(frames.size(), 1U);
      EXPECT_TRUE(frames[0].name.empty());
    }
  }
  EXPECT_GT(lines, 1000U);
}

TEST(DwarfSymbols, SmallCapEvictsTablesAndKeepsAnswers) {
  const testing::TestFolder folder;
  const std::string program = testing::build_program(folder, "gcc", "-O2 -g", "program");
  DwarfSymbols::Options small;
  small.max_table_bytes = 1;
  const auto capped = open_symbols(program, std::move(small));
  const auto roomy = open_symbols(program);
  ASSERT_NE(capped, nullptr);
  auto file = ElfFile::open(program);
  std::vector<uint64_t> addresses = testing::code_addresses(**file, 1, 200);
  std::vector<SourceFrame> a, b;
  for (size_t i = 0; i < addresses.size(); ++i) {
    // From both ends in turn, so that units alternate.
    const uint64_t address = addresses[i % 2 == 0 ? i / 2 : addresses.size() - 1 - i / 2];
    a.clear();
    b.clear();
    EXPECT_EQ(capped->lookup(address, a), roomy->lookup(address, b));
    ASSERT_EQ(a.size(), b.size());
    for (size_t j = 0; j < a.size(); ++j) EXPECT_EQ(a[j].name, b[j].name);
  }
  EXPECT_GT(capped->statistics().tables_evicted, 3U);
  EXPECT_EQ(roomy->statistics().tables_evicted, 0U);
}

}  // namespace
}  // namespace vesta
