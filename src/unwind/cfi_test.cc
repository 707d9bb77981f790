#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "unwind/cfi_expression.h"
#include "unwind/test_elf.h"
#include "unwind/test_files.h"
#include "unwind/unwind_table.h"

namespace vesta {
namespace {

using testing::Bytes;
using testing::ElfParts;
using testing::kCodeAddress;
using testing::kEhFrameAddress;

vesta_unwind_rule rule(vesta_cfa_kind cfa, int32_t cfa_offset, vesta_bp_kind bp = VESTA_BP_SAME,
                       int16_t bp_offset = 0, uint8_t operand = 0) {
  vesta_unwind_rule out{};
  out.cfa_kind = static_cast<uint8_t>(cfa & 15);
  out.bp_kind = static_cast<uint8_t>(bp & 3);
  out.operand = operand;
  out.bp_offset = bp_offset;
  out.cfa_offset = cfa_offset;
  return out;
}

std::string text_of(const vesta_unwind_rule& r) {
  return "cfa " + std::to_string(r.cfa_kind) + " r" + std::to_string(r.operand) + " " +
         std::to_string(r.cfa_offset) + ", bp " + std::to_string(r.bp_kind) + " " +
         std::to_string(r.bp_offset);
}

UnwindTable build(const std::shared_ptr<const ElfFile>& file, const ElfFile* debug = nullptr) {
  EXPECT_NE(file, nullptr);
  if (file == nullptr) return {};
  auto table = build_unwind_table(*file, debug);
  EXPECT_TRUE(table.ok()) << table.error().message;
  if (!table) return {};
  EXPECT_TRUE(validate(*table).ok()) << validate(*table).error().message;
  return std::move(table).value();
}

#define EXPECT_RULE(table, address, wanted) \
  EXPECT_EQ(text_of(rule_at(table, address)), text_of(wanted)) << std::hex << (address)

// A function `f` whose body is given: a one-byte nop between directives is one row each.
UnwindTable table_of(std::string_view body, uint64_t& start) {
  const std::string source = ".text\n.p2align 4\n.globl f\nf:\n.cfi_startproc\n" +
                             std::string(body) + "\nnop\n.cfi_endproc\n";
  const auto file = testing::assemble(source);
  if (file == nullptr) return {};
  start = testing::symbol_address(*file, "f");
  return build(file);
}

// The rule after `body`, which begins at the second byte of the function.
vesta_unwind_rule rule_after(std::string_view body) {
  uint64_t start = 0;
  const UnwindTable table = table_of("nop\n" + std::string(body), start);
  return rule_at(table, start + 1);
}

#define EXPECT_AFTER(body, wanted) EXPECT_EQ(text_of(rule_after(body)), text_of(wanted)) << (body)

TEST(CfiTest, FollowsAnOrdinaryFunctionThroughItsPrologueAndEpilogue) {
  uint64_t start = 0;
  const UnwindTable table = table_of(R"(
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    .cfi_remember_state
    pop %rbp
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    ret
    .cfi_restore_state
    nop
    nop)",
                                     start);
  EXPECT_RULE(table, start, rule(VESTA_CFA_SP, 8));
  EXPECT_RULE(table, start + 1, rule(VESTA_CFA_SP, 16, VESTA_BP_AT_CFA, -16));
  EXPECT_RULE(table, start + 4, rule(VESTA_CFA_BP, 16, VESTA_BP_AT_CFA, -16));
  EXPECT_RULE(table, start + 5, rule(VESTA_CFA_SP, 8));
  EXPECT_RULE(table, start + 6, rule(VESTA_CFA_BP, 16, VESTA_BP_AT_CFA, -16));
  EXPECT_RULE(table, start + 8, rule(VESTA_CFA_BP, 16, VESTA_BP_AT_CFA, -16));
  EXPECT_EQ(table.unsupported_rows, 0U);
}

TEST(CfiTest, KnowsNothingOutsideOfFunctions) {
  const auto file = testing::assemble(R"(
    .text
    .p2align 4
    .globl f
  f:
    .cfi_startproc
    push %rbp
    .cfi_def_cfa_offset 16
    nop
    .cfi_endproc
    .skip 64
    .globl g
  g:
    .cfi_startproc
    nop
    .cfi_endproc
  )");
  const UnwindTable table = build(file);
  const uint64_t f = testing::symbol_address(*file, "f");
  EXPECT_RULE(table, f - 1, rule(VESTA_CFA_NONE, 0));
  EXPECT_RULE(table, f + 2, rule(VESTA_CFA_NONE, 0));
  EXPECT_RULE(table, f + 65, rule(VESTA_CFA_NONE, 0));
  EXPECT_RULE(table, f + 66, rule(VESTA_CFA_SP, 8));
  EXPECT_RULE(table, f + 67, rule(VESTA_CFA_NONE, 0));
  EXPECT_RULE(table, 0, rule(VESTA_CFA_NONE, 0));
  EXPECT_RULE(table, ~uint64_t{0}, rule(VESTA_CFA_NONE, 0));
}

TEST(CfiTest, RunsEveryInstruction) {
  // Written out: DW_CFA_def_cfa, _sf, _register, _offset, _offset_sf.
  EXPECT_AFTER(".cfi_escape 0x0c, 7, 48", rule(VESTA_CFA_SP, 48));
  EXPECT_AFTER(".cfi_escape 0x12, 7, 0x7a", rule(VESTA_CFA_SP, 48));  // -6 * data alignment -8
  EXPECT_AFTER(".cfi_escape 0x0d, 6", rule(VESTA_CFA_BP, 8));
  EXPECT_AFTER(".cfi_escape 0x0e, 0x80, 0x02", rule(VESTA_CFA_SP, 256));
  EXPECT_AFTER(".cfi_escape 0x13, 0x70", rule(VESTA_CFA_SP, 128));
  // Ways to say where rbp is: offset, _extended, _extended_sf, GNU_negative_offset_extended.
  EXPECT_AFTER(".cfi_escape 0x86, 2", rule(VESTA_CFA_SP, 8, VESTA_BP_AT_CFA, -16));
  EXPECT_AFTER(".cfi_escape 0x05, 6, 3", rule(VESTA_CFA_SP, 8, VESTA_BP_AT_CFA, -24));
  EXPECT_AFTER(".cfi_escape 0x11, 6, 0x7c", rule(VESTA_CFA_SP, 8, VESTA_BP_AT_CFA, 32));
  EXPECT_AFTER(".cfi_escape 0x2f, 6, 5", rule(VESTA_CFA_SP, 8, VESTA_BP_AT_CFA, 40));
  // undefined, same_value, register, restore, restore_extended.
  EXPECT_AFTER(".cfi_escape 0x07, 6", rule(VESTA_CFA_SP, 8, VESTA_BP_UNDEFINED));
  EXPECT_AFTER(".cfi_escape 0x86, 2, 0x08, 6", rule(VESTA_CFA_SP, 8));
  EXPECT_AFTER(".cfi_escape 0x09, 6, 9", rule(VESTA_CFA_SP, 8, VESTA_BP_UNDEFINED));
  EXPECT_AFTER(".cfi_escape 0x09, 6, 6", rule(VESTA_CFA_SP, 8));
  EXPECT_AFTER(".cfi_escape 0x86, 2, 0xc6", rule(VESTA_CFA_SP, 8));
  EXPECT_AFTER(".cfi_escape 0x86, 2, 0x06, 6", rule(VESTA_CFA_SP, 8));
  // Values instead of places cannot be expressed: val_offset, _sf, val_expression.
  EXPECT_AFTER(".cfi_escape 0x14, 6, 2", rule(VESTA_CFA_SP, 8, VESTA_BP_UNDEFINED));
  EXPECT_AFTER(".cfi_escape 0x15, 6, 0x7f", rule(VESTA_CFA_SP, 8, VESTA_BP_UNDEFINED));
  EXPECT_AFTER(".cfi_escape 0x16, 6, 2, 0x76, 0", rule(VESTA_CFA_SP, 8, VESTA_BP_UNDEFINED));
  // nop, GNU_window_save, GNU_args_size and other registers change nothing.
  EXPECT_AFTER(".cfi_escape 0, 0x2d, 0x2e, 0x90, 0x01, 0x8c, 2, 0x07, 12, 0x0e, 16",
               rule(VESTA_CFA_SP, 16));
}

TEST(CfiTest, MovesByEveryWidth) {
  uint64_t start = 0;
  // The assembler picks advance_loc, 1, 2 and 4 by distance.
  const UnwindTable table = table_of(R"(
    .skip 10
    .cfi_def_cfa_offset 16
    .skip 200
    .cfi_def_cfa_offset 24
    .skip 5000
    .cfi_def_cfa_offset 32
    .skip 70000
    .cfi_def_cfa_offset 40)",
                                     start);
  EXPECT_RULE(table, start + 9, rule(VESTA_CFA_SP, 8));
  EXPECT_RULE(table, start + 10, rule(VESTA_CFA_SP, 16));
  EXPECT_RULE(table, start + 209, rule(VESTA_CFA_SP, 16));
  EXPECT_RULE(table, start + 210, rule(VESTA_CFA_SP, 24));
  EXPECT_RULE(table, start + 5209, rule(VESTA_CFA_SP, 24));
  EXPECT_RULE(table, start + 5210, rule(VESTA_CFA_SP, 32));
  // Pages without a row of their own.
  EXPECT_RULE(table, start + 40000, rule(VESTA_CFA_SP, 32));
  EXPECT_RULE(table, start + 75209, rule(VESTA_CFA_SP, 32));
  EXPECT_RULE(table, start + 75210, rule(VESTA_CFA_SP, 40));
}

TEST(CfiTest, RestoresNestedStates) {
  uint64_t start = 0;
  const UnwindTable table = table_of(R"(
    nop
    .cfi_def_cfa_offset 16
    .cfi_remember_state
    nop
    .cfi_def_cfa_offset 24
    .cfi_remember_state
    nop
    .cfi_undefined %rbp
    .cfi_def_cfa %rbp, 16
    nop
    .cfi_restore_state
    nop
    .cfi_restore_state)",
                                     start);
  EXPECT_RULE(table, start + 3, rule(VESTA_CFA_BP, 16, VESTA_BP_UNDEFINED));
  EXPECT_RULE(table, start + 4, rule(VESTA_CFA_SP, 24));
  EXPECT_RULE(table, start + 5, rule(VESTA_CFA_SP, 16));
}

TEST(CfiTest, GivesUpOnWhatItCannotFollowAndSaysSo) {
  const vesta_unwind_rule unsupported = rule(VESTA_CFA_UNSUPPORTED, 0);
  EXPECT_AFTER(".cfi_escape 0x3f", unsupported);                       // no such instruction
  EXPECT_AFTER(".cfi_escape 0x0b", unsupported);                       // nothing to restore
  EXPECT_AFTER(".cfi_escape 0x0f, 3, 0x30, 0x31, 0x22", unsupported);  // an odd expression
  EXPECT_AFTER(".cfi_escape 0x0c, 40, 8", unsupported);                // CFA from a vector register
  EXPECT_AFTER(".cfi_escape 0x90, 2", unsupported);                    // return address elsewhere
  EXPECT_AFTER(".cfi_escape 0x08, 16", unsupported);
  uint64_t start = 0;
  const UnwindTable table = table_of("nop\n.cfi_escape 0x0b\nnop\n.cfi_def_cfa_offset 16", start);
  EXPECT_RULE(table, start, rule(VESTA_CFA_SP, 8));
  EXPECT_RULE(table, start + 2, unsupported);
  EXPECT_EQ(table.unsupported_rows, 1U);
}

TEST(CfiTest, EndsAtAnUndefinedReturnAddress) {
  EXPECT_AFTER(".cfi_undefined %rip", rule(VESTA_CFA_END, 0));
}

TEST(CfiTest, KeepsOtherRegistersForTheInnermostFrame) {
  EXPECT_AFTER(".cfi_def_cfa %r10, 0", rule(VESTA_CFA_REGISTER, 0, VESTA_BP_SAME, 0, 10));
  EXPECT_AFTER(".cfi_def_cfa %rax, 8", rule(VESTA_CFA_REGISTER, 8, VESTA_BP_SAME, 0, 0));
  EXPECT_AFTER(".cfi_def_cfa %r11, 16\n.cfi_offset %rbp, -16",
               rule(VESTA_CFA_REGISTER, 16, VESTA_BP_AT_CFA, -16, 11));
}

TEST(CfiTest, KeepsAReturnAddressInARegisterForTheInnermostFrame) {
  EXPECT_AFTER(".cfi_def_cfa_offset 0\n.cfi_register %rip, %rdi",
               rule(VESTA_CFA_SP_AND_REGISTER, 0, VESTA_BP_SAME, 0, 5));
  EXPECT_AFTER(".cfi_register %rip, %rdi\n.cfi_register %rbp, %r9", rule(VESTA_CFA_UNSUPPORTED, 0));
  EXPECT_AFTER(".cfi_def_cfa %rbp, 16\n.cfi_register %rip, %rdi", rule(VESTA_CFA_UNSUPPORTED, 0));
}

TEST(CfiTest, KnowsWhereRbxIsBecauseTheDynamicLinkerHangsItsFrameOnIt) {
  EXPECT_AFTER(".cfi_def_cfa %rbx, 16\n.cfi_offset %rbx, -16",
               rule(VESTA_CFA_BX, 16, VESTA_BP_SAME, 0, 2));
  EXPECT_AFTER(".cfi_offset %rbx, -24", rule(VESTA_CFA_SP, 8, VESTA_BP_SAME, 0, 3));
  EXPECT_AFTER(".cfi_offset %rbx, -24\n.cfi_restore %rbx", rule(VESTA_CFA_SP, 8));
  EXPECT_AFTER(".cfi_undefined %rbx", rule(VESTA_CFA_SP, 8, VESTA_BP_SAME, 0, VESTA_BX_LOST));
  EXPECT_AFTER(".cfi_offset %rbx, -2040", rule(VESTA_CFA_SP, 8, VESTA_BP_SAME, 0, VESTA_BX_LOST));
}

TEST(CfiTest, RecognisesRealignedFrames) {
  // gcc: CFA = *(rbp - 8), rbp saved at *(rbp).
  EXPECT_AFTER(".cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n.cfi_escape 0x10, 6, 2, 0x76, 0",
               rule(VESTA_CFA_DEREF_BP, -8, VESTA_BP_AT_BP, 0));
}

TEST(CfiTest, RecognisesHandWrittenAssembly) {
  EXPECT_AFTER(".cfi_escape 0x0f, 6, 0x77, 0xa0, 0x01, 0x06, 0x23, 8",
               rule(VESTA_CFA_DEREF_SP, 160, VESTA_BP_SAME, 0, 1));
  EXPECT_AFTER(".cfi_escape 0x0f, 5, 0x77, 16, 0x06, 0x23, 64",
               rule(VESTA_CFA_DEREF_SP, 16, VESTA_BP_SAME, 0, 8));
  EXPECT_AFTER(".cfi_escape 0x0f, 6, 0x76, 0xd8, 0x00, 0x06, 0x23, 8",
               rule(VESTA_CFA_DEREF_BP, 88, VESTA_BP_SAME, 0, 1));
  EXPECT_AFTER(".cfi_escape 0x0f, 5, 0x77, 16, 0x06, 0x23, 9", rule(VESTA_CFA_UNSUPPORTED, 0));
  EXPECT_AFTER(".cfi_escape 0x0f, 6, 0x77, 16, 0x06, 0x23, 0x80, 0x01",
               rule(VESTA_CFA_UNSUPPORTED, 0));
  EXPECT_AFTER(".cfi_escape 0x0f, 10, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8",
               rule(VESTA_CFA_DEREF_INDEXED, 8, VESTA_BP_SAME, 0, 9));
  EXPECT_AFTER(".cfi_escape 0x0f, 10, 0x77, 8, 0x80, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8",
               rule(VESTA_CFA_UNSUPPORTED, 0));  // indexed by rip
  EXPECT_AFTER(".cfi_escape 0x0f, 10, 0x76, 8, 0x79, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 8",
               rule(VESTA_CFA_UNSUPPORTED, 0));  // from rbp
  EXPECT_AFTER(".cfi_escape 0x0f, 4, 0x77, 8, 0x23, 40", rule(VESTA_CFA_SP, 48));
  EXPECT_AFTER(".cfi_escape 0x0f, 3, 0x92, 6, 16", rule(VESTA_CFA_BP, 16));
  // rbp at an address relative to the register that the CFA is relative to.
  EXPECT_AFTER(".cfi_def_cfa_offset 64\n.cfi_escape 0x10, 6, 2, 0x77, 8",
               rule(VESTA_CFA_SP, 64, VESTA_BP_AT_CFA, -56));
}

TEST(CfiTest, RecognisesBothKindsOfCallStubs) {
  EXPECT_AFTER(".cfi_escape 0x0f,11,0x77,8,0x80,0,0x3f,0x1a,0x3b,0x2a,0x33,0x24,0x22",
               rule(VESTA_CFA_PLT, 11));
  EXPECT_AFTER(".cfi_escape 0x0f,11,0x77,8,0x80,0,0x3f,0x1a,0x3a,0x2a,0x33,0x24,0x22",
               rule(VESTA_CFA_PLT, 10));
  EXPECT_AFTER(".cfi_escape 0x0f,11,0x77,8,0x80,0,0x3f,0x1a,0x9a,0x2a,0x33,0x24,0x22",
               rule(VESTA_CFA_UNSUPPORTED, 0));
}

TEST(CfiTest, CoversTheByteBeforeASignalTrampoline) {
  const auto file = testing::assemble(R"(
    .text
    .p2align 4
    .globl restorer
    nop
  restorer:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06
    .cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01
    .cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0x00
    mov $15, %rax
    syscall
    .cfi_endproc
  )");
  const UnwindTable table = build(file);
  const uint64_t start = testing::symbol_address(*file, "restorer");
  EXPECT_RULE(table, start - 1, rule(VESTA_CFA_SIGNAL, 0));
  EXPECT_RULE(table, start, rule(VESTA_CFA_SIGNAL, 0));
  EXPECT_RULE(table, start + 8, rule(VESTA_CFA_SIGNAL, 0));
}

TEST(CfiTest, LosesRbpRatherThanGuessItWhenItsOffsetIsTooLarge) {
  EXPECT_AFTER(".cfi_def_cfa_offset 200000\n.cfi_offset %rbp, -100000",
               rule(VESTA_CFA_SP, 200000, VESTA_BP_UNDEFINED));
}

// ---- Entries that no assembler writes, byte by byte.

// A CIE of .eh_frame: CFA = rsp + 8, return address at CFA - 8.
Bytes cie_body(std::string_view augmentation, const Bytes& augmentation_data, uint8_t version = 1) {
  Bytes body;
  body.u32(0).u8(version).text(augmentation).u8(0).u8(1).u8(0x78).u8(16);
  if (augmentation.starts_with("z")) {
    body.u8(augmentation_data.size()).text(augmentation_data.str());
  }
  body.u8(0x0c).u8(7).u8(8).u8(0x90).u8(1);
  return body;
}

// .eh_frame with one CIE and one FDE whose pointers are written by `pointers(offset in section)`.
template <class Pointers>
ElfParts one_function(std::string_view augmentation, const Bytes& augmentation_data,
                      Pointers pointers) {
  Bytes section;
  section.entry(cie_body(augmentation, augmentation_data));
  const size_t entry = section.size();
  Bytes fde;
  fde.u32(entry + 4);  // back to the CIE
  pointers(fde, kEhFrameAddress + entry + 4);
  section.entry(fde).u32(0);
  ElfParts parts;
  parts.eh_frame = section.str();
  return parts;
}

TEST(CfiTest, EndsAtTheEntryPointOfAFileThatSaysNothingAboutIt) {
  ElfParts parts = one_function("zR", Bytes().u8(0x03),
                                [](Bytes& fde, uint64_t) { fde.u32(kCodeAddress).u32(16).u8(0); });
  parts.entry = kCodeAddress + 0x400;
  const UnwindTable table = build(testing::parse_elf(parts));
  EXPECT_RULE(table, parts.entry - 1, rule(VESTA_CFA_NONE, 0));
  EXPECT_RULE(table, parts.entry, rule(VESTA_CFA_END, 0));
  EXPECT_RULE(table, parts.entry + 128, rule(VESTA_CFA_NONE, 0));
  // Information about that code goes before.
  parts.entry = kCodeAddress;
  EXPECT_RULE(build(testing::parse_elf(parts)), kCodeAddress, rule(VESTA_CFA_SP, 8));
}

TEST(CfiTest, ReadsEveryEncodingOfAddresses) {
  struct Case {
    uint8_t encoding;
    void (*write)(Bytes&, uint64_t here);
  };
  static constexpr uint64_t kStart = kCodeAddress + 0x20;
  const Case cases[] = {
      {0x00, [](Bytes& out, uint64_t) { out.u64(kStart).u64(16); }},
      {0x01, [](Bytes& out, uint64_t) { out.u8(0xa0).u8(0x20).u8(16); }},
      {0x02, [](Bytes& out, uint64_t) { out.u16(kStart).u16(16); }},
      {0x03, [](Bytes& out, uint64_t) { out.u32(kStart).u32(16); }},
      {0x04, [](Bytes& out, uint64_t) { out.u64(kStart).u64(16); }},
      {0x09, [](Bytes& out, uint64_t) { out.u8(0xa0).u8(0xa0).u8(0x00).u8(16); }},
      {0x0a, [](Bytes& out, uint64_t) { out.u16(kStart).u16(16); }},
      {0x0b, [](Bytes& out, uint64_t) { out.u32(kStart).u32(16); }},
      {0x0c, [](Bytes& out, uint64_t) { out.u64(kStart).u64(16); }},
      {0x1b, [](Bytes& out, uint64_t here) { out.u32(kStart - (here + 4)).u32(16); }},
      {0x1c, [](Bytes& out, uint64_t here) { out.u64(kStart - (here + 4)).u64(16); }},
      {0x2b, [](Bytes& out, uint64_t) { out.u32(kStart).u32(16); }},  // .text is not known: base 0
      {0x3b, [](Bytes& out, uint64_t) { out.u32(kStart).u32(16); }},
      {0x50,
       [](Bytes& out, uint64_t here) {
         for (uint64_t at = here + 4; at % 8 != 0; ++at) out.u8(0);
         out.u64(kStart).u64(16);
       }},
  };
  for (const Case& encoding : cases) {
    const ElfParts parts =
        one_function("zR", Bytes().u8(encoding.encoding), [&](Bytes& fde, uint64_t here) {
          encoding.write(fde, here);
          fde.u8(0);
        });
    const UnwindTable table = build(testing::parse_elf(parts));
    SCOPED_TRACE(encoding.encoding);
    EXPECT_RULE(table, kStart - 1, rule(VESTA_CFA_NONE, 0));
    EXPECT_RULE(table, kStart, rule(VESTA_CFA_SP, 8));
    EXPECT_RULE(table, kStart + 15, rule(VESTA_CFA_SP, 8));
    EXPECT_RULE(table, kStart + 16, rule(VESTA_CFA_NONE, 0));
  }
}

TEST(CfiTest, SkipsFunctionsWhoseAddressIsKeptInMemoryOrOutsideOfTheCode) {
  for (const int encoding : {0x9b, 0xff, 0x0f, 0x40}) {
    const auto parts = one_function("zR", Bytes().u8(encoding), [](Bytes& fde, uint64_t) {
      fde.u64(kCodeAddress).u64(16).u8(0);
    });
    EXPECT_EQ(build(testing::parse_elf(parts)).header.state, VESTA_MODULE_NO_TABLE);
  }
  for (const uint64_t start : {uint64_t{0}, uint64_t{0x900000}, ~uint64_t{0}}) {
    const auto parts = one_function("zR", Bytes().u8(0),
                                    [&](Bytes& fde, uint64_t) { fde.u64(start).u64(16).u8(0); });
    EXPECT_EQ(build(testing::parse_elf(parts)).header.state, VESTA_MODULE_NO_TABLE);
  }
}

TEST(CfiTest, PassesOverPersonalityAndLanguageData) {
  // zPLR with a pc-relative indirect personality; FDE with 8 bytes of augmentation data.
  const auto parts = one_function(
      "zPLRB", Bytes().u8(0x9b).u32(0x1234).u8(0x1b).u8(0x03), [](Bytes& fde, uint64_t) {
        fde.u32(kCodeAddress).u32(16).u8(8).u64(0xffffffffffffffff).u8(0x0e).u8(24);
      });
  EXPECT_RULE(build(testing::parse_elf(parts)), kCodeAddress, rule(VESTA_CFA_SP, 24));
}

TEST(CfiTest, FindsFramesWithoutSections) {
  ElfParts parts = one_function("zR", Bytes().u8(0x03),
                                [](Bytes& fde, uint64_t) { fde.u32(kCodeAddress).u32(16).u8(0); });
  // What follows the end must not be taken for more entries.
  parts.eh_frame += parts.eh_frame;
  parts.has_sections = false;
  const UnwindTable table = build(testing::parse_elf(parts));
  EXPECT_RULE(table, kCodeAddress, rule(VESTA_CFA_SP, 8));
}

TEST(CfiTest, ReadsSetLocAndLengthsOf64Bits) {
  Bytes section;
  const Bytes cie = cie_body("zR", Bytes().u8(0x03));
  section.u32(0xffffffff).u64(cie.size()).text(cie.str());
  const size_t entry = section.size();
  Bytes fde;
  fde.u32(entry + 12).u32(kCodeAddress).u32(64).u8(0);
  fde.u8(0x01).u32(kCodeAddress + 32).u8(0x0e).u8(16);  // set_loc
  fde.u8(0x1d).u64(8).u8(0x0e).u8(24);                  // MIPS_advance_loc8
  fde.u8(0x01).u32(kCodeAddress);                       // backwards: cannot be
  section.u32(0xffffffff).u64(fde.size()).text(fde.str());
  ElfParts parts;
  parts.eh_frame = section.str();
  const UnwindTable table = build(testing::parse_elf(parts));
  EXPECT_RULE(table, kCodeAddress + 31, rule(VESTA_CFA_SP, 8));
  EXPECT_RULE(table, kCodeAddress + 32, rule(VESTA_CFA_SP, 16));
  EXPECT_RULE(table, kCodeAddress + 40, rule(VESTA_CFA_UNSUPPORTED, 0));
}

std::string debug_frame_section(bool is_wide, uint64_t start, uint8_t cfa_offset) {
  Bytes cie;
  if (is_wide) {
    cie.u64(~uint64_t{0});
  } else {
    cie.u32(0xffffffff);
  }
  cie.u8(4).u8(0).u8(8).u8(0).u8(1).u8(0x78).u8(16);
  cie.u8(0x0c).u8(7).u8(cfa_offset).u8(0x90).u8(1);
  Bytes fde;
  if (is_wide) {
    fde.u64(0);
  } else {
    fde.u32(0);
  }
  fde.u64(start).u64(16);
  Bytes section;
  for (const Bytes* body : {&cie, &fde}) {
    if (is_wide) {
      section.u32(0xffffffff).u64(body->size());
    } else {
      section.u32(body->size());
    }
    section.text(body->str());
  }
  return section.str();
}

TEST(CfiTest, ReadsDebugFrameInBothWidths) {
  for (const bool is_wide : {false, true}) {
    ElfParts parts;
    parts.debug_frame = debug_frame_section(is_wide, kCodeAddress + 16, 32);
    const UnwindTable table = build(testing::parse_elf(parts));
    EXPECT_RULE(table, kCodeAddress + 16, rule(VESTA_CFA_SP, 32));
    EXPECT_RULE(table, kCodeAddress + 32, rule(VESTA_CFA_NONE, 0));
  }
}

TEST(CfiTest, TakesDebugFrameOnlyWhereEhFrameIsSilent) {
  ElfParts parts = one_function("zR", Bytes().u8(0x03), [](Bytes& fde, uint64_t) {
    fde.u32(kCodeAddress + 24).u32(16).u8(0);
  });
  // [16, 32) by .debug_frame, [24, 40) by .eh_frame.
  parts.debug_frame = debug_frame_section(false, kCodeAddress + 16, 32);
  const UnwindTable table = build(testing::parse_elf(parts));
  EXPECT_RULE(table, kCodeAddress + 16, rule(VESTA_CFA_SP, 32));
  EXPECT_RULE(table, kCodeAddress + 23, rule(VESTA_CFA_SP, 32));
  EXPECT_RULE(table, kCodeAddress + 24, rule(VESTA_CFA_SP, 8));
  EXPECT_RULE(table, kCodeAddress + 39, rule(VESTA_CFA_SP, 8));
}

TEST(CfiTest, TakesTheDebugFileWhenTheFileHasHardlyAnything) {
  ElfParts debug;
  debug.debug_frame = debug_frame_section(false, kCodeAddress + 16, 32);
  const auto debug_file = testing::parse_elf(debug);
  const UnwindTable table = build(testing::parse_elf({}), debug_file.get());
  EXPECT_RULE(table, kCodeAddress + 16, rule(VESTA_CFA_SP, 32));
}

TEST(CfiTest, SaysThatThereIsNoTable) {
  const UnwindTable table = build(testing::parse_elf({}));
  EXPECT_EQ(table.header.state, VESTA_MODULE_NO_TABLE);
  EXPECT_TRUE(table.cells.empty());
}

TEST(CfiTest, RefusesOtherMachines) {
  std::string bytes = testing::make_elf({});
  bytes[18] = static_cast<char>(EM_AARCH64);
  const auto file = ElfFile::parse(InputFile::from_bytes(bytes));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(build_unwind_table(**file).error().code, ErrorCode::kUnsupported);
}

TEST(CfiTest, ReadsWhatComesBeforeADamagedEntry) {
  ElfParts parts = one_function("zR", Bytes().u8(0x03),
                                [](Bytes& fde, uint64_t) { fde.u32(kCodeAddress).u32(16).u8(0); });
  parts.eh_frame += Bytes().u32(0x7fffffff).u32(1).str();
  EXPECT_RULE(build(testing::parse_elf(parts)), kCodeAddress, rule(VESTA_CFA_SP, 8));
}

TEST(CfiExpressionTest, BoundsItsSums) {
  // breg7 with an offset of 63 bits, then plus_uconst of as much again.
  std::string huge("\x77\xff\xff\xff\xff\xff\xff\xff\xff\x3f", 10);
  huge += std::string("\x23\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10);
  EXPECT_EQ(recognise_expression(huge).shape, CfiExpression::Shape::kUnknown);
  EXPECT_EQ(recognise_expression("").shape, CfiExpression::Shape::kUnknown);
  EXPECT_EQ(recognise_expression("\x77").shape, CfiExpression::Shape::kUnknown);
}

}  // namespace
}  // namespace vesta
