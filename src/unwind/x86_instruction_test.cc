#include "unwind/x86_instruction.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/test_requirements.h"

namespace vesta {
namespace {

using Flow = X86Instruction::Flow;
using Effect = X86Instruction::Effect;
using namespace std::string_literals;

X86Instruction decode(const std::string& code) {
  return decode_x86(code + std::string(16, '\0'), 0x1000);
}

TEST(X86InstructionTest, FollowsTheStackPointer) {
  EXPECT_EQ(decode("\x55").effect, Effect::kPush);
  EXPECT_EQ(decode("\x55").reg, kRbp);
  EXPECT_EQ(decode("\x41\x57").reg, 15);
  EXPECT_EQ(decode("\x41\x5f").effect, Effect::kPop);
  const X86Instruction sub = decode("\x48\x83\xec\x18");
  EXPECT_EQ(sub.effect, Effect::kAdd);
  EXPECT_EQ(sub.reg, kRsp);
  EXPECT_EQ(sub.value, -0x18);
  EXPECT_EQ(decode("\x48\x81\xc4\x08\x01\x00\x00"s).value, 0x108);
  EXPECT_EQ(decode("\x48\x83\xe4\xf0").effect, Effect::kAlign);
  EXPECT_EQ(decode("\x48\x89\xe5").effect, Effect::kMove);  // mov %rsp, %rbp
  EXPECT_EQ(decode("\x48\x89\xe5").reg, kRbp);
  EXPECT_EQ(decode("\x48\x89\xe5").base, kRsp);
  const X86Instruction store = decode("\x48\x89\x44\x24\x40");  // mov %rax, 0x40(%rsp)
  EXPECT_EQ(store.effect, Effect::kStore);
  EXPECT_EQ(store.base, kRsp);
  EXPECT_EQ(store.value, 0x40);
  EXPECT_EQ(decode("\x48\x8b\x64\x24\x40").effect, Effect::kLoad);
  EXPECT_EQ(decode("\x31\xed").effect, Effect::kZero);
  EXPECT_EQ(decode("\xc9").effect, Effect::kLeave);
}

TEST(X86InstructionTest, TellsWhichRegistersAreLost) {
  EXPECT_EQ(decode("\x48\x29\xc4").writes, x86_bit(kRsp));  // sub %rax, %rsp
  EXPECT_EQ(decode("\x48\x39\xc4").writes, 0);              // cmp %rax, %rsp
  EXPECT_EQ(decode("\x0f\x28\xe0").writes, 0);              // movaps, not of rsp
  EXPECT_EQ(decode("\xc5\xf8\x28\xe0").writes, 0);          // vmovaps
  EXPECT_EQ(decode("\xc4\xe2\x68\xf2\xd8").writes & x86_bit(kRbx), x86_bit(kRbx));  // andn
  EXPECT_EQ(decode("\x80\xe4\x45").writes, x86_bit(kRax));              // and $0x45, %ah
  EXPECT_EQ(decode("\x40\x80\xe4\x45").writes, x86_bit(kRsp));          // and $0x45, %spl
  EXPECT_EQ(decode("\xb4\x01").writes, x86_bit(kRax));                  // mov $1, %ah
  EXPECT_EQ(decode("\x0f\xa2").writes & x86_bit(kRbx), x86_bit(kRbx));  // cpuid
  EXPECT_EQ(decode("\x64\x48\x8b\x2c\x25\x28\x00\x00\x00"s).writes, x86_bit(kRbp));  // mov %fs:40
}

TEST(X86InstructionTest, TellsWhereCodeGoesOn) {
  EXPECT_EQ(decode("\xe8\x10\x00\x00\x00"s).flow, Flow::kCall);
  EXPECT_EQ(decode("\xe8\x10\x00\x00\x00"s).target, 0x1015U);
  EXPECT_EQ(decode("\xeb\xfe").target, 0x1000U);
  EXPECT_EQ(decode("\x0f\x84\x00\xff\xff\xff"s).flow, Flow::kBranch);
  EXPECT_EQ(decode("\xff\xd0").flow, Flow::kCallSomewhere);
  EXPECT_EQ(decode("\xff\xe0").flow, Flow::kJumpSomewhere);
  EXPECT_EQ(decode("\xc3").flow, Flow::kReturn);
  EXPECT_EQ(decode("\xf4").flow, Flow::kStop);
  EXPECT_EQ(decode("\x48\x8d\x05\x10\x00\x00\x00"s).target, 0x1017U);  // lea 0x10(%rip), %rax
}

TEST(X86InstructionTest, DoesNotKnowWhatIsCutOffOrDoesNotExist) {
  for (const std::string& code : {"\x06"s, "\x9a"s, "\xea"s, "\xff\xf8"s, "\xff\x18"s, "\x66\x55"s,
                                  "\x0f\x04"s, "\xcb"s, "\xcd\x80"s})
    EXPECT_FALSE(decode(code).is_known()) << static_cast<int>(static_cast<uint8_t>(code[0]));
  const std::string whole = "\x48\x81\xec\x08\x01\x00\x00"s;
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(decode_x86(whole.substr(0, bytes), 0).is_known()) << bytes;
  EXPECT_FALSE(decode_x86(std::string(64, '\x66'), 0).is_known());
  EXPECT_FALSE(decode_x86(std::string(14, '\x66') + "\x81\xc0\x00\x00\x00\x00"s, 0).is_known());
}

TEST(X86InstructionTest, KnowsPadding) {
  for (const std::string& code : {"\x90"s, "\x66\x90"s, "\xcc"s, "\x0f\x1f\x40\x00"s,
                                  "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00"s})
    EXPECT_TRUE(is_x86_padding(code, decode(code)));
  EXPECT_FALSE(is_x86_padding("\xc3", decode("\xc3")));
}

// Every instruction of a large library is as long as the disassembler of binutils says.
TEST(X86InstructionTest, AgreesWithADisassemblerAboutLengths) {
  const std::string library = "/lib/x86_64-linux-gnu/libc.so.6";
  VESTA_REQUIRE_OR_SKIP(
      ::access("/usr/bin/objdump", X_OK) == 0 && ::access(library.c_str(), R_OK) == 0,
      "needs objdump and " + library);
  const std::string command = "/usr/bin/objdump -d -w " + library;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  ASSERT_NE(pipe, nullptr);
  char line[1024];
  size_t seen = 0;
  size_t wrong = 0;
  while (std::fgets(line, sizeof(line), pipe.get()) != nullptr) {
    const std::string_view text(line);
    const size_t colon = text.find(":\t");
    const size_t end = text.find('\t', colon + 2);
    if (text[0] != ' ' || colon == std::string_view::npos || end == std::string_view::npos)
      continue;
    std::string code;
    for (size_t at = colon + 2; at + 1 < end && text[at] != ' '; at += 3)
      code += static_cast<char>(std::stoi(std::string(text.substr(at, 2)), nullptr, 16));
    if (code.empty()) continue;
    ++seen;
    if (decode(code).length != code.size() && ++wrong < 5) ADD_FAILURE() << text;
  }
  EXPECT_GT(seen, 100'000U);
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace vesta
