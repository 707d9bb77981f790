#include "unwind/frame_model.h"

#include <algorithm>
#include <limits>

namespace vesta {
namespace {

using ValueKind = FrameValue::Kind;
using Effect = X86Instruction::Effect;
using Flow = X86Instruction::Flow;

constexpr int64_t kMaxFrame = 1 << 24;
constexpr int32_t kWord = 8;

// What a call may change (System V ABI): all but rbx, rsp, rbp, r12 to r15.
constexpr uint16_t kCallerSaved = 0b0000'1111'1100'0111;

// By number in machine code.
constexpr std::array<uint8_t, kX86Registers> kDwarfNumbers = {0, 2, 1,  3,  7,  6,  4,  5,
                                                              8, 9, 10, 11, 12, 13, 14, 15};

}  // namespace

FrameValue FrameValue::plus(int64_t distance) const {
  if (!is_address() || distance > kMaxFrame || distance < -kMaxFrame) return {};
  const int64_t sum = offset + distance;
  if (sum > kMaxFrame || sum < -kMaxFrame) return {};
  return {kind, static_cast<int32_t>(sum)};
}

FrameModel FrameModel::at_entry() {
  FrameModel out;
  for (unsigned number = 0; number < kX86Registers; ++number)
    out.registers_[number] = {ValueKind::kEntry, static_cast<int32_t>(number)};
  out.registers_[kRsp] = {ValueKind::kCfa, -kWord};
  return out;
}

void FrameModel::move_sp(const FrameValue& to) {
  registers_[kRsp] = to;
  // What lies below may be overwritten at any time.
  for (Slot& slot : slots_) {
    if (slot.place.kind == to.kind && slot.place.offset < to.offset) slot = {};
  }
}

void FrameModel::store(const FrameValue& place, const FrameValue& value) {
  if (!place.is_address()) return;
  const bool is_wanted =
      value.kind == ValueKind::kCfa ||
      (value.kind == ValueKind::kEntry && (value.offset == kRbp || value.offset == kRbx));
  Slot* free = nullptr;
  for (Slot& slot : slots_) {
    // An overlap with a part of it spoils it, too.
    if (slot.place.kind == place.kind && slot.place.offset > place.offset - kWord &&
        slot.place.offset < place.offset + kWord) {
      slot = {};
    }
    if (free == nullptr && !slot.place.is_address()) free = &slot;
  }
  if (is_wanted && free != nullptr) *free = {place, value};
}

FrameValue FrameModel::load(const FrameValue& place) const {
  if (!place.is_address()) return {};
  const auto found = std::find_if(slots_.begin(), slots_.end(),
                                  [&](const Slot& slot) { return slot.place == place; });
  return found == slots_.end() ? FrameValue{} : found->value;
}

void FrameModel::push(const FrameValue& value) {
  move_sp(registers_[kRsp].plus(-kWord));
  store(registers_[kRsp], value);
}

FrameValue FrameModel::pop() {
  const FrameValue value = load(registers_[kRsp]);
  move_sp(registers_[kRsp].plus(kWord));
  return value;
}

void FrameModel::apply(const X86Instruction& instruction) {
  const uint8_t reg = instruction.reg;
  const auto assign = [&](const FrameValue& value) {
    if (reg == kRsp) {
      move_sp(value);
    } else {
      registers_[reg] = value;
    }
  };
  switch (instruction.effect) {
    case Effect::kPush:
      push(registers_[reg]);
      break;
    case Effect::kPushAny:
      push({});
      break;
    case Effect::kPop:
      assign(pop());
      break;
    case Effect::kPopAny:
      (void)pop();
      break;
    case Effect::kAdd:
      assign(registers_[reg].plus(instruction.value));
      break;
    case Effect::kAlign:
      if (reg == kRsp && registers_[kRsp].is_address() && instruction.value < 0) {
        for (Slot& slot : slots_) {
          if (slot.place.kind == ValueKind::kAligned) slot = {};
        }
        for (FrameValue& value : registers_) {
          if (value.kind == ValueKind::kAligned) value = {};
        }
        registers_[kRsp] = {ValueKind::kAligned, 0};
      } else {
        assign({});
      }
      break;
    case Effect::kMove:
      assign(registers_[instruction.base]);
      break;
    case Effect::kLea:
      assign(registers_[instruction.base].plus(instruction.value));
      break;
    case Effect::kLoad:
      assign(load(registers_[instruction.base].plus(instruction.value)));
      break;
    case Effect::kStore:
      store(registers_[instruction.base].plus(instruction.value), registers_[reg]);
      break;
    case Effect::kZero:
      assign({ValueKind::kZero, 0});
      break;
    case Effect::kLeave:
      move_sp(registers_[kRbp]);
      registers_[kRbp] = pop();
      break;
    case Effect::kOther:
      break;
  }
  uint16_t lost = instruction.writes;
  if (instruction.flow == Flow::kCall || instruction.flow == Flow::kCallSomewhere)
    lost |= kCallerSaved;
  for (unsigned number = 0; lost != 0 && number < kX86Registers; ++number) {
    if ((lost & x86_bit(number)) != 0) registers_[number] = {};
  }
}

bool FrameModel::is_balanced() const {
  const FrameModel entry = at_entry();
  return registers_[kRsp] == entry.registers_[kRsp] && registers_[kRbp] == entry.registers_[kRbp] &&
         registers_[kRbx] == entry.registers_[kRbx];
}

bool FrameModel::meet(const FrameModel& other) {
  const bool agrees = registers_[kRsp] == other.registers_[kRsp];
  for (unsigned number = 0; number < kX86Registers; ++number) {
    if (registers_[number] != other.registers_[number]) registers_[number] = {};
  }
  for (Slot& slot : slots_) {
    if (slot.place.is_address() && other.load(slot.place) != slot.value) slot = {};
  }
  return agrees;
}

int32_t FrameModel::saved_at(unsigned number) const {
  const FrameValue wanted{ValueKind::kEntry, static_cast<int32_t>(number)};
  for (const Slot& slot : slots_) {
    if (slot.place.kind == ValueKind::kCfa && slot.value == wanted) return slot.place.offset;
  }
  return 0;
}

bool FrameModel::find_cfa(vesta_unwind_rule& rule) const {
  const auto set = [&](vesta_cfa_kind kind, int32_t offset) {
    rule.cfa_kind = static_cast<uint8_t>(kind & 15);
    rule.cfa_offset = offset;
    return true;
  };
  const FrameValue& sp = registers_[kRsp];
  const FrameValue& bp = registers_[kRbp];
  if (sp.kind == ValueKind::kCfa) {
    if (sp.offset < 0) return set(VESTA_CFA_SP, -sp.offset);
    // The return address was taken off the stack and there is no frame pointer either: where
    // threads begin.
    return bp.kind == ValueKind::kZero && set(VESTA_CFA_END, 0);
  }
  if (bp.kind == ValueKind::kCfa && bp.offset < 0) return set(VESTA_CFA_BP, -bp.offset);
  if (sp.kind == ValueKind::kAligned) {
    for (const Slot& slot : slots_) {
      const int32_t words = -slot.value.offset / kWord;
      if (slot.place.kind != ValueKind::kAligned || slot.value.kind != ValueKind::kCfa ||
          slot.value.offset > 0 || slot.value.offset % kWord != 0 ||
          words > std::numeric_limits<uint8_t>::max()) {
        continue;
      }
      rule.operand = static_cast<uint8_t>(words);
      return set(VESTA_CFA_DEREF_SP, slot.place.offset - sp.offset);
    }
  }
  for (unsigned number = 0; number < kX86Registers; ++number) {
    if (number == kRsp || registers_[number].kind != ValueKind::kCfa) continue;
    rule.operand = kDwarfNumbers[number];
    return set(VESTA_CFA_REGISTER, -registers_[number].offset);
  }
  return false;
}

vesta_unwind_rule FrameModel::rule() const {
  vesta_unwind_rule rule{};
  if (!find_cfa(rule)) return {};
  rule.trust = VESTA_TRUST_DECODED;
  if (rule.cfa_kind == VESTA_CFA_END) return rule;
  if (registers_[kRbp] != FrameValue{ValueKind::kEntry, kRbp}) {
    const int32_t saved = saved_at(kRbp);
    const bool is_known = saved != 0 && saved >= std::numeric_limits<int16_t>::min();
    rule.bp_kind = is_known ? VESTA_BP_AT_CFA : VESTA_BP_UNDEFINED;
    if (is_known) rule.bp_offset = static_cast<int16_t>(saved);
  }
  const bool tells_bx = rule.cfa_kind == VESTA_CFA_SP || rule.cfa_kind == VESTA_CFA_BP;
  if (tells_bx && registers_[kRbx] != FrameValue{ValueKind::kEntry, kRbx}) {
    const int32_t words = -saved_at(kRbx) / kWord;
    const bool is_known = words > 0 && words < VESTA_BX_LOST;
    rule.operand = static_cast<uint8_t>(is_known ? words : int32_t{VESTA_BX_LOST});
  }
  return rule;
}

}  // namespace vesta
