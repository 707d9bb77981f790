// Names that were found once, for a profiler that runs for months: a symbol table need not be open
// while its program does the same as before. Bounded; refers to the source behind it, which must
// outlive it. One owner thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "agent/recording/name_source.h"
#include "base/table_hash.h"

namespace vesta {

class NameCache final : public NameSource {
 public:
  NameCache(NameSource& source, uint64_t max_bytes) : source_(source), max_bytes_(max_bytes) {}

  bool symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) override;
  CodePlace place(const CodeAddress& address) override { return source_.place(address); }
  FrameKind kind(const CodeAddress& address) const override { return source_.kind(address); }

  // Code of the kernel came or went: its addresses may mean something else now.
  void forget_kernel();
  // Starts again when there is too much. Views that were handed out end here.
  void shrink();
  void clear();

  uint64_t byte_size() const { return bytes_; }
  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }

 private:
  struct Known {
    std::vector<SourceFrame> frames;  // views into texts_
    bool is_named = false;
  };
  std::string_view keep(std::string_view text);

  NameSource& source_;
  const uint64_t max_bytes_;
  std::unordered_map<CodeAddress, Known, CodeAddressHash> known_;
  std::unordered_set<std::string, TableKeyHash> texts_;  // does not move what it holds
  uint64_t bytes_ = 0;
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
};

}  // namespace vesta
