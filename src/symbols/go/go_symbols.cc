#include "symbols/go/go_symbols.h"

#include <algorithm>

#include "symbols/go/bytes.h"
#include "symbols/go/go_module.h"

namespace vesta {
namespace {

constexpr int kMaxInlineDepth = 128;
constexpr uint8_t kAssemblyFlag = 4;  // Go 1.19 and later

}  // namespace

Result<std::shared_ptr<const GoSymbols>> GoSymbols::open(std::shared_ptr<const ElfFile> file) {
  VESTA_ASSIGN(GoModule module, find_go_module(*file));
  return std::shared_ptr<const GoSymbols>(
      new GoSymbols(std::move(file), module.table, module.funcdata));
}

bool GoSymbols::inlined_call(const PclntabFunction& function, uint64_t address,
                             PclntabBudget& budget, InlinedCall& call) const {
  if (function.inline_tree == UINT32_MAX || function.inline_tree >= funcdata_.size()) return false;
  const auto index = module_table_.value_at(function, function.inline_index, address, budget);
  if (!index || *index < 0) return false;
  // runtime.inlinedCall: {id, name, parent pc, start line}; before 1.20 {parent, id, file, line,
  // name, parent pc}.
  const bool modern = module_table_.version() >= PclntabVersion::kGo20;
  const uint64_t entry = function.inline_tree + static_cast<uint64_t>(*index) * (modern ? 16 : 20);
  const auto name = go::read<int32_t>(funcdata_, entry + (modern ? 4 : 12));
  const auto parent = go::read<int32_t>(funcdata_, entry + (modern ? 8 : 16));
  const auto line = modern ? go::read<uint32_t>(funcdata_, entry + 12) : 0U;
  if (!name || !parent || !line || *parent < 0) return false;
  call = {*name, *parent, *line};
  return true;
}

bool GoSymbols::lookup(uint64_t address, std::vector<SourceFrame>& frames) const {
  const auto function = module_table_.find(address);
  if (!function) return false;
  const std::string_view function_name = module_table_.name(function->name_offset);
  if (function_name.empty()) return false;

  PclntabBudget budget;
  for (int depth = 0; depth < kMaxInlineDepth; ++depth) {
    SourceFrame frame;
    const auto file = module_table_.value_at(*function, function->pcfile, address, budget);
    const auto line = module_table_.value_at(*function, function->pcln, address, budget);
    if (file) frame.file = module_table_.file(*function, *file);
    if (line && *line > 0 && !frame.file.empty()) frame.line = static_cast<uint32_t>(*line);

    InlinedCall call{};
    const bool inlined = inlined_call(*function, address, budget, call);
    const std::string_view name = inlined ? module_table_.name(call.name_offset) : function_name;
    const bool last = !inlined || name.empty();
    frame.name = last ? function_name : name;
    frame.start_line = last ? function->start_line : call.start_line;
    frames.push_back(frame);
    if (last) return true;
    address = function->entry + static_cast<uint32_t>(call.parent_offset);
  }
  // A tree that goes in circles: the function itself still is true.
  SourceFrame outermost;
  outermost.name = function_name;
  outermost.start_line = function->start_line;
  frames.push_back(outermost);
  return true;
}

bool GoSymbols::is_assembly(const PclntabFunction& function) const {
  if ((function.flags & kAssemblyFlag) != 0) return true;
  PclntabBudget budget;
  const auto file = module_table_.value_at(function, function.pcfile, function.entry, budget);
  return file && module_table_.file(function, *file).ends_with(".s");
}

void GoSymbols::for_each_function(const std::function<bool(const GoFunction&)>& callback) const {
  for (size_t i = 0; i < module_table_.function_count(); ++i) {
    const auto function = module_table_.function(i);
    if (!function) continue;
    GoFunction out;
    out.entry = function->entry;
    out.end = function->end;
    out.name = module_table_.name(function->name_offset);
    out.flags = function->flags & (GoFunction::kTopFrame | GoFunction::kSpWrite);
    out.is_assembly = is_assembly(*function);
    out.stack_table = function->pcsp;
    if (!callback(out)) return;
  }
}

Status GoSymbols::stack_deltas(const GoFunction& function, std::vector<GoStackDelta>& rows) const {
  if (function.stack_table == 0) {
    return Error{ErrorCode::kNotFound, "this Go function has no table of stack depths", {}};
  }
  PclntabFunction wanted;
  wanted.entry = function.entry;
  PclntabBudget budget;
  PcValues walk = module_table_.values(wanted, function.stack_table);
  const size_t before = rows.size();
  uint64_t covered = function.entry;
  while (covered < function.end && walk.next(budget)) {
    // The table counts what the function has pushed; the return address lies above that.
    if (rows.size() == before || rows.back().sp_delta != walk.value()) {
      rows.push_back({walk.start(), walk.value()});
    }
    covered = walk.end();
  }
  // Between the last instruction and the next function lies padding that no table covers.
  if (rows.size() == before || (covered < function.end && !walk.finished())) {
    rows.resize(before);
    return Error{
        ErrorCode::kInvalidInput, "the table of stack depths of this Go function is broken", {}};
  }
  return {};
}

}  // namespace vesta
