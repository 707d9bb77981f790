// The files under a database, with two promises that RocksDB alone does not make:
//  - A file that failed to take a write takes no other one. RocksDB would append to a log that ends
//    in half a record, acknowledge it, and not find it again at the next start.
//  - Errors of writing are marked as ones that may pass, so that DB::Resume() can recover from each
//    of them, whatever was being written: a log, a table, the manifest.
// It also keeps the list of logs that the next start has to find. Owns nothing but that list; must
// outlive the database. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "store/rocksdb/log_list.h"

namespace rocksdb {
class Env;
class Status;
}  // namespace rocksdb

namespace vesta::rocks {

class GuardedFiles {
 public:
  // Over the files of another environment, or the system's for a null pointer.
  GuardedFiles(rocksdb::Env* base, LogList& logs);
  ~GuardedFiles();
  GuardedFiles(const GuardedFiles&) = delete;
  GuardedFiles& operator=(const GuardedFiles&) = delete;

  rocksdb::Env* env() { return env_.get(); }

  // Goes up whenever a log failed to take a write, before that write returns.
  uint64_t failures() const;
  void note_failure();
  // Whether the last error of writing was want of space.
  bool was_full() const;
  // Whether a log of this number failed to take a write.
  bool is_damaged(uint64_t log) const;
  // Whether an error that went through here was want of space.
  static bool is_no_space(const rocksdb::Status& status);

 private:
  class Files;
  std::shared_ptr<Files> files_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace vesta::rocks
