#include "symbols/dwarf/abbreviations.h"

#include <algorithm>

#include "base/byte_cursor.h"
#include "symbols/dwarf/dwarf_constants.h"

namespace vesta {
namespace {

// Compilers write up to 25 attributes for a DIE. Some forms take no bytes in it, so that without a
// limit a unit of a megabyte could mean hours of reading.
constexpr size_t kMaxAttributes = 256;
constexpr size_t kMaxAbbreviations = 1'000'000;

constexpr uint64_t kNoCode = ~0ULL;

void add_size(uint16_t form, Abbreviation& entry) {
  const auto plain = [&entry](uint16_t bytes) {
    entry.plain_bytes = static_cast<uint16_t>(entry.plain_bytes + bytes);
  };
  switch (form) {
    case dw::kFlagPresent:
    case dw::kImplicitConst:
      break;
    case dw::kData1:
    case dw::kFlag:
    case dw::kRef1:
    case dw::kStrx1:
    case dw::kAddrx1:
      plain(1);
      break;
    case dw::kData2:
    case dw::kRef2:
    case dw::kStrx2:
    case dw::kAddrx2:
      plain(2);
      break;
    case dw::kStrx3:
    case dw::kAddrx3:
      plain(3);
      break;
    case dw::kData4:
    case dw::kRef4:
    case dw::kStrx4:
    case dw::kAddrx4:
    case dw::kRefSup4:
      plain(4);
      break;
    case dw::kData8:
    case dw::kRef8:
    case dw::kRefSig8:
    case dw::kRefSup8:
      plain(8);
      break;
    case dw::kData16:
      plain(16);
      break;
    case dw::kAddr:
      ++entry.addresses;
      break;
    case dw::kStrp:
    case dw::kLineStrp:
    case dw::kSecOffset:
    case dw::kStrpSup:
    case dw::kGnuRefAlt:
    case dw::kGnuStrpAlt:
      ++entry.offsets;
      break;
    case dw::kRefAddr:
      ++entry.unit_references;
      break;
    default:
      entry.fixed_size = false;
  }
}

}  // namespace

AbbreviationTable AbbreviationTable::read(std::string_view section, uint64_t offset) {
  return read_until(section, offset, kNoCode);
}

AbbreviationTable AbbreviationTable::read_until(std::string_view section, uint64_t offset,
                                                uint64_t code) {
  AbbreviationTable table;
  ByteCursor cursor(section, offset);
  while (table.entries_.size() < kMaxAbbreviations) {
    Abbreviation entry;
    entry.code = cursor.uleb();
    if (!cursor.ok() || entry.code == 0) break;
    const uint64_t tag = cursor.uleb();
    entry.tag = tag <= 0xFFFF ? static_cast<uint16_t>(tag) : 0;
    entry.children = cursor.u8() != 0;
    entry.first_attribute = static_cast<uint32_t>(table.attributes_.size());
    entry.fixed_size = true;
    bool usable = true;
    while (true) {
      const uint64_t name = cursor.uleb();
      const uint64_t form = cursor.uleb();
      const int64_t value = form == dw::kImplicitConst ? cursor.sleb() : 0;
      if (!cursor.ok() || (name == 0 && form == 0)) break;
      if (name > 0xFFFF || form > 0xFFFF || entry.attributes >= kMaxAttributes) usable = false;
      if (!usable) continue;
      table.attributes_.push_back(
          {static_cast<uint16_t>(name), static_cast<uint16_t>(form), value});
      ++entry.attributes;
      add_size(static_cast<uint16_t>(form), entry);
    }
    // A DIE of a layout that we do not keep ends the reading of its unit.
    if (!cursor.ok() || !usable) break;
    table.entries_.push_back(entry);
    if (entry.code == code) break;
  }
  table.dense_ = true;
  for (size_t i = 0; i < table.entries_.size() && table.dense_; ++i) {
    table.dense_ = table.entries_[i].code == i + 1;
  }
  if (!table.dense_) std::ranges::stable_sort(table.entries_, {}, &Abbreviation::code);
  return table;
}

const Abbreviation* AbbreviationTable::find(uint64_t code) const {
  if (dense_) return code - 1 < entries_.size() ? &entries_[code - 1] : nullptr;
  const auto found = std::ranges::lower_bound(entries_, code, {}, &Abbreviation::code);
  return found != entries_.end() && found->code == code ? &*found : nullptr;
}

}  // namespace vesta
