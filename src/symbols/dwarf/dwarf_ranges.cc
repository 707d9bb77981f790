// DwarfFile: which addresses a DIE covers.
#include "symbols/dwarf/dwarf_constants.h"
#include "symbols/dwarf/dwarf_file.h"

namespace vesta {

void DwarfFile::for_each_range(const DwarfUnit& unit, const DieFields& die, uint64_t& budget,
                               const TakeRange& take) const {
  if (die.ranges) {
    if (unit.version >= 5) {
      range_list(unit, die.ranges, budget, take);
    } else {
      old_ranges(unit, die.ranges.number, budget, take);
    }
    return;
  }
  uint64_t start = 0, end = 0;
  if (!die.high_pc || !address(unit, die.low_pc, start)) return;
  // From version 4 on, the end may be a distance.
  if (!address(unit, die.high_pc, end)) end = start + die.high_pc.number;
  if (end > start) take(start, end);
}

void DwarfFile::old_ranges(const DwarfUnit& unit, uint64_t offset, uint64_t& budget,
                           const TakeRange& take) const {
  ByteCursor cursor(ranges_, offset);
  const uint64_t select_base = unit.address_size == 8 ? ~0ULL : 0xFFFFFFFFULL;
  uint64_t base = unit.low_pc;
  for (; budget > 0; --budget) {
    const uint64_t start = cursor.unsigned_of(unit.address_size);
    const uint64_t end = cursor.unsigned_of(unit.address_size);
    if (!cursor.ok() || (start == 0 && end == 0)) return;
    if (start == select_base) {
      base = end;
    } else if (end > start && !take(base + start, base + end)) {
      return;
    }
  }
}

void DwarfFile::range_list(const DwarfUnit& unit, const DwarfValue& value, uint64_t& budget,
                           const TakeRange& take) const {
  uint64_t offset = value.number;
  if (value.form == dw::kRnglistx) {
    if (value.number > range_lists_.size()) return;
    ByteCursor index(range_lists_, unit.range_lists_base + value.number * unit.offset_size);
    offset = unit.range_lists_base + index.unsigned_of(unit.offset_size);
    if (!index.ok()) return;
  }
  ByteCursor cursor(range_lists_, offset);
  uint64_t base = unit.low_pc;
  for (; budget > 0; --budget) {
    const uint8_t kind = cursor.u8();
    uint64_t start = 0, end = 0;
    bool usable = true;
    switch (kind) {
      case dw::kRleBaseAddressx:
        indexed_address(unit, cursor.uleb(), base);
        continue;
      case dw::kRleBaseAddress:
        base = cursor.unsigned_of(unit.address_size);
        continue;
      case dw::kRleStartxEndx:
        usable = indexed_address(unit, cursor.uleb(), start);
        usable = indexed_address(unit, cursor.uleb(), end) && usable;
        break;
      case dw::kRleStartxLength:
        usable = indexed_address(unit, cursor.uleb(), start);
        end = start + cursor.uleb();
        break;
      case dw::kRleOffsetPair:
        start = base + cursor.uleb();
        end = base + cursor.uleb();
        break;
      case dw::kRleStartEnd:
        start = cursor.unsigned_of(unit.address_size);
        end = cursor.unsigned_of(unit.address_size);
        break;
      case dw::kRleStartLength:
        start = cursor.unsigned_of(unit.address_size);
        end = start + cursor.uleb();
        break;
      default:
        return;  // the end of the list, or nothing that we know
    }
    if (!cursor.ok()) return;
    if (usable && end > start && !take(start, end)) return;
  }
}

}  // namespace vesta
