#include "unwind/code_frames.h"

#include <gtest/gtest.h>

#include <string>

#include "unwind/function_starts.h"
#include "unwind/test_elf.h"
#include "unwind/test_files.h"
#include "unwind/unwind_table.h"

namespace vesta {
namespace {

using testing::assemble;
using testing::symbol_address;

// Code without call frame information. Labels that begin with "at_" are where rules are asked for.
class DecodedTable {
 public:
  explicit DecodedTable(const std::string& source) : file_(assemble("        .text\n" + source)) {
    if (file_ == nullptr) return;
    auto built = build_unwind_table(*file_);
    EXPECT_TRUE(built.ok());
    if (built.ok()) table_ = std::move(*built);
    EXPECT_TRUE(validate(table_).ok());
  }

  vesta_unwind_rule at(std::string_view label, uint64_t offset = 0) const {
    const uint64_t address = symbol_address(*file_, label);
    EXPECT_NE(address, 0U) << label;
    return rule_at(table_, address + offset);
  }
  const ElfFile& file() const { return *file_; }

 private:
  std::shared_ptr<const ElfFile> file_;
  UnwindTable table_;
};

#define EXPECT_SP(rule, offset)                \
  do {                                         \
    const vesta_unwind_rule got = (rule);      \
    EXPECT_EQ(got.cfa_kind, VESTA_CFA_SP);     \
    EXPECT_EQ(got.cfa_offset, (offset));       \
    EXPECT_EQ(got.trust, VESTA_TRUST_DECODED); \
  } while (false)

TEST(CodeFramesTest, FollowsPushesAndFrames) {
  const DecodedTable table(R"(
        .p2align 4
        .type   f, @function
f:      push    %rbp
at_1:   push    %rbx
at_2:   sub     $0x108, %rsp
at_3:   mov     %edi, %ebp
        test    %edi, %edi
        je      at_5
at_4:   xor     %ebx, %ebx
        call    *%rax
at_5:   add     $0x108, %rsp
at_6:   pop     %rbx
at_7:   pop     %rbp
at_8:   ret
)");
  EXPECT_SP(table.at("f"), 8);
  EXPECT_SP(table.at("at_1"), 16);
  EXPECT_SP(table.at("at_2"), 24);
  EXPECT_SP(table.at("at_4"), 24 + 0x108);
  EXPECT_EQ(table.at("at_4").bp_kind, VESTA_BP_AT_CFA);
  EXPECT_EQ(table.at("at_4").bp_offset, -16);
  EXPECT_EQ(table.at("at_5").operand, 3);  // rbx, three words below
  EXPECT_SP(table.at("at_6"), 24);
  EXPECT_SP(table.at("at_8"), 8);
  EXPECT_EQ(table.at("at_8").bp_kind, VESTA_BP_SAME);
}

TEST(CodeFramesTest, FollowsFramePointersAndAlignedStacks) {
  const DecodedTable table(R"(
        .p2align 4
        .type   f, @function
f:      push    %rbp
        mov     %rsp, %rbp
        and     $-64, %rsp
        sub     %rdi, %rsp
at_1:   call    *%rax
        leave
at_2:   ret
        .p2align 4
        .type   g, @function
g:      mov     %rsp, %rax
        sub     $0x88, %rsp
        and     $-64, %rsp
at_3:   mov     %rax, 0x40(%rsp)
at_4:   call    *%rcx
        mov     0x40(%rsp), %rsp
at_5:   ret
)");
  EXPECT_EQ(table.at("at_1").cfa_kind, VESTA_CFA_BP);
  EXPECT_EQ(table.at("at_1").cfa_offset, 16);
  EXPECT_SP(table.at("at_2"), 8);
  EXPECT_EQ(table.at("at_3").cfa_kind, VESTA_CFA_REGISTER);
  EXPECT_EQ(table.at("at_4").cfa_kind, VESTA_CFA_DEREF_SP);
  EXPECT_EQ(table.at("at_4").cfa_offset, 0x40);
  EXPECT_EQ(table.at("at_4").operand, 1);
  EXPECT_SP(table.at("at_5"), 8);
}

TEST(CodeFramesTest, SaysNothingAboutWhatItCannotFollow) {
  const DecodedTable table(R"(
        .p2align 4
        .type   moves, @function
moves:  sub     %rsi, %rsp
at_1:   call    *%rax
        add     %rsi, %rsp
        ret
        .p2align 4
        .type   unbalanced, @function
unbalanced:
        push    %rdi
at_2:   nop
        ret
        .p2align 4
        .type   unknown, @function
unknown:
        push    %rdi
at_3:   int     $0x80
        pop     %rdi
        ret
)");
  EXPECT_EQ(table.at("at_1").cfa_kind, VESTA_CFA_NONE);
  EXPECT_EQ(table.at("at_2").cfa_kind, VESTA_CFA_NONE);
  EXPECT_EQ(table.at("at_3").cfa_kind, VESTA_CFA_NONE);
}

TEST(CodeFramesTest, FindsFunctionsThatNothingNamesAtAlignedAddresses) {
  const DecodedTable table(R"(
        .p2align 4
first:  push    %rbx
        mov     %edi, %ebx
        call    second
at_1:   pop     %rbx
        ret
second: sub     $24, %rsp
at_2:   add     $24, %rsp
        ret
        .p2align 4
third:  push    %r12
at_3:   pop     %r12
        ret
)");
  EXPECT_SP(table.at("at_1"), 16);
  EXPECT_SP(table.at("at_2"), 32);
  EXPECT_SP(table.at("at_3"), 16);
}

TEST(CodeFramesTest, FollowsTheCasesOfAJump) {
  const DecodedTable table(R"(
        .p2align 4
        .type   f, @function
f:      push    %rbx
        cmp     $3, %edi
        ja      at_9
        jmp     *%rax
at_1:   mov     $1, %eax
        jmp     at_9
at_2:   mov     $2, %eax
        pop     %rbx
        ret
at_9:   pop     %rbx
        ret
)");
  EXPECT_SP(table.at("at_1"), 16);
  EXPECT_SP(table.at("at_2"), 16);
  EXPECT_SP(table.at("at_9"), 16);
}

TEST(CodeFramesTest, KnowsWhereThreadsBeginAndSignalsReturnTo) {
  const DecodedTable table(R"(
        .p2align 4
        .type   start_thread, @function
start_thread:
        mov     $56, %eax
        syscall
        test    %eax, %eax
        jnz     1f
        xor     %ebp, %ebp
        pop     %rdi
        call    *%r9
at_1:   mov     %eax, %edi
        mov     $60, %eax
        syscall
        hlt
1:      ret
        .p2align 4
restore:
        mov     $15, %rax
        syscall
)");
  EXPECT_EQ(table.at("at_1", -1).cfa_kind, VESTA_CFA_END);
  EXPECT_EQ(table.at("restore").cfa_kind, VESTA_CFA_SIGNAL);
  EXPECT_EQ(table.at("restore", -1).cfa_kind, VESTA_CFA_SIGNAL);
  EXPECT_EQ(table.at("restore", -1).trust, VESTA_TRUST_EARLY);
}

TEST(CodeFramesTest, GuessesOnlyWhereNothingMovesTheStackPointer) {
  // Nothing leads to these, and they are not aligned: where they begin is not known.
  const DecodedTable table(R"(
        .p2align 4
        .type   f, @function
f:      ret
        nop
        mov     %edi, %eax
at_1:   add     $1, %eax
        jno     at_1
        ret
        .p2align 4
        .type   g, @function
g:      ret
        nop
        push    %rax
at_2:   add     $1, %eax
        jno     at_2
        pop     %rax
        ret
        .byte   0x06
)");
  EXPECT_EQ(table.at("at_2").cfa_kind, VESTA_CFA_NONE);
  EXPECT_EQ(table.at("at_1").cfa_kind, VESTA_CFA_SP);
  EXPECT_EQ(table.at("at_1").cfa_offset, 8);
  EXPECT_EQ(table.at("at_1").trust, VESTA_TRUST_GUESSED);
}

TEST(CodeFramesTest, TellsWhereFunctionsBegin) {
  const DecodedTable table(R"(
        .p2align 4
        .type   f, @function
f:      push    %rbx
at_1:   pop     %rbx
        ret
        .p2align 4
        .type   g, @function
g:      .cfi_startproc
        nop
at_2:   ret
        .cfi_endproc
)");
  const FunctionStarts starts = FunctionStarts::of(table.file());
  EXPECT_EQ(starts.find(symbol_address(table.file(), "at_1")), symbol_address(table.file(), "f"));
  EXPECT_EQ(starts.find(symbol_address(table.file(), "at_2")), symbol_address(table.file(), "g"));
  EXPECT_FALSE(starts.find(1));
}

}  // namespace
}  // namespace vesta
