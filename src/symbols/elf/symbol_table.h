// The functions of an ELF file by address: .symtab, .dynsym, the mini debug info in .gnu_debugdata,
// and names for PLT entries, flattened once into a sorted array of 16 bytes each. Names stay in the
// mapped files, which the table shares. Immutable once built, so any number of threads may use one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace vesta {

struct ElfSymbol {
  std::string_view name;  // without @VERSION; PLT entries end with "@plt"
  uint64_t address = 0;   // of this piece of it: a function around another one has several
  uint64_t size = 0;
};

class SymbolTable {
 public:
  struct Limits {
    uint32_t max_symbols = 8'000'000;  // of one section; what is behind is ignored
    uint64_t max_mini_debug_bytes = 256ULL << 20;
  };

  // `debug` is the separate debug file, or null. What is damaged is left out.
  static SymbolTable build(const std::shared_ptr<const ElfFile>& file,
                           const std::shared_ptr<const ElfFile>& debug, const Limits& limits);
  static SymbolTable build(const std::shared_ptr<const ElfFile>& file,
                           const std::shared_ptr<const ElfFile>& debug = nullptr) {
    return build(file, debug, Limits{});
  }

  // The function that covers an address; false when there is none.
  bool lookup(uint64_t address, ElfSymbol& symbol) const;

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  // Where names came from, for statistics.
  bool has_symtab() const { return has_symtab_; }
  bool has_dynsym() const { return has_dynsym_; }
  bool has_mini_debug() const { return has_mini_debug_; }
  size_t memory_bytes() const;

 private:
  friend class SymbolTableBuilder;
  // String tables are told apart by two bits beside the size, which leaves 1 GB for a function.
  static constexpr uint32_t kTables = 4;
  static constexpr uint32_t kSizeBits = 30;
  struct Entry {
    uint64_t address;
    uint32_t name;
    uint32_t size_and_table;
    uint64_t end() const { return address + (size_and_table & ((1U << kSizeBits) - 1)); }
  };
  static_assert(sizeof(Entry) == 16);

  std::string_view name_of(const Entry& entry) const;

  std::vector<Entry> entries_;  // by address, without overlap
  std::vector<std::shared_ptr<const ElfFile>> files_;
  std::string_view strings_[kTables];
  // Behind a pointer: views into it survive a move of the table.
  std::unique_ptr<std::string> plt_names_;
  bool has_symtab_ = false;
  bool has_dynsym_ = false;
  bool has_mini_debug_ = false;
};

// The ELF file inside .gnu_debugdata (xz), at most `max_bytes` of it. kNotFound when there is none.
Result<std::shared_ptr<const ElfFile>> open_mini_debug_info(const ElfFile& file,
                                                            uint64_t max_bytes);

}  // namespace vesta
