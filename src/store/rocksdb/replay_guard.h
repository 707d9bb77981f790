// Watches the replay of write-ahead logs at a start. Every record continues where the last one
// ended; after a hole nothing more is replayed, because later writes build upon earlier ones (a
// profile upon the names of its stacks). RocksDB would go on after a hole where its own checks are
// relaxed. Used by one thread; the database must not replay after it is gone.
#pragma once

#include <rocksdb/wal_filter.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace vesta::rocks {

class ReplayGuard final : public rocksdb::WalFilter {
 public:
  const char* Name() const override { return "ReplayGuard"; }
  WalProcessingOption LogRecordFound(unsigned long long log, const std::string& name,
                                     const rocksdb::WriteBatch& batch,
                                     rocksdb::WriteBatch* new_batch, bool* changed) override;

  // Bytes of a log that RocksDB could not read; from its messages.
  void note_dropped(uint64_t bytes, std::string_view reason);
  // What the operator should know about it; empty when all was replayed.
  std::string report() const;
  uint64_t dropped_bytes() const { return dropped_bytes_; }

 private:
  uint64_t next_ = 0;  // sequence number that the next record starts with; 0 = any
  bool has_hole_ = false;
  std::string last_log_;  // of which something was replayed
  uint64_t dropped_bytes_ = 0;
  std::string reason_;
};

}  // namespace vesta::rocks
