#include "unwind/unwind_table.h"

#include <shared/sample.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "unwind/code_frames.h"
#include "unwind/file_functions.h"
#include "unwind/function_source.h"
#include "unwind/row_writer.h"

namespace vesta {
namespace {

// What the functions of all sources cover, within the code of the file.
CodeRange covered_range(std::span<const FunctionSource* const> sources, const CodeRange& code) {
  CodeRange covered{std::numeric_limits<uint64_t>::max(), 0};
  for (const FunctionSource* source : sources) {
    if (source->size() == 0) continue;
    covered.low = std::min(covered.low, source->start(0));
    for (size_t i = 0; i < source->size(); ++i)
      covered.high = std::max(covered.high, source->end(i));
  }
  // A row may begin one byte early.
  if (covered.low > 0) --covered.low;
  return {std::max(covered.low, code.low), std::min(covered.high, code.high)};
}

UnwindTable empty_table() {
  UnwindTable table;
  table.header.state = VESTA_MODULE_NO_TABLE;
  return table;
}

Error invalid(std::string message) {
  return {ErrorCode::kInvalidInput, "damaged unwind table: " + std::move(message), {}};
}

// Two u32 in a cell.
uint32_t half(const UnwindTable& table, uint64_t first_cell, uint64_t index) {
  return static_cast<uint32_t>(table.cells[first_cell + index / 2] >> (index % 2 * 32));
}

Status validate_sizes(const UnwindTable& table) {
  const vesta_module& header = table.header;
  if (header.state == VESTA_MODULE_NO_TABLE) {
    if (!table.cells.empty() || header.row_count != 0 || header.page_count != 0) {
      return invalid("it is marked as absent");
    }
    return {};
  }
  if (header.state != VESTA_MODULE_LOADED) return invalid("unknown state");
  if (header.page_count == 0 || header.page_count > kMaxUnwindPages) {
    return invalid(fmt::format("{} pages", header.page_count));
  }
  if (header.row_count > kMaxUnwindRows) return invalid(fmt::format("{} rows", header.row_count));
  if (header.rule_count == 0 || header.rule_count > VESTA_MAX_RULES) {
    return invalid(fmt::format("{} rules", header.rule_count));
  }
  const uint64_t text_bytes = uint64_t{header.page_count} << VESTA_PAGE_BITS;
  if (header.text_start % (1U << VESTA_PAGE_BITS) != 0 ||
      header.text_start > std::numeric_limits<uint64_t>::max() - text_bytes) {
    return invalid("its code starts at an invalid address");
  }
  const uint64_t row_cells = (uint64_t{header.row_count} + 1) / 2;
  if (header.page_cells != (header.page_count + 2) / 2 ||
      header.rule_cell != header.page_cells + row_cells ||
      table.cells.size() != uint64_t{header.rule_cell} + header.rule_count) {
    return invalid("its parts are out of place");
  }
  return {};
}

Status validate_rows(const UnwindTable& table) {
  const vesta_module& header = table.header;
  if (half(table, 0, 0) != 0 || half(table, 0, header.page_count) != header.row_count) {
    return invalid("its page index does not cover its rows");
  }
  for (uint32_t page = 0; page < header.page_count; ++page) {
    const uint32_t begin = half(table, 0, page);
    const uint32_t end = half(table, 0, page + 1);
    if (begin > end || end > header.row_count) return invalid("its page index is out of order");
    int64_t last = -1;
    for (uint32_t row = begin; row < end; ++row) {
      const uint32_t value = half(table, header.page_cells, row);
      const int64_t address = value & VESTA_ROW_PC_MASK;
      if (address <= last) return invalid("its rows are out of order");
      if (value >> VESTA_ROW_PC_BITS >= header.rule_count) return invalid("a rule does not exist");
      last = address;
    }
  }
  return {};
}

bool is_register_kind(const vesta_unwind_rule& rule) {
  return rule.cfa_kind == VESTA_CFA_REGISTER || rule.cfa_kind == VESTA_CFA_SP_AND_REGISTER ||
         rule.cfa_kind == VESTA_CFA_DEREF_INDEXED;
}

Status validate_rules(const UnwindTable& table) {
  for (uint32_t number = 0; number < table.header.rule_count; ++number) {
    const uint64_t cell = table.cells[table.header.rule_cell + number];
    if (number == 0 && cell != 0) return invalid("rule 0 is not the empty one");
    const auto rule = std::bit_cast<vesta_unwind_rule>(cell);
    const bool has_no_caller = rule.cfa_kind == VESTA_CFA_END || rule.cfa_kind == VESTA_CFA_SIGNAL;
    if (rule.cfa_kind >= VESTA_CFA_KINDS || (rule.trust == VESTA_TRUST_EARLY && !has_no_caller) ||
        (is_register_kind(rule) && rule.operand >= VESTA_LEAF_REGISTERS)) {
      return invalid(fmt::format("rule {} is invalid", number));
    }
  }
  return {};
}

}  // namespace

Result<UnwindTable> build_unwind_table(const ElfFile& file, const ElfFile* debug_file) {
  if (file.machine() != EM_X86_64) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("unwind tables of machine {} are not supported", file.machine()),
                 "only x86-64 is supported"};
  }
  const auto code = code_range(file);
  if (!code) return empty_table();

  VESTA_ASSIGN(const std::unique_ptr<FileFunctions> functions,
               FileFunctions::read(file, debug_file));
  const std::span<const FunctionSource* const> sources = functions->sources();
  const CodeRange covered = covered_range(sources, *code);
  if (covered.low >= covered.high) return empty_table();
  if ((covered.high - covered.low) >> VESTA_PAGE_BITS >= kMaxUnwindPages - 1) {
    return Error{ErrorCode::kLimit, "more than 4 GiB of code", {}};
  }
  RowWriter rows(covered.low, covered.high, functions->expected_rows());
  write_rows(sources, rows);
  if (rows.is_full()) {
    return Error{ErrorCode::kLimit, fmt::format("more than {} unwind rows", kMaxUnwindRows), {}};
  }
  UnwindTable table = std::move(rows).finish();
  table.skipped_functions = functions->skipped();
  table.decoded = functions->undescribed();
  table.decoded_fingerprint = decoded_fingerprint(file, table.decoded);
  return table;
}

Status validate(const UnwindTable& table) {
  VESTA_TRY(validate_sizes(table));
  if (!table.is_loaded()) return {};
  VESTA_TRY(validate_rows(table));
  return validate_rules(table);
}

vesta_unwind_rule rule_at(const UnwindTable& table, uint64_t address) {
  const vesta_module& header = table.header;
  if (!table.is_loaded() || address < header.text_start) return {};
  const uint64_t offset = address - header.text_start;
  const uint64_t page = offset >> VESTA_PAGE_BITS;
  if (page >= header.page_count) return {};
  // The first row above the address.
  uint32_t low = half(table, 0, page);
  uint32_t high = half(table, 0, page + 1);
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const uint32_t row = half(table, header.page_cells, middle);
    if ((row & VESTA_ROW_PC_MASK) <= (offset & VESTA_ROW_PC_MASK)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return {};
  const uint32_t row = half(table, header.page_cells, low - 1);
  return std::bit_cast<vesta_unwind_rule>(
      table.cells[header.rule_cell + (row >> VESTA_ROW_PC_BITS)]);
}

}  // namespace vesta
