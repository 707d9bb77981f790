// Collects the rows of an unwind table in order of their addresses and lays them out as
// bpf/shared/unwind_table.h says: page index, rows, rules, in one array of cells. Equal rules
// share a number, equal neighbours a row. Owns its cells; used by one thread.
#pragma once

#include <shared/unwind_table.h>

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "unwind/unwind_table.h"

namespace vesta {

class RowWriter {
 public:
  // For code in [low, high); rounded to whole pages.
  // REQUIRES: low < high, and no more than kMaxUnwindPages pages.
  RowWriter(uint64_t low, uint64_t high, size_t expected_rows);

  // From `address` on, `rule` is in force. Rows at or below the last address are dropped, and so is
  // what lies outside the range or above kMaxUnwindRows.
  void add(uint64_t address, const vesta_unwind_rule& rule) {
    if (is_early_) add_early(address, rule);
    const auto key = std::bit_cast<uint64_t>(rule);
    if (key == last_key_) return;
    add_changed(address, key);
  }

  // The next row also holds for return addresses that are its very address: one is added for the
  // byte before it.
  void begin_early() { is_early_ = true; }

  // Rows had to be left out: there are more than kMaxUnwindRows.
  bool is_full() const { return is_full_; }
  void count_lost_bp() { ++lost_bp_rows_; }

  UnwindTable finish() &&;

 private:
  void add_early(uint64_t address, vesta_unwind_rule rule);
  void add_changed(uint64_t address, uint64_t key);
  uint32_t rule_number(uint64_t key);
  uint32_t find_or_add_rule(uint64_t key);
  void grow_slots();
  void set_page_entry(uint32_t page, uint32_t row) {
    cells_[page / 2] |= uint64_t{row} << (page % 2 * 32);
  }

  uint64_t low_;
  uint32_t page_count_;
  uint32_t page_cells_;
  std::vector<uint64_t> cells_;
  uint32_t row_count_ = 0;
  uint32_t next_page_ = 0;  // first page whose index entry is not written yet
  uint64_t next_offset_ = 0;
  uint64_t last_key_ = 0;  // before the first row nothing is known: rule 0
  bool is_full_ = false;
  bool is_early_ = false;
  uint64_t unsupported_rows_ = 0;
  uint64_t lost_bp_rows_ = 0;
  uint64_t dropped_rules_ = 0;

  std::vector<uint64_t> rules_;
  std::vector<uint32_t> slots_;  // open addressing: number of a rule + 1, 0 = free
  struct Recent {
    uint64_t key = 0;
    uint32_t number = 0;
  };
  std::array<Recent, 256> recent_{};
};

}  // namespace vesta
