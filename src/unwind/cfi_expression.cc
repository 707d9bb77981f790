#include "unwind/cfi_expression.h"

#include <algorithm>

#include "base/byte_cursor.h"

namespace vesta {
namespace {

enum : uint8_t {
  kOpDeref = 0x06,
  kOpConst1u = 0x08,
  kOpConst1s = 0x09,
  kOpPlus = 0x22,
  kOpPlusUconst = 0x23,
  kOpLit0 = 0x30,
  kOpLit31 = 0x4f,
  kOpBreg0 = 0x70,
  kOpBreg31 = 0x8f,
  kOpBregx = 0x92,
  kOpNop = 0x96,
};

// breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus
constexpr std::string_view kPltHead("\x77\x08\x80\x00\x3f\x1a", 6);
constexpr std::string_view kPltTail("\x2a\x33\x24\x22", 4);

// bregN 0, and then: lit8; mul; plus; deref; plus_uconst 8
constexpr std::string_view kIndexedTail("\x00\x38\x1e\x22\x06\x23\x08", 7);

// Keeps sums of attacker-given numbers away from overflow; real offsets are far smaller.
constexpr int64_t kMaxOffset = int64_t{1} << 40;

bool is_sane(int64_t value) {
  return value > -kMaxOffset && value < kMaxOffset;
}

}  // namespace

CfiExpression recognise_expression(std::string_view expression) {
  CfiExpression out;
  if (expression.size() == kPltHead.size() + 1 + kPltTail.size() &&
      expression.starts_with(kPltHead) && expression.ends_with(kPltTail)) {
    const auto threshold = static_cast<uint8_t>(expression[kPltHead.size()]);
    if (threshold < kOpLit0 || threshold > kOpLit0 + 15) return out;
    out.shape = CfiExpression::Shape::kPlt;
    out.offset = threshold - kOpLit0;
    return out;
  }
  ByteCursor cursor(expression);
  const uint8_t first = cursor.u8();
  uint64_t base = 0;
  if (first >= kOpBreg0 && first <= kOpBreg31) {
    base = first - kOpBreg0;
  } else if (first == kOpBregx) {
    base = cursor.uleb();
  } else {
    return out;
  }
  if (base > kRegisterReturn) return out;
  out.base = static_cast<uint8_t>(base);
  out.offset = cursor.sleb();
  const std::string_view rest = expression.substr(std::min(cursor.offset(), expression.size()));
  if (base == kRegisterRsp && rest.size() == 1 + kIndexedTail.size() &&
      rest.ends_with(kIndexedTail)) {
    const auto index = static_cast<uint8_t>(rest[0]);
    if (index < kOpBreg0 || index - kOpBreg0 >= int{kRegisterReturn} || !is_sane(out.offset)) {
      return out;
    }
    out.shape = CfiExpression::Shape::kDerefIndexed;
    out.base = static_cast<uint8_t>(index - kOpBreg0);
    return out;
  }
  bool is_deref = false;
  // Sums after the start, in the ways they can be written; one dereference at most.
  while (cursor.ok() && !cursor.at_end() && is_sane(out.offset) && is_sane(out.addend)) {
    const uint8_t op = cursor.u8();
    int64_t more = 0;
    if (op == kOpNop) continue;
    if (op == kOpDeref && !is_deref) {
      is_deref = true;
      continue;
    }
    if (op == kOpPlusUconst) {
      const uint64_t value = cursor.uleb();
      if (value >= static_cast<uint64_t>(kMaxOffset)) return out;
      more = static_cast<int64_t>(value);
    } else {
      if (op >= kOpLit0 && op <= kOpLit31) {
        more = op - kOpLit0;
      } else if (op == kOpConst1u) {
        more = cursor.u8();
      } else if (op == kOpConst1s) {
        const uint8_t byte = cursor.u8();
        more = byte < 0x80 ? byte : byte - 0x100;
      } else {
        return out;
      }
      if (cursor.u8() != kOpPlus) return out;
    }
    (is_deref ? out.addend : out.offset) += more;
  }
  if (!cursor.ok() || !is_sane(out.offset) || !is_sane(out.addend)) return out;
  out.shape = is_deref ? CfiExpression::Shape::kDeref : CfiExpression::Shape::kRegister;
  return out;
}

}  // namespace vesta
