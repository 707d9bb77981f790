// All that look-ups in one compile unit need: which function, and inside of which inlined calls,
// each address belongs to, as a flat interval table, plus the unit's line table. Built by one pass
// over the unit's DIEs. Views into the DWARF file, which must outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/dwarf/dwarf_file.h"
#include "symbols/dwarf/interval_map.h"
#include "symbols/dwarf/line_table.h"
#include "symbols/source_frame.h"

namespace vesta {

class UnitTable {
 public:
  static constexpr std::string_view kUnnamed = "[unnamed]";

  struct Limits {
    // Nested inlined calls over this are counted to the one at the limit.
    uint32_t max_inline_depth = 256;
    // Of intervals, calls and rows; the rest of a larger unit is left out.
    size_t max_bytes = 256UL << 20;
  };

  // Addresses are relative to `base`.
  static UnitTable build(DwarfFile& file, const DwarfUnit& unit, uint64_t base,
                         const Limits& limits);

  // Appends the frames at an address, innermost first. `name` is the linkage name when there is
  // one, and `linkage_name` is then the same; else `name` is qualified and `linkage_name` empty. A
  // function whose name cannot be found has kUnnamed.
  // False when no function of the unit covers it. Views live until the next call.
  bool lookup(uint32_t address, std::vector<SourceFrame>& frames);
  // Only file and line; for units whose functions are elsewhere.
  bool find_line(uint32_t address, SourceFrame& frame);

  size_t intervals() const { return map_.size(); }
  size_t memory_bytes() const;

 private:
  friend class UnitTableBuilder;
  // A function, or a call of one that was inlined.
  struct Node {
    uint32_t parent = 0;  // the node it was inlined into; 0 for none
    uint32_t name = 0;
    uint32_t call_file = 0;
    uint32_t call_line = 0;
    uint32_t call_column = 0;
  };
  struct Name {
    const char* text = nullptr;
    uint32_t size = 0;
    uint32_t decl_line : 31 = 0;
    uint32_t linkage : 1 = 0;
  };

  IntervalMap map_;
  std::vector<Node> nodes_;
  std::vector<Name> names_;
  std::vector<std::unique_ptr<std::string>> qualified_;
  size_t qualified_bytes_ = 0;
  LineTable lines_;
};

}  // namespace vesta
