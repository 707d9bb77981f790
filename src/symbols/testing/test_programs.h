// Programs that tests compile, and addr2line as the judge of what is at their addresses. Files live
// in a folder that goes with the object. For tests only; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/elf/elf_file.h"
#include "symbols/source_frame.h"
#include "testing/temporary_folder.h"

namespace vesta::testing {

class TestFolder {
 public:
  const std::string& path() const { return folder_.path(); }
  std::string file(std::string_view name) const { return folder_.path(name); }
  // Writes a file, with the folders above it.
  std::string write(std::string_view name, std::string_view text) const;
  // Runs a shell command in the folder; false when it fails, with its output in the test's log.
  bool run(const std::string& command) const;

 private:
  TemporaryFolder folder_;
};

// True when a command can be found.
bool has_tool(const std::string& name);

// Two files, a.cc and b.c, with what makes symbolization hard: inlined calls three deep, templates,
// lambdas, file-local functions and types, namespaces, functions split into hot and cold parts.
void write_sources(const TestFolder& folder);
// Builds them into `name`; empty when the compiler fails. `flags` for both, such as "-O2 -g".
std::string build_program(const TestFolder& folder, const std::string& compiler,
                          const std::string& flags, const std::string& name);

struct JudgedFrame {
  std::string name;
  std::string file;
  uint32_t line = 0;
};
// What `judge` ("addr2line" of binutils, or "llvm-addr2line") says about each address, innermost
// first.
std::vector<std::vector<JudgedFrame>> ask_judge(const TestFolder& folder, const std::string& judge,
                                                const std::string& program,
                                                const std::vector<uint64_t>& addresses);

// Every `step`th address of the code sections that compilers fill.
std::vector<uint64_t> code_addresses(const ElfFile& file, uint64_t step, size_t at_most);

struct Agreement {
  size_t addresses = 0;
  size_t depth = 0;
  size_t names = 0;      // and depth
  size_t lines = 0;      // of the addresses with equal names
  std::string examples;  // of disagreement
};
// Compares the frames of one address with the judge's.
void compare(uint64_t address, const std::vector<SourceFrame>& ours,
             const std::vector<JudgedFrame>& judge, Agreement& sum);

}  // namespace vesta::testing
