// Batches as they lie in a queue: each record has what its batch adds to the dictionary of those
// before it, and the rows. A day of windows says little new, so this is a small part of what they
// take one by one. A log begins with an empty dictionary; to read a record, those before it must
// have been read. README.md has the layout. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_index.h"
#include "base/result.h"
#include "profile/dictionary_builder.h"
#include "profile/profile.h"

namespace vesta::agent {

// Of records; those of another are not read.
inline constexpr uint64_t kBatchLogVersion = 1;

// How many entries each table has.
struct TableSizes {
  uint64_t strings = 1;
  uint64_t functions = 1;
  uint64_t mappings = 1;
  uint64_t locations = 1;
  uint64_t label_sets = 1;
  uint64_t links = 1;
  uint64_t nodes = 1;  // of the tree that stacks are leaves of
  uint64_t stacks = 1;
  friend bool operator==(const TableSizes&, const TableSizes&) = default;
};

class BatchLogWriter {
 public:
  BatchLogWriter() : builder_(dictionary_) {}

  // The next record of the log, compressed.
  std::string append(const ProfileBatch& batch);
  // About what it holds in memory.
  size_t byte_size() const;

 private:
  uint32_t node_of(StackId stack);
  TableSizes sizes() const;
  void put_tables(std::string& out, const TableSizes& from) const;

  Dictionary dictionary_;
  DictionaryBuilder builder_;
  // Stacks as paths in a tree from the root: programs come back to the same callers.
  IdIndex node_index_;
  std::vector<uint64_t> nodes_{0};  // parent << 32 | location
  std::vector<uint32_t> stack_nodes_{0};
};

class BatchLogReader {
 public:
  // Reads the next record. kInvalidInput when it is damaged or not the next one of this log.
  Status append(std::string_view record);
  // Of the record read last; the dictionary is that of all so far.
  const Dictionary& dictionary() const { return dictionary_; }
  const std::vector<Profile>& profiles() const { return profiles_; }

 private:
  friend class BatchLogDecoder;
  Dictionary dictionary_;
  std::vector<uint64_t> nodes_{0};
  std::vector<Profile> profiles_;
};

}  // namespace vesta::agent
