#include "unwind/x86_instruction.h"

#include <cstring>
#include <initializer_list>

namespace vesta {
namespace {

using Flow = X86Instruction::Flow;
using Effect = X86Instruction::Effect;

constexpr size_t kMaxLength = 15;

// Opcode maps, by the number that VEX and EVEX give them.
enum Map : uint8_t {
  kOneByte = 0,
  kMap0F = 1,
  kMap0F38 = 2,
  kMap0F3A = 3,
  kXopWithByte = 8,
  kXop = 9,
};

// A set of opcodes.
class Opcodes {
 public:
  struct Range {
    uint8_t first;
    uint8_t last;
  };
  constexpr Opcodes(std::initializer_list<Range> ranges) {
    for (const Range& range : ranges) {
      for (unsigned op = range.first; op <= range.last; ++op) words_[op / 64] |= 1ULL << (op % 64);
    }
  }
  constexpr bool has(unsigned op) const { return (words_[op / 64] >> (op % 64) & 1) != 0; }

 private:
  uint64_t words_[4] = {};
};

// One-byte opcodes, by what follows them.
constexpr Opcodes kAlone = {{0x50, 0x5f}, {0x90, 0x99}, {0x9b, 0x9f}, {0xa4, 0xa7},
                            {0xaa, 0xaf}, {0xc3, 0xc3}, {0xc9, 0xc9}, {0xcc, 0xcc},
                            {0xd7, 0xd7}, {0xf1, 0xf1}, {0xf4, 0xf5}, {0xf8, 0xfd}};
constexpr Opcodes kWithByte = {{0x6a, 0x6a}, {0x70, 0x7f}, {0xa8, 0xa8}, {0xb0, 0xb7},
                               {0xcd, 0xcd}, {0xe0, 0xe3}, {0xeb, 0xeb}};
constexpr Opcodes kWithModrm = {{0x63, 0x63}, {0x84, 0x8f}, {0xd0, 0xd3},
                                {0xd8, 0xdf}, {0xf6, 0xf7}, {0xfe, 0xff}};
constexpr Opcodes kWithModrmAndByte = {
    {0x6b, 0x6b}, {0x80, 0x80}, {0x83, 0x83}, {0xc0, 0xc1}, {0xc6, 0xc6}};
constexpr Opcodes kWithModrmAndFull = {{0x69, 0x69}, {0x81, 0x81}, {0xc7, 0xc7}};
// The same of those behind 0f.
constexpr Opcodes k0FAlone = {{0x05, 0x05}, {0x0b, 0x0b}, {0x31, 0x31},
                              {0x77, 0x77}, {0xa2, 0xa2}, {0xc8, 0xcf}};
constexpr Opcodes k0FWithModrm = {{0x00, 0x03}, {0x0d, 0x0d}, {0x10, 0x1f}, {0x28, 0x2f},
                                  {0x40, 0x6f}, {0x74, 0x76}, {0x7c, 0x7f}, {0x90, 0x9f},
                                  {0xa3, 0xa3}, {0xa5, 0xa5}, {0xab, 0xab}, {0xad, 0xb9},
                                  {0xbb, 0xc1}, {0xc3, 0xc3}, {0xc7, 0xc7}, {0xd0, 0xff}};
constexpr Opcodes k0FWithModrmAndByte = {{0x70, 0x73}, {0xa4, 0xa4}, {0xac, 0xac},
                                         {0xba, 0xba}, {0xc2, 0xc2}, {0xc4, 0xc6}};

// Those of one byte, whose registers 4 to 7 are the second bytes of 0 to 3 unless there is a REX
// prefix. All even ones below 40 are, too.
constexpr Opcodes kBytes = {{0x80, 0x80}, {0x86, 0x86}, {0x88, 0x88}, {0x8a, 0x8a},
                            {0xb0, 0xb7}, {0xc0, 0xc0}, {0xc6, 0xc6}, {0xd0, 0xd0},
                            {0xd2, 0xd2}, {0xf6, 0xf6}, {0xfe, 0xfe}};
constexpr Opcodes k0FBytes = {{0x90, 0x9f}, {0xb0, 0xb0}, {0xc0, 0xc0}};

// General registers that are written, where that is all there is to say.
constexpr Opcodes kWritesReg = {{0x63, 0x63}, {0x69, 0x69}, {0x6b, 0x6b}, {0x8a, 0x8a}};
constexpr Opcodes kWritesRm = {{0x88, 0x88}, {0x8c, 0x8c}, {0xc0, 0xc1},
                               {0xc6, 0xc7}, {0xd0, 0xd3}, {0xfe, 0xfe}};
constexpr Opcodes kStringOperations = {{0xa4, 0xa7}, {0xaa, 0xaf}};
constexpr Opcodes k0FWritesReg = {{0x02, 0x03}, {0x2c, 0x2d}, {0x40, 0x50}, {0xaf, 0xaf},
                                  {0xb6, 0xb8}, {0xbc, 0xbf}, {0xc5, 0xc5}, {0xd7, 0xd7}};
constexpr Opcodes k0FWritesRm = {{0x00, 0x00}, {0x1e, 0x1e} /* rdssp */,
                                 {0x7e, 0x7e}, {0x90, 0x9f},
                                 {0xa4, 0xa5}, {0xab, 0xad},
                                 {0xb3, 0xb3}, {0xba, 0xbb},
                                 {0xc7, 0xc7}};
constexpr Opcodes kVectorWritesReg = {
    {0x2c, 0x2d}, {0x50, 0x50}, {0x78, 0x79}, {0x93, 0x93} /* kmov */, {0xc5, 0xc5}, {0xd7, 0xd7}};

class Decoder {
 public:
  Decoder(std::string_view code, uint64_t address)
      : code_(code.substr(0, kMaxLength)), address_(address) {}

  X86Instruction decode() {
    if (!read_prefixes() || !read_opcode() || !read_operands()) return {};
    out_.length = static_cast<uint8_t>(at_);
    find_effect();
    if (is_bad_) return {};
    return out_;
  }

 private:
  bool has(size_t bytes) const { return code_.size() - at_ >= bytes; }
  uint8_t byte(size_t at) const { return static_cast<uint8_t>(code_[at]); }

  bool read_prefixes() {
    while (has(1)) {
      switch (byte(at_)) {
        case 0x66:
          is_16_bit_ = true;
          break;
        case 0x67:
          is_short_address_ = true;
          break;
        case 0xf2:
        case 0xf3:
          repeat_ = byte(at_);
          break;
        case 0x64:
        case 0x65:
          has_segment_ = true;
          break;
        case 0xf0:
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
          break;
        default:
          if ((byte(at_) & 0xf0) == 0x40) {
            set_rex(byte(at_));
            has_rex_ = true;
            ++at_;
          }
          return has(1);
      }
      ++at_;
    }
    return false;
  }

  void set_rex(uint8_t rex) {
    is_wide_ = (rex & 8) != 0;
    reg_high_ = (rex & 4) != 0 ? 8 : 0;
    index_high_ = (rex & 2) != 0 ? 8 : 0;
    base_high_ = (rex & 1) != 0 ? 8 : 0;
  }

  bool read_opcode() {
    const uint8_t first = byte(at_++);
    if (first == 0xc5) return read_vex2();
    if (first == 0xc4) return read_vex3();
    if (first == 0x62) return read_evex();
    // A pop has no bits there; the vector instructions of some AMD processors do.
    if (first == 0x8f && has(1) && (byte(at_) & 0x38) != 0) return read_xop();
    opcode_ = first;
    if (first != 0x0f) return true;
    if (!has(1)) return false;
    map_ = kMap0F;
    opcode_ = byte(at_++);
    if (opcode_ != 0x38 && opcode_ != 0x3a) return true;
    if (!has(1)) return false;
    map_ = opcode_ == 0x38 ? kMap0F38 : kMap0F3A;
    opcode_ = byte(at_++);
    return true;
  }

  bool read_vex2() {
    if (!has(2)) return false;
    const uint8_t bits = byte(at_);
    reg_high_ = (bits & 0x80) != 0 ? 0 : 8;
    third_ = (~bits >> 3) & 15;
    set_vector_prefix(bits);
    map_ = kMap0F;
    opcode_ = byte(at_ + 1);
    at_ += 2;
    return true;
  }

  // The two bytes that VEX of three and EVEX have in common. REQUIRES: they are there
  void read_vector_head() {
    const uint8_t second = byte(at_ + 1);
    set_rex(static_cast<uint8_t>((~byte(at_) >> 5) & 7));
    is_wide_ = (second & 0x80) != 0;
    third_ = (~second >> 3) & 15;
    set_vector_prefix(second);
  }

  bool read_vex3() {
    if (!has(3)) return false;
    read_vector_head();
    map_ = byte(at_) & 0x1f;
    opcode_ = byte(at_ + 2);
    at_ += 3;
    return map_ >= kMap0F && map_ <= kMap0F3A;
  }

  bool read_xop() {
    if (!has(3)) return false;
    map_ = byte(at_) & 0x1f;
    set_rex(static_cast<uint8_t>((~byte(at_) >> 5) & 7));
    is_vector_ = true;
    opcode_ = byte(at_ + 2);
    at_ += 3;
    // The others are about general registers, and no compiler writes them unasked.
    return map_ == kXopWithByte || (map_ == kXop && opcode_ >= 0x80);
  }

  bool read_evex() {
    if (!has(4)) return false;
    read_vector_head();
    is_evex_ = true;
    map_ = byte(at_) & 7;
    opcode_ = byte(at_ + 3);
    at_ += 4;
    // 5 and 6 are those of half-precision numbers.
    return (map_ >= kMap0F && map_ <= kMap0F3A) || map_ == 5 || map_ == 6;
  }

  void set_vector_prefix(uint8_t bits) {
    is_vector_ = true;
    is_16_bit_ = (bits & 3) == 1;
    repeat_ = (bits & 3) == 2 ? 0xf3 : (bits & 3) == 3 ? 0xf2 : 0;
  }

  bool read_operands() {
    size_t immediate = 0;
    bool with_modrm = false;
    if (is_vector_) {
      with_modrm = !(map_ == kMap0F && opcode_ == 0x77 && !is_evex_);
      if (map_ == kMap0F3A || map_ == kXopWithByte || (map_ == kMap0F && has_byte_in_map_0f()))
        immediate = 1;
    } else if (map_ == kOneByte) {
      if (!describe_one_byte(with_modrm, immediate)) return false;
    } else if (map_ == kMap0F) {
      if (!describe_0f(with_modrm, immediate)) return false;
    } else {
      with_modrm = true;
      immediate = map_ == kMap0F3A ? 1 : 0;
    }
    if (with_modrm && !read_modrm()) return false;
    // Of the test among the group; the others have none.
    if (map_ == kOneByte && !is_vector_ && (opcode_ == 0xf6 || opcode_ == 0xf7) && (reg_ & 7) <= 1)
      immediate = opcode_ == 0xf6 ? 1 : full();
    if (!has(immediate)) return false;
    immediate_ = read_signed(at_, immediate);
    at_ += immediate;
    return true;
  }

  size_t full() const { return is_16_bit_ ? 2 : 4; }

  bool has_byte_in_map_0f() const {
    return (opcode_ >= 0x70 && opcode_ <= 0x73) || opcode_ == 0xc2 ||
           (opcode_ >= 0xc4 && opcode_ <= 0xc6);
  }

  // False for what does not exist in 64-bit code, and for what compilers do not write.
  bool describe_one_byte(bool& with_modrm, size_t& immediate) const {
    const uint8_t op = opcode_;
    if (op < 0x40) {
      with_modrm = (op & 7) < 4;
      if ((op & 7) == 4) immediate = 1;
      if ((op & 7) == 5) immediate = full();
      return (op & 7) < 6;
    }
    if (op >= 0xb8 && op < 0xc0) return set(immediate, is_wide_ ? 8 : full());
    if (op == 0x68 || op == 0xa9) return set(immediate, full());
    if (op == 0xe8 || op == 0xe9) return !is_16_bit_ && set(immediate, 4);
    if (op == 0xc2) return set(immediate, 2);
    if (kWithByte.has(op)) return set(immediate, 1);
    with_modrm = kWithModrm.has(op) || kWithModrmAndByte.has(op) || kWithModrmAndFull.has(op);
    if (kWithModrmAndByte.has(op)) immediate = 1;
    if (kWithModrmAndFull.has(op)) immediate = full();
    return with_modrm || kAlone.has(op);
  }

  bool describe_0f(bool& with_modrm, size_t& immediate) const {
    const uint8_t op = opcode_;
    if (op >= 0x80 && op <= 0x8f) return !is_16_bit_ && set(immediate, 4);
    with_modrm = k0FWithModrm.has(op) || k0FWithModrmAndByte.has(op);
    if (k0FWithModrmAndByte.has(op)) immediate = 1;
    return with_modrm || k0FAlone.has(op);
  }

  static bool set(size_t& immediate, size_t bytes) {
    immediate = bytes;
    return true;
  }

  bool read_modrm() {
    if (!has(1)) return false;
    const uint8_t modrm = byte(at_++);
    const uint8_t mode = modrm >> 6;
    reg_ = static_cast<uint8_t>(((modrm >> 3) & 7) | reg_high_);
    rm_ = static_cast<uint8_t>((modrm & 7) | base_high_);
    is_register_ = mode == 3;
    if (is_register_) return true;
    size_t displacement = mode == 1 ? 1 : mode == 2 ? 4 : 0;
    if ((modrm & 7) == 4) {
      if (!has(1)) return false;
      const uint8_t sib = byte(at_++);
      rm_ = static_cast<uint8_t>((sib & 7) | base_high_);
      has_index_ = (((sib >> 3) & 7) | index_high_) != kRsp;
      if ((sib & 7) == 5 && mode == 0) {
        displacement = 4;
        has_base_ = false;
      }
    } else if ((modrm & 7) == 5 && mode == 0) {
      displacement = 4;
      has_base_ = false;
      is_rip_relative_ = true;
    }
    if (!has(displacement)) return false;
    displacement_ = read_signed(at_, displacement);
    at_ += displacement;
    return true;
  }

  int64_t read_signed(size_t at, size_t bytes) const {
    if (bytes == 0) return 0;
    uint64_t value = 0;
    std::memcpy(&value, code_.data() + at, bytes);
    const unsigned unused = static_cast<unsigned>(64 - 8 * bytes);
    return static_cast<int64_t>(value << unused) >> unused;
  }

  // Memory at a register and a distance that is known.
  bool is_plain_memory() const {
    return !is_register_ && has_base_ && !has_index_ && !has_segment_ && !is_short_address_;
  }

  void find_effect() {
    if (is_vector_) {
      out_.writes = vector_writes();
    } else if (map_ == kOneByte) {
      one_byte_effect();
    } else if (map_ == kMap0F) {
      effect_0f();
    } else if (map_ == kMap0F38) {
      // crc32, movbe, adcx: what they write is in `reg`.
      if (opcode_ >= 0xf0) out_.writes = reg_bit();
    } else {
      writes_of_0f3a();
    }
  }

  bool is_byte_operation() const {
    if (is_vector_ || has_rex_) return false;
    if (map_ == kMap0F) return k0FBytes.has(opcode_);
    return map_ == kOneByte && (opcode_ < 0x40 ? (opcode_ & 1) == 0 : kBytes.has(opcode_));
  }
  uint16_t register_bit(uint8_t number) const {
    const bool is_second_byte = number >= 4 && number < 8 && is_byte_operation();
    return x86_bit(is_second_byte ? number - 4U : number);
  }
  uint16_t reg_bit() const { return register_bit(reg_); }
  uint16_t rm_bit() const { return is_register_ ? register_bit(rm_) : uint16_t{0}; }

  void jump(Flow flow) {
    out_.flow = flow;
    out_.target = address_ + at_ + static_cast<uint64_t>(immediate_);
  }

  void set_effect(Effect effect, uint8_t reg, uint8_t base = 0, int64_t value = 0) {
    out_.effect = effect;
    out_.reg = reg;
    out_.base = base;
    out_.value = value;
    out_.writes = 0;
  }

  // From `rm` to `reg`, or back: what moves 8 bytes can be followed.
  void move(bool into_reg) {
    if (!is_wide_ || has_segment_) {
      out_.writes = into_reg ? reg_bit() : rm_bit();
    } else if (is_register_) {
      set_effect(Effect::kMove, into_reg ? reg_ : rm_, into_reg ? rm_ : reg_);
    } else if (is_plain_memory()) {
      set_effect(into_reg ? Effect::kLoad : Effect::kStore, reg_, rm_, displacement_);
    } else {
      out_.writes = into_reg ? reg_bit() : uint16_t{0};
    }
  }

  void arithmetic(unsigned operation, int64_t value) {
    constexpr unsigned kAddition = 0;
    constexpr unsigned kAnd = 4;
    constexpr unsigned kSubtraction = 5;
    constexpr unsigned kComparison = 7;
    if (operation == kComparison) return;
    out_.writes = rm_bit();
    if (!is_wide_ || !is_register_) return;
    if (operation == kAddition) set_effect(Effect::kAdd, rm_, 0, value);
    if (operation == kSubtraction) set_effect(Effect::kAdd, rm_, 0, -value);
    if (operation == kAnd) set_effect(Effect::kAlign, rm_, 0, value);
  }

  void one_byte_effect() {
    const uint8_t op = opcode_;
    const auto low = static_cast<uint8_t>((op & 7) | base_high_);
    if (op < 0x40) {
      const bool is_comparison = op >= 0x38;
      // xor reg, reg; in 32 bits it clears all.
      if ((op == 0x31 || op == 0x33) && is_register_ && reg_ == rm_ && !is_16_bit_) {
        set_effect(Effect::kZero, reg_);
      } else if (!is_comparison) {
        out_.writes = (op & 7) < 2 ? rm_bit() : (op & 7) < 4 ? reg_bit() : x86_bit(kRax);
      }
      return;
    }
    if (op < 0x58) {
      if (is_16_bit_) is_bad_ = true;
      return set_effect(Effect::kPush, low);
    }
    if (op < 0x60) {
      if (is_16_bit_) is_bad_ = true;
      return set_effect(Effect::kPop, low);
    }
    if (op >= 0x70 && op < 0x80) return jump(Flow::kBranch);
    if (op >= 0xb0 && op < 0xc0) {
      out_.writes = register_bit(low);
      return;
    }
    if (kWritesReg.has(op)) {
      out_.writes = reg_bit();
      return;
    }
    if (kWritesRm.has(op)) {
      out_.writes = rm_bit();
      return;
    }
    if (kStringOperations.has(op)) {
      out_.writes = x86_bit(kRax) | x86_bit(kRcx) | x86_bit(kRsi) | x86_bit(kRdi);
      return;
    }
    if (op >= 0x90 && op <= 0x97) {
      if (low != kRax) out_.writes = static_cast<uint16_t>(x86_bit(low) | x86_bit(kRax));
      return;
    }
    if (op >= 0xe0 && op <= 0xe3) {
      out_.writes = x86_bit(kRcx);
      return jump(Flow::kBranch);
    }
    switch (op) {
      case 0x68:
      case 0x6a:
      case 0x9c:
        if (is_16_bit_) is_bad_ = true;
        return set_effect(Effect::kPushAny, 0);
      case 0x9d:
        if (is_16_bit_) is_bad_ = true;
        return set_effect(Effect::kPopAny, 0);
      case 0x8f:
        if (is_register_) return set_effect(Effect::kPop, rm_);
        return set_effect(Effect::kPopAny, 0);
      case 0x80:
        out_.writes = (reg_ & 7) == 7 ? uint16_t{0} : rm_bit();
        return;
      case 0x81:
      case 0x83:
        return arithmetic(reg_ & 7U, immediate_);
      case 0x86:
      case 0x87:
        out_.writes = static_cast<uint16_t>(reg_bit() | rm_bit());
        return;
      case 0x89:
        return move(false);
      case 0x8b:
        return move(true);
      case 0x8d:
        if (is_wide_ && is_plain_memory()) {
          return set_effect(Effect::kLea, reg_, rm_, displacement_);
        }
        if (is_rip_relative_) out_.target = address_ + at_ + static_cast<uint64_t>(displacement_);
        out_.writes = reg_bit();
        return;
      case 0x98:
      case 0x9f:
      case 0xd7:
        out_.writes = x86_bit(kRax);
        return;
      case 0x99:
        out_.writes = x86_bit(kRdx);
        return;
      case 0xc2:
      case 0xc3:
        out_.flow = Flow::kReturn;
        return;
      case 0xc9:
        return set_effect(Effect::kLeave, kRbp);
      case 0xcc:
      case 0xf1:
      case 0xf4:
        out_.flow = Flow::kStop;
        return;
      case 0xcd:
        is_bad_ = true;
        return;
      case 0xdf:  // fnstsw
        out_.writes = x86_bit(kRax);
        return;
      case 0xe8:
        return jump(Flow::kCall);
      case 0xe9:
      case 0xeb:
        return jump(Flow::kJump);
      case 0xf6:
      case 0xf7:
        if ((reg_ & 7) >= 4) out_.writes = x86_bit(kRax) | x86_bit(kRdx);
        if ((reg_ & 7) == 2 || (reg_ & 7) == 3) out_.writes = rm_bit();
        return;
      case 0xff:
        return group_ff();
      default:
        return;
    }
  }

  void group_ff() {
    switch (reg_ & 7) {
      case 0:
      case 1:
        out_.writes = rm_bit();
        return;
      case 2:
        out_.flow = Flow::kCallSomewhere;
        return;
      case 4:
        out_.flow = Flow::kJumpSomewhere;
        // Through the table of a linker: into another function.
        if (is_rip_relative_) out_.value = 1;
        return;
      case 6:
        if (is_16_bit_) is_bad_ = true;
        if (is_register_) return set_effect(Effect::kPush, rm_);
        return set_effect(Effect::kPushAny, 0);
      default:
        is_bad_ = true;
        return;
    }
  }

  void effect_0f() {
    const uint8_t op = opcode_;
    if (op >= 0x80 && op <= 0x8f) return jump(Flow::kBranch);
    if (k0FWritesReg.has(op)) out_.writes = reg_bit();
    if (k0FWritesRm.has(op)) out_.writes = rm_bit();
    if (op >= 0xc8 && op <= 0xcf) out_.writes = x86_bit((op & 7U) | base_high_);
    switch (op) {
      case 0x05:
        out_.writes = x86_bit(kRax) | x86_bit(kRcx) | x86_bit(kR11);
        return;
      case 0x0b:
      case 0xb9:
      case 0xff:
        out_.flow = Flow::kStop;
        return;
      case 0x01:
      case 0x31:
        out_.writes = x86_bit(kRax) | x86_bit(kRdx) | x86_bit(kRcx);
        return;
      case 0xa2:
        out_.writes = x86_bit(kRax) | x86_bit(kRbx) | x86_bit(kRcx) | x86_bit(kRdx);
        return;
      case 0xae:
        out_.writes = repeat_ == 0xf3 ? rm_bit() : uint16_t{0};  // rdfsbase
        return;
      case 0xb0:
      case 0xb1:
        out_.writes = static_cast<uint16_t>(rm_bit() | x86_bit(kRax));
        return;
      case 0xc0:
      case 0xc1:
        out_.writes = static_cast<uint16_t>(rm_bit() | reg_bit());
        return;
      default:
        return;
    }
  }

  void writes_of_0f3a() {
    if (opcode_ >= 0x14 && opcode_ <= 0x17) out_.writes = rm_bit();
    if (opcode_ == 0x61 || opcode_ == 0x63) out_.writes = x86_bit(kRcx);
  }

  uint16_t vector_writes() {
    if (map_ == kMap0F) {
      if (kVectorWritesReg.has(opcode_)) return reg_bit();
      return opcode_ == 0x7e ? rm_bit() : uint16_t{0};
    }
    if (map_ == kMap0F38 && !is_evex_ && opcode_ >= 0xf0)
      return static_cast<uint16_t>(reg_bit() | x86_bit(third_));  // bit manipulation
    if (map_ == kMap0F3A && opcode_ == 0xf0) return reg_bit();
    if (map_ == kMap0F3A) {
      writes_of_0f3a();
      return out_.writes;
    }
    if (map_ == 5) return reg_bit();
    return 0;
  }

  std::string_view code_;
  uint64_t address_;
  size_t at_ = 0;
  X86Instruction out_;
  bool is_bad_ = false;

  bool is_16_bit_ = false;
  bool is_short_address_ = false;
  bool has_segment_ = false;
  bool is_wide_ = false;
  bool has_rex_ = false;
  bool is_vector_ = false;
  bool is_evex_ = false;
  uint8_t repeat_ = 0;
  uint8_t reg_high_ = 0;
  uint8_t index_high_ = 0;
  uint8_t base_high_ = 0;
  uint8_t third_ = 0;  // the operand that only VEX has
  uint8_t map_ = kOneByte;
  uint8_t opcode_ = 0;
  uint8_t reg_ = 0;
  uint8_t rm_ = 0;
  bool is_register_ = false;
  bool has_base_ = true;
  bool has_index_ = false;
  bool is_rip_relative_ = false;
  int64_t displacement_ = 0;
  int64_t immediate_ = 0;
};

}  // namespace

X86Instruction decode_x86(std::string_view code, uint64_t address) {
  return Decoder(code, address).decode();
}

bool is_x86_padding(std::string_view code, const X86Instruction& instruction) {
  if (!instruction.is_known()) return false;
  code = code.substr(0, instruction.length);
  if (code == "\xcc") return true;
  while (!code.empty() && (code[0] == '\x66' || code[0] == '\x2e' || code[0] == '\x48'))
    code.remove_prefix(1);
  return code.starts_with("\x90") || code.starts_with("\x0f\x1f");
}

}  // namespace vesta
