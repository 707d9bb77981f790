// One table of .debug_abbrev: how the DIEs of a unit are laid out. Bounded whatever the bytes say;
// immutable once read, so any number of threads may use one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace vesta {

struct DwarfAttribute {
  uint16_t name = 0;
  uint16_t form = 0;
  int64_t implicit_value = 0;
};

struct Abbreviation {
  uint64_t code = 0;
  uint32_t first_attribute = 0;
  uint16_t tag = 0;
  uint16_t attributes = 0;
  bool children = false;
  // The size of a DIE when it is the same for all: plain bytes, plus addresses, plus offsets, plus
  // references to other units (whose size depends on the version).
  bool fixed_size = false;
  uint16_t plain_bytes = 0;
  uint16_t addresses = 0;
  uint16_t offsets = 0;
  uint16_t unit_references = 0;
};

class AbbreviationTable {
 public:
  // What can be read of the table at an offset of .debug_abbrev.
  static AbbreviationTable read(std::string_view section, uint64_t offset);
  // Only until `code` is found: all that a unit's first DIE needs.
  static AbbreviationTable read_until(std::string_view section, uint64_t offset, uint64_t code);

  // Null when there is none.
  const Abbreviation* find(uint64_t code) const;
  std::span<const DwarfAttribute> attributes(const Abbreviation& abbreviation) const {
    return std::span(attributes_).subspan(abbreviation.first_attribute, abbreviation.attributes);
  }
  size_t memory_bytes() const {
    return sizeof(*this) + entries_.capacity() * sizeof(Abbreviation) +
           attributes_.capacity() * sizeof(DwarfAttribute);
  }

 private:
  std::vector<Abbreviation> entries_;  // by code
  std::vector<DwarfAttribute> attributes_;
  bool dense_ = false;  // codes are 1, 2, 3 …
};

}  // namespace vesta
