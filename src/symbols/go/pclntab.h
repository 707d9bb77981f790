// The table of functions, files and lines that every Go program carries (.gopclntab), in its four
// layouts: Go 1.2, 1.16, 1.18 and 1.20. Views into bytes that the caller keeps alive; read-only, so
// any number of threads may use one. Every access is checked: the bytes are not to be trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace vesta {

enum class PclntabVersion { kGo2, kGo16, kGo18, kGo20 };

// One entry of the table, decoded. Offsets are into the parts of the table.
struct PclntabFunction {
  uint64_t entry = 0;
  uint64_t end = 0;
  int32_t name_offset = 0;
  uint32_t pcsp = 0;
  uint32_t pcfile = 0;
  uint32_t pcln = 0;
  uint32_t inline_index = 0;          // pcdata table of the inline tree; 0 = none
  uint32_t inline_tree = UINT32_MAX;  // offset from go:func.*; all ones = none
  uint32_t unit_offset = 0;           // of the compile unit, in entries of its file table
  uint32_t start_line = 0;
  uint8_t flags = 0;
};

// How many steps of pc tables one question may cost; hostile tables have no natural end.
struct PclntabBudget {
  uint32_t steps = 1 << 20;
};

// Walks a pc-value table: from `pc` up to the next one, `value` holds.
class PcValues {
 public:
  PcValues(std::string_view bytes, uint64_t entry, uint32_t quantum)
      : bytes_(bytes), pc_(entry), quantum_(quantum) {}
  // False at the end of the table or where it is broken.
  bool next(PclntabBudget& budget);
  uint64_t start() const { return start_; }
  uint64_t end() const { return pc_; }
  int32_t value() const { return value_; }
  // Whether next() met the table's own end mark.
  bool finished() const { return finished_; }

 private:
  std::optional<uint32_t> varint();

  std::string_view bytes_;
  uint64_t start_ = 0;
  uint64_t pc_;
  uint32_t quantum_;
  int32_t value_ = -1;
  bool first_ = true;
  bool finished_ = false;
};

class Pclntab {
 public:
  // True when the bytes begin like a table of a version that we know, for little-endian 64-bit.
  static bool looks_like(std::string_view bytes);
  // kInvalidInput when the parts lie outside the bytes.
  static Result<Pclntab> parse(std::string_view bytes);

  PclntabVersion version() const { return version_; }
  size_t function_count() const { return function_count_; }
  // Where functions are counted from, 1.18 and later; 0 when the header does not say (1.26).
  uint64_t header_text_start() const { return header_text_start_; }
  // Byte offset of the function names in the table: what moduledata points to as well.
  uint64_t names_offset() const { return names_offset_; }
  void set_text_start(uint64_t address) { text_start_ = address; }

  // By position in the table, which is sorted by address.
  std::optional<PclntabFunction> function(size_t index) const;
  std::optional<PclntabFunction> find(uint64_t address) const;

  std::string_view name(int32_t offset) const;
  std::string_view file(const PclntabFunction& function, int32_t index) const;
  PcValues values(const PclntabFunction& function, uint32_t table) const;
  // The value at an address of the function.
  std::optional<int32_t> value_at(const PclntabFunction& function, uint32_t table, uint64_t address,
                                  PclntabBudget& budget) const;

 private:
  Pclntab() = default;
  Status parse_1_2();
  Status parse_1_16();
  Result<std::string_view> part(uint64_t offset) const;
  uint64_t entry_of(size_t index) const;
  uint64_t offset_of(size_t index) const;

  std::string_view bytes_;
  std::string_view names_;
  std::string_view units_;
  std::string_view files_;
  std::string_view pc_values_;
  std::string_view functions_;  // what offsets of functions count from
  size_t table_ = 0;            // of the function table in `functions_`
  size_t function_count_ = 0;
  PclntabVersion version_ = PclntabVersion::kGo2;
  uint32_t quantum_ = 1;
  uint64_t header_text_start_ = 0;
  uint64_t names_offset_ = 0;
  uint64_t text_start_ = 0;
};

}  // namespace vesta
