#include "unwind/code_frames.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "unwind/frame_model.h"
#include "unwind/unwind_table.h"
#include "unwind/x86_instruction.h"

namespace vesta {
namespace {

using Flow = X86Instruction::Flow;
using Effect = X86Instruction::Effect;

constexpr uint64_t kAlignment = 16;
// Instructions that are looked at, in all, for each byte of code. Two or three suffice.
constexpr uint64_t kStepsPerByte = 16;
// Of one function.
constexpr size_t kMaxLabels = 8192;
constexpr size_t kMaxCases = 512;

bool is_end(Flow flow) {
  return flow == Flow::kJump || flow == Flow::kJumpSomewhere || flow == Flow::kReturn ||
         flow == Flow::kStop;
}

bool is_call(Flow flow) {
  return flow == Flow::kCall || flow == Flow::kCallSomewhere;
}

bool same_frame(const vesta_unwind_rule& a, const vesta_unwind_rule& b) {
  return a.cfa_kind == b.cfa_kind && a.cfa_offset == b.cfa_offset;
}

// The code in which frames are looked for.
class Code {
 public:
  Code(const ElfFile& file, std::span<const CodeRange> ranges) : ranges_(ranges) {
    for (const CodeRange& range : ranges) {
      first_mark_.push_back(marks_.size());
      marks_.resize(marks_.size() + range.size());
      bytes_.push_back(file.bytes_at(range.low).substr(0, range.size()));
    }
  }

  std::span<const CodeRange> ranges() const { return ranges_; }
  bool contains(uint64_t address) const { return find(address) < ranges_.size(); }
  std::string_view at(uint64_t address) const {
    const size_t range = find(address);
    if (range == ranges_.size()) return {};
    const uint64_t offset = address - ranges_[range].low;
    return offset < bytes_[range].size() ? bytes_[range].substr(offset) : std::string_view();
  }
  X86Instruction instruction(uint64_t address) const { return decode_x86(at(address), address); }
  bool is_padding(uint64_t address, const X86Instruction& instruction) const {
    return is_x86_padding(at(address), instruction);
  }

  // What is known of each byte.
  enum Mark : uint8_t {
    kBoundary = 1,  // an instruction begins here when code is read from start to end
    kFunction = 2,  // something calls it or names it
    kFollowed = 4,  // part of a function whose frames are known
    kAfterEnd = 8,  // the instruction before does not go on
    kTaken = 16,    // its address is taken
  };
  bool has(uint64_t address, Mark mark) const {
    const size_t range = find(address);
    return range < ranges_.size() &&
           (marks_[first_mark_[range] + (address - ranges_[range].low)] & mark) != 0;
  }
  void set(uint64_t address, Mark mark) {
    const size_t range = find(address);
    if (range < ranges_.size()) marks_[first_mark_[range] + (address - ranges_[range].low)] |= mark;
  }

 private:
  // The index of the range that holds an address, else their number.
  size_t find(uint64_t address) const {
    if (last_ < ranges_.size() && address >= ranges_[last_].low && address < ranges_[last_].high)
      return last_;
    const auto after = std::upper_bound(
        ranges_.begin(), ranges_.end(), address,
        [](uint64_t wanted, const CodeRange& range) { return wanted < range.low; });
    if (after == ranges_.begin() || address >= std::prev(after)->high) return ranges_.size();
    last_ = static_cast<size_t>(std::prev(after) - ranges_.begin());
    return last_;
  }

  std::span<const CodeRange> ranges_;
  std::vector<std::string_view> bytes_;
  std::vector<size_t> first_mark_;
  std::vector<uint8_t> marks_;
  mutable size_t last_ = 0;
};

// One function while it is followed.
class Walk {
 public:
  struct Options {
    bool is_function = false;  // known to be one, not only likely
    // A call with padding behind it does not come back.
    bool calls_may_end = false;
  };

  Walk(const Code& code, const std::map<uint64_t, vesta_unwind_rule>& rows, uint64_t& steps)
      : code_(code), rows_(rows), steps_(steps) {}

  // Whether the function at `start` is understood.
  bool follow(uint64_t start, const Options& options) {
    options_ = options;
    start_ = start;
    add_label(start, FrameModel::at_entry());
    if (!run() || !is_proven()) return false;
    follow_cases();
    return true;
  }

  // For each instruction, in order: its address, its length and the frame before it.
  template <typename Visit>
  void for_each_instruction(Visit visit) const {
    for (auto label = labels_.begin(); label != labels_.end(); ++label) {
      const auto next = std::next(label);
      const uint64_t limit = next == labels_.end() ? UINT64_MAX : next->first;
      const uint64_t end = std::min(limit, blocks_.at(label->first));
      FrameModel frame = label->second;
      for (uint64_t address = label->first; address < end;) {
        const X86Instruction instruction = code_.instruction(address);
        if (!instruction.is_known()) break;
        visit(address, instruction, frame);
        frame.apply(instruction);
        address += instruction.length;
      }
    }
  }

 private:
  struct Exits {
    uint32_t balanced = 0;
    uint32_t joined = 0;
    uint32_t unbalanced = 0;
    uint32_t unclear = 0;
  };

  bool is_proven() const {
    if (is_bad_ || exits_.unbalanced != 0) return false;
    if (options_.is_function) return true;
    return exits_.unclear == 0 && exits_.balanced + exits_.joined != 0;
  }

  void add_label(uint64_t address, const FrameModel& frame) {
    const auto [at, is_new] = labels_.try_emplace(address, frame);
    if (!is_new) {
      if (known_labels_ != nullptr && known_labels_->contains(address)) has_met_ = true;
      FrameModel both = at->second;
      if (!both.meet(frame)) is_bad_ = true;
      if (both == at->second) return;
      at->second = both;
    }
    if (labels_.size() > kMaxLabels) is_bad_ = true;
    work_.push_back(address);
  }

  bool run() {
    while (!work_.empty() && !is_bad_) {
      const uint64_t label = work_.front();
      work_.pop_front();
      run_block(label);
    }
    return !is_bad_;
  }

  // At code of another function, or code that was followed before. True when that ends a block.
  bool ends_at(uint64_t address, const FrameModel& frame, bool is_jump) {
    if (code_.has(address, Code::kFunction) && address != start_) {
      if (frame.is_balanced()) {
        ++exits_.balanced;
      } else if (is_jump) {
        ++exits_.unclear;
      }  // else a call before it that does not come back
      return true;
    }
    if (code_.has(address, Code::kFollowed)) {
      const auto row = rows_.upper_bound(address);
      const bool fits = row != rows_.begin() && same_frame(std::prev(row)->second, frame.rule());
      if (!fits) {
        ++exits_.unbalanced;
      } else {
        ++exits_.joined;
      }
      return true;
    }
    if (!code_.contains(address)) {
      if (is_jump && frame.is_balanced()) {
        ++exits_.balanced;
      } else {
        ++exits_.unclear;
      }
      return true;
    }
    return false;
  }

  void jump_to(uint64_t target, const FrameModel& frame) {
    if (!ends_at(target, frame, true)) add_label(target, frame);
  }

  void run_block(uint64_t start) {
    FrameModel frame = labels_.at(start);
    uint64_t address = start;
    while (!is_bad_) {
      if (address != start) {
        blocks_[start] = address;
        if (labels_.contains(address)) return add_label(address, frame);
        if (ends_at(address, frame, false)) return;
      }
      const X86Instruction instruction = code_.instruction(address);
      const auto inside = labels_.upper_bound(address);
      if (steps_ == 0 || !instruction.is_known() ||
          (inside != labels_.end() && inside->first < address + instruction.length)) {
        is_bad_ = true;
        return;
      }
      --steps_;
      const uint64_t next = address + instruction.length;
      blocks_[start] = next;
      if (instruction.flow == Flow::kReturn) return leave(frame);
      frame.apply(instruction);
      if (instruction.flow == Flow::kBranch || instruction.flow == Flow::kJump)
        jump_to(instruction.target, frame);
      if (instruction.flow == Flow::kJumpSomewhere) jump_somewhere(instruction, frame);
      if (is_end(instruction.flow)) return;
      if (is_call(instruction.flow) && options_.calls_may_end && is_padded(next)) return;
      address = next;
    }
  }

  void leave(const FrameModel& frame) {
    if (frame.is_balanced()) {
      ++exits_.balanced;
    } else if (frame.reg(kRsp).is_address()) {
      ++exits_.unbalanced;
    } else {
      ++exits_.unclear;
    }
  }

  void jump_somewhere(const X86Instruction& instruction, const FrameModel& frame) {
    const bool is_through_linker = instruction.value != 0;
    if (is_through_linker && frame.is_balanced()) {
      ++exits_.balanced;
    } else if (!frame.reg(kRsp).is_address()) {
      ++exits_.unclear;
    } else if (!cases_) {
      cases_ = frame;
    } else if (!cases_->meet(frame)) {
      ++exits_.unclear;
    }
  }

  bool is_padded(uint64_t address) const {
    if (address % kAlignment == 0) return true;
    const X86Instruction instruction = code_.instruction(address);
    return code_.is_padding(address, instruction);
  }

  bool is_in_block(uint64_t address) const {
    const auto after = blocks_.upper_bound(address);
    return after != blocks_.begin() && std::prev(after)->second > address;
  }

  // What a table of jumps leads to: code behind other code of the function that nothing else leads
  // to. Each counts only if it fits to all that is known already.
  void follow_cases() {
    if (!cases_) return;
    for (size_t tries = 0; tries < kMaxCases; ++tries) {
      const std::optional<uint64_t> next = next_case();
      if (!next) return;
      tried_.push_back(*next);
      if (steps_ < labels_.size()) return;
      steps_ -= labels_.size();
      const Walk before = *this;
      exits_ = {};
      has_met_ = false;
      known_labels_ = &before.labels_;
      add_label(*next, *cases_);
      const bool fits = run() && exits_.unbalanced == 0 && exits_.unclear == 0 &&
                        (exits_.balanced != 0 || has_met_);
      known_labels_ = nullptr;
      if (fits) continue;
      labels_ = before.labels_;
      blocks_ = before.blocks_;
      cases_ = before.cases_;
      work_.clear();
      is_bad_ = false;
    }
  }

  std::optional<uint64_t> next_case() {
    for (const auto& [start, end] : blocks_) {
      uint64_t address = end;
      while (code_.contains(address) && !is_in_block(address)) {
        const X86Instruction instruction = code_.instruction(address);
        if (!code_.is_padding(address, instruction)) break;
        address += instruction.length;
      }
      if (code_.contains(address) && !is_in_block(address) &&
          !code_.has(address, Code::kFunction) && !code_.has(address, Code::kFollowed) &&
          std::find(tried_.begin(), tried_.end(), address) == tried_.end()) {
        return address;
      }
    }
    return std::nullopt;
  }

  const Code& code_;
  const std::map<uint64_t, vesta_unwind_rule>& rows_;
  uint64_t& steps_;
  Options options_;
  uint64_t start_ = 0;
  std::map<uint64_t, FrameModel> labels_;  // where blocks begin, with the frame there
  std::map<uint64_t, uint64_t> blocks_;    // where they end; may run into the next label
  std::deque<uint64_t> work_;
  std::optional<FrameModel> cases_;  // at a jump through a table
  std::vector<uint64_t> tried_;
  Exits exits_;
  const std::map<uint64_t, FrameModel>* known_labels_ = nullptr;  // before a case was added
  bool has_met_ = false;                                          // the case leads to one of them
  bool is_bad_ = false;
};

class FrameFinder {
 public:
  FrameFinder(const ElfFile& file, std::span<const CodeRange> ranges)
      : file_(file), code_(file, ranges) {
    for (const CodeRange& range : ranges) steps_ += range.size() * kStepsPerByte;
  }

  DecodedCode find() {
    add_symbols();
    read_through();
    add_call_targets();
    for (const uint64_t start : functions_) follow(start, true);
    follow_likely_starts();
    for (const CodeRange& range : code_.ranges()) add_leaves(range);
    add_signal_returns();
    DecodedCode out;
    out.rows.reserve(rows_.size());
    for (const auto& [address, rule] : rows_) out.rows.push_back({address, rule});
    std::sort(starts_.begin(), starts_.end());
    out.starts = std::move(starts_);
    return out;
  }

 private:
  void add_function(uint64_t address) {
    if (!code_.contains(address) || code_.has(address, Code::kFunction)) return;
    code_.set(address, Code::kFunction);
    functions_.push_back(address);
  }

  void add_symbols() {
    add_function(file_.entry());
    for (const std::string_view name : {".symtab", ".dynsym"}) {
      const ElfSection* section = file_.section(name);
      if (section == nullptr) continue;
      std::string_view bytes = section->bytes;
      for (; bytes.size() >= sizeof(Elf64_Sym); bytes.remove_prefix(sizeof(Elf64_Sym))) {
        Elf64_Sym symbol;
        std::memcpy(&symbol, bytes.data(), sizeof(symbol));
        const auto type = ELF64_ST_TYPE(symbol.st_info);
        if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF)
          add_function(symbol.st_value);
      }
    }
  }

  // Reads all code from start to end, to know where instructions begin and what is called.
  void read_through() {
    for (const CodeRange& range : code_.ranges()) {
      bool is_after_end = true;
      for (uint64_t address = range.low; address < range.high;) {
        const X86Instruction instruction = code_.instruction(address);
        code_.set(address, Code::kBoundary);
        if (is_after_end) code_.set(address, Code::kAfterEnd);
        if (!instruction.is_known()) {
          is_after_end = false;
          ++address;
          continue;
        }
        if (instruction.flow == Flow::kCall) called_.push_back(instruction.target);
        if (instruction.flow == Flow::kNext && instruction.target != 0)
          taken_.push_back(instruction.target);
        // A call at the very end of a function does not come back.
        is_after_end = is_end(instruction.flow) || is_call(instruction.flow) ||
                       (is_after_end && code_.is_padding(address, instruction));
        const uint64_t next = address + instruction.length;
        // Where a function is known to begin, an instruction does.
        uint64_t inside = address + 1;
        while (inside < next && !code_.has(inside, Code::kFunction)) ++inside;
        address = inside;
      }
    }
  }

  void add_call_targets() {
    for (const uint64_t target : called_) {
      if (code_.has(target, Code::kBoundary)) add_function(target);
    }
    for (const uint64_t target : taken_) {
      if (!code_.has(target, Code::kBoundary) || !code_.has(target, Code::kAfterEnd)) continue;
      code_.set(target, Code::kTaken);
      add_function(target);
    }
    std::sort(functions_.begin(), functions_.end());
  }

  bool follow(uint64_t start, bool is_function) {
    if (code_.has(start, Code::kFollowed)) return true;
    for (const bool calls_may_end : {false, true}) {
      Walk walk(code_, rows_, steps_);
      if (!walk.follow(start, {is_function, calls_may_end})) continue;
      accept(walk);
      starts_.push_back(start);
      return true;
    }
    return false;
  }

  void accept(const Walk& walk) {
    uint64_t expected = 0;
    uint64_t last = 0;
    walk.for_each_instruction(
        [&](uint64_t address, const X86Instruction& instruction, const FrameModel& frame) {
          const vesta_unwind_rule rule = frame.rule();
          const bool goes_on = address == expected;
          if (!goes_on && expected != 0) rows_.try_emplace(expected);
          if (!goes_on || std::bit_cast<uint64_t>(rule) != last) rows_[address] = rule;
          last = std::bit_cast<uint64_t>(rule);
          expected = address + instruction.length;
          for (uint64_t byte = address; byte < expected; ++byte) code_.set(byte, Code::kFollowed);
        });
    if (expected != 0) rows_.try_emplace(expected);
  }

  // Code that nothing calls by name: functions that are called through pointers begin at aligned
  // addresses behind the end of another.
  void follow_likely_starts() {
    for (const CodeRange& range : code_.ranges()) {
      for (uint64_t address = range.low; address < range.high; ++address) {
        if (!code_.has(address, Code::kBoundary) || !code_.has(address, Code::kAfterEnd) ||
            code_.has(address, Code::kFollowed) || code_.has(address, Code::kFunction)) {
          continue;
        }
        if (address % kAlignment == 0 || address == range.low) follow(address, false);
      }
    }
  }

  static bool moves_sp(const X86Instruction& instruction) {
    switch (instruction.effect) {
      case Effect::kPush:
      case Effect::kPushAny:
      case Effect::kPop:
      case Effect::kPopAny:
      case Effect::kLeave:
        return true;
      case Effect::kStore:
        return false;
      case Effect::kOther:
        return (instruction.writes & x86_bit(kRsp)) != 0;
      default:
        return instruction.reg == kRsp;
    }
  }

  static bool changes(const X86Instruction& instruction, uint8_t reg) {
    if ((instruction.writes & x86_bit(reg)) != 0) return true;
    return instruction.effect != Effect::kOther && instruction.effect != Effect::kStore &&
           instruction.effect != Effect::kPush && instruction.reg == reg;
  }

  // Runs of code that were not understood, but in which nothing moves the stack pointer: what it
  // points at is probably the return address.
  void add_leaves(const CodeRange& range) {
    for (uint64_t address = range.low; address < range.high;) {
      if (code_.has(address, Code::kFollowed) || !code_.has(address, Code::kBoundary)) {
        ++address;
        continue;
      }
      const uint64_t first = address;
      bool is_leaf = true;
      bool changes_bp = false;
      bool changes_bx = false;
      bool has_return = false;
      while (address < range.high && !code_.has(address, Code::kFollowed)) {
        const X86Instruction instruction = code_.instruction(address);
        if (!instruction.is_known()) {
          is_leaf = false;
          ++address;
          continue;
        }
        is_leaf = is_leaf && !moves_sp(instruction);
        changes_bp |= changes(instruction, kRbp);
        changes_bx |= changes(instruction, kRbx);
        has_return |= instruction.flow == Flow::kReturn;
        address += instruction.length;
        if (is_end(instruction.flow) && address % kAlignment == 0) break;
      }
      if (!is_leaf || !has_return) continue;
      vesta_unwind_rule rule{};
      rule.cfa_kind = VESTA_CFA_SP;
      rule.cfa_offset = 8;
      rule.trust = VESTA_TRUST_GUESSED;
      if (changes_bp) rule.bp_kind = VESTA_BP_UNDEFINED;
      if (changes_bx) rule.operand = VESTA_BX_LOST;
      rows_[first] = rule;
      rows_.try_emplace(address);
    }
  }

  void add_signal_returns() {
    vesta_unwind_rule rule{};
    rule.cfa_kind = VESTA_CFA_SIGNAL;
    for (const CodeRange& range : code_.ranges()) {
      const std::string_view bytes = code_.at(range.low);
      for (size_t at = bytes.find(kSignalReturnCode); at != std::string_view::npos;
           at = bytes.find(kSignalReturnCode, at + 1)) {
        const uint64_t address = range.low + at;
        const uint64_t end = address + kSignalReturnCode.size();
        rows_.erase(rows_.lower_bound(address), rows_.lower_bound(end));
        rows_[address] = rule;
        rows_.try_emplace(end);
        rule.trust = VESTA_TRUST_EARLY;
        rows_[address - 1] = rule;
        rule.trust = VESTA_TRUST_TABLE;
        starts_.push_back(address);
      }
    }
  }

  const ElfFile& file_;
  Code code_;
  uint64_t steps_ = 0;
  std::map<uint64_t, vesta_unwind_rule> rows_;
  std::vector<uint64_t> functions_;
  std::vector<uint64_t> called_;
  std::vector<uint64_t> taken_;
  std::vector<uint64_t> starts_;
};

class DecodedSource final : public FunctionSource {
 public:
  DecodedSource(std::span<const CodeRange> ranges, const DecodedCode& code)
      : ranges_(ranges), code_(code) {}

  size_t size() const override { return ranges_.size(); }
  uint64_t start(size_t index) const override { return ranges_[index].low; }
  uint64_t end(size_t index) const override { return ranges_[index].high; }
  bool begins_early(size_t /*index*/) const override { return false; }
  void write_rows(size_t index, uint64_t first, uint64_t limit, RowWriter& rows) const override {
    const uint64_t low = ranges_[index].low;
    auto row = std::lower_bound(
        code_.rows.begin(), code_.rows.end(), low,
        [](const DecodedCode::Row& one, uint64_t wanted) { return one.address < wanted; });
    if (row == code_.rows.end() || row->address > first) rows.add(first, {});
    for (; row != code_.rows.end() && row->address < limit; ++row)
      rows.add(row->address, row->rule);
  }

 private:
  std::span<const CodeRange> ranges_;
  const DecodedCode& code_;
};

}  // namespace

std::vector<CodeRange> undescribed_code(const ElfFile& file,
                                        std::span<const FunctionSource* const> sources) {
  std::vector<CodeRange> described;
  for (const FunctionSource* source : sources) {
    for (size_t i = 0; i < source->size(); ++i)
      described.push_back({source->start(i), source->end(i)});
  }
  std::sort(described.begin(), described.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.low < b.low; });
  std::vector<CodeRange> code;
  for (const ElfSection& section : file.sections()) {
    if ((section.flags & SHF_EXECINSTR) == 0 || section.type != SHT_PROGBITS) continue;
    if (section.address + section.size > section.address)
      code.push_back({section.address, section.address + section.size});
  }
  std::sort(code.begin(), code.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.low < b.low; });
  std::vector<CodeRange> out;
  uint64_t sum = 0;
  auto next = described.begin();
  uint64_t covered = 0;
  for (const CodeRange& section : code) {
    uint64_t at = std::max(section.low, covered);
    const auto add = [&](uint64_t end) {
      if (end > at && end - at >= kMinDecodedRange) {
        out.push_back({at, end});
        sum += end - at;
      }
    };
    for (; next != described.end() && next->low < section.high; ++next) {
      add(std::min(next->low, section.high));
      at = std::max(at, next->high);
    }
    add(section.high);
    covered = std::max(at, section.high);
  }
  if (sum > kMaxDecodedBytes) out.clear();
  return out;
}

DecodedCode decode_frames(const ElfFile& file, std::span<const CodeRange> ranges) {
  if (ranges.empty()) return {};
  return FrameFinder(file, ranges).find();
}

Hash128 decoded_fingerprint(const ElfFile& file, std::span<const CodeRange> ranges) {
  if (ranges.empty()) return {};
  std::string text;
  const auto add = [&](std::string_view bytes) {
    const Hash128 hash = hash128(bytes);
    text.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
  };
  add({reinterpret_cast<const char*>(ranges.data()), ranges.size_bytes()});
  for (const CodeRange& range : ranges) add(file.bytes_at(range.low).substr(0, range.size()));
  for (const std::string_view name : {".symtab", ".dynsym"}) {
    const ElfSection* section = file.section(name);
    if (section != nullptr) add(section->bytes);
  }
  return hash128(text);
}

std::unique_ptr<FunctionSource> decoded_source(std::span<const CodeRange> ranges,
                                               const DecodedCode& code) {
  return std::make_unique<DecodedSource>(ranges, code);
}

}  // namespace vesta
