#include "unwind/cfi_program.h"

#include <array>
#include <limits>

#include "base/byte_cursor.h"
#include "unwind/cfi_expression.h"
#include "unwind/cfi_pointer.h"

namespace vesta {
namespace {

enum : uint8_t {
  kAdvanceLoc = 0x40,  // these three keep an operand in their low 6 bits
  kOffset = 0x80,
  kRestore = 0xc0,
  kNop = 0x00,
  kSetLoc = 0x01,
  kAdvanceLoc1 = 0x02,
  kAdvanceLoc2 = 0x03,
  kAdvanceLoc4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValOffset = 0x14,
  kValOffsetSf = 0x15,
  kValExpression = 0x16,
  kMipsAdvanceLoc8 = 0x1d,
  kGnuWindowSave = 0x2d,
  kGnuArgsSize = 0x2e,
  kGnuNegativeOffsetExtended = 0x2f,
};

using RuleKind = SavedRegister::Kind;

// The kernel puts registers of an interrupted function into a ucontext; these are the offsets in
// it that the CFI of a signal return trampoline names.
constexpr int64_t kUcontextRsp = 160;

// Keeps products and sums of attacker-given numbers away from overflow; what is cut here is far
// outside what a rule can hold.
int64_t clamped(int64_t value) {
  constexpr int64_t kMax = int64_t{1} << 40;
  return value > kMax ? kMax : value < -kMax ? -kMax : value;
}
int64_t clamped_unsigned(uint64_t value) {
  return value > uint64_t{1} << 40 ? int64_t{1} << 40 : static_cast<int64_t>(value);
}
int64_t scaled(int64_t factor, int64_t alignment) {
  int64_t product = 0;
  if (__builtin_mul_overflow(factor, alignment, &product)) return int64_t{1} << 40;
  return clamped(product);
}

// Runs instructions and tells `Sink` whenever the address moves on. Sink::move(address, state) is
// called with the new address while `state` is still what held up to there; it returns false to
// end the run.
template <class Sink>
class Program {
 public:
  Program(const CfiSection& section, const Cie& cie, uint64_t address, Sink& sink)
      : section_(section), cie_(cie), address_(address), state_(cie.initial), sink_(sink) {}

  const FrameState& state() const { return state_; }

  // False when an instruction cannot be followed.
  bool run(std::string_view instructions, uint64_t offset) {
    ByteCursor cursor(instructions);
    while (!cursor.at_end()) {
      const uint8_t op = cursor.u8();
      const uint8_t low = op & 0x3f;
      switch (op & 0xc0) {
        case kAdvanceLoc:
          if (!advance(low)) return true;
          break;
        case kOffset:
          set_offset(low, clamped_unsigned(cursor.uleb()));
          break;
        case kRestore:
          restore(low);
          break;
        default:
          if (!extended(op, cursor, offset)) return false;
          break;
      }
      if (is_done_) return true;
      if (!cursor.ok()) return false;
    }
    return true;
  }

 private:
  bool extended(uint8_t op, ByteCursor& cursor, uint64_t offset) {
    switch (op) {
      case kNop:
        break;
      case kSetLoc: {
        const auto target =
            read_pointer(cursor, cie_.pointer_encoding, cie_.address_bytes, section_, offset);
        if (!target || *target < address_) return false;
        move_to(*target);
        break;
      }
      case kAdvanceLoc1:
        advance(cursor.u8());
        break;
      case kAdvanceLoc2:
        advance(cursor.u16());
        break;
      case kAdvanceLoc4:
        advance(cursor.u32());
        break;
      case kMipsAdvanceLoc8:
        advance(cursor.u64());
        break;
      case kOffsetExtended: {
        const uint64_t reg = cursor.uleb();
        set_offset(reg, clamped_unsigned(cursor.uleb()));
        break;
      }
      case kOffsetExtendedSf: {
        const uint64_t reg = cursor.uleb();
        set_offset(reg, cursor.sleb());
        break;
      }
      case kGnuNegativeOffsetExtended: {
        const uint64_t reg = cursor.uleb();
        set_offset(reg, -clamped_unsigned(cursor.uleb()));
        break;
      }
      case kRestoreExtended:
        restore(cursor.uleb());
        break;
      case kUndefined:
        set(cursor.uleb(), {RuleKind::kUndefined, 0, 0});
        break;
      case kSameValue:
        set(cursor.uleb(), {RuleKind::kSame, 0, 0});
        break;
      case kRegister: {
        const uint64_t reg = cursor.uleb();
        const uint64_t other = cursor.uleb();
        if (reg == other) {
          set(reg, {RuleKind::kSame, 0, 0});
        } else {
          set(reg, other <= kRegisterReturn
                       ? SavedRegister{RuleKind::kInRegister, static_cast<uint8_t>(other), 0}
                       : SavedRegister{RuleKind::kUnknown, 0, 0});
        }
        break;
      }
      case kRememberState:
        if (remembered_count_ == remembered_.size()) return false;
        remembered_[remembered_count_++] = state_;
        break;
      case kRestoreState:
        if (remembered_count_ == 0) return false;
        state_ = remembered_[--remembered_count_];
        break;
      case kDefCfa: {
        const uint64_t reg = cursor.uleb();
        set_cfa(reg, clamped_unsigned(cursor.uleb()));
        break;
      }
      case kDefCfaSf: {
        const uint64_t reg = cursor.uleb();
        set_cfa(reg, scaled(cursor.sleb(), cie_.data_alignment));
        break;
      }
      case kDefCfaRegister:
        set_cfa(cursor.uleb(), state_.offset);
        break;
      case kDefCfaOffset:
        state_.offset = clamped_unsigned(cursor.uleb());
        break;
      case kDefCfaOffsetSf:
        state_.offset = scaled(cursor.sleb(), cie_.data_alignment);
        break;
      case kDefCfaExpression:
        set_cfa_expression(cursor.bytes(cursor.uleb()));
        break;
      case kExpression: {
        const uint64_t reg = cursor.uleb();
        set_expression(reg, cursor.bytes(cursor.uleb()));
        break;
      }
      case kValOffset:
      case kValOffsetSf: {
        const uint64_t reg = cursor.uleb();
        cursor.sleb();
        set(reg, {RuleKind::kUnknown, 0, 0});
        break;
      }
      case kValExpression: {
        const uint64_t reg = cursor.uleb();
        cursor.skip(cursor.uleb());
        set(reg, {RuleKind::kUnknown, 0, 0});
        break;
      }
      case kGnuWindowSave:
        break;
      case kGnuArgsSize:
        cursor.uleb();
        break;
      default:
        return false;
    }
    return true;
  }

  bool advance(uint64_t factor) {
    uint64_t delta = 0;
    uint64_t target = 0;
    if (__builtin_mul_overflow(factor, cie_.code_alignment, &delta) ||
        __builtin_add_overflow(address_, delta, &target)) {
      is_done_ = true;
      return false;
    }
    return move_to(target);
  }

  bool move_to(uint64_t target) {
    if (target == address_) return true;
    address_ = target;
    if (sink_.move(target, state_)) return true;
    is_done_ = true;
    return false;
  }

  SavedRegister* slot(uint64_t reg) {
    switch (reg) {
      case kRegisterRbp:
        return &state_.bp;
      case kRegisterRbx:
        return &state_.bx;
      case kRegisterReturn:
        return &state_.ra;
      default:
        return nullptr;
    }
  }
  void set(uint64_t reg, const SavedRegister& where) {
    if (SavedRegister* saved = slot(reg)) *saved = where;
  }
  void set_offset(uint64_t reg, int64_t factor) {
    if (SavedRegister* saved = slot(reg)) {
      *saved = {RuleKind::kAtCfa, 0, scaled(factor, cie_.data_alignment)};
    }
  }
  void restore(uint64_t reg) {
    if (reg == kRegisterRbp) state_.bp = cie_.initial.bp;
    if (reg == kRegisterRbx) state_.bx = cie_.initial.bx;
    if (reg == kRegisterReturn) state_.ra = cie_.initial.ra;
  }

  void set_cfa(uint64_t reg, int64_t offset) {
    state_.cfa = reg < kRegisterReturn ? FrameState::Cfa::kRegister : FrameState::Cfa::kUnknown;
    state_.base = static_cast<uint8_t>(reg);
    state_.offset = offset;
    state_.addend = 0;
  }

  void set_cfa_expression(std::string_view bytes) {
    const CfiExpression expression = recognise_expression(bytes);
    state_.base = expression.base;
    state_.offset = expression.offset;
    state_.addend = expression.addend;
    switch (expression.shape) {
      case CfiExpression::Shape::kUnknown:
        state_.cfa = FrameState::Cfa::kUnknown;
        break;
      case CfiExpression::Shape::kRegister:
        state_.cfa = FrameState::Cfa::kRegister;
        break;
      case CfiExpression::Shape::kDeref:
        state_.cfa = FrameState::Cfa::kDeref;
        break;
      case CfiExpression::Shape::kDerefIndexed:
        state_.cfa = FrameState::Cfa::kDerefIndexed;
        break;
      case CfiExpression::Shape::kPlt:
        state_.cfa = FrameState::Cfa::kPlt;
        break;
    }
  }

  void set_expression(uint64_t reg, std::string_view bytes) {
    SavedRegister* saved = slot(reg);
    if (saved == nullptr) return;
    const CfiExpression expression = recognise_expression(bytes);
    if (expression.shape == CfiExpression::Shape::kRegister) {
      *saved = {RuleKind::kAtRegister, expression.base, expression.offset};
    } else {
      *saved = {RuleKind::kUnknown, 0, 0};
    }
  }

  const CfiSection& section_;
  const Cie& cie_;
  uint64_t address_;
  FrameState state_;
  Sink& sink_;
  bool is_done_ = false;
  size_t remembered_count_ = 0;
  // GCC nests these two or three deep.
  std::array<FrameState, 16> remembered_;
};

// A CIE has no addresses to move through.
struct NoMoves {
  bool moved = false;
  bool move(uint64_t, const FrameState&) {
    moved = true;
    return false;
  }
};

struct RowSink {
  RowWriter& rows;
  uint64_t limit;
  uint64_t row_start;
  bool is_signal_frame;

  void emit(const FrameState& state) {
    bool lost_bp = false;
    rows.add(row_start, rule_of(state, is_signal_frame, lost_bp));
    if (lost_bp) rows.count_lost_bp();
  }
  bool move(uint64_t address, const FrameState& state) {
    emit(state);
    row_start = address;
    return address < limit;
  }
};

vesta_unwind_rule unsupported_rule() {
  vesta_unwind_rule rule{};
  rule.cfa_kind = VESTA_CFA_UNSUPPORTED;
  return rule;
}

// Fills the half of a rule that tells the CFA; false when no rule can.
bool set_cfa_of_rule(const FrameState& state, vesta_unwind_rule& rule) {
  if (state.offset < std::numeric_limits<int32_t>::min() ||
      state.offset > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  rule.cfa_offset = static_cast<int32_t>(state.offset);
  switch (state.cfa) {
    case FrameState::Cfa::kRegister:
      if (state.base == kRegisterRsp) {
        rule.cfa_kind = VESTA_CFA_SP;
      } else if (state.base == kRegisterRbp) {
        rule.cfa_kind = VESTA_CFA_BP;
      } else if (state.base == kRegisterRbx) {
        rule.cfa_kind = VESTA_CFA_BX;
      } else if (state.base < kRegisterReturn) {
        rule.cfa_kind = VESTA_CFA_REGISTER;
        rule.operand = state.base;
      } else {
        return false;
      }
      return true;
    case FrameState::Cfa::kDeref:
      // In words, as many as the rule's byte may hold.
      if (state.addend < 0 || state.addend % 8 != 0 || state.addend >= 16 * 8) return false;
      rule.operand = static_cast<uint8_t>(state.addend / 8);
      if (state.base == kRegisterRbp) {
        rule.cfa_kind = VESTA_CFA_DEREF_BP;
        return true;
      }
      if (state.base == kRegisterRsp) {
        rule.cfa_kind = VESTA_CFA_DEREF_SP;
        return true;
      }
      return false;
    case FrameState::Cfa::kDerefIndexed:
      rule.cfa_kind = VESTA_CFA_DEREF_INDEXED;
      rule.operand = state.base;
      return true;
    case FrameState::Cfa::kPlt:
      rule.cfa_kind = VESTA_CFA_PLT;
      return true;
    case FrameState::Cfa::kUndefined:
    case FrameState::Cfa::kUnknown:
      return false;
  }
  return false;
}

// False when rbp is somewhere that the rule cannot express.
bool set_bp_of_rule(const FrameState& state, vesta_unwind_rule& rule) {
  const SavedRegister& bp = state.bp;
  int64_t offset = bp.offset;
  switch (bp.kind) {
    case RuleKind::kSame:
      rule.bp_kind = VESTA_BP_SAME;
      return true;
    case RuleKind::kUndefined:
      rule.bp_kind = VESTA_BP_UNDEFINED;
      return true;
    case RuleKind::kAtCfa:
      rule.bp_kind = VESTA_BP_AT_CFA;
      break;
    case RuleKind::kAtRegister:
      if (bp.base == kRegisterRbp) {
        rule.bp_kind = VESTA_BP_AT_BP;
      } else if (state.cfa == FrameState::Cfa::kRegister && state.base == bp.base) {
        rule.bp_kind = VESTA_BP_AT_CFA;
        offset -= state.offset;
      } else {
        return false;
      }
      break;
    case RuleKind::kInRegister:
    case RuleKind::kUnknown:
      return false;
  }
  if (offset < std::numeric_limits<int16_t>::min() ||
      offset > std::numeric_limits<int16_t>::max()) {
    return false;
  }
  rule.bp_offset = static_cast<int16_t>(offset);
  return true;
}

// Where rbx is, for the kinds that can tell.
void set_bx_of_rule(const FrameState& state, vesta_unwind_rule& rule) {
  if (rule.cfa_kind == VESTA_CFA_REGISTER || rule.cfa_kind == VESTA_CFA_DEREF_BP ||
      rule.cfa_kind == VESTA_CFA_DEREF_SP || rule.cfa_kind == VESTA_CFA_DEREF_INDEXED) {
    return;  // the byte is taken
  }
  const SavedRegister& bx = state.bx;
  constexpr int64_t kWord = 8;
  if (bx.kind == RuleKind::kSame) return;
  const bool can_be_told = bx.kind == RuleKind::kAtCfa && bx.offset % kWord == 0 &&
                           bx.offset <= -kWord && bx.offset > -kWord * VESTA_BX_LOST;
  rule.operand = can_be_told ? static_cast<uint8_t>(-bx.offset / kWord) : uint8_t{VESTA_BX_LOST};
}

}  // namespace

vesta_unwind_rule rule_of(const FrameState& state, bool is_signal_frame, bool& lost_bp) {
  lost_bp = false;
  vesta_unwind_rule rule{};
  if (state.ra.kind == RuleKind::kUndefined) {
    rule.cfa_kind = VESTA_CFA_END;
    return rule;
  }
  if (is_signal_frame && state.cfa == FrameState::Cfa::kDeref && state.base == kRegisterRsp &&
      state.addend == 0 && state.ra.kind == RuleKind::kAtRegister &&
      state.ra.base == kRegisterRsp && state.ra.offset == state.offset + 8) {
    const int64_t ucontext = state.offset - kUcontextRsp;
    if (ucontext < std::numeric_limits<int32_t>::min() ||
        ucontext > std::numeric_limits<int32_t>::max()) {
      return unsupported_rule();
    }
    rule.cfa_kind = VESTA_CFA_SIGNAL;
    rule.cfa_offset = static_cast<int32_t>(ucontext);
    return rule;
  }
  if (state.ra.kind == RuleKind::kInRegister && state.cfa == FrameState::Cfa::kRegister &&
      state.base == kRegisterRsp && state.bp.kind == RuleKind::kSame &&
      set_cfa_of_rule(state, rule)) {
    rule.cfa_kind = VESTA_CFA_SP_AND_REGISTER;
    rule.operand = state.ra.base;
    return rule;
  }
  const bool ra_is_at_cfa = state.ra.kind == RuleKind::kAtCfa && state.ra.offset == -8;
  if (!ra_is_at_cfa || !set_cfa_of_rule(state, rule)) return unsupported_rule();
  if (!set_bp_of_rule(state, rule)) {
    lost_bp = true;
    rule.bp_kind = VESTA_BP_UNDEFINED;
    rule.bp_offset = 0;
  }
  set_bx_of_rule(state, rule);
  return rule;
}

bool run_initial_instructions(std::string_view instructions, const CfiSection& section, Cie& cie) {
  if (cie.return_register != kRegisterReturn) return false;
  NoMoves sink;
  Program<NoMoves> program(section, cie, 0, sink);
  if (!program.run(instructions, 0) || sink.moved) return false;
  cie.initial = program.state();
  return true;
}

void write_function_rows(const CfiEntries& entries, const Fde& fde, uint64_t first, uint64_t limit,
                         RowWriter& rows) {
  const Cie& cie = entries.cies[fde.cie];
  if (!cie.is_usable) {
    rows.add(first, unsupported_rule());
    return;
  }
  RowSink sink{rows, limit, first, cie.is_signal_frame};
  Program<RowSink> program(entries.section, cie, fde.start, sink);
  const bool is_followed =
      program.run(entries.section.bytes.substr(fde.instructions_offset, fde.instructions_size),
                  fde.instructions_offset);
  if (sink.row_start >= limit) return;
  if (is_followed) {
    sink.emit(program.state());
  } else {
    rows.add(sink.row_start, unsupported_rule());
  }
}

}  // namespace vesta
