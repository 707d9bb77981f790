// The dictionaries of all services: one partition each, in memory while they are in use, loaded
// from the store when they are asked for. Numbers are dense, in the order of appearance, and what a
// profile refers to is in the store before the profile, or with it. Thread-safe; a partition has
// locks of its own.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "profile/profile.h"
#include "store/rocksdb/database.h"
#include "store/rocksdb/format/dictionary_chunk.h"
#include "store/stack_tree_writer.h"

namespace vesta::rocks {

struct DictionarySnapshot {
  StackTree tree;
  LabelSets label_sets;
};

class Partition {
 public:
  Partition(Database& database, TenantId tenant, PartitionNumber number)
      : database_(database), tenant_(tenant), number_(number) {}

  PartitionNumber number() const { return number_; }

  // Held while numbers are looked up, and on to the end of the write if there are new ones: nobody
  // may refer to an entry that could still be lost.
  Mutex& write_mutex() { return write_mutex_; }

  // The three below need write_mutex().

  // Stack numbers for stacks of the dictionary that are asked for: `numbers[id]` of each `wanted`.
  Status number_stacks(const Dictionary& dictionary, const std::vector<Hash128>& hashes,
                       const std::vector<StackId>& wanted, std::vector<StackNumber>& numbers);
  Result<uint32_t> number_label_set(const Dictionary& dictionary, LabelSetId set);
  // What is not in the store yet, as the key and value of a chunk; empty when there is nothing.
  struct Chunk {
    std::string key;
    std::string value;
    DictionaryMark end;
  };
  Chunk pending();
  // The chunk is in the store.
  void persisted(const Chunk& chunk);

  Result<DictionarySnapshot> snapshot();
  // Of labels of samples that name something, in order. What was found out once stays known, so
  // that only the first call may have to load the tree.
  Result<std::vector<std::string>> sample_label_names();
  Result<bool> has_sample_labels();

  uint64_t byte_size() const;
  size_t stack_count();
  size_t node_count();
  // Lets go of what can be loaded again: step 0 indexes for growth, 1 the tree, 2 all.
  void shed(int step);

 private:
  struct Resident {
    StackTree tree;
    LabelSets label_sets;
    std::unique_ptr<StackTreeWriter> writer;
  };
  Status load_numbers() REQUIRES(tree_mutex_);
  Status load_tree() REQUIRES(tree_mutex_);
  StackTreeWriter& writer() REQUIRES(tree_mutex_);
  DictionaryMark current() const REQUIRES(tree_mutex_);
  void measure() REQUIRES(tree_mutex_);
  Error damaged() const;

  Database& database_;
  const TenantId tenant_;
  const PartitionNumber number_;
  Mutex write_mutex_;
  mutable Mutex tree_mutex_;
  bool has_numbers_ GUARDED_BY(tree_mutex_) = false;
  StackNumbers stacks_ GUARDED_BY(tree_mutex_);
  StackNumbers sets_ GUARDED_BY(tree_mutex_);
  std::unique_ptr<Resident> resident_ GUARDED_BY(tree_mutex_);
  DictionaryMark persisted_ GUARDED_BY(tree_mutex_);
  uint32_t chunks_ GUARDED_BY(tree_mutex_) = 0;  // in the store
  std::set<std::string, std::less<>> sample_names_ GUARDED_BY(tree_mutex_);
  uint32_t sets_named_ GUARDED_BY(tree_mutex_) = 1;  // sets of labels whose names are in there
  std::atomic<uint64_t> bytes_ = 0;
};

class DictionaryStore {
 public:
  DictionaryStore(Database& database, uint64_t max_bytes)
      : database_(database), max_bytes_(max_bytes) {}

  std::shared_ptr<Partition> partition(TenantId tenant, PartitionNumber number);
  // REQUIRES: nobody uses it
  void forget(TenantId tenant, PartitionNumber number);
  // Lets the longest unused go until the rest fits.
  void shrink();

  uint64_t byte_size();

 private:
  using Id = std::pair<TenantId, PartitionNumber>;
  struct Entry {
    std::shared_ptr<Partition> partition;
    std::list<Id>::iterator place;
  };
  Database& database_;
  const uint64_t max_bytes_;
  Mutex mutex_;
  std::map<Id, Entry> partitions_ GUARDED_BY(mutex_);
  std::list<Id> recent_ GUARDED_BY(mutex_);  // the latest first
};

}  // namespace vesta::rocks
