#include "symbols/module_symbols.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/test_requirements.h"
#include "symbols/testing/elf_builder.h"
#include "symbols/testing/test_programs.h"

namespace vesta {
namespace {

using testing::TestFolder;

std::shared_ptr<ModuleSymbols> open_module(const std::string& path,
                                           const SymbolOptions& options = {}) {
  auto file = ElfFile::open(path);
  EXPECT_TRUE(file);
  return file ? ModuleSymbols::open(*file, path, options) : nullptr;
}

// All names of functions that any address of the program has, the inlined ones too.
std::set<std::string> all_names(ModuleSymbols& symbols) {
  std::set<std::string> names;
  std::vector<SourceFrame> frames;
  for (const uint64_t address : testing::code_addresses(symbols.file(), 1, 100'000)) {
    frames.clear();
    symbols.lookup(address, frames);
    for (const SourceFrame& frame : frames) names.emplace(frame.name);
  }
  return names;
}

TEST(ModuleSymbols, ShowsShortNamesWithInlinedCallsAndLines) {
  const TestFolder folder;
  const std::string program = testing::build_program(folder, "gcc", "-O2 -g", "program");
  const auto symbols = open_module(program);
  EXPECT_EQ(to_string(symbols->source()), "dwarf+symtab");
  const std::set<std::string> names = all_names(*symbols);
  for (const char* name : {"main", "app::deep::run", "file_local", "(anonymous namespace)::level3",
                           "c_entry", "clamp", "may_be_replaced"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(ModuleSymbols, InlinesThreeDeepAreInOrder) {
  const TestFolder folder;
  const std::string program = testing::build_program(folder, "gcc", "-O2 -g", "program");
  const auto symbols = open_module(program);
  bool found = false;
  std::vector<SourceFrame> frames;
  for (const uint64_t address : testing::code_addresses(symbols->file(), 1, 100'000)) {
    frames.clear();
    if (!symbols->lookup(address, frames) || frames.size() != 4) continue;
    if (frames[3].name != "file_local") continue;
    EXPECT_EQ(frames[0].name, "(anonymous namespace)::level3");
    EXPECT_EQ(frames[1].name, "(anonymous namespace)::level2");
    EXPECT_EQ(frames[2].name, "(anonymous namespace)::level1");
    EXPECT_TRUE(frames[0].file.ends_with("/a.cc"));
    EXPECT_EQ(frames[0].start_line, frames[0].line);
    EXPECT_EQ(frames[3].line, frames[3].start_line);
    found = true;
  }
  EXPECT_TRUE(found);
}

TEST(ModuleSymbols, WithoutInlinesTheFunctionStands) {
  const TestFolder folder;
  const std::string program = testing::build_program(folder, "gcc", "-O2 -g", "program");
  SymbolOptions options;
  options.inlines = false;
  const auto symbols = open_module(program, options);
  const auto inlined = open_module(program);
  std::vector<SourceFrame> one, all;
  for (const uint64_t address : testing::code_addresses(symbols->file(), 3, 100'000)) {
    one.clear();
    all.clear();
    if (!symbols->lookup(address, one)) continue;
    ASSERT_EQ(one.size(), 1U);
    ASSERT_TRUE(inlined->lookup(address, all));
    EXPECT_EQ(one[0].name, all.back().name);
  }
}

TEST(ModuleSymbols, FileLocalFunctionsGetTheirLinkageNameFromTheSymbolTable) {
  const TestFolder folder;
  const std::string program = testing::build_program(folder, "gcc", "-O2 -g", "program");
  SymbolOptions full;
  full.demangle = DemangleStyle::kFull;
  EXPECT_TRUE(all_names(*open_module(program, full)).contains("file_local(int)"));
  SymbolOptions off;
  off.demangle = DemangleStyle::kOff;
  const std::set<std::string> names = all_names(*open_module(program, off));
  EXPECT_TRUE(names.contains("_ZN3app4deep3runEi"));
  EXPECT_TRUE(names.contains("_ZL10file_locali"));
}

TEST(ModuleSymbols, StrippedProgramUsesItsSeparateFile) {
  const TestFolder folder;
  const std::string program = testing::build_program(folder, "gcc", "-O2 -g", "program");
  const std::set<std::string> expected = all_names(*open_module(program));
  ASSERT_TRUE(
      folder.run("objcopy --only-keep-debug program program.debug && strip program && "
                 "objcopy --add-gnu-debuglink=program.debug program"));
  const auto by_link = open_module(program);
  EXPECT_TRUE(has(by_link->source(), SymbolSource::kSeparateFile));
  EXPECT_EQ(all_names(*by_link), expected);
  // By build id, below another root, and without the link's file.
  const std::string hex = by_link->file().build_id().hex();
  ASSERT_TRUE(
      folder.run(fmt::format("mkdir -p root/usr/lib/debug/.build-id/{0} && mv program.debug "
                             "root/usr/lib/debug/.build-id/{0}/{1}.debug",
                             hex.substr(0, 2), hex.substr(2))));
  SymbolOptions options;
  options.debug_roots = {folder.file("root")};
  EXPECT_EQ(all_names(*open_module(program, options)), expected);
  // And nothing when neither is there.
  options.debug_roots = {};
  EXPECT_EQ(to_string(open_module(program, options)->source()), "none");
}

TEST(ModuleSymbols, FollowsIntoTheFileThatDebugFilesShare) {
  VESTA_REQUIRE_OR_SKIP(testing::has_tool("dwz"), "dwz is not installed");
  const TestFolder folder;
  const std::string program = testing::build_program(folder, "gcc", "-O2 -g", "program");
  const std::set<std::string> expected = all_names(*open_module(program));
  ASSERT_TRUE(
      folder.run("objcopy --only-keep-debug program program.debug && "
                 "cp program.debug other.debug && strip program && "
                 "objcopy --add-gnu-debuglink=program.debug program && "
                 "dwz -m shared -M shared program.debug other.debug"));
  const auto symbols = open_module(program);
  EXPECT_TRUE(has(symbols->source(), SymbolSource::kDwarf));
  EXPECT_EQ(all_names(*symbols), expected);
  // Without the shared file there is less, but no harm.
  ASSERT_TRUE(folder.run("rm shared"));
  EXPECT_TRUE(all_names(*open_module(program)).contains("main"));
}

TEST(ModuleSymbols, SplitDwarfGivesSymbolsWithLines) {
  const TestFolder folder;
  const std::string program =
      testing::build_program(folder, "gcc", "-O2 -g -gsplit-dwarf", "program");
  const auto symbols = open_module(program);
  size_t with_line = 0;
  std::vector<SourceFrame> frames;
  for (const uint64_t address : testing::code_addresses(symbols->file(), 1, 100'000)) {
    frames.clear();
    if (symbols->lookup(address, frames) && frames[0].line != 0) ++with_line;
  }
  EXPECT_GT(with_line, 1000U);
  EXPECT_TRUE(all_names(*symbols).contains("app::deep::run"));
}

TEST(ModuleSymbols, GoFunctionsComeFromGosOwnTable) {
  VESTA_REQUIRE_OR_SKIP(testing::has_tool("go"), "go is not installed");
  const TestFolder folder;
  folder.write("main.go",
               "package main\n\n//go:noinline\nfunc work(n int) int { return n * n }\n\n"
               "func main() { println(work(3)) }\n");
  ASSERT_TRUE(
      folder.run("HOME=$PWD GO111MODULE=off GOFLAGS= CGO_ENABLED=0 "
                 "GOCACHE=$PWD/cache go build -o program main.go"));
  for (const char* step : {"true", "strip program"}) {
    ASSERT_TRUE(folder.run(step));
    const auto symbols = open_module(folder.file("program"));
    EXPECT_TRUE(has(symbols->source(), SymbolSource::kGo));
    const std::set<std::string> names = all_names(*symbols);
    EXPECT_TRUE(names.contains("main.work")) << step;
    EXPECT_TRUE(names.contains("runtime.mallocgc")) << step;
  }
}

TEST(ModuleSymbols, NothingIsKnownOfAnEmptyFile) {
  testing::ElfBuilder elf;
  elf.add_code();
  const auto symbols = ModuleSymbols::open(elf.open(), "", {});
  EXPECT_EQ(to_string(symbols->source()), "none");
  std::vector<SourceFrame> frames;
  EXPECT_FALSE(symbols->lookup(0x1000, frames));
  EXPECT_TRUE(frames.empty());
}

TEST(ModuleSymbols, DemangledNamesAreBounded) {
  const TestFolder folder;
  const std::string program = testing::build_program(folder, "gcc", "-O2 -g", "program");
  SymbolOptions options;
  options.max_name_bytes = 1000;
  const auto bounded = open_module(program, options);
  EXPECT_EQ(all_names(*bounded), all_names(*open_module(program)));
}

TEST(ModuleSymbols, NamesStockLibraries) {
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/python3"}) {
    if (::access(path, R_OK) != 0) continue;
    const auto symbols = open_module(path);
    EXPECT_TRUE(has(symbols->source(), SymbolSource::kDynsym)) << path;
    std::vector<SourceFrame> frames;
    size_t named = 0, asked = 0;
    for (const uint64_t address : testing::code_addresses(symbols->file(), 1, 2000)) {
      ++asked;
      named += symbols->lookup(address, frames) ? 1 : 0;
    }
    // Stripped: file-local functions have no names, and python has many.
    EXPECT_GT(named * 10, asked) << path;
  }
}

}  // namespace
}  // namespace vesta
