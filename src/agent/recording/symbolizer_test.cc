#include "agent/recording/symbolizer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <map>

namespace vesta {
namespace {

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
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) continue;
    auto head = read_elf_head(fd.get());
    if (!head || head->code.empty()) continue;
    Module::Description about;
    about.id = ModuleId(static_cast<uint32_t>(modules.size() + 1));
    about.path = path;
    about.head = *head;
    modules.push_back(std::make_shared<const Module>(std::move(about), std::move(fd)));
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

}  // namespace
}  // namespace vesta
