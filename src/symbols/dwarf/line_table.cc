#include "symbols/dwarf/line_table.h"

#include <algorithm>
#include <array>

#include "symbols/dwarf/dwarf_constants.h"

namespace vesta {
namespace {

constexpr uint32_t kGap = ~0U;
constexpr size_t kMaxFiles = 1'000'000;
constexpr size_t kMaxPath = 4096;
constexpr size_t kMaxPathBytes = 4UL << 20;

}  // namespace

// Reads one program: the header's tables, then the rows.
class LineProgram {
 public:
  LineProgram(DwarfFile& file, const DwarfUnit& unit, uint64_t base, size_t max_rows)
      : file_(file), unit_(unit), base_(base), max_rows_(max_rows) {}

  LineTable run() {
    if (read_header()) {
      run_program();
      sort_rows();
    }
    table_.rows_.shrink_to_fit();
    table_.files_.shrink_to_fit();
    return std::move(table_);
  }

 private:
  using Row = LineTable::Row;

  bool read_header() {
    ByteCursor start(file_.lines(), unit_.line_table);
    uint64_t length = start.u32();
    form_unit_ = unit_;
    form_unit_.offset_size = 4;
    if (length == 0xFFFFFFFF) {
      length = start.u64();
      form_unit_.offset_size = 8;
    }
    if (!start.ok() || length > start.remaining()) return false;
    // The program ends with its unit, whatever its instructions say.
    program_ = ByteCursor(file_.lines().substr(0, start.offset() + length), start.offset());
    version_ = program_.u16();
    if (version_ < 2 || version_ > 5) return false;
    if (version_ >= 5) {
      address_size_ = program_.u8();
      program_.u8();  // segment selectors
    }
    const uint64_t header_length = program_.unsigned_of(form_unit_.offset_size);
    if (!program_.ok() || header_length > program_.remaining()) return false;
    const uint64_t program_start = program_.offset() + header_length;
    minimum_instruction_ = program_.u8();
    if (version_ >= 4) program_.u8();  // operations per instruction: only for VLIW machines
    program_.u8();                     // is_stmt: every row serves to name a line
    line_base_ = static_cast<int8_t>(program_.u8());
    line_range_ = program_.u8();
    opcode_base_ = program_.u8();
    for (uint32_t i = 1; i < opcode_base_; ++i) operands_[i] = program_.u8();
    if (!program_.ok() || line_range_ == 0 || opcode_base_ == 0) return false;
    if (version_ >= 5) {
      read_entries(true);
      read_entries(false);
    } else {
      read_old_entries();
    }
    program_ = ByteCursor(file_.lines().substr(0, start.offset() + length), program_start);
    return true;
  }

  void read_old_entries() {
    table_.folders_.push_back(unit_.folder);
    while (table_.folders_.size() < kMaxFiles) {
      const std::string_view folder = program_.c_string();
      if (folder.empty()) break;
      table_.folders_.push_back(folder);
    }
    table_.files_.push_back({});  // files count from 1
    while (table_.files_.size() < kMaxFiles) {
      const std::string_view name = program_.c_string();
      if (name.empty()) break;
      const uint64_t folder = program_.uleb();
      program_.uleb();
      program_.uleb();
      add_file(name, folder);
    }
  }

  void add_file(std::string_view name, uint64_t folder) {
    if (table_.files_.size() >= kMaxFiles) return;
    table_.files_.push_back(
        {name, static_cast<uint32_t>(std::min<uint64_t>(folder, kMaxFiles)), {}});
  }

  void read_entries(bool folders) {
    struct Format {
      uint16_t content;
      uint16_t form;
    };
    std::array<Format, 256> formats{};
    const size_t format_count = program_.u8();
    for (size_t i = 0; i < format_count; ++i) {
      const uint64_t content = program_.uleb();
      const uint64_t form = program_.uleb();
      // Forms that take no bytes would make any count believable.
      if (content > 0xFFFF || form > 0xFFFF || form == dw::kFlagPresent ||
          form == dw::kImplicitConst) {
        program_.skip(~0ULL);
        return;
      }
      formats[i] = {static_cast<uint16_t>(content), static_cast<uint16_t>(form)};
    }
    const uint64_t count = program_.uleb();
    if (format_count == 0) return;
    for (uint64_t i = 0; i < count && program_.ok() && i < kMaxFiles; ++i) {
      std::string_view name;
      uint64_t folder = 0;
      for (size_t j = 0; j < format_count; ++j) {
        const DwarfValue value = DwarfFile::read_value(program_, form_unit_, formats[j].form, 0);
        if (formats[j].content == dw::kLnctPath) name = file_.string(form_unit_, value);
        if (formats[j].content == dw::kLnctDirectoryIndex) folder = value.number;
      }
      if (!program_.ok()) return;
      if (folders) {
        table_.folders_.push_back(name);
      } else {
        add_file(name, folder);
      }
    }
  }

  void run_program() {
    reset();
    while (!program_.at_end() && table_.rows_.size() < max_rows_) {
      const uint8_t opcode = program_.u8();
      if (opcode >= opcode_base_) {
        const uint32_t adjusted = opcode - opcode_base_;
        address_ += uint64_t{adjusted / line_range_} * minimum_instruction_;
        line_ += static_cast<uint32_t>(line_base_ + static_cast<int32_t>(adjusted % line_range_));
        add_row();
        continue;
      }
      switch (opcode) {
        case dw::kLnsExtended:
          extended();
          break;
        case dw::kLnsCopy:
          add_row();
          break;
        case dw::kLnsAdvancePc:
          address_ += program_.uleb() * minimum_instruction_;
          break;
        case dw::kLnsAdvanceLine:
          line_ += static_cast<uint32_t>(program_.sleb());
          break;
        case dw::kLnsSetFile:
          source_ = program_.uleb();
          break;
        case dw::kLnsSetColumn:
          column_ = program_.uleb();
          break;
        case dw::kLnsConstAddPc:
          address_ += uint64_t{(255U - opcode_base_) / line_range_} * minimum_instruction_;
          break;
        case dw::kLnsFixedAdvancePc:
          address_ += program_.u16();
          break;
        default:
          for (uint32_t i = 0; i < operands_[opcode]; ++i) program_.uleb();
      }
    }
    // A program that stops inside a sequence has said nothing about where it ends.
    table_.rows_.resize(sequence_start_);
  }

  void extended() {
    const uint64_t size = program_.uleb();
    if (size == 0 || size > program_.remaining()) return program_.skip(~0ULL);
    const uint64_t next = program_.offset() + size;
    switch (program_.u8()) {
      case dw::kLneEndSequence:
        end_sequence();
        break;
      case dw::kLneSetAddress:
        address_ = program_.unsigned_of(static_cast<uint32_t>(std::min<uint64_t>(size - 1, 8)));
        break;
      case dw::kLneDefineFile: {
        const std::string_view name = program_.c_string();
        add_file(name, program_.uleb());
        break;
      }
      default:
        break;
    }
    if (program_.offset() > next) return program_.skip(~0ULL);
    program_.skip(next - program_.offset());
  }

  void reset() {
    address_ = 0;
    line_ = 1;
    column_ = 0;
    source_ = 1;
    sequence_start_ = table_.rows_.size();
    dead_ = false;
    first_ = true;
  }

  // What the linker threw away starts at 0 or at a tombstone, outside of all code.
  bool outside() const { return address_ < base_ || address_ - base_ >= kGap; }

  void add_row() {
    if (outside()) dead_ = true;
    if (dead_) return;
    const uint32_t address = static_cast<uint32_t>(address_ - base_);
    const uint64_t source = std::min<uint64_t>(source_, kMaxFiles - 1);
    const uint32_t column =
        column_ < (1U << LineTable::kColumnBits) ? static_cast<uint32_t>(column_) : 0;
    const Row row{address, line_, static_cast<uint32_t>(source) << LineTable::kColumnBits | column};
    if (!first_) {
      Row& last = table_.rows_.back();
      if (last.address == address) {
        last = row;
        return;
      }
      if (last.line == row.line && last.file_and_column == row.file_and_column) return;
    }
    first_ = false;
    table_.rows_.push_back(row);
  }

  void end_sequence() {
    if (outside()) dead_ = true;
    if (dead_) {
      table_.rows_.resize(sequence_start_);
    } else if (!first_) {
      table_.rows_.push_back({static_cast<uint32_t>(address_ - base_), 0, kGap});
    }
    reset();
  }

  void sort_rows() {
    // A sequence may begin where another ends: the end comes first.
    const auto before = [](const Row& a, const Row& b) {
      if (a.address != b.address) return a.address < b.address;
      return a.file_and_column == kGap && b.file_and_column != kGap;
    };
    if (!std::ranges::is_sorted(table_.rows_, before)) {
      std::ranges::stable_sort(table_.rows_, before);
    }
  }

  DwarfFile& file_;
  const DwarfUnit& unit_;
  const uint64_t base_;
  const size_t max_rows_;
  LineTable table_;
  DwarfUnit form_unit_;  // the unit, with the sizes that this table's header gives
  ByteCursor program_{{}};
  uint16_t version_ = 0;
  uint8_t address_size_ = 0;
  uint8_t minimum_instruction_ = 1;
  int8_t line_base_ = 0;
  uint8_t line_range_ = 1;
  uint8_t opcode_base_ = 1;
  std::array<uint8_t, 256> operands_{};

  uint64_t address_ = 0;
  uint32_t line_ = 1;
  uint64_t column_ = 0;
  uint64_t source_ = 1;
  size_t sequence_start_ = 0;
  bool dead_ = false;
  bool first_ = true;
};

LineTable LineTable::read(DwarfFile& file, const DwarfUnit& unit, uint64_t base, size_t max_rows) {
  if (unit.line_table == DwarfUnit::kNone) return {};
  return LineProgram(file, unit, base, max_rows).run();
}

bool LineTable::find(uint32_t address, Place& place) const {
  const auto next = std::ranges::upper_bound(rows_, address, {}, &Row::address);
  if (next == rows_.begin()) return false;
  const Row& row = *std::prev(next);
  if (row.file_and_column == kGap) return false;
  place.file = row.file_and_column >> kColumnBits;
  place.line = row.line;
  place.column = row.file_and_column & ((1U << kColumnBits) - 1);
  return true;
}

std::string_view LineTable::file_name(uint32_t index) {
  if (index >= files_.size()) return {};
  File& file = files_[index];
  if (!file.path.empty() || file.name.empty()) return file.path;
  const std::string_view folder =
      file.folder < folders_.size() ? folders_[file.folder] : std::string_view();
  if (file.name.starts_with('/') || folder.empty() || file.name.size() + folder.size() > kMaxPath) {
    return file.path = file.name;
  }
  std::string path;
  // Folder 0 is where the compiler ran; others may be relative to it.
  if (!folder.starts_with('/') && file.folder != 0 && !folders_[0].empty() &&
      folders_[0].size() < kMaxPath) {
    path.append(folders_[0]).append("/");
  }
  path.append(folder).append("/").append(file.name);
  path_bytes_ += path.size() + sizeof(std::string);
  return file.path = paths_.emplace_back(std::move(path));
}

void LineTable::trim() {
  if (path_bytes_ <= kMaxPathBytes) return;
  for (File& file : files_) file.path = {};
  paths_.clear();
  path_bytes_ = 0;
}

size_t LineTable::memory_bytes() const {
  return rows_.capacity() * sizeof(Row) + files_.capacity() * sizeof(File) +
         folders_.capacity() * sizeof(std::string_view) + path_bytes_;
}

}  // namespace vesta
