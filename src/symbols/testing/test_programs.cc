#include "symbols/testing/test_programs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace vesta::testing {
namespace {

constexpr std::string_view kCxxSource = R"(
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

extern "C" int c_entry(int);
volatile int sink;

namespace {
struct Hidden {
  int value;
  __attribute__((noinline)) int spin(int n) {
    for (int i = 0; i < n; ++i) value = value * 31 + i % 7;
    return value;
  }
};
__attribute__((noinline)) int only_here(int n) {
  Hidden hidden{n};
  return hidden.spin(n) + 1;
}
inline __attribute__((always_inline)) int level3(int n) { sink += n; return n * sink + 3; }
inline __attribute__((always_inline)) int level2(int n) { int r = 0; for (int i = 0; i < n; ++i) r += level3(i + n); return r; }
inline __attribute__((always_inline)) int level1(int n) { return level2(n) + level2(n + 1); }
}  // namespace

static __attribute__((noinline)) int file_local(int n) { return level1(n) ^ level1(n * 2); }

namespace app::deep {
template <class T>
struct Stack {
  std::vector<T> items;
  void push(T item) { items.push_back(std::move(item)); }
  T pop() { T top = items.back(); items.pop_back(); return top; }
  template <class F> void each(F f) { for (auto& item : items) f(item); }
};
struct Shape {
  virtual ~Shape() = default;
  virtual int area(int n) const = 0;
};
struct Square : Shape {
  __attribute__((noinline)) int area(int n) const override {
    if (n < 0) { std::fprintf(stderr, "bad %d\n", n); std::abort(); }
    return n * n + level1(n);
  }
};
__attribute__((noinline)) int run(int n) {
  Stack<std::string> words;
  for (int i = 0; i < n; ++i) words.push(std::to_string(i));
  int total = 0;
  words.each([&](std::string& word) {
    auto nested = [&total](int x) { total += level2(x); };
    nested(static_cast<int>(word.size()));
  });
  std::map<std::string, int> counts;
  for (auto& word : words.items) ++counts[word];
  std::sort(words.items.begin(), words.items.end(), [](auto& a, auto& b) { return a > b; });
  std::function<int(int)> f = [&](int x) { return x + total; };
  struct Local { static __attribute__((noinline)) int twice(int x) { return x * 2 + sink; } };
  while (!words.items.empty()) total += static_cast<int>(words.pop().size());
  return f(total) + Local::twice(n) + static_cast<int>(counts.size());
}
}  // namespace app::deep

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 10;
  app::deep::Square square;
  app::deep::Shape* shape = &square;
  std::printf("%d\n", app::deep::run(n) + only_here(n) + file_local(n) + shape->area(n) + c_entry(n));
  return 0;
}
)";

constexpr std::string_view kCSource = R"(
#include <stdlib.h>
#include <string.h>
static int table[64];
static inline int clamp(int n) { return n < 0 ? 0 : n > 63 ? 63 : n; }
static inline int put(int at, int n) { table[clamp(at)] = n; return table[clamp(at / 2)]; }
static __attribute__((noinline)) int compare(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}
int __attribute__((weak)) may_be_replaced(int n) { return put(n, n); }
int c_entry(int n) {
  char text[64];
  memset(text, n, sizeof text);
  for (int i = 0; i < 64; ++i) put(i, may_be_replaced(i) + text[i]);
  qsort(table, 64, sizeof(int), compare);
  return table[clamp(n)];
}
)";

uint32_t line_number(std::string_view text) {
  uint32_t line = 0;
  std::from_chars(text.data(), text.data() + text.size(), line);
  return line;
}

std::string_view file_part(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The judge cuts neither; a clone keeps the name of what it was made from in DWARF.
std::string_view without_clone(std::string_view name) {
  for (const std::string_view suffix : {".cold", ".part.", ".constprop.", ".isra."}) {
    if (const size_t at = name.find(suffix); at != std::string_view::npos) {
      name = name.substr(0, at);
    }
  }
  return name;
}

bool same_name(const SourceFrame& ours, std::string_view judge) {
  judge = without_clone(judge);
  if (without_clone(ours.linkage_name) == judge || without_clone(ours.name) == judge) return true;
  // For a function without a linkage name the judge says the last part of it alone.
  return ours.linkage_name.empty() && ours.name.size() > judge.size() + 2 &&
         ours.name.ends_with(judge) &&
         ours.name.substr(ours.name.size() - judge.size() - 2, 2) == "::";
}

}  // namespace

std::string TestFolder::write(std::string_view name, std::string_view text) const {
  const std::string path = file(name);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

bool TestFolder::run(const std::string& command) const {
  const std::string log = file("log");
  // NOLINTNEXTLINE(cert-env33-c): tests run compilers.
  if (std::system(fmt::format("cd '{}' && {{ {} ; }} >'{}' 2>&1", path(), command, log).c_str()) ==
      0) {
    return true;
  }
  std::stringstream text;
  text << std::ifstream(log).rdbuf();
  ADD_FAILURE() << command << "\n" << text.str();
  return false;
}

bool has_tool(const std::string& name) {
  // NOLINTNEXTLINE(cert-env33-c): as above.
  return std::system(fmt::format("command -v {} >/dev/null 2>&1", name).c_str()) == 0;
}

void write_sources(const TestFolder& folder) {
  folder.write("a.cc", kCxxSource);
  folder.write("b.c", kCSource);
}

std::string build_program(const TestFolder& folder, const std::string& compiler,
                          const std::string& flags, const std::string& name) {
  write_sources(folder);
  const bool clang = compiler.starts_with("clang");
  const std::string cxx = clang ? "clang++" : "g++";
  const bool built = folder.run(
      fmt::format("{0} {1} -c a.cc -o a.o && {2} {1} -c b.c -o b.o && {0} {1} {3} a.o b.o -o {4}",
                  cxx, flags, clang ? "clang" : "gcc", "-Wl,--build-id=sha1", name));
  return built ? folder.file(name) : std::string();
}

std::vector<std::vector<JudgedFrame>> ask_judge(const TestFolder& folder, const std::string& judge,
                                                const std::string& program,
                                                const std::vector<uint64_t>& addresses) {
  std::string question;
  for (const uint64_t address : addresses) question += fmt::format("{:#x}\n", address);
  folder.write("addresses", question);
  // Without a symbol table: addr2line puts the symbol around an address in the place of the
  // innermost inlined function when that one has no linkage name.
  if (!folder.run(fmt::format("objcopy --strip-all --keep-section='.debug_*' "
                              "--keep-section='.zdebug_*' '{0}' judged && "
                              "{1} -i -f -a -e judged <addresses >answers 2>/dev/null",
                              program, judge))) {
    return {};
  }
  std::vector<std::vector<JudgedFrame>> out;
  std::ifstream answers(folder.file("answers"));
  std::string line;
  while (std::getline(answers, line)) {
    if (line.starts_with("0x")) {
      out.emplace_back();
      continue;
    }
    JudgedFrame frame;
    frame.name = line;
    if (!std::getline(answers, line) || out.empty()) break;
    const size_t colon = line.rfind(':');
    if (colon != std::string::npos) {
      frame.file = line.substr(0, colon);
      frame.line = line_number(std::string_view(line).substr(colon + 1));
    }
    out.back().push_back(std::move(frame));
  }
  return out;
}

std::vector<uint64_t> code_addresses(const ElfFile& file, uint64_t step, size_t at_most) {
  std::vector<uint64_t> out;
  for (const ElfSection& section : file.sections()) {
    if ((section.flags & SHF_EXECINSTR) == 0 || !section.name.starts_with(".text")) continue;
    for (uint64_t at = 0; at < section.size; at += step) out.push_back(section.address + at);
  }
  if (out.size() > at_most) {
    // Evenly, not only the beginning.
    std::vector<uint64_t> fewer;
    for (size_t i = 0; i < at_most; ++i) fewer.push_back(out[i * out.size() / at_most]);
    return fewer;
  }
  return out;
}

void compare(uint64_t address, const std::vector<SourceFrame>& ours,
             const std::vector<JudgedFrame>& judge, Agreement& sum) {
  // Start-up code without debug information: no judge.
  if (judge.empty() || judge.front().name == "??" || judge.front().file == "??") return;
  if (judge.size() == 1 && judge.front().line == 0) return;
  ++sum.addresses;
  const auto note = [&](std::string_view what) {
    if (sum.examples.size() > 4000) return;
    sum.examples += fmt::format("{:#x} {}\n", address, what);
    for (const SourceFrame& frame : ours) {
      sum.examples += fmt::format("  ours  {} [{}] {}:{}\n", frame.name, frame.linkage_name,
                                  frame.file, frame.line);
    }
    for (const JudgedFrame& frame : judge) {
      sum.examples += fmt::format("  judge {} {}:{}\n", frame.name, frame.file, frame.line);
    }
  };
  if (ours.size() != judge.size()) return note("depth");
  ++sum.depth;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (!same_name(ours[i], judge[i].name)) return note("name");
  }
  ++sum.names;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].line != judge[i].line ||
        (judge[i].line != 0 && file_part(ours[i].file) != file_part(judge[i].file))) {
      return note("line");
    }
  }
  ++sum.lines;
}

}  // namespace vesta::testing
