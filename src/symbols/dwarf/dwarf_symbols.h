// Functions, inlined calls and lines by address, from DWARF 2 to 5. At first only the ranges of
// compile units are known; a unit's table is built when an address in it is first asked for, and
// the least recently used ones go when all together exceed a cap. Shares the ELF file. Not
// thread-safe: one owner thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "symbols/dwarf/dwarf_file.h"
#include "symbols/dwarf/interval_map.h"
#include "symbols/dwarf/unit_table.h"
#include "symbols/source_frame.h"

namespace vesta {

class DwarfSymbols {
 public:
  struct Options {
    DwarfFile::FindAlternate find_alternate;
    size_t max_table_bytes = 64UL << 20;
    // Of compressed sections, which must be unpacked as a whole.
    uint64_t max_unpacked_bytes = 512ULL << 20;
  };

  // kNotFound when the file has no DWARF, or none that covers any code.
  static Result<std::unique_ptr<DwarfSymbols>> open(std::shared_ptr<const ElfFile> file,
                                                    Options options);
  ~DwarfSymbols();

  enum class Answer {
    kNothing,
    kLine,    // one frame without a name: file and line alone are known
    kFrames,  // see UnitTable::lookup for what names are
  };
  // Appends the frames at an address of the ELF file, innermost first. Views live until the next
  // call.
  Answer lookup(uint64_t address, std::vector<SourceFrame>& frames);

  struct Statistics {
    size_t units = 0;         // that cover code
    size_t tables_built = 0;  // again included
    size_t tables_evicted = 0;
  };
  const Statistics& statistics() const { return statistics_; }
  size_t memory_bytes() const;

 private:
  DwarfSymbols() = default;
  void index_units();
  void add_aranges(std::vector<Interval>& intervals, const std::vector<bool>& known);
  void add_range(uint64_t start, uint64_t end, uint32_t unit,
                 std::vector<Interval>& intervals) const;
  UnitTable& table(uint32_t unit);
  void evict(uint32_t keep);

  // Unit numbers are positions in DwarfFile::units(), plus one.
  struct Slot {
    std::unique_ptr<UnitTable> table;
    uint64_t last_used = 0;
    size_t bytes = 0;
  };

  std::unique_ptr<DwarfFile> file_;
  Options options_;
  uint64_t base_ = 0;
  IntervalMap units_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> resident_;
  uint64_t clock_ = 0;
  size_t table_bytes_ = 0;
  Statistics statistics_;
};

}  // namespace vesta
