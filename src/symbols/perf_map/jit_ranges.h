// Address ranges with names, where a later range takes over what it overlaps: JIT compilers use
// memory again. Owns its names. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vesta {

class JitRanges {
 public:
  JitRanges(size_t max_ranges, size_t max_name_bytes)
      : max_ranges_(max_ranges), max_name_bytes_(max_name_bytes) {}

  // Adds what the text says, line by line: "START SIZE name", hexadecimal with or without 0x.
  // Only complete lines are taken; returns how many bytes those were.
  size_t add_lines(std::string_view text);
  // Puts what was added into place; lookups see it from then on.
  void settle();
  void clear();

  std::optional<std::string_view> lookup(uint64_t address) const;

  size_t size() const { return ranges_.size(); }
  size_t bad_lines() const { return bad_lines_; }
  // Ranges that were left out because there are too many.
  size_t dropped() const { return dropped_; }
  size_t memory_bytes() const {
    return (ranges_.capacity() + added_.capacity()) * sizeof(Range) + names_.capacity();
  }

 private:
  struct Range {
    uint64_t start;
    uint64_t end;
    uint32_t name_offset;
    uint32_t name_bytes;
  };

  void add_line(std::string_view line);
  void compact_names();

  size_t max_ranges_;
  size_t max_name_bytes_;
  std::vector<Range> ranges_;  // sorted, without overlaps
  std::vector<Range> added_;   // in the order of lines
  std::string names_;
  size_t bad_lines_ = 0;
  size_t dropped_ = 0;
};

}  // namespace vesta
