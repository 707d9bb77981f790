#include "unwind/stack_unwinder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "unwind/row_writer.h"
#include "unwind/test_elf.h"

namespace vesta {
namespace {

using testing::Bytes;

constexpr uint64_t kBias = 0x7f0000000000;
constexpr uint64_t kText = 0x1000;
constexpr uint64_t kStack = 0x7ffe00000000;

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

// An address inside function n of a HandMadeProcess.
uint64_t code(uint64_t n, uint64_t offset = 0x80) {
  return kBias + kText + n * 256 + offset;
}

// One module, whose function n of 256 bytes has the nth rule, and a stack written by hand.
class HandMadeProcess final : public UnwindTarget {
 public:
  explicit HandMadeProcess(const std::vector<vesta_unwind_rule>& rules) {
    RowWriter rows(kText, kText + rules.size() * 256, rules.size());
    for (size_t i = 0; i < rules.size(); ++i) rows.add(kText + i * 256, rules[i]);
    table_ = std::move(rows).finish();
    EXPECT_TRUE(validate(table_).ok());
    mapping_ = {kBias + kText, kBias + kText + 0x10000, kBias, false, &table_};
  }

  bool find_mapping(uint64_t pc, Mapping& mapping) override {
    if (pc < mapping_.start || pc >= mapping_.end) return false;
    mapping = mapping_;
    return true;
  }
  Read read_word(uint64_t address, uint64_t& value) override {
    const auto found = memory.find(address);
    if (found == memory.end()) return Read::kFailed;
    value = found->second;
    return Read::kDone;
  }
  bool read_code(const Mapping& /*mapping*/, uint64_t address, uint64_t& value) override {
    const auto found = code_before.find(address + 8);
    if (found == code_before.end()) return false;
    value = 0;
    std::memcpy(reinterpret_cast<char*>(&value) + 8 - found->second.size(), found->second.data(),
                found->second.size());
    return true;
  }
  Mapping& mapping() { return mapping_; }
  UnwoundStack unwind(const Registers& registers) { return StackUnwinder(*this).unwind(registers); }

  std::map<uint64_t, uint64_t> memory;
  std::map<uint64_t, std::string> code_before;  // up to eight bytes, by the address behind them

 private:
  UnwindTable table_;
  Mapping mapping_;
};

constexpr uint64_t kExact = VESTA_FRAME_EXACT;
using Frames = std::vector<uint64_t>;

TEST(StackUnwinderTest, FollowsStackAndFramePointerRules) {
  HandMadeProcess process({rule(VESTA_CFA_SP, 16), rule(VESTA_CFA_BP, 16, VESTA_BP_AT_CFA, -16),
                           rule(VESTA_CFA_END, 0)});
  process.memory = {{kStack + 8, code(1)}, {kStack + 0x40, 0xb0b}, {kStack + 0x48, code(2)}};
  const UnwoundStack stack = process.unwind({code(0), kStack, kStack + 0x40, {}});
  EXPECT_EQ(stack.result, VESTA_UNWIND_COMPLETE);
  EXPECT_EQ(stack.frames, (Frames{code(0) | kExact, code(1), code(2)}));
}

TEST(StackUnwinderTest, LooksUpReturnAddressesOneByteBefore) {
  // Function 0 ends with a call that does not return: its return address is function 1's start.
  HandMadeProcess process(
      {rule(VESTA_CFA_SP, 8), rule(VESTA_CFA_UNSUPPORTED, 0), rule(VESTA_CFA_END, 0)});
  process.memory = {{kStack, code(1, 0)}, {kStack + 8, code(2)}};
  const UnwoundStack stack = process.unwind({code(0), kStack, 0, {}});
  EXPECT_EQ(stack.result, VESTA_UNWIND_COMPLETE);
  EXPECT_EQ(stack.frames.size(), 3U);
}

TEST(StackUnwinderTest, KnowsWhetherACallStubHasPushed) {
  HandMadeProcess process({rule(VESTA_CFA_PLT, 11), rule(VESTA_CFA_END, 0)});
  process.memory = {{kStack, code(1)}, {kStack + 8, code(1) + 1}};
  EXPECT_EQ(process.unwind({code(0, 10), kStack, 0, {}}).frames.back(), code(1));
  EXPECT_EQ(process.unwind({code(0, 11), kStack, 0, {}}).frames.back(), code(1) + 1);
}

TEST(StackUnwinderTest, FollowsRealignedFrames) {
  HandMadeProcess process({rule(VESTA_CFA_DEREF_BP, -8, VESTA_BP_AT_BP, 0),
                           rule(VESTA_CFA_BP, 16, VESTA_BP_AT_CFA, -16), rule(VESTA_CFA_END, 0)});
  const uint64_t bp = kStack + 0x100;
  process.memory = {{bp - 8, kStack + 0x200},   // CFA
                    {kStack + 0x1f8, code(1)},  // return address
                    {bp, kStack + 0x300},       // caller's rbp
                    {kStack + 0x300, 0},
                    {kStack + 0x308, code(2)}};
  const UnwoundStack stack = process.unwind({code(0), kStack, bp, {}});
  EXPECT_EQ(stack.result, VESTA_UNWIND_COMPLETE);
  EXPECT_EQ(stack.frames.size(), 3U);
}

TEST(StackUnwinderTest, FollowsAssemblyThatKeepsTheOldStackPointerOnTheStack) {
  HandMadeProcess process(
      {rule(VESTA_CFA_DEREF_SP, 40, VESTA_BP_SAME, 0, 2), rule(VESTA_CFA_END, 0)});
  process.memory = {{kStack + 40, kStack + 0x500}, {kStack + 0x508, code(1)}};
  EXPECT_EQ(process.unwind({code(0), kStack, 0, {}}).frames.back(), code(1));
}

TEST(StackUnwinderTest, FollowsAssemblyThatKeepsItBehindAnArray) {
  HandMadeProcess process(
      {rule(VESTA_CFA_DEREF_INDEXED, 8, VESTA_BP_AT_CFA, -24, 9), rule(VESTA_CFA_END, 0)});
  Registers registers{code(0), kStack, 0, {}};
  registers.leaf[9] = 6;
  process.memory = {
      {kStack + 6 * 8 + 8, kStack + 0x500}, {kStack + 0x500, code(1)}, {kStack + 0x4f0, 0xb0b}};
  EXPECT_EQ(process.unwind(registers).frames.back(), code(1));
  process.memory[kStack + 0x500] = code(0);
  EXPECT_EQ(process.unwind(registers).result, VESTA_UNWIND_UNSUPPORTED);  // whose r9 nobody knows
}

TEST(StackUnwinderTest, TakesOtherRegistersInTheInnermostFrameOnly) {
  HandMadeProcess process(
      {rule(VESTA_CFA_REGISTER, 8, VESTA_BP_SAME, 0, 10), rule(VESTA_CFA_END, 0)});
  Registers registers{code(0), kStack, 0, {}};
  registers.leaf[10] = kStack + 0x40;
  process.memory = {{kStack + 0x40, code(1)}};
  EXPECT_EQ(process.unwind(registers).frames.back(), code(1));
  process.memory = {{kStack + 0x40, code(0)}};
  EXPECT_EQ(process.unwind(registers).result, VESTA_UNWIND_UNSUPPORTED);
}

TEST(StackUnwinderTest, FollowsAReturnAddressInARegister) {
  HandMadeProcess process({rule(VESTA_CFA_SP_AND_REGISTER, 0, VESTA_BP_SAME, 0, 5),
                           rule(VESTA_CFA_SP, 8), rule(VESTA_CFA_END, 0)});
  Registers registers{code(0), kStack, 0, {}};
  registers.leaf[5] = code(1);
  process.memory = {{kStack, code(2)}};
  EXPECT_EQ(process.unwind(registers).frames, (Frames{code(0) | kExact, code(1), code(2)}));
  process.memory = {{kStack, code(0)}};
  EXPECT_EQ(process.unwind(registers).result, VESTA_UNWIND_UNSUPPORTED);
}

TEST(StackUnwinderTest, FollowsRbxFromWhereACalleeSavedIt) {
  // Function 0 saved rbx two words below its CFA; function 1's CFA hangs on rbx.
  HandMadeProcess process({rule(VESTA_CFA_SP, 32, VESTA_BP_SAME, 0, 2), rule(VESTA_CFA_BX, 16),
                           rule(VESTA_CFA_END, 0),
                           rule(VESTA_CFA_SP, 32, VESTA_BP_SAME, 0, VESTA_BX_LOST)});
  process.memory = {{kStack + 16, kStack + 0x80}, {kStack + 24, code(1)}, {kStack + 0x88, code(2)}};
  EXPECT_EQ(process.unwind({code(0), kStack, 0, {}}).frames,
            (Frames{code(0) | kExact, code(1), code(2)}));
  // In the innermost frame it is in its register.
  Registers registers{code(1), kStack, 0, {}};
  registers.leaf[3] = kStack + 0x80;
  EXPECT_EQ(process.unwind(registers).result, VESTA_UNWIND_COMPLETE);
  EXPECT_EQ(process.unwind({code(3), kStack, 0, {}}).result, VESTA_UNWIND_UNSUPPORTED);
}

TEST(StackUnwinderTest, GoesThroughASignalFrameToAnExactAddress) {
  HandMadeProcess process({rule(VESTA_CFA_SP, 8), rule(VESTA_CFA_SIGNAL, 0), rule(VESTA_CFA_SP, 8),
                           rule(VESTA_CFA_END, 0)});
  const uint64_t ucontext = kStack + 8;
  const uint64_t interrupted_sp = kStack - 0x100000;  // another stack, below
  process.memory = {{kStack, code(1)},
                    {ucontext + 120, 0},
                    {ucontext + 160, interrupted_sp},
                    {ucontext + 168, code(2, 0)},
                    {interrupted_sp, code(3)}};
  const UnwoundStack stack = process.unwind({code(0), kStack, 0, {}});
  EXPECT_EQ(stack.result, VESTA_UNWIND_COMPLETE);
  EXPECT_EQ(stack.frames,
            (Frames{code(0) | kExact, code(1) | kExact, code(2, 0) | kExact, code(3)}));
}

TEST(StackUnwinderTest, TakesAReturnToAFunctionsFirstByteForExact) {
  // Function 0 was not called by the end of function 1, but returns to function 2.
  vesta_unwind_rule early = rule(VESTA_CFA_END, 0);
  early.trust = VESTA_TRUST_EARLY;
  HandMadeProcess process({rule(VESTA_CFA_SP, 8), early, rule(VESTA_CFA_END, 0)});
  process.memory = {{kStack, code(2, 0)}};
  const UnwoundStack stack = process.unwind({code(0), kStack, 0, {}});
  EXPECT_EQ(stack.result, VESTA_UNWIND_COMPLETE);
  EXPECT_EQ(stack.frames, (Frames{code(0) | kExact, code(2, 0) | kExact}));
  // Unless there is a call before it: that is function 1, of which nothing is known.
  process.code_before[code(2, 0)] = std::string("\xe8\x00\x00\x00\x00", 5);
  EXPECT_EQ(process.unwind({code(0), kStack, 0, {}}).result, VESTA_UNWIND_NO_RULE);
  // Nor is it when it was interrupted there.
  EXPECT_EQ(process.unwind({code(1), kStack, 0, {}}).result, VESTA_UNWIND_NO_RULE);
}

struct CallForm {
  std::string bytes;
  bool is_call;
};

class CallFormTest : public ::testing::TestWithParam<CallForm> {};

TEST_P(CallFormTest, IsWhatADecodedRuleNeedsBeforeTheReturnAddress) {
  vesta_unwind_rule decoded = rule(VESTA_CFA_SP, 16);
  decoded.trust = VESTA_TRUST_DECODED;
  HandMadeProcess process({decoded, rule(VESTA_CFA_END, 0)});
  process.memory = {{kStack + 8, code(1)}};
  process.code_before[code(1)] = GetParam().bytes;
  const UnwoundStack stack = process.unwind({code(0), kStack, 0, {}});
  if (GetParam().is_call) {
    EXPECT_EQ(stack.result, VESTA_UNWIND_COMPLETE);
    EXPECT_EQ(stack.frames, (Frames{code(0) | kExact, code(1) | VESTA_FRAME_DECODED}));
  } else {
    EXPECT_EQ(stack.result, VESTA_UNWIND_NO_RULE);
    EXPECT_EQ(stack.frames, (Frames{code(0) | kExact}));
  }
}

using namespace std::string_literals;
INSTANTIATE_TEST_SUITE_P(
    , CallFormTest,
    ::testing::Values(CallForm{"\xe8\x00\xff\xff\xff"s, true},          // call within the module
                      CallForm{"\xe8\x00\x00\x00\x40"s, false},         // into nowhere
                      CallForm{"\xff\xd0"s, true},                      // call *%rax
                      CallForm{"\x41\xff\xd7"s, true},                  // call *%r15
                      CallForm{"\xff\x10"s, true},                      // call *(%rax)
                      CallForm{"\xff\x14\x24"s, true},                  // call *(%rsp)
                      CallForm{"\xff\x14\xc7"s, true},                  // call *(%rdi,%rax,8)
                      CallForm{"\xff\x55\x10"s, true},                  // call *0x10(%rbp)
                      CallForm{"\xff\x54\x24\x10"s, true},              // call *0x10(%rsp)
                      CallForm{"\xff\x90\x00\x01\x00\x00"s, true},      // call *0x100(%rax)
                      CallForm{"\xff\x15\x00\x01\x00\x00"s, true},      // call *0x100(%rip)
                      CallForm{"\xff\x94\x24\x00\x01\x00\x00"s, true},  // call *0x100(%rsp)
                      CallForm{"\xff\x14\xc5\x00\x01\x00\x00"s, true},  // call *0x100(,%rax,8)
                      CallForm{"\xff\x14\xc7\x00\x01\x00\x00"s,
                               false},               // the same length, without a base of 5
                      CallForm{"\xff\xe0"s, false},  // jmp *%rax
                      CallForm{"\xff\x14"s, false},  // a byte is missing
                      CallForm{"\xff\x25\x00\x01\x00\x00"s, false},  // jmp *0x100(%rip)
                      CallForm{"\xff\x1d\x00\x01\x00\x00"s, false},  // a far call
                      CallForm{"\xe9\x00\x00\x00\x00"s, false},      // jmp
                      CallForm{"\x90\x90\x90\x90\x90\x90\x90\x90"s, false}, CallForm{""s, false}));

TEST(StackUnwinderTest, MarksWhatIsOnlyLikely) {
  vesta_unwind_rule likely = rule(VESTA_CFA_SP, 8);
  likely.trust = VESTA_TRUST_GUESSED;
  HandMadeProcess process({rule(VESTA_CFA_END, 0), likely, rule(VESTA_CFA_NONE, 0)});
  const auto call = [](uint64_t target) {
    Bytes bytes;
    return bytes.u8(0xe8).u32(target - code(0)).str();
  };
  process.memory = {{kStack, code(0)}};
  process.code_before[code(0)] = call(code(1, 0));
  const Frames marked{code(1) | kExact, code(0) | VESTA_FRAME_GUESSED};
  EXPECT_EQ(process.unwind({code(1), kStack, 0, {}}).frames, marked);
  // A call of what comes behind is not how the function was entered.
  process.code_before[code(0)] = call(code(2, 0));
  EXPECT_EQ(process.unwind({code(1), kStack, 0, {}}).result, VESTA_UNWIND_NO_RULE);
  // The same holds for frame pointers that no table vouches for.
  process.memory = {{kStack + 16, 0}, {kStack + 24, code(0)}};
  EXPECT_EQ(process.unwind({code(2), kStack, kStack + 16, {}}).frames.back(),
            code(0) | VESTA_FRAME_GUESSED);
  process.code_before.clear();
  EXPECT_EQ(process.unwind({code(2), kStack, kStack + 16, {}}).result, VESTA_UNWIND_NO_RULE);
}

TEST(StackUnwinderTest, FollowsFramePointersWhereThereIsNoTable) {
  HandMadeProcess process({rule(VESTA_CFA_END, 0)});
  process.mapping().is_anonymous = true;
  process.memory = {
      {kStack + 16, kStack + 48}, {kStack + 24, code(5)}, {kStack + 48, 0}, {kStack + 56, code(6)}};
  const UnwoundStack stack = process.unwind({code(4), kStack, kStack + 16, {}});
  EXPECT_EQ(stack.result, VESTA_UNWIND_COMPLETE);
  EXPECT_EQ(stack.frames.size(), 3U);
}

TEST(StackUnwinderTest, SaysWhyItStops) {
  HandMadeProcess process({rule(VESTA_CFA_SP, 8), rule(VESTA_CFA_BP, 16, VESTA_BP_UNDEFINED),
                           rule(VESTA_CFA_NONE, 0), rule(VESTA_CFA_UNSUPPORTED, 0),
                           rule(VESTA_CFA_SP, 0)});
  const auto result = [&](uint64_t ip, uint64_t bp = 0) {
    return process.unwind({ip, kStack, bp, {}}).result;
  };
  EXPECT_EQ(result(0x1234), VESTA_UNWIND_NO_MAPPING);
  EXPECT_EQ(result(code(0)), VESTA_UNWIND_BAD_MEMORY);
  EXPECT_EQ(result(code(2)), VESTA_UNWIND_NO_RULE);
  EXPECT_EQ(result(code(3)), VESTA_UNWIND_UNSUPPORTED);
  EXPECT_EQ(result(code(4)), VESTA_UNWIND_BAD_FRAME);
  // rbp was lost one frame below the one that needs it.
  process.memory = {{kStack + 8, code(1)}};
  EXPECT_EQ(result(code(1), kStack), VESTA_UNWIND_UNSUPPORTED);
  // A frame that calls itself for ever.
  for (uint64_t i = 0; i < 1000; ++i) process.memory[kStack + 8 * i] = code(0);
  EXPECT_EQ(result(code(0)), VESTA_UNWIND_TRUNCATED);
  EXPECT_EQ(process.unwind({code(0), kStack, 0, {}}).frames.size(),
            static_cast<size_t>(VESTA_MAX_USER_FRAMES));
  process.mapping().table = nullptr;
  EXPECT_EQ(result(code(0)), VESTA_UNWIND_NO_TABLE);
}

}  // namespace
}  // namespace vesta
