// x86-64 machine code, one instruction at a time: how long it is, where it goes on, and what it
// does to the registers and the part of the stack that an unwinder has to know. Not a disassembler:
// what an instruction computes is not told, only which registers are lost. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace vesta {

// mov $15, %rax; syscall: where a signal handler returns to.
inline constexpr std::string_view kSignalReturnCode("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);

// Registers by their number in machine code, which is not the one of DWARF.
enum X86Register : uint8_t {
  kRax = 0,
  kRcx = 1,
  kRdx = 2,
  kRbx = 3,
  kRsp = 4,
  kRbp = 5,
  kRsi = 6,
  kRdi = 7,
  kR11 = 11,
  kX86Registers = 16,
};

constexpr uint16_t x86_bit(unsigned reg) {
  return static_cast<uint16_t>(1U << (reg & 15U));
}

struct X86Instruction {
  enum class Flow : uint8_t {
    kNext,
    kBranch,         // to `target`, or on
    kJump,           // to `target`
    kJumpSomewhere,  // through a register or memory
    kCall,           // of `target`; comes back
    kCallSomewhere,
    kReturn,
    kStop,  // never goes on: hlt, ud2, int3
  };
  enum class Effect : uint8_t {
    kOther,    // what is in `writes` is lost
    kPush,     // of `reg`
    kPushAny,  // of something else
    kPop,      // into `reg`
    kPopAny,   // into memory or flags
    kAdd,      // reg += value
    kAlign,    // reg &= value
    kMove,     // reg = base
    kLea,      // reg = base + value
    kLoad,     // reg = *(base + value), 8 bytes
    kStore,    // *(base + value) = reg, 8 bytes
    kZero,     // reg = 0
    kLeave,    // rsp = rbp; pop rbp
  };

  uint8_t length = 0;  // bytes; 0 when the instruction is not known
  Flow flow = Flow::kNext;
  Effect effect = Effect::kOther;
  uint8_t reg = 0;
  uint8_t base = 0;
  uint16_t writes = 0;  // bits of x86_bit(): registers that hold something else afterwards
  int64_t value = 0;
  uint64_t target = 0;  // also of a kOther that takes the address of a place in the file

  bool is_known() const { return length != 0; }
};

// The instruction at the beginning of `code`, which is at `address`.
X86Instruction decode_x86(std::string_view code, uint64_t address);

// Whether it does nothing, such as what alignment leaves between functions.
bool is_x86_padding(std::string_view code, const X86Instruction& instruction);

}  // namespace vesta
