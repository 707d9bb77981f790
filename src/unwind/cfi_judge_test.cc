// Our tables against another reader of call frame information (elfutils), row by row, on the files
// of this machine.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libelf.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/test_requirements.h"
#include "symbols/go/go_symbols.h"
#include "testing/temporary_folder.h"
#include "unwind/code_frames.h"
#include "unwind/unwind_table.h"

namespace vesta {
namespace {

using Ops = std::span<const Dwarf_Op>;

struct Judgement {
  uint64_t compared = 0;
  uint64_t inexpressible = 0;  // rules that our format cannot hold
  uint64_t lost_bp = 0;        // likewise, of rbp only
  std::vector<std::string> mismatches;
};

std::optional<unsigned> base_register(const Dwarf_Op& op, int64_t& offset) {
  if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
    offset = static_cast<int64_t>(op.number);
    return op.atom - DW_OP_breg0;
  }
  if (op.atom == DW_OP_bregx) {
    offset = static_cast<int64_t>(op.number2);
    return static_cast<unsigned>(op.number);
  }
  return std::nullopt;
}

bool is_plt(Ops ops, int& threshold) {
  static constexpr uint8_t kShape[] = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
                                       DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,   DW_OP_plus};
  if (ops.size() != std::size(kShape)) return false;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (i != 4 && ops[i].atom != kShape[i]) return false;
  }
  threshold = ops[4].atom - DW_OP_lit0;
  return true;
}

// *(rsp + n + 8 * register) + 8
bool is_indexed(Ops ops) {
  return ops.size() == 7 && ops[0].atom == DW_OP_breg7 && ops[1].atom >= DW_OP_breg0 &&
         ops[1].atom <= DW_OP_breg15 && ops[1].number == 0 && ops[2].atom == DW_OP_lit8 &&
         ops[3].atom == DW_OP_mul && ops[4].atom == DW_OP_plus && ops[5].atom == DW_OP_deref &&
         ops[6].atom == DW_OP_plus_uconst && ops[6].number == 8;
}

std::optional<vesta_unwind_rule> cfa_rule(Ops ops, bool is_signal) {
  vesta_unwind_rule rule{};
  int threshold = 0;
  if (is_plt(ops, threshold)) {
    rule.cfa_kind = VESTA_CFA_PLT;
    rule.cfa_offset = threshold;
    return rule;
  }
  if (ops.empty()) return std::nullopt;
  int64_t offset = 0;
  const auto base = base_register(ops[0], offset);
  if (!base) return std::nullopt;
  rule.cfa_offset = static_cast<int32_t>(offset);
  if (ops.size() == 1) {
    rule.cfa_kind = *base == 7   ? VESTA_CFA_SP
                    : *base == 6 ? VESTA_CFA_BP
                    : *base == 3 ? VESTA_CFA_BX
                                 : VESTA_CFA_REGISTER;
    if (rule.cfa_kind == VESTA_CFA_REGISTER) rule.operand = static_cast<uint8_t>(*base);
    return rule;
  }
  if (is_indexed(ops)) {
    rule.cfa_kind = VESTA_CFA_DEREF_INDEXED;
    rule.operand = static_cast<uint8_t>(ops[1].atom - DW_OP_breg0);
    return rule;
  }
  if (ops[1].atom != DW_OP_deref) return std::nullopt;
  if (ops.size() == 2 && is_signal && *base == 7) {
    rule.cfa_kind = VESTA_CFA_SIGNAL;
    rule.cfa_offset -= 160;
    return rule;
  }
  const int64_t addend = ops.size() == 3 && ops[2].atom == DW_OP_plus_uconst
                             ? static_cast<int64_t>(ops[2].number)
                         : ops.size() == 2 ? 0
                                           : -1;
  if (addend < 0 || addend % 8 != 0 || addend > 120 || (*base != 6 && *base != 7)) {
    return std::nullopt;
  }
  rule.cfa_kind = *base == 6 ? VESTA_CFA_DEREF_BP : VESTA_CFA_DEREF_SP;
  rule.operand = static_cast<uint8_t>(addend / 8);
  return rule;
}

struct Where {
  enum { kSame, kUndefined, kAtCfa, kAtBp, kInRegister, kOther } kind = kOther;
  int64_t offset = 0;
};

Where register_place(Dwarf_Frame* frame, int number) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0) return {};
  if (count == 0) return {ops == nullptr ? Where::kSame : Where::kUndefined, 0};
  if (ops[0].atom == DW_OP_call_frame_cfa) {
    if (count == 1) return {Where::kAtCfa, 0};
    if (count == 2 && ops[1].atom == DW_OP_plus_uconst) {
      return {Where::kAtCfa, static_cast<int64_t>(ops[1].number)};
    }
    return {};
  }
  if (count == 1 && ops[0].atom == DW_OP_regx) {
    return {Where::kInRegister, static_cast<int64_t>(ops[0].number)};
  }
  if (count == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg15) {
    return {Where::kInRegister, ops[0].atom - DW_OP_reg0};
  }
  if (count == 1 && ops[0].atom == DW_OP_breg6) {
    return {Where::kAtBp, static_cast<int64_t>(ops[0].number)};
  }
  return {};
}

// What the judge says, as a rule; nothing when a rule cannot hold it.
std::optional<vesta_unwind_rule> expected_rule(Dwarf_Frame* frame, bool is_signal, bool& lost_bp) {
  const Where ra = register_place(frame, 16);
  if (ra.kind == Where::kUndefined) {
    vesta_unwind_rule end{};
    end.cfa_kind = VESTA_CFA_END;
    return end;
  }
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0) return std::nullopt;
  auto rule = cfa_rule({ops, count}, is_signal);
  if (!rule || rule->cfa_kind == VESTA_CFA_SIGNAL) return rule;
  const Where bp = register_place(frame, 6);
  if (ra.kind == Where::kInRegister && rule->cfa_kind == VESTA_CFA_SP && bp.kind == Where::kSame) {
    rule->cfa_kind = VESTA_CFA_SP_AND_REGISTER;
    rule->operand = static_cast<uint8_t>(ra.offset);
    return rule;
  }
  if (ra.kind != Where::kAtCfa || ra.offset != -8) return std::nullopt;
  rule->bp_offset = static_cast<int16_t>(bp.offset);
  switch (bp.kind) {
    case Where::kSame:
      rule->bp_kind = VESTA_BP_SAME;
      break;
    case Where::kAtCfa:
      rule->bp_kind = VESTA_BP_AT_CFA;
      break;
    case Where::kAtBp:
      rule->bp_kind = VESTA_BP_AT_BP;
      break;
    case Where::kInRegister:
    case Where::kOther:
      lost_bp = true;
      [[fallthrough]];
    case Where::kUndefined:
      rule->bp_kind = VESTA_BP_UNDEFINED;
      break;
  }
  if (rule->cfa_kind != VESTA_CFA_REGISTER && rule->cfa_kind != VESTA_CFA_DEREF_BP &&
      rule->cfa_kind != VESTA_CFA_DEREF_SP && rule->cfa_kind != VESTA_CFA_DEREF_INDEXED) {
    const Where bx = register_place(frame, 3);
    if (bx.kind == Where::kAtCfa && bx.offset < 0 && bx.offset > -8 * VESTA_BX_LOST &&
        bx.offset % 8 == 0) {
      rule->operand = static_cast<uint8_t>(-bx.offset / 8);
    } else if (bx.kind != Where::kSame && bx.kind != Where::kUndefined) {
      // The judge says "undefined" too where nothing is said, which means untouched.
      rule->operand = VESTA_BX_LOST;
    }
  }
  return rule;
}

std::string text_of(const vesta_unwind_rule& rule) {
  return fmt::format("cfa {} r{} {:+}, bp {} {:+}", unsigned{rule.cfa_kind}, rule.operand,
                     rule.cfa_offset, unsigned{rule.bp_kind}, rule.bp_offset);
}

// Where functions begin, from the look-up table that our reader does not use.
std::vector<uint64_t> function_starts(const ElfFile& file) {
  std::vector<uint64_t> out;
  const ElfSection* header = file.section(".eh_frame_hdr");
  if (header == nullptr || header->bytes.size() < 12) return out;
  uint32_t count = 0;
  std::memcpy(&count, header->bytes.data() + 8, sizeof(count));
  for (uint32_t i = 0; i < count && 12 + 8 * (uint64_t{i} + 1) <= header->bytes.size(); ++i) {
    int32_t relative = 0;
    std::memcpy(&relative, header->bytes.data() + 12 + 8 * i, sizeof(relative));
    out.push_back(header->address + static_cast<uint64_t>(int64_t{relative}));
  }
  return out;
}

class Judge {
 public:
  Judge(const std::string& path, std::shared_ptr<const ElfFile> file) : file_(std::move(file)) {
    elf_version(EV_CURRENT);
    fd_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    elf_ = elf_begin(fd_.get(), ELF_C_READ_MMAP, nullptr);
    cfi_ = elf_ == nullptr ? nullptr : dwarf_getcfi_elf(elf_);
  }
  ~Judge() {
    if (cfi_ != nullptr) dwarf_cfi_end(cfi_);
    if (elf_ != nullptr) elf_end(elf_);
  }
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;
  bool is_open() const { return cfi_ != nullptr; }

  // Compares the rows of the function at [start, limit).
  void compare(const UnwindTable& table, uint64_t start, uint64_t limit, Judgement& judgement) {
    uint64_t address = start;
    while (address < limit) {
      Dwarf_Frame* frame = nullptr;
      if (dwarf_cfi_addrframe(cfi_, address, &frame) != 0) return;  // behind the function's end
      Dwarf_Addr row_start = 0;
      Dwarf_Addr row_end = 0;
      bool is_signal = false;
      dwarf_frame_info(frame, &row_start, &row_end, &is_signal);
      bool lost_bp = false;
      const auto expected = expected_rule(frame, is_signal, lost_bp);
      ++judgement.compared;
      if (!expected) ++judgement.inexpressible;
      if (lost_bp) ++judgement.lost_bp;
      vesta_unwind_rule unsupported{};
      unsupported.cfa_kind = VESTA_CFA_UNSUPPORTED;
      const vesta_unwind_rule wanted = expected.value_or(unsupported);
      for (const uint64_t at : {address, std::min<uint64_t>(row_end, limit) - 1}) {
        const vesta_unwind_rule got = rule_at(table, at);
        if (std::memcmp(&got, &wanted, sizeof(got)) == 0) continue;
        // Where contexts of makecontext() end; the file does not say that nothing calls it.
        if (got.cfa_kind == VESTA_CFA_END && file_->bytes_at(start).starts_with("\x48\x89\xdc"))
          continue;
        // Ours is richer here: rbp relative to the stack pointer.
        if (lost_bp && got.bp_kind != VESTA_BP_UNDEFINED) continue;
        judgement.mismatches.push_back(
            fmt::format("{:#x}: {} instead of {}", at, text_of(got), text_of(wanted)));
      }
      free(frame);  // NOLINT(cppcoreguidelines-no-malloc): libdw allocates it so.
      if (row_end <= address) return;
      address = row_end;
    }
  }

 private:
  std::shared_ptr<const ElfFile> file_;
  UniqueFd fd_;
  Elf* elf_ = nullptr;
  Dwarf_CFI* cfi_ = nullptr;
};

struct Subject {
  const char* name;
  const char* path;
  size_t every;                // nth function, to bound the time on large files
  uint64_t max_inexpressible;  // rows
};

class CfiJudgeTest : public ::testing::TestWithParam<Subject> {};

TEST_P(CfiJudgeTest, AgreesOnEveryRow) {
  const Subject& subject = GetParam();
  VESTA_REQUIRE_OR_SKIP(std::filesystem::exists(subject.path),
                        std::string(subject.path) + " is missing");
  const auto file = ElfFile::open(subject.path);
  ASSERT_TRUE(file.ok());
  const auto table = build_unwind_table(**file);
  ASSERT_TRUE(table.ok()) << table.error().message;
  ASSERT_TRUE(validate(*table).ok());
  Judge judge(subject.path, *file);
  ASSERT_TRUE(judge.is_open());
  const std::vector<uint64_t> starts = function_starts(**file);
  ASSERT_GT(starts.size(), 20U);
  Judgement judgement;
  for (size_t i = 0; i < starts.size(); i += subject.every) {
    const uint64_t limit = i + 1 < starts.size() ? starts[i + 1] : ~uint64_t{0};
    judge.compare(*table, starts[i], limit, judgement);
  }
  fmt::print(
      "{}: {} rows compared, {} beyond our rules, rbp beyond our rules in {}; table: {} rows, {} "
      "rules\n",
      subject.name, judgement.compared, judgement.inexpressible, judgement.lost_bp,
      table->header.row_count, table->header.rule_count);
  for (size_t i = 0; i < std::min<size_t>(judgement.mismatches.size(), 10); ++i) {
    ADD_FAILURE() << judgement.mismatches[i];
  }
  EXPECT_TRUE(judgement.mismatches.empty()) << judgement.mismatches.size() << " rows differ";
  EXPECT_LE(judgement.inexpressible, subject.max_inexpressible);
}

// What is read from instructions is what call frame information says about the same code, where
// that is not looked at. Code behind a call that does not return may be taken for a part of another
// function; nothing returns to it.
TEST(DecodedJudgeTest, InstructionsSayWhatCallFrameInformationSays) {
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libz.so.1",
                           "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"}) {
    VESTA_REQUIRE_OR_SKIP(std::filesystem::exists(path), std::string(path) + " is missing");
    const auto file = ElfFile::open(path);
    ASSERT_TRUE(file.ok());
    const auto table = build_unwind_table(**file);
    ASSERT_TRUE(table.ok());
    const std::vector<CodeRange> all = undescribed_code(**file, {});
    const DecodedCode code = decode_frames(**file, all);
    uint64_t same = 0;
    uint64_t different = 0;
    for (size_t i = 0; i + 1 < code.rows.size(); ++i) {
      const vesta_unwind_rule& rule = code.rows[i].rule;
      for (uint64_t at = code.rows[i].address; at < code.rows[i + 1].address; ++at) {
        const vesta_unwind_rule wanted = rule_at(*table, at);
        if (wanted.trust != VESTA_TRUST_TABLE || rule.cfa_kind != VESTA_CFA_SP ||
            wanted.cfa_kind != VESTA_CFA_SP) {
          continue;
        }
        ++(rule.cfa_offset == wanted.cfa_offset ? same : different);
      }
    }
    fmt::print("{}: {} bytes of code alike, {} not\n", path, same, different);
    EXPECT_GT(same, 50'000U);
    EXPECT_LT(different * 200, same);
  }
}

// Go's linker writes .debug_frame from the same depths of the stack that its function table has, so
// where ours says "stack pointer + n", the judge must say the same n.
TEST(GoJudgeTest, StackDepthsAgreeWithWhatTheLinkerWrote) {
  // NOLINTBEGIN(concurrency-mt-unsafe,cert-env33-c): fixed commands of a test.
  VESTA_REQUIRE_OR_SKIP(std::system("go version >/dev/null 2>&1") == 0, "there is no Go");
  const TemporaryFolder folder;
  const std::string program = folder.path("victim");
  const std::string command =
      "cd '" VESTA_GO_VICTIM_SOURCE "' && CGO_ENABLED=0 go build -o '" + program + "' . 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  // NOLINTEND(concurrency-mt-unsafe,cert-env33-c)
  const auto file = ElfFile::open(program);
  ASSERT_TRUE(file.ok());
  const auto table = build_unwind_table(**file);
  ASSERT_TRUE(table.ok());
  const auto symbols = GoSymbols::open(*file);
  ASSERT_TRUE(symbols.ok());
  {
    const UniqueFd fd(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
    Dwarf* dwarf = dwarf_begin(fd.get(), DWARF_C_READ);
    ASSERT_NE(dwarf, nullptr);
    Dwarf_CFI* cfi = dwarf_getcfi(dwarf);
    ASSERT_NE(cfi, nullptr);
    uint64_t by_sp = 0;
    uint64_t by_other = 0;
    uint64_t different = 0;
    (*symbols)->for_each_function([&](const GoFunction& function) {
      for (uint64_t address = function.entry; address < function.end;) {
        Dwarf_Frame* frame = nullptr;
        if (dwarf_cfi_addrframe(cfi, address, &frame) != 0) break;
        Dwarf_Addr start = 0;
        Dwarf_Addr end = 0;
        dwarf_frame_info(frame, &start, &end, nullptr);
        Dwarf_Op* ops = nullptr;
        size_t count = 0;
        int64_t offset = 0;
        const vesta_unwind_rule rule = rule_at(*table, address);
        if (rule.cfa_kind != VESTA_CFA_SP) {
          ++by_other;
        } else if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1 ||
                   base_register(ops[0], offset) != 7U || rule.cfa_offset != offset) {
          if (++different <= 5) ADD_FAILURE() << function.name << " at " << address;
        } else {
          ++by_sp;
        }
        free(frame);  // NOLINT(cppcoreguidelines-no-malloc): libdw allocates it so.
        if (end <= address) break;
        address = end;
      }
      return true;
    });
    fmt::print("Go: {} rows by stack pointer agree, {} by other rules; table: {} rows, {} rules\n",
               by_sp, by_other, table->header.row_count, table->header.rule_count);
    EXPECT_EQ(different, 0U);
    EXPECT_GT(by_sp, 5000U);
    dwarf_end(dwarf);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, CfiJudgeTest,
    ::testing::Values(Subject{"libc", "/usr/lib/x86_64-linux-gnu/libc.so.6", 1, 8},
                      Subject{"ld_so", "/usr/lib64/ld-linux-x86-64.so.2", 1, 2},
                      Subject{"libstdcxx", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 1, 0},
                      Subject{"libgcc", "/usr/lib/x86_64-linux-gnu/libgcc_s.so.1", 1, 0},
                      Subject{"libcrypto", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 1, 0},
                      Subject{"python3", "/usr/bin/python3.11", 1, 0},
                      Subject{"perl", "/usr/bin/perl", 1, 0},
                      Subject{"gcc", "/usr/bin/gcc-12", 1, 0},
                      Subject{"libclang", "/usr/lib/llvm-14/lib/libclang-cpp.so.14", 1, 0}),
    [](const auto& subject) { return std::string(subject.param.name); });

}  // namespace
}  // namespace vesta
