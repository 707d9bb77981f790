// What instructions make of a function's frame: where the stack pointer is from the frame's
// address (the CFA), and which registers and stack slots hold what an unwinder needs. Values that
// cannot be followed are unknown, never guessed. Plain data.
#pragma once

#include <shared/unwind_table.h>

#include <array>
#include <cstdint>

#include "unwind/x86_instruction.h"

namespace vesta {

struct FrameValue {
  enum class Kind : uint8_t {
    kUnknown,
    kCfa,      // CFA + offset
    kAligned,  // what the stack pointer was aligned down to, + offset
    kEntry,    // what the register `offset` held when the function was entered
    kZero,
  };
  Kind kind = Kind::kUnknown;
  int32_t offset = 0;

  bool is_address() const { return kind == Kind::kCfa || kind == Kind::kAligned; }
  // Unknown when it is not an address, or too far away.
  FrameValue plus(int64_t distance) const;
  friend bool operator==(const FrameValue&, const FrameValue&) = default;
};

class FrameModel {
 public:
  // At a function's first instruction.
  static FrameModel at_entry();

  void apply(const X86Instruction& instruction);

  // As at a function's first instruction, as far as a caller can tell: what return and jumps to
  // other functions need.
  bool is_balanced() const;
  const FrameValue& reg(unsigned number) const { return registers_[number & 15U]; }

  // What both agree on. False when they disagree about the stack pointer.
  bool meet(const FrameModel& other);

  // How to find the caller; VESTA_CFA_NONE when that is not known.
  vesta_unwind_rule rule() const;

  friend bool operator==(const FrameModel&, const FrameModel&) = default;

 private:
  struct Slot {
    FrameValue place;
    FrameValue value;
    friend bool operator==(const Slot&, const Slot&) = default;
  };
  static constexpr size_t kSlots = 6;

  void move_sp(const FrameValue& to);
  void push(const FrameValue& value);
  FrameValue pop();
  void store(const FrameValue& place, const FrameValue& value);
  FrameValue load(const FrameValue& place) const;
  // Offset from the CFA of the slot that holds a register as it was; 0 when there is none.
  int32_t saved_at(unsigned number) const;
  bool find_cfa(vesta_unwind_rule& rule) const;

  std::array<FrameValue, kX86Registers> registers_{};
  std::array<Slot, kSlots> slots_{};  // in use are those whose place is an address
};

}  // namespace vesta
