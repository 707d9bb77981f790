#include "symbols/go/go_symbols.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/test_requirements.h"
#include "symbols/go/test_program.h"
#include "testing/temporary_folder.h"

namespace vesta {
namespace {

constexpr PclntabVersion kVersions[] = {PclntabVersion::kGo2, PclntabVersion::kGo16,
                                        PclntabVersion::kGo18, PclntabVersion::kGo20};

std::shared_ptr<const GoSymbols> open_bytes(std::string bytes) {
  auto elf = ElfFile::parse(InputFile::from_bytes(std::move(bytes)));
  EXPECT_TRUE(elf.ok()) << elf.error().message;
  if (!elf) return nullptr;
  auto symbols = GoSymbols::open(*elf);
  EXPECT_TRUE(symbols.ok()) << symbols.error().message;
  return symbols ? *symbols : nullptr;
}

std::string describe(const GoSymbols& symbols, uint64_t address) {
  std::vector<SourceFrame> frames;
  if (!symbols.lookup(address, frames)) return "?";
  std::string text;
  for (const SourceFrame& frame : frames) {
    if (!text.empty()) text += " < ";
    text +=
        std::string(frame.name) + " " + std::string(frame.file) + ":" + std::to_string(frame.line);
  }
  return text;
}

TEST(GoSymbols, ReadsEveryLayoutWithoutSectionHeaders) {
  for (const PclntabVersion version : kVersions) {
    const auto symbols = open_bytes(go_test::make_program(version));
    ASSERT_NE(symbols, nullptr);
    EXPECT_EQ(describe(*symbols, go_test::kText), "main.outer /src/main.go:10");
    EXPECT_EQ(describe(*symbols, go_test::kText + 0x35), "main.outer /src/main.go:12");
    EXPECT_EQ(describe(*symbols, go_test::kText + 0x40), "main.leaf /src/asm.s:5");
    EXPECT_EQ(describe(*symbols, go_test::kText - 1), "?");
    EXPECT_EQ(describe(*symbols, go_test::kText + 0x60), "?");
    EXPECT_EQ(symbols->has_inlining(), version >= PclntabVersion::kGo18);
  }
}

TEST(GoSymbols, UnfoldsInlinedCallsInnermostFirst) {
  for (const PclntabVersion version : {PclntabVersion::kGo18, PclntabVersion::kGo20}) {
    const auto symbols = open_bytes(go_test::make_program(version));
    ASSERT_NE(symbols, nullptr);
    EXPECT_EQ(describe(*symbols, go_test::kText + 0x18),
              "main.mid /src/main.go:21 < main.outer /src/main.go:10");
    EXPECT_EQ(describe(*symbols, go_test::kText + 0x2f),
              "main.inner /src/main.go:31 < main.mid /src/main.go:21 < main.outer /src/main.go:10");
  }
}

TEST(GoSymbols, TellsWhereFunctionsBegin) {
  const auto symbols = open_bytes(go_test::make_program(PclntabVersion::kGo20));
  ASSERT_NE(symbols, nullptr);
  std::vector<SourceFrame> frames;
  ASSERT_TRUE(symbols->lookup(go_test::kText + 0x10, frames));
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].start_line, 20U);
  EXPECT_EQ(frames[1].start_line, 9U);
}

TEST(GoSymbols, GivesFunctionsAndStackDepthsToTheUnwinder) {
  for (const PclntabVersion version : kVersions) {
    const auto symbols = open_bytes(go_test::make_program(version));
    ASSERT_NE(symbols, nullptr);
    std::vector<GoFunction> functions;
    symbols->for_each_function([&](const GoFunction& function) {
      functions.push_back(function);
      return true;
    });
    ASSERT_EQ(functions.size(), 2U);
    EXPECT_EQ(functions[0].name, "main.outer");
    EXPECT_EQ(functions[0].entry, go_test::kText);
    EXPECT_EQ(functions[0].end, go_test::kText + go_test::kOuterBytes);
    EXPECT_FALSE(functions[0].is_assembly);
    EXPECT_TRUE(functions[1].is_assembly);
    EXPECT_EQ(functions[0].is_top_frame(), version != PclntabVersion::kGo2);
    EXPECT_EQ(functions[1].writes_sp(), version != PclntabVersion::kGo2);
    std::vector<GoStackDelta> rows;
    ASSERT_TRUE(symbols->stack_deltas(functions[0], rows).ok());
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].sp_delta, 0);
    EXPECT_EQ(rows[1].pc, go_test::kText + 4);
    EXPECT_EQ(rows[1].sp_delta, 24);
    EXPECT_EQ(rows[2].pc, go_test::kText + 0x3c);
    EXPECT_EQ(rows[2].sp_delta, 0);
  }
}

TEST(GoSymbols, EndsWhereAnInlineTreeGoesInCircles) {
  go_test::Table table = go_test::make_table(PclntabVersion::kGo20);
  std::string program = go_test::make_program(PclntabVersion::kGo20);
  const size_t tree = program.find(table.funcdata);
  ASSERT_NE(tree, std::string::npos);
  go_test::put_at(program, tree + 8, int32_t{0x10});  // main.mid called from itself
  const auto symbols = open_bytes(program);
  ASSERT_NE(symbols, nullptr);
  std::vector<SourceFrame> frames;
  ASSERT_TRUE(symbols->lookup(go_test::kText + 0x10, frames));
  EXPECT_LE(frames.size(), 129U);
  EXPECT_EQ(frames.back().name, "main.outer");
}

TEST(GoSymbols, RefusesWhatIsNoGoProgram) {
  const auto elf = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(elf.ok());
  const auto symbols = GoSymbols::open(*elf);
  ASSERT_FALSE(symbols.ok());
  EXPECT_EQ(symbols.error().code, ErrorCode::kNotFound);
}

TEST(GoSymbols, SurvivesEveryCutAndManyBrokenBytes) {
  for (const PclntabVersion version : kVersions) {
    const std::string good = go_test::make_program(version);
    for (size_t i = 0; i < good.size(); ++i) {
      std::string cut = good.substr(0, i);
      std::string broken = good;
      broken[i] = static_cast<char>(~broken[i]);
      for (std::string* bytes : {&cut, &broken}) {
        const auto elf = ElfFile::parse(InputFile::from_bytes(*bytes));
        if (!elf) continue;
        const auto symbols = GoSymbols::open(*elf);
        if (!symbols) continue;
        (*symbols)->for_each_function([&](const GoFunction& function) {
          std::vector<GoStackDelta> rows;
          const bool ok = (*symbols)->stack_deltas(function, rows).ok();
          EXPECT_EQ(ok, !rows.empty());
          return true;
        });
        for (uint64_t at = 0; at < 0x60; at += 7) describe(**symbols, go_test::kText + at);
      }
    }
  }
}

// Programs that Go itself built.

constexpr const char* kProgram = R"(package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"sort"
	"strconv"
)

var sink []string

//go:noinline
func leaf() {
	pcs := make([]uintptr, 16)
	n := runtime.Callers(2, pcs)
	frames := runtime.CallersFrames(pcs[:n])
	line := fmt.Sprintf("chain %x", pcs[0]-1)
	for {
		frame, more := frames.Next()
		line += fmt.Sprintf(" %s:%d", frame.Function, frame.Line)
		if !more || frame.Function == "main.outer" {
			break
		}
	}
	sink = append(sink, line)
}

func inner(n int) int {
	leaf()
	return n + 1
}

func mid(n int) int { return inner(n) * 2 }

//go:noinline
func outer(n int) int { return mid(n) + 3 }

// For every address on standard input: what the runtime itself says about it.
func main() {
	entry := reflect.ValueOf(main).Pointer()
	fmt.Printf("main %x\n", entry)
	outer(len(os.Args))
	sort.Strings(sink)
	fmt.Println(sink[0])
	scanner := bufio.NewScanner(os.Stdin)
	for scanner.Scan() {
		pc, _ := strconv.ParseUint(scanner.Text(), 16, 64)
		frame, _ := runtime.CallersFrames([]uintptr{uintptr(pc) + uintptr(entry) + 1}).Next()
		fmt.Printf("%s %s:%d\n", frame.Function, frame.File, frame.Line)
	}
}
)";

struct Toolchain {
  std::string go;
  std::string name;
};

std::vector<Toolchain> toolchains() {
  std::vector<Toolchain> found;
  std::set<std::filesystem::path> seen;
  std::vector<std::string> candidates;
  std::stringstream path(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) candidates.push_back(folder + "/go");
  candidates.emplace_back("/usr/bin/go");
  candidates.emplace_back("/usr/lib/go-1.19/bin/go");
  for (const std::string& go : candidates) {
    std::error_code error;
    const auto real = std::filesystem::canonical(go, error);
    if (error || access(go.c_str(), X_OK) != 0 || !seen.insert(real).second) continue;
    found.push_back({go, real.string()});
  }
  return found;
}

std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  char buffer[65536];
  for (size_t n = 0; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) out.append(buffer, n);
  pclose(pipe);
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class GoToolchain : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "main.go") << kProgram;
    std::ofstream(folder_ / "go.mod") << "module example.com/program\n";
  }

  std::string build(const Toolchain& toolchain, const std::string& flags) {
    std::string program = (folder_ / "program").string();
    const std::string command = "cd " + folder_.string() +
                                " && GOFLAGS= GOTOOLCHAIN=local CGO_ENABLED=0 " + toolchain.go +
                                " build " + flags + " -o " + program + " main.go 2>&1";
    const std::string out = output_of(command + " || echo failed");
    EXPECT_EQ(out, "") << command;
    return program;
  }

  TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
};

// The file as sstrip leaves it: nothing but segments.
std::string without_section_headers(const std::string& program) {
  std::ifstream in(program, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  go_test::put_at(bytes, offsetof(Elf64_Ehdr, e_shoff), uint64_t{0});
  go_test::put_at(bytes, offsetof(Elf64_Ehdr, e_shnum), uint16_t{0});
  go_test::put_at(bytes, offsetof(Elf64_Ehdr, e_shstrndx), uint16_t{0});
  return bytes;
}

// The runtime prints type arguments as "[...]".
std::string as_printed(std::string_view name) {
  const size_t open = name.find('[');
  const size_t close = name.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close <= open) {
    return std::string(name);
  }
  return std::string(name.substr(0, open)) + "[...]" + std::string(name.substr(close + 1));
}

void compare_with_runtime(const std::string& program, const std::filesystem::path& folder,
                          bool sections) {
  const auto elf = sections
                       ? ElfFile::open(program)
                       : ElfFile::parse(InputFile::from_bytes(without_section_headers(program)));
  ASSERT_TRUE(elf.ok());
  const auto opened = GoSymbols::open(*elf);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const GoSymbols& symbols = **opened;
  EXPECT_TRUE(symbols.has_inlining());

  uint64_t main_entry = 0;
  std::vector<uint64_t> addresses;
  size_t with_rows = 0;
  symbols.for_each_function([&](const GoFunction& function) {
    if (function.name.starts_with("go:")) return true;  // marks that the linker sets
    if (function.name == "main.main") main_entry = function.entry;
    // The last bytes may be padding, about which nobody knows anything.
    const uint64_t bytes = std::min<uint64_t>(function.end - function.entry, 1 << 14);
    for (uint64_t at = 0; at + 64 < bytes; at += 13) addresses.push_back(function.entry + at);
    std::vector<GoStackDelta> rows;
    const bool has_rows = symbols.stack_deltas(function, rows).ok();
    with_rows += has_rows ? 1 : 0;
    EXPECT_TRUE(has_rows || function.is_assembly) << function.name;
    EXPECT_TRUE(!has_rows || function.is_assembly || rows[0].sp_delta == 0) << function.name;
    return true;
  });
  ASSERT_NE(main_entry, 0U);
  EXPECT_GT(with_rows, 1000U);
  ASSERT_GT(addresses.size(), 10'000U);

  std::ofstream input(folder / "addresses");
  for (const uint64_t address : addresses) input << std::hex << address - main_entry << '\n';
  input.close();
  const auto lines = lines_of(output_of(program + " < " + (folder / "addresses").string()));
  ASSERT_EQ(lines.size(), addresses.size() + 2);

  const uint64_t bias = std::stoull(lines[0].substr(5), nullptr, 16) - main_entry;
  std::stringstream chain(lines[1]);
  std::string word;
  chain >> word >> word;
  std::vector<SourceFrame> frames;
  ASSERT_TRUE(symbols.lookup(std::stoull(word, nullptr, 16) - bias, frames));
  ASSERT_EQ(frames.size(), 3U);  // inner and mid are inlined into outer
  for (const SourceFrame& frame : frames) {
    chain >> word;
    EXPECT_EQ(std::string(frame.name) + ":" + std::to_string(frame.line), word);
  }

  size_t inlined = 0;
  size_t wrong = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    frames.clear();
    ASSERT_TRUE(symbols.lookup(addresses[i], frames));
    if (frames.size() > 1) ++inlined;
    const std::string place =
        " " + std::string(frames[0].file) + ":" + std::to_string(frames[0].line);
    const std::string ours = as_printed(frames[0].name) + place;
    // Go before 1.20 has no name for what lies first in its own table of names.
    if (lines[i + 2].starts_with(" ")) continue;
    const bool same = lines[i + 2] == ours || lines[i + 2] == std::string(frames[0].name) + place;
    if (!same && ++wrong < 10) {
      ADD_FAILURE() << std::hex << addresses[i] << ": " << ours << ", Go says " << lines[i + 2];
    }
  }
  EXPECT_EQ(wrong, 0U) << "of " << addresses.size();
  EXPECT_GT(inlined, addresses.size() / 20);
}

TEST_F(GoToolchain, AgreesWithTheRuntimeOnEveryKindOfProgram) {
  const auto all = toolchains();
  VESTA_REQUIRE_OR_SKIP(!all.empty(), "there is no Go compiler (package golang-go)");
  for (const Toolchain& toolchain : all) {
    for (const char* flags :
         {"", "-ldflags='-s -w'", "-buildmode=pie", "-buildmode=pie -ldflags='-s -w'"}) {
      SCOPED_TRACE(toolchain.name + " build " + flags);
      const std::string program = build(toolchain, flags);
      compare_with_runtime(program, folder_, true);
      if (std::string_view(flags).find("-s") == std::string_view::npos) continue;
      SCOPED_TRACE("without section headers");
      compare_with_runtime(program, folder_, false);
    }
  }
}

TEST_F(GoToolchain, AgreesWithNmAndAddr2line) {
  const auto all = toolchains();
  VESTA_REQUIRE_OR_SKIP(!all.empty(), "there is no Go compiler (package golang-go)");
  for (const Toolchain& toolchain : all) {
    SCOPED_TRACE(toolchain.name);
    const std::string program = build(toolchain, "");
    const auto elf = ElfFile::open(program);
    ASSERT_TRUE(elf.ok());
    const auto symbols = GoSymbols::open(*elf);
    ASSERT_TRUE(symbols.ok());
    std::set<std::pair<uint64_t, std::string>> named;
    for (const std::string& line : lines_of(output_of(toolchain.go + " tool nm " + program))) {
      std::stringstream words(line);
      std::string address;
      std::string kind;
      words >> address >> kind;
      std::string name = line.substr(std::min(line.size(), size_t(words.tellg()) + 1));
      if (kind == "T" || kind == "t") named.emplace(std::stoull(address, nullptr, 16), name);
    }
    size_t known = 0;
    size_t total = 0;
    std::string input;
    std::vector<std::string> expected;
    (*symbols)->for_each_function([&](const GoFunction& function) {
      ++total;
      // nm says name.abi0 for assembly.
      for (const char* suffix : {"", ".abi0", ".abiinternal"}) {
        if (named.contains({function.entry, std::string(function.name) + suffix})) {
          ++known;
          break;
        }
      }
      std::vector<SourceFrame> frames;
      if (total % 7 == 0 && (*symbols)->lookup(function.entry + 1, frames)) {
        char text[32];
        std::snprintf(text, sizeof(text), "0x%lx\n",
                      static_cast<unsigned long>(function.entry + 1));
        input += text;
        expected.emplace_back(frames.back().name);
        expected.push_back(std::string(frames[0].file) + ":" + std::to_string(frames[0].line));
      }
      return true;
    });
    EXPECT_GT(total, 1000U);
    // Generic functions go by a shorter name in the table ("[...]").
    EXPECT_GE(known * 100, total * 95) << known << " of " << total;
    std::ofstream(folder_ / "addresses") << input;
    const auto answers = lines_of(output_of(toolchain.go + " tool addr2line " + program + " < " +
                                            (folder_ / "addresses").string()));
    ASSERT_EQ(answers.size(), expected.size());
    size_t wrong = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      if (answers[i] != expected[i] && ++wrong < 10) {
        std::printf("addr2line: %s, ours: %s\n", answers[i].c_str(), expected[i].c_str());
      }
    }
    EXPECT_LE(wrong * 100, expected.size() * 2) << wrong << " of " << expected.size();
  }
}

}  // namespace
}  // namespace vesta
