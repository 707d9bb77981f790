#include "symbols/dwarf/dwarf_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "symbols/dwarf/dwarf_constants.h"

namespace vesta {
namespace {

constexpr size_t kMaxString = 64 * 1024;
constexpr size_t kMaxAbbreviationBytes = 16UL << 20;
constexpr size_t kMaxUnits = 4'000'000;

}  // namespace

std::string_view dwarf_string(std::string_view section, uint64_t offset) {
  if (offset >= section.size()) return {};
  const std::string_view rest = section.substr(offset, kMaxString);
  const size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

Result<std::unique_ptr<DwarfFile>> DwarfFile::open(std::shared_ptr<const ElfFile> file,
                                                   FindAlternate find_alternate,
                                                   uint64_t max_unpacked_bytes) {
  std::unique_ptr<DwarfFile> dwarf(new DwarfFile);
  dwarf->file_ = std::move(file);
  dwarf->find_alternate_ = std::move(find_alternate);
  dwarf->unpacked_left_ = max_unpacked_bytes;
  VESTA_TRY(dwarf->load(".debug_info", dwarf->info_, true));
  VESTA_TRY(dwarf->load(".debug_abbrev", dwarf->abbreviations_, true));
  VESTA_TRY(dwarf->load(".debug_str", dwarf->strings_, false));
  VESTA_TRY(dwarf->load(".debug_line", dwarf->lines_, false));
  VESTA_TRY(dwarf->load(".debug_line_str", dwarf->line_strings_, false));
  VESTA_TRY(dwarf->load(".debug_str_offsets", dwarf->string_offsets_, false));
  VESTA_TRY(dwarf->load(".debug_addr", dwarf->addresses_, false));
  VESTA_TRY(dwarf->load(".debug_ranges", dwarf->ranges_, false));
  VESTA_TRY(dwarf->load(".debug_rnglists", dwarf->range_lists_, false));
  return dwarf;
}

Status DwarfFile::load(std::string_view name, std::string_view& out, bool required) {
  const ElfSection* section = file_->section(name);
  if (section == nullptr) {
    section = file_->section(fmt::format(".z{}", name.substr(1)));
  }
  if (section == nullptr || section->bytes.empty()) {
    if (!required) return {};
    return Error{ErrorCode::kNotFound, fmt::format("no {} section", name), {}};
  }
  auto storage = std::make_unique<std::string>();
  VESTA_ASSIGN(out, file_->contents(*section, *storage, unpacked_left_));
  if (!storage->empty()) {
    unpacked_left_ -= std::min<uint64_t>(unpacked_left_, storage->size());
    unpacked_bytes_ += storage->size();
    unpacked_.push_back(std::move(storage));
  }
  return {};
}

std::string_view DwarfFile::aranges() {
  if (!loaded_aranges_) {
    loaded_aranges_ = true;
    if (!load(".debug_aranges", aranges_, false)) aranges_ = {};
  }
  return aranges_;
}

DwarfFile* DwarfFile::alternate() {
  if (!looked_for_alternate_) {
    looked_for_alternate_ = true;
    if (find_alternate_ != nullptr) {
      if (std::shared_ptr<const ElfFile> found = find_alternate_(*file_); found != nullptr) {
        auto opened = open(std::move(found), nullptr, unpacked_left_);
        if (opened) alternate_ = std::move(*opened);
      }
    }
  }
  return alternate_.get();
}

size_t DwarfFile::memory_bytes() const {
  return unpacked_bytes_ + table_bytes_ + units_.capacity() * sizeof(uint64_t) +
         (alternate_ != nullptr ? alternate_->memory_bytes() : 0);
}

const std::vector<uint64_t>& DwarfFile::units() {
  if (scanned_units_) return units_;
  scanned_units_ = true;
  uint64_t offset = 0;
  DwarfUnit unit;
  while (offset < info_.size() && units_.size() < kMaxUnits) {
    // A unit of an unknown kind is passed over as long as its length makes sense.
    ByteCursor cursor(info_, offset);
    uint64_t length = cursor.u32();
    if (length == 0xFFFFFFFF) length = cursor.u64();
    if (!cursor.ok() || length > cursor.remaining()) break;
    if (read_header(offset, unit)) units_.push_back(offset);
    offset = cursor.offset() + length;
    // Linkers pad with zeros; each step still moves on by the length field.
  }
  return units_;
}

bool DwarfFile::read_header(uint64_t offset, DwarfUnit& unit) const {
  unit = DwarfUnit{};
  ByteCursor cursor(info_, offset);
  uint64_t length = cursor.u32();
  unit.offset_size = 4;
  if (length == 0xFFFFFFFF) {
    length = cursor.u64();
    unit.offset_size = 8;
  } else if (length >= 0xFFFFFFF0) {
    return false;
  }
  if (!cursor.ok() || length > cursor.remaining()) return false;
  unit.offset = offset;
  unit.end = cursor.offset() + length;
  unit.version = cursor.u16();
  if (unit.version < 2 || unit.version > 5) return false;
  unit.type = dw::kUtCompile;
  if (unit.version >= 5) {
    unit.type = cursor.u8();
    unit.address_size = cursor.u8();
    unit.abbreviations = cursor.unsigned_of(unit.offset_size);
    if (unit.type == dw::kUtSkeleton || unit.type == dw::kUtSplitCompile) {
      cursor.skip(8);
    } else if (unit.type == dw::kUtType || unit.type == dw::kUtSplitType) {
      cursor.skip(uint64_t{8} + unit.offset_size);
    }
  } else {
    unit.abbreviations = cursor.unsigned_of(unit.offset_size);
    unit.address_size = cursor.u8();
  }
  unit.first_die = cursor.offset();
  return cursor.ok() && unit.first_die <= unit.end &&
         (unit.address_size == 8 || unit.address_size == 4);
}

bool DwarfFile::read_unit(uint64_t offset, DwarfUnit& unit) {
  if (!read_header(offset, unit)) return false;
  read_first_die(unit);
  return unit.tag != 0;
}

bool DwarfFile::unit_of(uint64_t die, DwarfUnit& unit) {
  const std::vector<uint64_t>& all = units();
  const auto next = std::ranges::upper_bound(all, die);
  if (next == all.begin()) return false;
  return read_unit(*std::prev(next), unit) && die >= unit.first_die && die < unit.end;
}

std::shared_ptr<const AbbreviationTable> DwarfFile::abbreviations(const DwarfUnit& unit) {
  const auto found = tables_.find(unit.abbreviations);
  if (found != tables_.end()) return found->second;
  auto table = std::make_shared<const AbbreviationTable>(
      AbbreviationTable::read(abbreviations_, unit.abbreviations));
  if (table_bytes_ + table->memory_bytes() > kMaxAbbreviationBytes) {
    tables_.clear();
    table_bytes_ = 0;
  }
  table_bytes_ += table->memory_bytes();
  tables_.emplace(unit.abbreviations, table);
  return table;
}

void DwarfFile::read_first_die(DwarfUnit& unit) {
  ByteCursor cursor(info_.substr(0, unit.end), unit.first_die);
  const uint64_t code = cursor.uleb();
  if (!cursor.ok() || code == 0) return;
  std::shared_ptr<const AbbreviationTable> table;
  if (const auto known = tables_.find(unit.abbreviations); known != tables_.end()) {
    table = known->second;
  } else {
    // Usually the first of its table. Units that all search a long one end the reading of units.
    constexpr uint64_t kFree = 4096;
    if (search_budget_ == 0) return;
    table = std::make_shared<const AbbreviationTable>(
        AbbreviationTable::read_until(abbreviations_, unit.abbreviations, code));
    if (const uint64_t cost = table->memory_bytes(); cost > kFree) {
      search_budget_ -= std::min(search_budget_, cost);
    }
  }
  const Abbreviation* abbreviation = table->find(code);
  if (abbreviation == nullptr) return;
  unit.string_offsets_base = unit.version >= 5 ? uint64_t{unit.offset_size} * 2 : 0;
  unit.address_base = unit.string_offsets_base;
  DwarfValue name, folder;
  for (const DwarfAttribute& attribute : table->attributes(*abbreviation)) {
    const DwarfValue value = read_value(cursor, unit, attribute.form, attribute.implicit_value);
    switch (attribute.name) {
      case dw::kName:
        name = value;
        break;
      case dw::kCompDir:
        folder = value;
        break;
      case dw::kLowPc:
        unit.ranges.low_pc = value;
        break;
      case dw::kHighPc:
        unit.ranges.high_pc = value;
        break;
      case dw::kRanges:
        unit.ranges.ranges = value;
        break;
      case dw::kStmtList:
        unit.line_table = value.number;
        break;
      case dw::kStrOffsetsBase:
        unit.string_offsets_base = value.number;
        break;
      case dw::kAddrBase:
      case dw::kGnuAddrBase:
        unit.address_base = value.number;
        break;
      case dw::kRnglistsBase:
        unit.range_lists_base = value.number;
        break;
      case dw::kDwoName:
      case dw::kGnuDwoName:
        unit.split = true;
        break;
      default:
        break;
    }
  }
  if (!cursor.ok()) return;
  // Only now: the bases may come after what needs them.
  unit.tag = abbreviation->tag;
  unit.split = unit.split || unit.type == dw::kUtSkeleton || unit.tag == dw::kSkeletonUnit;
  unit.name = string(unit, name);
  unit.folder = string(unit, folder);
  if (!address(unit, unit.ranges.low_pc, unit.low_pc)) unit.low_pc = 0;
}

DwarfValue DwarfFile::read_value(ByteCursor& cursor, const DwarfUnit& unit, uint16_t form,
                                 int64_t implicit_value) {
  if (form == dw::kIndirect) {
    const uint64_t real = cursor.uleb();
    // A form that says "look here" twice would never end.
    if (real > 0xFFFF || real == dw::kIndirect || real == dw::kImplicitConst) {
      cursor.skip(~0ULL);
      return {};
    }
    form = static_cast<uint16_t>(real);
  }
  DwarfValue value;
  value.form = form;
  switch (form) {
    case dw::kAddr:
      value.number = cursor.unsigned_of(unit.address_size);
      break;
    case dw::kData1:
    case dw::kFlag:
    case dw::kRef1:
    case dw::kStrx1:
    case dw::kAddrx1:
      value.number = cursor.u8();
      break;
    case dw::kData2:
    case dw::kRef2:
    case dw::kStrx2:
    case dw::kAddrx2:
      value.number = cursor.u16();
      break;
    case dw::kStrx3:
    case dw::kAddrx3:
      value.number = cursor.unsigned_of(3);
      break;
    case dw::kData4:
    case dw::kRef4:
    case dw::kStrx4:
    case dw::kAddrx4:
    case dw::kRefSup4:
      value.number = cursor.u32();
      break;
    case dw::kData8:
    case dw::kRef8:
    case dw::kRefSig8:
    case dw::kRefSup8:
      value.number = cursor.u64();
      break;
    case dw::kData16:
      cursor.skip(16);
      break;
    case dw::kSdata:
      value.number = static_cast<uint64_t>(cursor.sleb());
      break;
    case dw::kUdata:
    case dw::kRefUdata:
    case dw::kStrx:
    case dw::kAddrx:
    case dw::kLoclistx:
    case dw::kRnglistx:
    case dw::kGnuAddrIndex:
    case dw::kGnuStrIndex:
      value.number = cursor.uleb();
      break;
    case dw::kStrp:
    case dw::kLineStrp:
    case dw::kSecOffset:
    case dw::kStrpSup:
    case dw::kGnuRefAlt:
    case dw::kGnuStrpAlt:
      value.number = cursor.unsigned_of(unit.offset_size);
      break;
    case dw::kRefAddr:
      value.number = cursor.unsigned_of(unit.version <= 2 ? unit.address_size : unit.offset_size);
      break;
    case dw::kString:
      value.text = cursor.c_string();
      break;
    case dw::kBlock1:
      cursor.skip(cursor.u8());
      break;
    case dw::kBlock2:
      cursor.skip(cursor.u16());
      break;
    case dw::kBlock4:
      cursor.skip(cursor.u32());
      break;
    case dw::kBlock:
    case dw::kExprloc:
      cursor.skip(cursor.uleb());
      break;
    case dw::kFlagPresent:
      value.number = 1;
      break;
    case dw::kImplicitConst:
      value.number = static_cast<uint64_t>(implicit_value);
      break;
    default:
      // An unknown form has an unknown size: nothing behind it can be read.
      cursor.skip(~0ULL);
      return {};
  }
  return value;
}

void DwarfFile::skip_die(ByteCursor& cursor, const DwarfUnit& unit, const AbbreviationTable& table,
                         const Abbreviation& abbreviation) {
  if (abbreviation.fixed_size) {
    const uint64_t reference_size = unit.version <= 2 ? unit.address_size : unit.offset_size;
    cursor.skip(abbreviation.plain_bytes + uint64_t{abbreviation.addresses} * unit.address_size +
                uint64_t{abbreviation.offsets} * unit.offset_size +
                uint64_t{abbreviation.unit_references} * reference_size);
    return;
  }
  for (const DwarfAttribute& attribute : table.attributes(abbreviation)) {
    read_value(cursor, unit, attribute.form, attribute.implicit_value);
  }
}

void DwarfFile::read_die(ByteCursor& cursor, const DwarfUnit& unit, const AbbreviationTable& table,
                         const Abbreviation& abbreviation, DieFields& fields) const {
  fields = DieFields{};
  for (const DwarfAttribute& attribute : table.attributes(abbreviation)) {
    const DwarfValue value = read_value(cursor, unit, attribute.form, attribute.implicit_value);
    switch (attribute.name) {
      case dw::kName:
        fields.name = value;
        break;
      case dw::kLinkageName:
      case dw::kMipsLinkageName:
        fields.linkage_name = value;
        break;
      case dw::kLowPc:
        fields.low_pc = value;
        break;
      case dw::kHighPc:
        fields.high_pc = value;
        break;
      case dw::kRanges:
        fields.ranges = value;
        break;
      case dw::kAbstractOrigin:
      case dw::kSpecification:
        fields.origin = value;
        break;
      case dw::kCallFile:
        fields.call_file = static_cast<uint32_t>(value.number);
        break;
      case dw::kCallLine:
        fields.call_line = static_cast<uint32_t>(value.number);
        break;
      case dw::kCallColumn:
        fields.call_column = static_cast<uint32_t>(value.number);
        break;
      case dw::kDeclLine:
        fields.decl_line = static_cast<uint32_t>(value.number);
        break;
      case dw::kSibling: {
        Reference sibling;
        if (reference(unit, value, sibling)) fields.sibling = sibling.die;
        break;
      }
      default:
        break;
    }
  }
}

std::string_view DwarfFile::string(const DwarfUnit& unit, const DwarfValue& value) {
  switch (value.form) {
    case dw::kString:
      return value.text.size() < kMaxString ? value.text : std::string_view();
    case dw::kStrp:
      return dwarf_string(strings_, value.number);
    case dw::kLineStrp:
      return dwarf_string(line_strings_, value.number);
    case dw::kStrpSup:
    case dw::kGnuStrpAlt: {
      const DwarfFile* other = alternate();
      return other != nullptr ? dwarf_string(other->strings_, value.number) : std::string_view();
    }
    case dw::kStrx:
    case dw::kStrx1:
    case dw::kStrx2:
    case dw::kStrx3:
    case dw::kStrx4:
    case dw::kGnuStrIndex: {
      if (value.number > string_offsets_.size()) return {};
      ByteCursor cursor(string_offsets_,
                        unit.string_offsets_base + value.number * unit.offset_size);
      const uint64_t offset = cursor.unsigned_of(unit.offset_size);
      return cursor.ok() ? dwarf_string(strings_, offset) : std::string_view();
    }
    default:
      return {};
  }
}

bool DwarfFile::indexed_address(const DwarfUnit& unit, uint64_t index, uint64_t& out) const {
  if (index > addresses_.size()) return false;
  ByteCursor cursor(addresses_, unit.address_base + index * unit.address_size);
  out = cursor.unsigned_of(unit.address_size);
  return cursor.ok();
}

bool DwarfFile::address(const DwarfUnit& unit, const DwarfValue& value, uint64_t& out) const {
  switch (value.form) {
    case dw::kAddr:
      out = value.number;
      return true;
    case dw::kAddrx:
    case dw::kAddrx1:
    case dw::kAddrx2:
    case dw::kAddrx3:
    case dw::kAddrx4:
    case dw::kGnuAddrIndex:
      return indexed_address(unit, value.number, out);
    default:
      return false;
  }
}

bool DwarfFile::reference(const DwarfUnit& unit, const DwarfValue& value, Reference& out) {
  switch (value.form) {
    case dw::kRef1:
    case dw::kRef2:
    case dw::kRef4:
    case dw::kRef8:
    case dw::kRefUdata:
      if (value.number >= unit.end - unit.offset) return false;
      out = {unit.offset + value.number, false};
      return true;
    case dw::kRefAddr:
      out = {value.number, false};
      return true;
    case dw::kGnuRefAlt:
    case dw::kRefSup4:
    case dw::kRefSup8:
      out = {value.number, true};
      return true;
    default:
      return false;
  }
}

}  // namespace vesta
