#include "agent/naming/symbolizer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "agent/process/elf_head.h"
#include "agent/process/module.h"
#include "base/file.h"
#include "symbols/go/test_program.h"
#include "testing/temporary_folder.h"

// A place in this program with a name that nothing else has.
extern "C" int vesta_symbolizer_test_place(int value);
extern "C" __attribute__((noinline)) int vesta_symbolizer_test_place(int value) {
  asm volatile("");
  return value + 1;
}

namespace vesta::agent {
namespace {

// Null when the file is not a program.
std::shared_ptr<const Module> module_of(const std::string& path, uint32_t id) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return nullptr;
  auto head = read_elf_head(fd.get());
  if (!head || head->code.empty()) return nullptr;
  Module::Description about;
  about.id = ModuleId(id);
  about.path = path;
  about.head = *head;
  return std::make_shared<const Module>(std::move(about), std::move(fd));
}

// The files that this test runs from: a large program and some small libraries.
std::vector<std::shared_ptr<const Module>> own_modules() {
  std::vector<std::string> paths = {"/proc/self/exe"};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        const std::string_view path = info->dlpi_name;
        if (path.starts_with('/')) static_cast<std::vector<std::string>*>(out)->emplace_back(path);
        return 0;
      },
      &paths);
  std::vector<std::shared_ptr<const Module>> modules;
  for (const std::string& path : paths) {
    auto module = module_of(path, static_cast<uint32_t>(modules.size() + 1));
    if (module != nullptr) modules.push_back(std::move(module));
  }
  return modules;
}

class SymbolizerTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(modules_.size(), 3U); }

  static void tell(Symbolizer& symbolizer, const auto& modules) {
    for (const auto& module : modules) symbolizer.add_module(module);
  }
  // Asks for some places in the middle of a file's code.
  static void ask(Symbolizer& symbolizer, const Module& module) {
    const ElfHead::Segment& code = module.code_segments()[0];
    std::vector<SourceFrame> frames;
    for (uint64_t part = 1; part < 4; ++part) {
      frames.clear();
      symbolizer.symbolize({code.address + code.file_bytes / 4 * part, CodeAddress::Kind::kModule,
                            module.id().value},
                           frames);
    }
  }
  void ask_all(Symbolizer& symbolizer, int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (const auto& module : modules_) ask(symbolizer, *module);
      symbolizer.age_tables();
    }
  }
  // What each table takes, by module.
  std::map<uint32_t, uint64_t> sizes() {
    std::map<uint32_t, uint64_t> out;
    for (const auto& module : modules_) {
      Symbolizer symbolizer(SymbolizerOptions{});
      symbolizer.add_module(module);
      ask(symbolizer, *module);
      out[module->id().value] = symbolizer.statistics().bytes;
    }
    return out;
  }

  std::vector<std::shared_ptr<const Module>> modules_ = own_modules();
};

TEST_F(SymbolizerTest, SaysWhichRuntimeIsNotSupportedAndWhere) {
  const TemporaryFolder folder;
  Symbolizer symbolizer(SymbolizerOptions{});
  for (uint32_t id = 1; id <= 2; ++id) {
    const std::string path = folder.path("old" + std::to_string(id));
    // As a position-independent program of Go 1.16 is in its file: with addresses yet to be filled in.
    std::ofstream(path, std::ios::binary)
        << go_test::make_program(PclntabVersion::kGo16, go_test::kText + 0x10000);
    const auto module = module_of(path, id);
    ASSERT_NE(module, nullptr);
    symbolizer.add_module(module);
    EXPECT_EQ(symbolizer.runtime_problem().find("others"), std::string::npos);
    for (int i = 0; i < 3; ++i) ask(symbolizer, *module);
    EXPECT_TRUE(
        symbolizer.runtime_problem().starts_with("go: the Go function table has no addresses"))
        << symbolizer.runtime_problem();
    EXPECT_TRUE(symbolizer.runtime_problem().ends_with(
        id == 1 ? "(" + path + ")" : "(" + folder.path("old1") + " and others)"))
        << symbolizer.runtime_problem();
  }
}

TEST_F(SymbolizerTest, ProgramsThatCanBeNamedHaveNoProblemWithARuntime) {
  Symbolizer symbolizer(SymbolizerOptions{});
  tell(symbolizer, modules_);
  ask_all(symbolizer, 1);
  EXPECT_EQ(symbolizer.runtime_problem(), "");
}

TEST_F(SymbolizerTest, ATableInUseIsOpenedOnce) {
  Symbolizer symbolizer(SymbolizerOptions{});
  tell(symbolizer, modules_);
  ask_all(symbolizer, 20);
  EXPECT_EQ(symbolizer.statistics().opens, modules_.size());
  EXPECT_EQ(symbolizer.statistics().closes, 0U);
  EXPECT_GT(symbolizer.statistics().bytes, 0U);
}

TEST_F(SymbolizerTest, OneLargeTableDoesNotCloseManySmallOnes) {
  uint64_t all = 0;
  uint64_t largest = 0;
  for (const auto& [id, bytes] : sizes()) {
    all += bytes;
    largest = std::max(largest, bytes);
  }
  SymbolizerOptions options;
  options.max_bytes = (all - largest) * 5 / 4;  // of which a part is for guests
  Symbolizer symbolizer(options);
  tell(symbolizer, modules_);
  ask_all(symbolizer, 20);
  // The large one is open beside the budget. That it was met first may cost some a second opening.
  EXPECT_LE(symbolizer.statistics().opens, 2 * modules_.size());
  const uint64_t opens = symbolizer.statistics().opens;
  ask_all(symbolizer, 20);
  EXPECT_EQ(symbolizer.statistics().opens, opens);
}

TEST_F(SymbolizerTest, ASmallerBudgetClosesTablesAndAnswersStayTheSame) {
  Symbolizer symbolizer(SymbolizerOptions{});
  tell(symbolizer, modules_);
  ask_all(symbolizer, 1);
  for (int i = 0; i < 10; ++i) symbolizer.shrink_budget();
  EXPECT_LE(symbolizer.statistics().bytes, 4ULL << 20);  // what is not worth saving more
  EXPECT_GE(symbolizer.statistics().closes, 1U);
  ask_all(symbolizer, 1);
  EXPECT_GT(symbolizer.statistics().opens, modules_.size());
}

class SymbolizerNamesTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_ + "/tmp"); }

  // Innermost first.
  std::vector<std::string> names_at(const CodeAddress& address) {
    std::vector<SourceFrame> frames;
    is_named_ = symbolizer_.symbolize(address, frames);
    std::vector<std::string> names;
    names.reserve(frames.size());
    for (const SourceFrame& frame : frames) names.emplace_back(frame.name);
    return names;
  }
  // A process whose root is the folder.
  void add_process(uint32_t index, uint32_t pid) {
    auto root = std::make_shared<ProcessRoot>();
    root->fd = UniqueFd(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    auto process = std::make_shared<SampledProcess>();
    process->index = index;
    process->pid = pid;
    process->uid = ::getuid();
    process->root = std::move(root);
    symbolizer_.add_process(std::move(process));
  }

  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  Symbolizer symbolizer_{SymbolizerOptions{}};
  bool is_named_ = false;
};

TEST_F(SymbolizerNamesTest, APlaceInAFileHasTheNameOfItsFunction) {
  const auto program = module_of("/proc/self/exe", 1);
  ASSERT_NE(program, nullptr);
  symbolizer_.add_module(program);
  // The program comes first, with what was added to its own addresses.
  uint64_t bias = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;
        return 1;
      },
      &bias);
  const uint64_t place = reinterpret_cast<uint64_t>(&vesta_symbolizer_test_place) - bias;
  const CodeAddress address{place, CodeAddress::Kind::kModule, 1};
  EXPECT_EQ(names_at(address), std::vector<std::string>{"vesta_symbolizer_test_place"});
  EXPECT_TRUE(is_named_);
  EXPECT_EQ(symbolizer_.kind(address), FrameKind::kNative);
  const CodePlace found = symbolizer_.place(address);
  EXPECT_EQ(found.file, "/proc/self/exe");
  EXPECT_LE(found.start, place);
  EXPECT_GT(found.limit, place);
}

TEST_F(SymbolizerNamesTest, AProgramInGoHasNamesWithInlinedCallsAndIsKnownAsGo) {
  const std::string path = folder_ + "/program";
  ASSERT_TRUE(write_file(path, go_test::make_program(PclntabVersion::kGo20)).ok());
  const auto program = module_of(path, 7);
  ASSERT_NE(program, nullptr);
  symbolizer_.add_module(program);
  const CodeAddress inlined{go_test::kText + 0x28, CodeAddress::Kind::kModule, 7};
  EXPECT_EQ(names_at(inlined), (std::vector<std::string>{"main.inner", "main.mid", "main.outer"}));
  const CodeAddress leaf{go_test::kText + go_test::kOuterBytes, CodeAddress::Kind::kModule, 7};
  EXPECT_EQ(names_at(leaf), std::vector<std::string>{"main.leaf"});
  EXPECT_EQ(symbolizer_.kind(leaf), FrameKind::kGo);
}

TEST_F(SymbolizerNamesTest, CodeWithoutAFileIsNamedByItsProcessUntilThatIsForgotten) {
  std::ofstream(folder_ + "/tmp/perf-42.map") << "1000 20 compiled\n";
  add_process(3, 42);
  add_process(4, 43);
  const CodeAddress address{0x1010, CodeAddress::Kind::kAnonymous, 3};
  EXPECT_EQ(names_at(address), std::vector<std::string>{"compiled"});
  EXPECT_TRUE(names_at({0x1010, CodeAddress::Kind::kAnonymous, 4}).empty()) << "of another one";
  EXPECT_TRUE(names_at({0x1020, CodeAddress::Kind::kAnonymous, 3}).empty()) << "behind its end";
  symbolizer_.forget_process(3);
  EXPECT_TRUE(names_at(address).empty());
}

TEST_F(SymbolizerNamesTest, WhatNobodyKnowsHasNoName) {
  EXPECT_TRUE(names_at({0x1000, CodeAddress::Kind::kModule, 99}).empty());
  EXPECT_TRUE(names_at({0x1000, CodeAddress::Kind::kAnonymous, 99}).empty());
  EXPECT_TRUE(names_at({1, CodeAddress::Kind::kRuntime, 99}).empty());
  EXPECT_FALSE(is_named_);
  // A tagged frame of a runtime that does not name frames.
  add_process(5, 44);
  symbolizer_.add_runtime_frame({5, 2, {1, 2}, 1});
  EXPECT_TRUE(names_at({1, CodeAddress::Kind::kRuntime, 5}).empty());
}

TEST_F(SymbolizerNamesTest, NamesComeAgainAfterTheirTableWasClosed) {
  const auto program = module_of("/proc/self/exe", 1);
  ASSERT_NE(program, nullptr);
  symbolizer_.add_module(program);
  const ElfHead::Segment& code = program->code_segments()[0];
  const CodeAddress address{code.address + code.file_bytes / 2, CodeAddress::Kind::kModule, 1};
  const std::vector<std::string> before = names_at(address);
  ASSERT_FALSE(before.empty());
  for (int i = 0; i < 10; ++i) symbolizer_.shrink_budget();
  EXPECT_EQ(names_at(address), before);
}

}  // namespace
}  // namespace vesta::agent
