// The unwinder on recorded stacks of a real program, against what libgcc's _Unwind_Backtrace said
// there and then. The program and its format: tests/programs/unwind/README.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/test_requirements.h"
#include "symbols/go/go_symbols.h"
#include "testing/temporary_folder.h"
#include "unwind/stack_unwinder.h"

namespace vesta {
namespace {

constexpr uint64_t kFileMagic = 0x3143524f54534556;
constexpr uint64_t kRecordMagic = 0x314b434154534556;

struct Record {
  uint64_t leaf = 0;
  uint64_t return_address = 0;
  Registers registers;
  std::vector<uint64_t> frames;
  struct Region {
    uint64_t address;
    std::string bytes;
  };
  std::vector<Region> regions;
};

// The victim's output, as it comes.
class Victim {
 public:
  explicit Victim(const std::string& command) {
    // NOLINTNEXTLINE(cert-env33-c): a fixed command of a test.
    pipe_ = ::popen(command.c_str(), "re");
  }
  ~Victim() {
    if (pipe_ != nullptr) ::pclose(pipe_);
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  std::optional<std::string> maps() {
    if (word() != kFileMagic) return std::nullopt;
    return bytes(word());
  }
  bool next(Record& record) {
    record = {};
    if (word() != kRecordMagic) return false;
    word();  // sequence number
    record.leaf = word();
    record.return_address = word();
    for (uint64_t& value : record.registers.leaf) value = word();
    record.registers.ip = record.leaf;
    record.registers.bp = record.registers.leaf[6];
    record.registers.sp = record.registers.leaf[7];
    const uint64_t frames = word();
    const uint64_t regions = word();
    for (uint64_t i = 0; i < frames && is_good_; ++i) record.frames.push_back(word());
    for (uint64_t i = 0; i < regions && is_good_; ++i) {
      const uint64_t address = word();
      record.regions.push_back({address, bytes(word())});
    }
    return is_good_;
  }

 private:
  uint64_t word() {
    uint64_t value = 0;
    if (!is_good_ || std::fread(&value, sizeof(value), 1, pipe_) != 1) is_good_ = false;
    return value;
  }
  std::string bytes(uint64_t count) {
    std::string out(is_good_ && count < 1 << 28 ? count : 0, '\0');
    if (std::fread(out.data(), 1, out.size(), pipe_) != count) is_good_ = false;
    return out;
  }

  FILE* pipe_ = nullptr;
  bool is_good_ = true;
};

// The victim's address space, from its maps, with the tables of the files on this machine.
class RecordedProcess final : public UnwindTarget {
 public:
  explicit RecordedProcess(const std::string& maps) {
    std::istringstream lines(maps);
    for (std::string line; std::getline(lines, line);) add_line(line);
  }

  void set_memory(const Record& record) {
    memory_ = {};
    for (const Record::Region& region : record.regions) memory_.add(region.address, region.bytes);
  }

  bool find_mapping(uint64_t pc, Mapping& mapping) override {
    for (const Mapping& candidate : mappings_) {
      if (pc < candidate.start || pc >= candidate.end) continue;
      mapping = candidate;
      return true;
    }
    return false;
  }
  Read read_word(uint64_t address, uint64_t& value) override {
    return memory_.read_word(address, value);
  }

 private:
  void add_line(const std::string& line) {
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t offset = 0;
    char mode[8] = {};
    char path[512] = {};
    // NOLINTNEXTLINE(cert-err34-c): a line that does not fit is one of no interest.
    const int fields = std::sscanf(line.c_str(), "%lx-%lx %7s %lx %*s %*s %511s", &start, &end,
                                   mode, &offset, path);
    if (fields < 5 || mode[2] != 'x' || path[0] != '/') return;
    auto file = ElfFile::open(path);
    ASSERT_TRUE(file.ok());
    auto table = build_unwind_table(**file);
    ASSERT_TRUE(table.ok());
    ASSERT_TRUE(validate(*table).ok());
    const auto address = (*file)->address_of_offset(offset);
    ASSERT_TRUE(address.has_value());
    tables_.push_back(std::make_unique<UnwindTable>(std::move(table).value()));
    mappings_.push_back({start, end, start - *address, false, tables_.back().get()});
  }

  std::vector<std::unique_ptr<UnwindTable>> tables_;
  std::vector<Mapping> mappings_;
  CopiedMemory memory_;
};

std::string difference(const Record& record, const UnwoundStack& stack) {
  std::vector<uint64_t> wanted = {record.leaf | VESTA_FRAME_EXACT, record.return_address};
  for (const uint64_t frame : record.frames) {
    // What a signal handler returns to was not called by what the signal hit; libgcc does not tell.
    if ((frame & VESTA_FRAME_EXACT) != 0) wanted.back() |= VESTA_FRAME_EXACT;
    wanted.push_back(frame);
  }
  if (stack.result == VESTA_UNWIND_COMPLETE && stack.frames == wanted) return {};
  size_t same = 0;
  while (same < wanted.size() && same < stack.frames.size() && wanted[same] == stack.frames[same]) {
    ++same;
  }
  return fmt::format("result {}, {} frames instead of {}, equal up to {}: {:#x} instead of {:#x}",
                     static_cast<int>(stack.result), stack.frames.size(), wanted.size(), same,
                     same < stack.frames.size() ? stack.frames[same] : 0,
                     same < wanted.size() ? wanted[same] : 0);
}

TEST(UnwindOracleTest, FindsTheFramesThatLibgccFinds) {
  constexpr int kStacks = 2000;
  Victim victim(
      fmt::format(VESTA_UNWIND_VICTIM " --count {} --seed 7 --depth 60 --memory", kStacks));
  const auto maps = victim.maps();
  ASSERT_TRUE(maps.has_value()) << "the victim did not start";
  RecordedProcess process(*maps);
  const StackUnwinder unwinder(process);
  Record record;
  int same = 0;
  int total = 0;
  size_t frames = 0;
  size_t signals = 0;
  size_t alternate = 0;
  for (; victim.next(record); ++total) {
    process.set_memory(record);
    const std::string text = difference(record, unwinder.unwind(record.registers));
    if (text.empty()) {
      ++same;
    } else if (total - same < 5) {
      ADD_FAILURE() << "stack " << total << ": " << text;
    }
    frames += record.frames.size();
    alternate += record.regions.size() == 2 ? 1 : 0;
    for (const uint64_t frame : record.frames) signals += (frame & VESTA_FRAME_EXACT) != 0 ? 1 : 0;
  }
  fmt::print(
      "{} of {} stacks equal, {:.1f} frames and {:.1f} signal frames on average, {} went over two "
      "stacks\n",
      same, total, static_cast<double>(frames) / total, static_cast<double>(signals) / total,
      alternate);
  EXPECT_EQ(total, kStacks);
  EXPECT_EQ(same, kStacks);
  EXPECT_GT(signals, 1000U);
  EXPECT_GT(alternate, 100U);
}

// A stack that the kernel side gave up on at its first frame is finished to the same end.
TEST(UnwindOracleTest, ResumesAtTheLeafAndSaysWhenTooLittleWasCopied) {
  Victim victim(VESTA_UNWIND_VICTIM " --count 100 --seed 11 --depth 30 --memory");
  const auto maps = victim.maps();
  ASSERT_TRUE(maps.has_value());
  RecordedProcess process(*maps);
  const StackUnwinder unwinder(process);
  Record record;
  int resumed = 0;
  while (victim.next(record)) {
    process.set_memory(record);
    const UnwoundStack whole = unwinder.unwind(record.registers);
    vesta_resume at_leaf{};
    at_leaf.ip = record.leaf;
    at_leaf.sp = record.registers.sp;
    at_leaf.bp = record.registers.bp;
    at_leaf.has_registers = 1;
    std::vector<uint64_t> frames = {record.leaf | VESTA_FRAME_EXACT};
    EXPECT_EQ(unwinder.resume(at_leaf, record.registers.leaf, frames), whole.result);
    EXPECT_EQ(frames, whole.frames);
    ++resumed;
    // Too little of the stack was copied.
    Record part = record;
    part.regions[0].bytes.resize(std::min<size_t>(part.regions[0].bytes.size(), 64));
    if (part.regions.size() > 1) part.regions.pop_back();
    process.set_memory(part);
    const UnwoundStack short_stack = unwinder.unwind(record.registers);
    EXPECT_EQ(short_stack.result, VESTA_UNWIND_STACK_CUT);
    EXPECT_TRUE(
        std::equal(short_stack.frames.begin(), short_stack.frames.end(), whole.frames.begin()));
  }
  EXPECT_EQ(resumed, 100);
}

// runtime.Callers leaves out the assembly through which reflection calls.
bool is_hidden_from_callers(const GoSymbols& symbols, uint64_t frame) {
  std::vector<SourceFrame> names;
  if (!symbols.lookup((frame & ~VESTA_FRAME_EXACT) - 1, names)) return false;
  const std::string_view name = names.back().name;
  return name == "runtime.reflectcall" ||
         (name.starts_with("runtime.call") &&
          name.find_first_not_of("0123456789", 12) == std::string_view::npos);
}

// Stripped: Go's function table is all there is.
TEST(UnwindOracleTest, FindsTheFramesThatGoFinds) {
  // NOLINTBEGIN(concurrency-mt-unsafe,cert-env33-c): fixed commands of a test.
  VESTA_REQUIRE_OR_SKIP(std::system("go version >/dev/null 2>&1") == 0, "there is no Go");
  const TemporaryFolder folder;
  const std::string program = folder.path("victim");
  const int built = std::system(("cd '" VESTA_GO_VICTIM_SOURCE
                                 "' && CGO_ENABLED=0 go build -ldflags='-s -w' -o '" +
                                 program + "' . 2>&1")
                                    .c_str());
  // NOLINTEND(concurrency-mt-unsafe,cert-env33-c)
  ASSERT_EQ(built, 0);
  constexpr int kStacks = 500;
  const auto file = ElfFile::open(program);
  ASSERT_TRUE(file.ok());
  const auto symbols = GoSymbols::open(*file);  // an executable at a fixed address: no bias
  ASSERT_TRUE(symbols.ok());
  {
    Victim victim(fmt::format("'{}' {}", program, kStacks));
    const auto maps = victim.maps();
    ASSERT_TRUE(maps.has_value()) << "the victim did not start";
    RecordedProcess process(*maps);
    const StackUnwinder unwinder(process);
    Record record;
    int total = 0;
    int same = 0;
    size_t frames = 0;
    for (; victim.next(record); ++total) {
      process.set_memory(record);
      UnwoundStack stack = unwinder.unwind(record.registers, 2048);
      std::erase_if(stack.frames,
                    [&](uint64_t frame) { return is_hidden_from_callers(**symbols, frame); });
      const std::string text = difference(record, stack);
      if (text.empty()) {
        ++same;
      } else if (total - same < 5) {
        ADD_FAILURE() << "stack " << total << ": " << text;
      }
      frames += record.frames.size();
    }
    fmt::print("{} of {} Go stacks equal, {:.1f} frames on average\n", same, total,
               static_cast<double>(frames) / total);
    EXPECT_EQ(total, kStacks + 1);
    EXPECT_EQ(same, total);
  }
}

}  // namespace
}  // namespace vesta
