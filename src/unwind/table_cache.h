// Unwind tables on disk, one file for each ELF file they were built from, so that a restart does
// not build them again. Bounded in bytes; the least recently used go first. A file that is damaged,
// foreign or of another version is as good as none. Used by one thread; processes may share a
// folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/hash.h"
#include "unwind/unwind_table.h"

namespace vesta {

// Everything in a file that its table depends on, but for code that was decoded: that has a
// fingerprint in the table. A build id alone would not do: anyone can give
// a file the build id of another, and would decide how that one is unwound.
Hash128 table_fingerprint(const ElfFile& file, const ElfFile* debug_file);

// A table as bytes of a cache file, and back. kInvalidInput for anything but an intact file of this
// version with that fingerprint, whose table is valid.
std::string encode_table(const UnwindTable& table, const Hash128& fingerprint);
Result<UnwindTable> decode_table(std::string_view bytes, const Hash128& fingerprint);

class UnwindTableCache {
 public:
  // Where a table is, to find it again without its ELF file.
  struct Key {
    std::string name;
    Hash128 fingerprint;
  };
  struct Limits {
    uint64_t max_bytes = 256 << 20;
  };
  struct Counts {
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t rejected = 0;  // damaged, of another version, or writable by others: built again
    uint64_t stored = 0;
    uint64_t not_stored = 0;  // too large, or the disk refused
    uint64_t evicted = 0;
  };

  // $XDG_CACHE_HOME/vesta/unwind, or /var/cache/vesta/unwind for root and for who has no home.
  static std::string default_folder();

  // Makes the folder if there is none. kPermission when it belongs to somebody else or others may
  // write to it: whoever writes tables decides what stacks look like.
  static Result<UnwindTableCache> open(const std::string& folder, const Limits& limits);
  static Result<UnwindTableCache> open(const std::string& folder) { return open(folder, Limits{}); }

  // From the cache, else built and stored. Failing to store is counted, not an error. Sets `key`,
  // if there is one.
  Result<UnwindTable> table_of(const ElfFile& file, const ElfFile* debug_file = nullptr,
                               Key* key = nullptr);
  // A table that table_of() returned before. To know it by its ELF file means to read all of that
  // file's unwind information, which takes longer than reading the table. Nothing when it was
  // evicted or not stored.
  std::optional<UnwindTable> find(const Key& key);

  const Counts& counts() const { return counts_; }

 private:
  UnwindTableCache(UniqueFd folder, const Limits& limits)
      : folder_(std::move(folder)), limits_(limits) {}
  // `of` is the file whose code must be as it was, or null.
  std::optional<UnwindTable> load(const Key& key, const ElfFile* of);
  bool store(const std::string& name, std::string_view bytes);
  void evict();

  UniqueFd folder_;
  Limits limits_;
  Counts counts_;
  uint64_t room_ = 0;  // what may be stored before the folder is looked through again
};

}  // namespace vesta
