#include "unwind/go_frames.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/go/go_symbols.h"
#include "unwind/x86_instruction.h"

namespace vesta {
namespace {

// Go calls this the top of a stack, because its own unwinder cannot look below a signal. We can.
constexpr std::string_view kSignalTrampoline = "runtime.sigtramp";

constexpr std::string_view kPushRbp = "\x55";
constexpr std::string_view kMoveRbp8("\x48\x89\x6c\x24", 4);   // mov %rbp, disp8(%rsp)
constexpr std::string_view kMoveRbp32("\x48\x89\xac\x24", 4);  // mov %rbp, disp32(%rsp)
// The move follows the change of the stack pointer at once; some versions put a move between.
constexpr size_t kMaxBytesToMove = 16;

vesta_unwind_rule rule_of_kind(vesta_cfa_kind kind) {
  vesta_unwind_rule rule{};
  rule.cfa_kind = static_cast<uint8_t>(kind & 15);
  return rule;
}

vesta_unwind_rule sp_rule(int64_t delta, bool rbp_is_saved) {
  const int64_t cfa_offset = delta + 8;
  if (cfa_offset < 8 || cfa_offset > std::numeric_limits<int32_t>::max()) {
    return rule_of_kind(VESTA_CFA_UNSUPPORTED);
  }
  vesta_unwind_rule rule = rule_of_kind(VESTA_CFA_SP);
  rule.cfa_offset = static_cast<int32_t>(cfa_offset);
  if (rbp_is_saved && delta >= 8) {
    // At the top of the frame, next to the return address.
    rule.bp_kind = VESTA_BP_AT_CFA;
    rule.bp_offset = -16;
  }
  return rule;
}

class GoSource final : public FunctionSource {
 public:
  GoSource(const ElfFile& file, std::shared_ptr<const GoSymbols> symbols)
      : file_(file), symbols_(std::move(symbols)) {
    functions_.reserve(symbols_->function_count());
    symbols_->for_each_function([this](const GoFunction& function) {
      add(function);
      return true;
    });
    // They are, unless the file is damaged.
    const auto by_start = [](const Function& a, const Function& b) { return a.start < b.start; };
    if (!std::is_sorted(functions_.begin(), functions_.end(), by_start)) {
      std::stable_sort(functions_.begin(), functions_.end(), by_start);
    }
  }

  size_t size() const override { return functions_.size(); }
  uint64_t start(size_t index) const override { return functions_[index].start; }
  uint64_t end(size_t index) const override {
    return functions_[index].start + functions_[index].bytes;
  }
  bool begins_early(size_t index) const override {
    return functions_[index].kind == Kind::kSignalReturn;
  }

  void write_rows(size_t index, uint64_t first, uint64_t limit, RowWriter& rows) const override {
    const Function& function = functions_[index];
    switch (function.kind) {
      case Kind::kTop:
        rows.add(first, rule_of_kind(VESTA_CFA_END));
        return;
      case Kind::kSignalReturn:
        rows.add(first, rule_of_kind(VESTA_CFA_SIGNAL));
        return;
      case Kind::kSwitchesStacks:
        rows.add(first, rule_of_kind(VESTA_CFA_FRAME_POINTER));
        return;
      case Kind::kCompiled:
      case Kind::kAssembly:
        break;
    }
    GoFunction wanted;
    wanted.entry = function.start;
    wanted.end = function.start + function.bytes;
    wanted.stack_table = function.stack_table;
    deltas_.clear();
    if (!symbols_->stack_deltas(wanted, deltas_) || deltas_.empty()) {
      rows.add(first, rule_of_kind(VESTA_CFA_FRAME_POINTER));
      return;
    }
    const uint64_t saved_from = rbp_saved_from(function.kind);
    for (size_t i = 0; i < deltas_.size(); ++i) {
      const uint64_t row = i == 0 ? first : deltas_[i].pc;
      if (row >= limit) break;
      rows.add(row, sp_rule(deltas_[i].sp_delta, row >= saved_from));
      const uint64_t next = i + 1 < deltas_.size() ? deltas_[i + 1].pc : limit;
      if (saved_from > row && saved_from < std::min(next, limit)) {
        rows.add(saved_from, sp_rule(deltas_[i].sp_delta, true));
      }
    }
  }

 private:
  enum class Kind : uint8_t { kCompiled, kAssembly, kTop, kSwitchesStacks, kSignalReturn };
  struct Function {
    uint64_t start;
    uint32_t bytes;
    uint32_t stack_table;
    Kind kind;
  };

  void add(const GoFunction& function) {
    const uint64_t bytes = function.end - function.entry;
    if (function.end <= function.entry || bytes > std::numeric_limits<uint32_t>::max()) return;
    Kind kind = function.is_assembly ? Kind::kAssembly : Kind::kCompiled;
    if (file_.bytes_at(function.entry).starts_with(kSignalReturnCode)) {
      kind = Kind::kSignalReturn;
    } else if (function.is_top_frame() && function.name != kSignalTrampoline) {
      kind = Kind::kTop;
    } else if (function.writes_sp()) {
      kind = Kind::kSwitchesStacks;
    }
    functions_.push_back(
        {function.entry, static_cast<uint32_t>(bytes), function.stack_table, kind});
  }

  // From where on the caller's rbp is in its place, given the rows in deltas_; never, when the
  // function does not save it. Go's table does not tell, so the prologue is looked at.
  uint64_t rbp_saved_from(Kind kind) const {
    const auto grows = std::find_if(deltas_.begin(), deltas_.end(),
                                    [](const GoStackDelta& row) { return row.sp_delta > 0; });
    if (grows == deltas_.end()) return std::numeric_limits<uint64_t>::max();
    const uint64_t pc = grows->pc;
    if (grows->sp_delta == 8 && pc > deltas_.front().pc &&
        file_.bytes_at(pc - 1).starts_with(kPushRbp)) {
      return pc;
    }
    const std::string_view code = file_.bytes_at(pc).substr(0, kMaxBytesToMove + 8);
    for (size_t at = 0; at <= kMaxBytesToMove && at < code.size(); ++at) {
      const std::string_view rest = code.substr(at);
      if (rest.size() >= 5 && rest.starts_with(kMoveRbp8) &&
          static_cast<int8_t>(rest[4]) == grows->sp_delta - 8) {
        return pc + at + 5;
      }
      if (rest.size() >= 8 && rest.starts_with(kMoveRbp32)) return pc + at + 8;
    }
    // The compiler always does; whoever writes assembly need not.
    return kind == Kind::kCompiled ? pc : std::numeric_limits<uint64_t>::max();
  }

  const ElfFile& file_;
  std::shared_ptr<const GoSymbols> symbols_;
  std::vector<Function> functions_;
  mutable std::vector<GoStackDelta> deltas_;  // of one function; kept to be filled again
};

}  // namespace

std::unique_ptr<FunctionSource> go_source(const ElfFile& file) {
  // No owner: the source does not outlive the file.
  const std::shared_ptr<const ElfFile> borrowed(std::shared_ptr<const ElfFile>(), &file);
  auto symbols = GoSymbols::open(borrowed);
  if (!symbols) return nullptr;
  return std::make_unique<GoSource>(file, std::move(symbols).value());
}

}  // namespace vesta
