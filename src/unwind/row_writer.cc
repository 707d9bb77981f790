#include "unwind/row_writer.h"

#include <algorithm>
#include <utility>

namespace vesta {
namespace {

constexpr uint64_t kPageBytes = 1ULL << VESTA_PAGE_BITS;
constexpr size_t kFirstSlots = 1024;

uint64_t mix(uint64_t key) {
  key *= 0x9e3779b97f4a7c15ULL;
  return key ^ (key >> 32);
}

uint64_t unsupported_key() {
  vesta_unwind_rule rule{};
  rule.cfa_kind = VESTA_CFA_UNSUPPORTED;
  return std::bit_cast<uint64_t>(rule);
}

}  // namespace

RowWriter::RowWriter(uint64_t low, uint64_t high, size_t expected_rows)
    : low_(low & ~(kPageBytes - 1)),
      page_count_(static_cast<uint32_t>((high - low_ + kPageBytes - 1) / kPageBytes)),
      page_cells_((page_count_ + 2) / 2),
      slots_(kFirstSlots) {
  // Memory that is reserved and never touched costs nothing; growing would copy.
  cells_.reserve(page_cells_ + std::min<size_t>(expected_rows, kMaxUnwindRows) / 2 + 1);
  cells_.resize(page_cells_);
  find_or_add_rule(0);
}

void RowWriter::add_early(uint64_t address, vesta_unwind_rule rule) {
  is_early_ = false;
  // A file may call a frame that of a signal and then describe an ordinary one.
  if (rule.cfa_kind != VESTA_CFA_END && rule.cfa_kind != VESTA_CFA_SIGNAL) return;
  rule.trust = VESTA_TRUST_EARLY;
  if (address > 0) add_changed(address - 1, std::bit_cast<uint64_t>(rule));
}

void RowWriter::add_changed(uint64_t address, uint64_t key) {
  const uint64_t offset = address - low_;
  if (address < low_ || offset < next_offset_ || offset >= uint64_t{page_count_} * kPageBytes) {
    return;
  }
  if (row_count_ == kMaxUnwindRows) {
    is_full_ = true;
    return;
  }
  last_key_ = key;
  next_offset_ = offset + 1;
  const auto page = static_cast<uint32_t>(offset >> VESTA_PAGE_BITS);
  while (next_page_ <= page) set_page_entry(next_page_++, row_count_);
  const uint32_t number = rule_number(key);
  const auto row = static_cast<uint32_t>(offset & VESTA_ROW_PC_MASK) | number << VESTA_ROW_PC_BITS;
  if (row_count_ % 2 == 0) {
    cells_.push_back(row);
  } else {
    cells_.back() |= uint64_t{row} << 32;
  }
  ++row_count_;
}

uint32_t RowWriter::rule_number(uint64_t key) {
  Recent& recent = recent_[mix(key) % recent_.size()];
  if (recent.key != key) recent = {key, find_or_add_rule(key)};
  if (std::bit_cast<vesta_unwind_rule>(rules_[recent.number]).cfa_kind == VESTA_CFA_UNSUPPORTED) {
    ++unsupported_rows_;
  }
  return recent.number;
}

uint32_t RowWriter::find_or_add_rule(uint64_t key) {
  size_t slot = mix(key) & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    if (rules_[slots_[slot] - 1] == key) return slots_[slot] - 1;
  }
  // Numbers run out only for a file made to do that; one is kept for what then cannot be said.
  if (rules_.size() + 1 >= VESTA_MAX_RULES && key != unsupported_key()) {
    ++dropped_rules_;
    return find_or_add_rule(unsupported_key());
  }
  rules_.push_back(key);
  const auto number = static_cast<uint32_t>(rules_.size() - 1);
  slots_[slot] = number + 1;
  if (rules_.size() * 2 > slots_.size()) grow_slots();
  return number;
}

void RowWriter::grow_slots() {
  slots_.assign(slots_.size() * 2, 0);
  for (uint32_t number = 0; number < rules_.size(); ++number) {
    size_t slot = mix(rules_[number]) & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = number + 1;
  }
}

UnwindTable RowWriter::finish() && {
  while (next_page_ <= page_count_) set_page_entry(next_page_++, row_count_);
  UnwindTable table;
  table.header.text_start = low_;
  table.header.page_count = page_count_;
  table.header.page_cells = page_cells_;
  table.header.row_count = row_count_;
  table.header.rule_cell = static_cast<uint32_t>(cells_.size());
  table.header.rule_count = static_cast<uint32_t>(rules_.size());
  table.header.state = VESTA_MODULE_LOADED;
  cells_.insert(cells_.end(), rules_.begin(), rules_.end());
  cells_.shrink_to_fit();
  table.cells = std::move(cells_);
  table.unsupported_rows = unsupported_rows_;
  table.lost_bp_rows = lost_bp_rows_;
  return table;
}

}  // namespace vesta
