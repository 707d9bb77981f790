// Which file and line each address of a compile unit comes from: its line number program, run once
// into 12 bytes for each change. Names are views into the DWARF file or are put together on first
// use, so look-ups are not thread-safe. The DWARF file must outlive the table.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "symbols/dwarf/dwarf_file.h"

namespace vesta {

class LineTable {
 public:
  LineTable() = default;
  // Addresses are kept relative to `base`; what lies under it or 4 GB above is dropped, and so are
  // rows over `max_rows`. What can be read of a damaged table is kept.
  static LineTable read(DwarfFile& file, const DwarfUnit& unit, uint64_t base, size_t max_rows);

  struct Place {
    uint32_t file = 0;  // for file_name()
    uint32_t line = 0;
    uint32_t column = 0;
  };
  // False when no row covers the address.
  bool find(uint32_t address, Place& place) const;

  // The path of a file as the compiler saw it; empty when the number is out of range. Views live
  // until the next call of trim().
  std::string_view file_name(uint32_t index);
  // Forgets paths when they have become many.
  void trim();

  size_t rows() const { return rows_.size(); }
  size_t memory_bytes() const;

 private:
  friend class LineProgram;
  static constexpr uint32_t kColumnBits = 12;
  struct Row {
    uint32_t address;
    uint32_t line;
    uint32_t file_and_column;  // ~0: nothing from here on
  };
  struct File {
    std::string_view name;
    uint32_t folder = 0;
    std::string_view path;  // empty until asked for
  };

  std::vector<Row> rows_;
  std::vector<std::string_view> folders_;
  std::vector<File> files_;
  std::deque<std::string> paths_;  // owns paths that are in no section
  size_t path_bytes_ = 0;
};

}  // namespace vesta
