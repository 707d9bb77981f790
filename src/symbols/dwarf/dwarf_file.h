// The DWARF sections of one ELF file and how to read units, DIEs, strings, addresses and ranges
// from them. Every read is checked; a reference that leads nowhere gives an empty value. Owns what
// it unpacks and shares the ELF file. Not thread-safe: it caches as it reads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/byte_cursor.h"
#include "base/result.h"
#include "base/table_hash.h"
#include "symbols/dwarf/abbreviations.h"
#include "symbols/elf/elf_file.h"

namespace vesta {

// An attribute's value as stored; what it means depends on its form.
struct DwarfValue {
  uint16_t form = 0;  // 0: absent
  uint64_t number = 0;
  std::string_view text;
  explicit operator bool() const { return form != 0; }
};

// The attributes of a DIE that names and places need.
struct DieFields {
  DwarfValue name;
  DwarfValue linkage_name;
  DwarfValue low_pc;
  DwarfValue high_pc;
  DwarfValue ranges;
  DwarfValue origin;     // DW_AT_abstract_origin or DW_AT_specification
  uint64_t sibling = 0;  // offset in .debug_info; 0 when not known
  uint32_t call_file = 0;
  uint32_t call_line = 0;
  uint32_t call_column = 0;
  uint32_t decl_line = 0;
};

struct DwarfUnit {
  static constexpr uint64_t kNone = ~0ULL;
  uint64_t offset = 0;  // of the header in .debug_info
  uint64_t end = 0;
  uint64_t first_die = 0;
  uint64_t abbreviations = 0;  // offset in .debug_abbrev
  uint16_t version = 0;
  uint8_t type = 0;
  uint8_t address_size = 0;
  uint8_t offset_size = 0;
  // From the first DIE:
  uint16_t tag = 0;
  bool split = false;  // the DIEs are in a .dwo file
  uint64_t low_pc = 0;
  uint64_t line_table = kNone;
  uint64_t string_offsets_base = 0;
  uint64_t address_base = 0;
  uint64_t range_lists_base = 0;
  DieFields ranges;  // only what for_each_range() needs
  std::string_view name;
  std::string_view folder;
};

class DwarfFile {
 public:
  // Finds the file that .gnu_debugaltlink or .debug_sup names; null when there is none. Called at
  // most once, when something first refers to it.
  using FindAlternate = std::function<std::shared_ptr<const ElfFile>(const ElfFile&)>;

  // kNotFound when the file has no DWARF; kLimit when its sections unpack to more than
  // `max_unpacked_bytes` together.
  static Result<std::unique_ptr<DwarfFile>> open(std::shared_ptr<const ElfFile> file,
                                                 FindAlternate find_alternate,
                                                 uint64_t max_unpacked_bytes);

  const ElfFile& elf() const { return *file_; }
  std::string_view info() const { return info_; }
  std::string_view lines() const { return lines_; }
  std::string_view aranges();
  // Null when there is none.
  DwarfFile* alternate();
  size_t memory_bytes() const;

  // Offsets of all unit headers that can be reached, ascending.
  const std::vector<uint64_t>& units();
  // Header and first DIE. False when they make no sense.
  bool read_unit(uint64_t offset, DwarfUnit& unit);
  // The unit that holds a DIE.
  bool unit_of(uint64_t die, DwarfUnit& unit);
  std::shared_ptr<const AbbreviationTable> abbreviations(const DwarfUnit& unit);
  // Whether that would be cheap.
  bool has_abbreviations(const DwarfUnit& unit) const {
    return tables_.contains(unit.abbreviations);
  }

  // Reads past a DIE's attributes.
  void read_die(ByteCursor& cursor, const DwarfUnit& unit, const AbbreviationTable& table,
                const Abbreviation& abbreviation, DieFields& fields) const;
  static void skip_die(ByteCursor& cursor, const DwarfUnit& unit, const AbbreviationTable& table,
                       const Abbreviation& abbreviation);
  static DwarfValue read_value(ByteCursor& cursor, const DwarfUnit& unit, uint16_t form,
                               int64_t implicit_value);

  std::string_view string(const DwarfUnit& unit, const DwarfValue& value);
  bool address(const DwarfUnit& unit, const DwarfValue& value, uint64_t& out) const;
  // Calls `take(start, end)` until it returns false. Reads at most `budget` entries and takes what
  // it read off: hostile DIEs may all name one long list.
  using TakeRange = std::function<bool(uint64_t, uint64_t)>;
  void for_each_range(const DwarfUnit& unit, const DieFields& die, uint64_t& budget,
                      const TakeRange& take) const;

  // Where a reference leads: offset in .debug_info, of the alternate file if so said.
  struct Reference {
    uint64_t die = 0;
    bool in_alternate = false;
  };
  static bool reference(const DwarfUnit& unit, const DwarfValue& value, Reference& out);

 private:
  DwarfFile() = default;
  Status load(std::string_view name, std::string_view& out, bool required);
  bool read_header(uint64_t offset, DwarfUnit& unit) const;
  void read_first_die(DwarfUnit& unit);
  bool indexed_address(const DwarfUnit& unit, uint64_t index, uint64_t& out) const;
  void old_ranges(const DwarfUnit& unit, uint64_t offset, uint64_t& budget,
                  const TakeRange& take) const;
  void range_list(const DwarfUnit& unit, const DwarfValue& value, uint64_t& budget,
                  const TakeRange& take) const;

  std::shared_ptr<const ElfFile> file_;
  FindAlternate find_alternate_;
  std::unique_ptr<DwarfFile> alternate_;
  bool looked_for_alternate_ = false;
  uint64_t unpacked_left_ = 0;
  size_t unpacked_bytes_ = 0;
  std::vector<std::unique_ptr<std::string>> unpacked_;

  std::string_view info_, abbreviations_, strings_, lines_, line_strings_, string_offsets_,
      addresses_, ranges_, range_lists_, aranges_;
  bool loaded_aranges_ = false;
  bool scanned_units_ = false;
  std::vector<uint64_t> units_;
  std::unordered_map<uint64_t, std::shared_ptr<const AbbreviationTable>, TableKeyHash> tables_;
  size_t table_bytes_ = 0;
  uint64_t search_budget_ = 512ULL << 20;  // see read_first_die()
};

// A string in a string section; empty when it does not end within reason.
std::string_view dwarf_string(std::string_view section, uint64_t offset);

}  // namespace vesta
