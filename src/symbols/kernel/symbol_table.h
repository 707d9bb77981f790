// The kernel's text symbols as a compact sorted table: /proc/kallsyms holds some 150 000 of them.
// Filled by feeding the file's text in pieces, then finished once. Owns everything; read-only
// after finish().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vesta {

struct KernelSymbol {
  std::string_view name;
  std::string_view module;  // empty for the kernel itself; "bpf" for BPF programs
  uint64_t start = 0;
};

class KernelSymbolTable {
 public:
  // Lines may be split between pieces. What is no symbol line is counted and left out.
  void feed(std::string_view piece);
  // Sorts, and keeps one name for each address. Call once, after the last piece.
  void finish();

  std::optional<KernelSymbol> lookup(uint64_t address) const;

  size_t size() const { return entries_.size(); }
  size_t lines() const { return lines_; }
  // Lines with an address other than zero: none means that the kernel hides them.
  size_t lines_with_address() const { return lines_with_address_; }
  size_t bad_lines() const { return bad_lines_; }
  size_t memory_bytes() const;

 private:
  // Where text ends and something else begins is an entry, too, without a name.
  struct Entry {
    uint64_t address;
    uint32_t name_offset;
    uint16_t name_bytes;
    uint16_t module;
  };
  // What decides between names of one address: see finish().
  struct Candidate {
    Entry entry;
    uint8_t rank;
  };

  void take_line(std::string_view line);
  uint16_t module_index(std::string_view name);
  bool better(const Candidate& a, const Candidate& b) const;
  std::string_view name_of(const Entry& entry) const {
    return std::string_view(names_).substr(entry.name_offset, entry.name_bytes);
  }

  std::vector<Candidate> candidates_;  // until finish()
  std::vector<Entry> entries_;
  std::string names_;
  std::vector<std::string> modules_ = {std::string()};
  std::string partial_line_;
  bool line_too_long_ = false;
  size_t lines_ = 0;
  size_t lines_with_address_ = 0;
  size_t bad_lines_ = 0;
};

}  // namespace vesta
