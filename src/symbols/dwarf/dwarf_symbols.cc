#include "symbols/dwarf/dwarf_symbols.h"

#include <algorithm>

#include "symbols/dwarf/dwarf_constants.h"

namespace vesta {
namespace {

constexpr size_t kMaxUnitRanges = 4'000'000;
// Entries of range lists that are read to find the units' ranges.
constexpr uint64_t kUnitRangeEntries = 64'000'000;

// The lowest address of code. Tables keep 32-bit distances from it; no program has more code.
uint64_t lowest_code_address(const ElfFile& file) {
  uint64_t lowest = ~0ULL;
  for (const ElfSection& section : file.sections()) {
    if ((section.flags & SHF_EXECINSTR) != 0 && section.address != 0) {
      lowest = std::min(lowest, section.address);
    }
  }
  if (lowest != ~0ULL) return lowest;
  for (const Elf64_Phdr& segment : file.segments()) {
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      lowest = std::min<uint64_t>(lowest, segment.p_vaddr);
    }
  }
  return lowest == ~0ULL ? 0 : lowest;
}

}  // namespace

DwarfSymbols::~DwarfSymbols() = default;

Result<std::unique_ptr<DwarfSymbols>> DwarfSymbols::open(std::shared_ptr<const ElfFile> file,
                                                         Options options) {
  std::unique_ptr<DwarfSymbols> symbols(new DwarfSymbols);
  // What dwz makes for several files to share is of this type as well, but is not opened here.
  if (file->type() == ET_REL) {
    return Error{ErrorCode::kUnsupported, "DWARF of an object file needs relocation", {}};
  }
  symbols->base_ = lowest_code_address(*file);
  VESTA_ASSIGN(symbols->file_, DwarfFile::open(std::move(file), std::move(options.find_alternate),
                                               options.max_unpacked_bytes));
  symbols->options_ = std::move(options);
  symbols->index_units();
  if (symbols->units_.size() == 0) {
    return Error{ErrorCode::kNotFound, "no DWARF unit covers any code", {}};
  }
  return symbols;
}

void DwarfSymbols::add_range(uint64_t start, uint64_t end, uint32_t unit,
                             std::vector<Interval>& intervals) const {
  if (start < base_ || end <= start || end - base_ >= 0xFFFFFFFF) return;
  // Linkers let the DWARF of a dropped copy of a function point at the one that was kept, which is
  // the first: the first unit is right, and lies deepest here.
  intervals.push_back(
      {static_cast<uint32_t>(start - base_), static_cast<uint32_t>(end - base_), unit, ~unit});
}

// The units' own DIEs first: finding the units has read their headers, which are on the same pages.
// .debug_aranges only fills in for units that do not say.
void DwarfSymbols::index_units() {
  const std::vector<uint64_t>& offsets = file_->units();
  std::vector<Interval> intervals;
  std::vector<bool> known(offsets.size() + 1, true);
  bool complete = true;
  uint64_t budget = kUnitRangeEntries;
  DwarfUnit unit;
  for (uint32_t i = 0; i < offsets.size(); ++i) {
    if (!file_->read_unit(offsets[i], unit)) continue;
    if (unit.tag != dw::kCompileUnit && unit.tag != dw::kSkeletonUnit) continue;
    const size_t before = intervals.size();
    bool says = false;
    file_->for_each_range(unit, unit.ranges, budget, [&](uint64_t start, uint64_t end) {
      says = true;
      add_range(start, end, i + 1, intervals);
      return intervals.size() < kMaxUnitRanges;
    });
    // Version 2 cannot say several ranges, and names the first at best.
    if (!says || unit.version == 2) known[i + 1] = complete = false;
    if (intervals.size() > before) ++statistics_.units;
  }
  if (!complete) add_aranges(intervals, known);
  units_ = IntervalMap::build(std::move(intervals));
  slots_.resize(offsets.size() + 1);
}

void DwarfSymbols::add_aranges(std::vector<Interval>& intervals, const std::vector<bool>& known) {
  const std::vector<uint64_t>& offsets = file_->units();
  ByteCursor cursor(file_->aranges());
  while (!cursor.at_end() && intervals.size() < kMaxUnitRanges) {
    const uint64_t set_start = cursor.offset();
    uint64_t length = cursor.u32();
    const uint32_t offset_size = length == 0xFFFFFFFF ? 8 : 4;
    if (offset_size == 8) length = cursor.u64();
    if (!cursor.ok() || length > cursor.remaining()) return;
    const uint64_t set_end = cursor.offset() + length;
    ByteCursor set(file_->aranges().substr(0, set_end), cursor.offset());
    cursor.skip(length);
    const uint16_t version = set.u16();
    const uint64_t unit_offset = set.unsigned_of(offset_size);
    const uint32_t address_size = set.u8();
    if (set.u8() != 0 || version != 2 || (address_size != 4 && address_size != 8)) continue;
    const auto found = std::ranges::lower_bound(offsets, unit_offset);
    if (found == offsets.end() || *found != unit_offset) continue;
    const auto unit = static_cast<uint32_t>(found - offsets.begin()) + 1;
    if (known[unit]) continue;
    // Pairs are aligned to their own size, counted from the start of the set.
    const uint64_t pair = uint64_t{address_size} * 2;
    set.skip((pair - (set.offset() - set_start) % pair) % pair);
    const size_t before = intervals.size();
    while (!set.at_end() && intervals.size() < kMaxUnitRanges) {
      const uint64_t start = set.unsigned_of(address_size);
      const uint64_t size = set.unsigned_of(address_size);
      if (!set.ok() || (start == 0 && size == 0)) break;
      add_range(start, start + size, unit, intervals);
    }
    if (intervals.size() > before) ++statistics_.units;
  }
}

DwarfSymbols::Answer DwarfSymbols::lookup(uint64_t address, std::vector<SourceFrame>& frames) {
  if (address < base_ || address - base_ >= 0xFFFFFFFF) return Answer::kNothing;
  const auto inside = static_cast<uint32_t>(address - base_);
  const uint32_t unit = units_.find(inside);
  if (unit == 0) return Answer::kNothing;
  if (table_bytes_ > options_.max_table_bytes) evict(unit);
  UnitTable& found = table(unit);
  Answer answer = Answer::kFrames;
  if (!found.lookup(inside, frames)) {
    SourceFrame frame;
    answer = found.find_line(inside, frame) ? Answer::kLine : Answer::kNothing;
    if (answer == Answer::kLine) frames.push_back(frame);
  }
  // Tables grow by the paths that they put together.
  Slot& slot = slots_[unit];
  const size_t bytes = found.memory_bytes();
  table_bytes_ += bytes - slot.bytes;
  slot.bytes = bytes;
  return answer;
}

UnitTable& DwarfSymbols::table(uint32_t unit) {
  Slot& slot = slots_[unit];
  slot.last_used = ++clock_;
  if (slot.table != nullptr) return *slot.table;
  DwarfUnit header;
  UnitTable::Limits limits;
  limits.max_bytes = std::max<size_t>(options_.max_table_bytes, 1UL << 20);
  slot.table = std::make_unique<UnitTable>();
  if (file_->read_unit(file_->units()[unit - 1], header)) {
    *slot.table = UnitTable::build(*file_, header, base_, limits);
  }
  slot.bytes = slot.table->memory_bytes();
  table_bytes_ += slot.bytes;
  resident_.push_back(unit);
  ++statistics_.tables_built;
  if (table_bytes_ > options_.max_table_bytes) evict(unit);
  return *slot.table;
}

// Down to three quarters, so that it does not run for every table from then on.
void DwarfSymbols::evict(uint32_t keep) {
  std::ranges::sort(resident_, std::greater<>(),
                    [this](uint32_t unit) { return slots_[unit].last_used; });
  while (!resident_.empty() && table_bytes_ > options_.max_table_bytes / 4 * 3) {
    const uint32_t oldest = resident_.back();
    if (oldest == keep) return;
    resident_.pop_back();
    table_bytes_ -= slots_[oldest].bytes;
    slots_[oldest] = {};
    ++statistics_.tables_evicted;
  }
}

size_t DwarfSymbols::memory_bytes() const {
  return file_->memory_bytes() + units_.memory_bytes() + slots_.capacity() * sizeof(Slot) +
         table_bytes_;
}

}  // namespace vesta
